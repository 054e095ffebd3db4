"""Feeds: the consumers of upstream systems, and the log they write."""
