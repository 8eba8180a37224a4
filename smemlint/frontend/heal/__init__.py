"""From clang's complaints to declarations of what it misses."""
