"""Runs the whole product on one machine: `manage.py up`.

terminal   what the person at the terminal sees
home       one supervisor per home: the lock, and the facts that other commands join by
child      one process that is started, watched, started again and stopped
services   which processes there are
supervise  their order, and the loop that watches them
"""
