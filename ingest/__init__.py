"""Moves data: upstream systems, feeds, logs, tables and reads, on Spark and Delta."""
