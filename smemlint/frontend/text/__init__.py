"""What is read from the text itself, for what the tree does not show."""
