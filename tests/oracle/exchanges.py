"""What lanes of a warp tell each other: shuffles, votes, matches, reductions. All lanes take part."""

from __future__ import annotations

from oracle.frames import Exchange
from oracle.values import Num, UndefinedError, convert, from_bits, is_float, to_bits
from smemlint.ir import Scalar
from smemlint.ir.types import INT, UINT

VOTES = {"__ballot_sync": UINT, "__any_sync": INT, "__all_sync": INT, "__match_any_sync": UINT}
NAMES = (
    "__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync", "__reduce_add_sync",
    "__reduce_max_sync", *VOTES,
)  # fmt: skip


def type_of_result(name: str, given: Scalar) -> Scalar:
    """Of an exchange of values of a type."""
    return VOTES.get(name, given)


def sent(number: Num) -> int:
    """What a lane gives: a number, or the bits of a float."""
    return to_bits(number.value, number.type) if is_float(number.type) else int(number.value)


def received(result: int, type_: Scalar) -> Num:
    return Num(from_bits(result, type_), type_) if is_float(type_) else convert(Num(result, type_), type_)


def exchanged(lanes: list[Exchange]) -> list[int]:
    """The result of each lane; given: mask, value, and what a shuffle has besides."""
    name, values = lanes[0].name, [e.given[1] for e in lanes]
    if name.startswith("__shfl"):
        return [values[_source(name, lane, e.given[2:], len(lanes))] for lane, e in enumerate(lanes)]
    if name == "__match_any_sync":
        return [sum(1 << i for i, other in enumerate(values) if other == value) for value in values]
    if name.startswith("__reduce"):
        result = sum(values) if name == "__reduce_add_sync" else max(values)
    else:
        ballot = sum(1 << i for i, value in enumerate(values) if value)
        full = (1 << len(lanes)) - 1
        result = {"__ballot_sync": ballot, "__any_sync": int(ballot > 0), "__all_sync": int(ballot == full)}[
            name
        ]
    return [result] * len(lanes)


def _source(name: str, lane: int, more: tuple[int, ...], count: int) -> int:
    by, width = (*more, 32)[:2]
    first = lane & ~(width - 1)
    source = {
        "__shfl_sync": first + (by & (width - 1)),
        "__shfl_up_sync": lane - by if lane - by >= first else lane,
        "__shfl_down_sync": lane + by if lane + by < first + width else lane,
        "__shfl_xor_sync": lane ^ by if lane ^ by < first + width else lane,
    }[name]
    if source >= count:
        raise UndefinedError("a shuffle from a lane that does not exist")
    return source
