"""Kills every process of the whole product, everywhere, and looks at what is left."""
