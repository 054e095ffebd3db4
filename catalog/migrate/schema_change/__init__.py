"""Blue-green of an upstream schema change: a new table beside the old, and a way to switch.

names.py   what is made on the way, and what it is called
plan.py    the steps with their statements, pure; what of them is done is told by the catalog
script.py  the same as one SQL text
store.py   begun, gone on with, given up: rows, events, audit
"""
