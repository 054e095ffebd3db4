"""What the catalog asks of upstream systems, and how it reaches them."""
