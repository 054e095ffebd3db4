"""SELECT: names resolved, views expanded, types known, then Spark SQL; pure."""
