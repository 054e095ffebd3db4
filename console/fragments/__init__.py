"""Pieces of pages: drawn once by a page, and again over the websocket when they change."""
