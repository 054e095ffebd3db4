"""Headrace's management commands."""
