"""Names that are written as macros are."""

from __future__ import annotations


def is_macro_like(name: str) -> bool:
    """Whether a name is in capitals, or stands between double underscores."""
    return len(name) > 2 and (name.isupper() or (name.startswith("__") and name.endswith("__")))
