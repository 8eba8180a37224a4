"""Room for Python's own stack.

CPython keeps the frames of functions in pieces of 16 KB, and gives a piece back to the system as soon as the
last frame in it is left. Evaluation goes up and down over the end of a piece tens of thousands of times; each
time the system hands out memory, clears it and takes it back. A frame that asks for much is given a piece
that it fits in, and all that it calls has room in the rest of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_SLOTS = (1 << 19) + 1
"""Pointers that the frame asks for: a little more than 4 MB, so that it is given 8; what nobody uses of them
is never touched."""


def with_room(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function, with room for thousands of frames above its own."""

    def roomy(*arguments: P.args, **named: P.kwargs) -> T:
        return function(*arguments, **named)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=_SLOTS)
    roomy.__doc__ = function.__doc__
    return roomy
