"""Pages: each reads `catalog.reads` and answers with a template."""
