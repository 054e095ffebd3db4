"""Maintained views: hydrated, stepped, folded, and compared with what replaces them."""
