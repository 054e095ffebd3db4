"""Statement nodes, one file per noun; frozen, comparable, rendered only by `catalog.sql.render`."""
