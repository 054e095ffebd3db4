"""Pieces of pages that are drawn once by a page and again, when they change, over the websocket."""
