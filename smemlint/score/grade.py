"""How sure a cost is: the one place where that is decided."""

from __future__ import annotations

from smemlint.banks import WORD
from smemlint.evaluate.model import Grade, Trace
from smemlint.score.model import STATED
from smemlint.score.requests import Access


def grade_of(
    trace: Trace, access: Access, closed: bool, strided: bool, assumed: bool, *, of_any: bool = False
) -> Grade:
    """Exact where both ends agree and nothing was assumed that is not stated beside it.

    Wide accesses with unsure lanes may have a smaller ideal than was counted, unless that is one wavefront or
    all lanes load from one address.
    closed: whether the ends agree; strided: whether they are those of a run-time stride; assumed: whether the
    block shape is a candidate; of_any: whether each request takes what its bytes ask for, whichever lanes
    take part.
    """
    unsure = trace.maybe is not None or bool(trace.data)
    if closed and not (unsure and access.width > WORD and not of_any):
        guessed = any(a.kind not in STATED for a in trace.assumptions)
        return Grade.ASSUMED if assumed or guessed or trace.grade is Grade.ASSUMED else Grade.EXACT
    return Grade.PARAMETRIC if strided else Grade.BOUND
