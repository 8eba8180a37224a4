"""What both arms of a condition have in common, and what they choose between."""
