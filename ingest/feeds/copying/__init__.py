"""What runs in the Python workers of Spark during a snapshot; it imports little, to start fast."""
