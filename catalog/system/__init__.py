"""The system catalog: built-in relations declared as data, answered by DuckDB in this process."""
