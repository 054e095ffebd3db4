"""Decides and remembers: statements, plans, models, privileges, audit."""
