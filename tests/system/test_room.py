"""With room on its stack a function goes up and down without asking the system for memory."""

from __future__ import annotations

import sys

import pytest

from smemlint.system.room import with_room

resource = pytest.importorskip("resource")


def _down(levels: int) -> int:
    return 0 if levels == 0 else 1 + _down(levels - 1)


def _up_and_down() -> int:
    """Calls that end at many depths, one of which stands at the end of a piece of the stack."""
    return sum(_down(levels) for levels in range(20, 300) for _ in range(20))


def _faults() -> int:
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="another kind of stack")
def test_no_memory_is_asked_for_again_and_again() -> None:
    roomy = with_room(_up_and_down)
    roomy()
    before = _faults()
    assert roomy() == 20 * sum(range(20, 300))
    assert _faults() - before < 500


def test_what_it_is_given_and_gives_is_as_before() -> None:
    @with_room
    def given(a: int, *, b: int = 2) -> tuple[int, int]:
        """Tell both."""
        return a, b

    assert given(1) == (1, 2)
    assert given(1, b=3) == (1, 3)
    assert given.__doc__ == "Tell both."


def test_what_is_raised_comes_out() -> None:
    @with_room
    def raising() -> None:
        raise KeyError("out")

    with pytest.raises(KeyError, match="out"):
        raising()
