"""libclang, thinly wrapped: cursors, places, names."""
