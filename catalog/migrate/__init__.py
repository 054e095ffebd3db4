"""Changing a running region under its users: plans to look at, atomic applies, and a way back.

legacy.py      what of a picture is in the old form
tables.py      sources to tables: picture -> plan, pure
plan.py        what every plan is made of
store.py       plans as rows; apply.py and rollback.py carry them out, whole or not at all
builtins.py    built-in relations between releases
rollout.py     regions, cohorts, windows
dump.py        a region's definitions as canonical text
"""
