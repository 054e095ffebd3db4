"""PostgreSQL as an upstream: description, replication, snapshots."""
