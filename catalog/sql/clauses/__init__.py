"""What each statement is made of, as clauses for the layouts; `dispatch` chooses by type."""
