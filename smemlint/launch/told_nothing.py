"""What of a launch follows from `main` having no arguments.

A program is run as if it were told nothing. A second run, in which its command line is not known, shows which
numbers of the first one are defaults: `int n = 1024; if (argc > 1) n = atoi(argv[1]);`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from smemlint.launch.model import Started
from smemlint.launch.open import Candidate, default_first
from smemlint.launch.ways import instance


def with_defaults(told_nothing: Iterable[Started], whatever: Sequence[Started]) -> list[Started]:
    """The launches of a program that is told nothing, with what of them is no more than a default.

    whatever: what it starts whatever it is told. A shape that is a default is one of those that are tried.
    """
    found = []
    for s in told_nothing:
        same = [o for o in whatever if instance(o) == instance(s)]
        of_shape = [o for o in same if o.block == s.block]
        if of_shape or not same or None in s.block:
            found.append(replace(s, defaults=_differing(s, of_shape or same)))
            continue
        found.append(_one_of_several(s, same[0]))
    return found


def _one_of_several(s: Started, o: Started) -> Started:
    """A launch whose shape depends on the command line. o: the same where that is not known."""
    if o.stated:
        return o
    default = Candidate(s.block, s.dynamic, s.arguments)  # type: ignore[arg-type]
    return replace(o, likely=default_first(default, o.likely), defaults=_differing(s, [o]))


def _differing(s: Started, same: Sequence[Started]) -> frozenset[str]:
    """What no launch has whatever the program is told, as in Launch."""
    names = {k for k, n in s.arguments.items() if all(o.arguments.get(k) != n for o in same)}
    if all((o.grid, o.dynamic) != (s.grid, s.dynamic) for o in same):
        names.add("grid")
    return frozenset(names)
