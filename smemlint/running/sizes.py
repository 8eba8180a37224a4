"""What holds for numbers whose type no file declares: 4 and 8 bytes are tried."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from smemlint.evaluate import Grade
from smemlint.evaluate.model import Assumption, Unresolved
from smemlint.ir import Scalar
from smemlint.score import Conflict

STAND_INS = (Scalar("int", 4, "int"), Scalar("long", 8, "int"))
"""Numbers of the sizes that are usual. As integers, since such a type may be that of an index."""
UNKNOWN_SIZE = "unknown-size"
_CLOSED = (Grade.EXACT, Grade.ASSUMED)


def with_sizes(
    conflicts: Iterable[Conflict], tried: Sequence[Iterable[Conflict]], names: Sequence[str]
) -> tuple[Conflict, ...]:
    """The conflicts, with what each of the sizes tells where none is known: their common ways, or a range
    over them.

    tried: the conflicts under each size. names: spellings of the types.
    """
    told = [_by_site(each) for each in tried]
    result: list[Conflict] = []
    for key, own in _by_site(conflicts).items():
        found = [each.get(key, []) for each in told]
        unsized = all(c.reason is not None and c.reason.code == UNKNOWN_SIZE for c in own)
        if not unsized or not all(each and all(map(_is_told, each)) for each in found):
            result += own
        elif len(_ways(found)) <= 1 and all(_is_closed(c) for each in found for c in each):
            result += [_assumed(c, names) for c in found[0]]
        else:
            result += _over(found, own[0].reason)
    return tuple(result)


def _by_site(conflicts: Iterable[Conflict]) -> dict[tuple[object, ...], list[Conflict]]:
    found: dict[tuple[object, ...], list[Conflict]] = {}
    for c in conflicts:
        found.setdefault((c.site.place, c.site.op, c.site.array), []).append(c)
    return found


def _is_told(c: Conflict) -> bool:
    return c.wavefronts is not None and c.wavefronts_low is not None


def _ways(found: Sequence[Sequence[Conflict]]) -> set[float | None]:
    """The ways that all sizes tell, of what costs anything there."""
    return {c.ways for each in found for c in each if c.ideal}


def _is_closed(c: Conflict) -> bool:
    return c.grade in _CLOSED and c.wavefronts == c.wavefronts_low


def _assumed(c: Conflict, names: Sequence[str]) -> Conflict:
    which = " and ".join(f"`{name}`" for name in names)
    size = Assumption("type-size", f"{which} has 4 or 8 bytes; both give the same", c.site.place)
    trace = replace(c.trace, assumptions=(*c.trace.assumptions, size))
    return replace(c, trace=trace, grade=Grade.ASSUMED)


def _over(found: Sequence[Sequence[Conflict]], reason: Unresolved | None) -> list[Conflict]:
    """One range over what all sizes tell, at the site as the size that costs most has it."""
    low = min(c.ways_low if c.ways_low is not None else 1.0 for each in found for c in each)
    high = max(c.ways or 1.0 for each in found for c in each)
    surely = min(max(c.surely for c in each) for each in found)
    dearest = max(found, key=lambda each: max(c.ways or 1.0 for c in each))
    return [
        replace(
            c,
            wavefronts=round(high * c.ideal),
            wavefronts_low=round(low * c.ideal),
            grade=Grade.BOUND,
            reason=c.reason or reason,
            any_block=False,
            on_way=None,
            surely=surely,
        )
        if c.ideal
        else c
        for c in dearest
    ]
