"""What goes over the wire, one file per noun; the OpenAPI schema is made of it."""
