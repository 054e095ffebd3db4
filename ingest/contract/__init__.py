"""The shapes both planes agree on; pure data, importable from everywhere."""
