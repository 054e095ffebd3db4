"""Webhooks at work: which one a request is for, whether it is let in, and what rows it makes.

find.py        the webhook of a name, with its secrets
judge.py       whether a request is accepted, and its rows
body.py        a body as rows
deliveries.py  what arrived lately, for people to look at
"""
