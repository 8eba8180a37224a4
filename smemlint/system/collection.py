"""How often Python looks for cycles among its objects."""

from __future__ import annotations

COLLECTION = (100_000, 20, 20)
"""Objects that are made before it looks among the youngest; how often among older ones. What was imported
and syntax trees are no garbage: looking for cycles among them takes time."""
