"""What runs before Headrace can: its environment and its jars."""
