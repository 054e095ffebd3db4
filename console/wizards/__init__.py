"""Guided flows: each builds statements and runs them through the one door."""
