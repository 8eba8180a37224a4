"""What is found of a text alone is kept: many files of a run include the same headers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Text = TypeVar("Text", bytes, str)
Found = TypeVar("Found")
MOST = 2_500_000
"""Bytes or characters of the texts that one function keeps its answers for; the longest unused go first."""


def per_text(function: Callable[[Text], Found]) -> Callable[[Text], Found]:
    """A function of one text that answers at once for texts that it was asked of before."""
    kept: dict[Text, Found] = {}
    size = 0

    @wraps(function)
    def answer(text: Text) -> Found:
        nonlocal size
        if text in kept:
            found = kept.pop(text)
        else:
            found = function(text)
            size += len(text)
            while size > MOST and kept:
                oldest = next(iter(kept))
                size -= len(oldest)
                del kept[oldest]
        kept[text] = found
        return found

    return answer
