"""The language: text to statement nodes and back; pure."""
