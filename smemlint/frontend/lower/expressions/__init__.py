"""Expressions as clang has them to expressions of the IR."""
