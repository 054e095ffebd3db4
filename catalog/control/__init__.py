"""From committed rows to the data plane: what should run, who runs it, what is due."""
