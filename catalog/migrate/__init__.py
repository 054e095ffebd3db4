"""Changing a running region under its users: plans to look at, atomic applies, and a way back.

plan.py        what every plan is made of
legacy.py      what of a picture is in the old form; texts.py takes its statements apart
tables.py      sources to tables: picture -> plan, pure; downloads.py for dbt and Terraform
store.py       plans as rows; reads.py shows them a page at a time
apply.py       one commit, through writer.py and changes.py; rollback.py takes it back
builtins.py    built-ins between releases, pure; releases.py at the start of one
rollout.py     regions, cohorts, windows, what is due; regions.py shows them
dump.py        a region's definitions as canonical text
"""
