"""Real services for tests: each is started once a run, on a free port, and stopped at its end."""
