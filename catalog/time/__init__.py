"""Time: the oracle, what inputs allow, and the time a query is read at (design, section 4)."""
