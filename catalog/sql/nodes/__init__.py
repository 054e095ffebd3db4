"""Statement nodes, one file per noun; frozen, comparable, rendered by `catalog.sql.render`."""
