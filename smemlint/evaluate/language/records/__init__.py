"""How records are loaded and stored: whole, padded, in the parts that are used or changed."""
