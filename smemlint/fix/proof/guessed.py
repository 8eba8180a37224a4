"""Usual block shapes of a kernel that nothing starts, which an edit shows to be wrong.

Of a shape whose lanes run beyond the columns of a row (`tile[k][4 * t]` of more threads than fit) an access
leaves its row as soon as the row is padded. The kernel is not meant for it, where another shape stays inside.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from smemlint.fix.search.candidates import Padding, Shape
from smemlint.fix.search.choices import Choice
from smemlint.fix.search.members import Instance, Member


def borne_out(
    moves: Sequence[tuple[Choice, Sequence[Instance]]], wrong: Collection[int], right: Collection[int]
) -> bool:
    """Whether the edits are row pitches, and the shapes under which they hold go over several rows wherever
    the wrong ones go: an access that does not say the pitch would show there.

    moves: layouts with the instances of their array; wrong, right: id() of analyses.
    """
    if not right or not all(isinstance(choice.option.layout, Padding) for choice, _ in moves):
        return False
    asked = {_site(m) for m, _ in _of(moves, wrong)}
    shown = {_site(m) for m, shape in _of(moves, right) if _over_rows(m, shape)}
    return asked <= shown


def _of(
    moves: Sequence[tuple[Choice, Sequence[Instance]]], analyses: Collection[int]
) -> list[tuple[Member, Shape]]:
    return [
        (member, choice.shapes[n])
        for choice, used in moves
        for n, instance in enumerate(used)
        if id(instance.analysis) in analyses
        for member in instance.members
    ]


def _site(member: Member) -> tuple[str, int, str]:
    site = member.conflict.site
    return site.place.path, site.place.offset, site.op


def _over_rows(member: Member, shape: Shape) -> bool:
    """Whether a site goes into more than one row of an array of that shape."""
    row = shape.dims[-1] * shape.element
    return len(np.unique(member.offsets[member.offsets >= 0] // row)) > 1
