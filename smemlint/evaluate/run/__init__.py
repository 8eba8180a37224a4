"""Expressions and statements, run in all threads of a block at once."""
