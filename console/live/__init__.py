"""Websockets of pages."""
