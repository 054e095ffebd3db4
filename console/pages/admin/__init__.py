"""Pages for account owners: migrations, built-in relations, regions and rollouts."""
