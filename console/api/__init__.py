"""REST and SQL over HTTP: every write becomes a statement and goes through the one door."""
