"""What was found of parts of a program, kept as long as it is likely to be asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")
MOST = 4096
"""Objects that are remembered; a large file with all that it includes has fewer functions."""
_tables: list[dict[int, Any]] = []
_others: list[Callable[[], None]] = []


def by_identity(find: Callable[[K], V], most: int | None = None) -> Callable[[K], V]:
    """`find`, asked once for each object: nodes of the IR are large, and comparing them costs more than
    finding. An object that is remembered stays alive; of more than `most`, the oldest are forgotten."""
    known: dict[int, tuple[K, V]] = {}
    _tables.append(known)

    def found(node: K) -> V:
        entry = known.get(id(node))
        if entry is None:
            if len(known) >= (most or MOST):
                del known[next(iter(known))]
            entry = known[id(node)] = node, find(node)
        return entry[1]

    return found


def forgotten_by(clear: Callable[[], None]) -> None:
    """Have it called whenever a file is done."""
    _others.append(clear)


def forget() -> None:
    """Forget all objects: a file is done, and the next one has others."""
    for known in _tables:
        known.clear()
    for clear in _others:
        clear()
