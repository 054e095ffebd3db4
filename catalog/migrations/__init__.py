"""Database migrations of the catalog."""
