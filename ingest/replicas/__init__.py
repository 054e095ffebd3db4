"""Where Spark comes from: a local process of ours, or an endpoint that somebody else runs."""
