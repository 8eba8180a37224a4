"""Unknowns: makes the unknown integers of one evaluation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import (
    Int,
    Symbol,
    bounds,
    collapse,
    one_for_each_warp,
)
from smemlint.ir import Scalar
from smemlint.ir.types import BOOL, LONG
from smemlint.records import record

NONLINEAR = "nonlinear-index"
ONE_LANE = Unresolved("data-dependent", "which lane it is depends on a run-time value")
LARGEST_CUT = 1 << 31
CONTRARY: Mapping[str, str] = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
TURNED: Mapping[str, str] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
"""What a comparison becomes where its sides are exchanged."""
LONGEST = 60
"""Characters of a value's text from which on messages leave it out."""


@record(slots=True)
class Unknowns:
    """Makes the unknowns of one evaluation; equal uniform expressions get the same unknown."""

    memo: dict[tuple[object, ...], Symbol] = field(default_factory=dict)
    loaded: dict[Hashable, list[tuple[tuple[object, ...], Int, int]]] = field(default_factory=dict)
    """By array that the kernel writes: what the memo holds of its elements, where they lie, their size."""
    count: int = 0
    guessed: list[str] = field(default_factory=list)
    """Kinds of the comparisons that were decided by scale alone (`i < n`)."""
    begin: int = 1
    """What divides the start of a member behind one of unknown size, beyond the alignment of its type."""
    begun: bool = False
    """Whether there was such a member."""
    interior: bool = False
    """Decide comparisons of uniform values by scale too: while a condition only chooses between numbers."""
    certain: bool = False
    """Decide nothing by scale: while what is decided becomes part of an address."""
    edges: bool = False
    """Decide by where in the grid a block lies whether lanes are at one place of it (`x == 0`), too."""
    rests: bool = False
    """Decide what blocks in the middle of the grid have left (`n - blockIdx.x * 256`), nothing else."""
    remainders: dict[int, tuple[Int, int]] = field(default_factory=dict)
    """By symbol of a remainder that may be negative: of what it is one, and by what."""
    setting: bool = False
    """Decide nothing by where in the grid a block lies: while a condition only says what numbers become
    (`if (head >= 96) head -= 96;`)."""
    rests_of_sizes: set[int] = field(default_factory=set)
    """By order: what sizes leave over (`blockIdx.x % heads`), which is no larger than they are."""
    recipes: dict[int, tuple[str, Int, Int]] | None = None
    """Of host code: by order of an unknown, the operator that gave it and what it was applied to."""
    asked: dict[int, tuple[str, Int]] = field(default_factory=dict)
    """By order of a 0/1 unknown that is the same for all lanes: the comparison with 0 that it stands for."""
    given: dict[int, int] = field(default_factory=dict)
    """Of host code: what unknowns are in the branch that runs (`case 256:`), by order."""

    @property
    def guesses(self) -> int:
        """How many comparisons were decided by scale."""
        return len(self.guessed)

    def fresh(
        self,
        name: str,
        *,
        varying: bool = False,
        low: int | None = None,
        high: int | None = None,
        multiple: int = 1,
        rank: int = 0,
        reason: Unresolved | None = None,
        choice: int = 0,
        shared: bool = False,
        cut: int = 1,
    ) -> Symbol:
        """Return a symbol that no number holds yet. Parameters as the fields of Symbol."""
        self.count += 1
        return Symbol(self.count, name, varying, low, high, multiple, rank, reason, choice, shared, cut=cut)

    def selector(self, ways: int, name: str, *, varying: bool, reason: Unresolved | None = None) -> list[Int]:
        """0/1 values for all but one of several ways: at most one of them is 1, and none where the last way
        is taken."""
        self.count += 1
        choice = self.count
        return [
            self.value(BOOL, name, varying=varying, low=0, high=1, reason=reason, choice=choice)
            for _ in range(ways - 1)
        ]

    def equal(self, d: Int) -> Int:
        """Whether d is 0, as 0 or 1. No two numbers are equal to one value: `x == 1` and `x == 2` are of one
        choice."""
        key = d.key()
        if key is None:
            return self.derived("==", d, Int(0, d.type), BOOL, 0, 1)
        terms = key[1]
        if ("==", key) not in self.memo:
            negated = Int(0, d.type, {m: -c for m, c in d.terms.items()}).key()
            assert negated is not None
            if ("choice", negated[1]) in self.memo:
                return self.equal(Int(-d.const, d.type, {m: -c for m, c in d.terms.items()}))
            if ("choice", terms) not in self.memo:
                self.memo["choice", terms] = self.fresh("choice")
            choice = self.memo["choice", terms].order
            made = self.derived("==", d, Int(0, d.type), BOOL, 0, 1)
            (mono,) = made.terms
            self.memo["==", key] = replace(mono[0], choice=choice)
        return Int(0, BOOL, {(self.memo["==", key],): 1})

    def one_lane(self, d: Int, lanes: NDArray[np.bool_]) -> Int:
        """Whether d, of which each lane knows another part, is 0, as 0 or 1: it is in one of some lanes."""
        assert not isinstance(d.const, int)
        key = ("one lane", d.const.tobytes(), Int(0, d.type, d.terms).key())
        if key not in self.memo:
            reason = next((s.reason for s in d.symbols() if s.reason), None)
            self.memo[key] = replace(
                self.fresh(f"({name_of(d)} == 0)", varying=True, low=0, high=1, reason=reason or ONE_LANE),
                alone=True,
            )
        return Int(0, BOOL, {(self.memo[key],): collapse(lanes.astype(np.int64))})

    def value(self, type: Scalar, name: str, **facts: object) -> Int:
        """Return a number that is one fresh symbol and nothing else."""
        return Int(0, type, {(self.fresh(name, **facts),): 1})  # type: ignore[arg-type]

    def may_be_null(self, name: str, *where: object) -> Symbol:
        """Return what is 1 where a pointer of host code is null, one for all who read it there."""
        key = "null", *where
        if key not in self.memo:
            self.memo[key] = self.fresh(f"!{name}", low=0, high=1)
        return self.memo[key]

    def derived(
        self,
        op: str,
        a: Int,
        b: Int,
        type: Scalar,
        low: int | None = None,
        high: int | None = None,
        multiple: int = 1,
    ) -> Int:
        """The result of an operator that the polynomial cannot express."""
        uniform = a.uniform and b.uniform
        reason = next((s.reason for v in (a, b) for s in v.symbols() if s.varying and s.reason), None)
        shared = not uniform and one_for_each_warp(a) and one_for_each_warp(b)
        if not uniform and reason is None:
            whose = "warp" if shared else "lane"
            reason = Unresolved(NONLINEAR, f"`{op}` of a sum of a run-time value and the {whose}'s number")
        ka, kb = a.key(), b.key()
        key = (op, ka, kb) if uniform and ka is not None and kb is not None else None
        if key is not None and key in self.memo:
            return Int(0, type, {(self.memo[key],): 1})
        rank = max((s.rank for v in (a, b) for s in v.symbols()), default=0)
        stairs = None if uniform or self.recipes is not None else _stairs(op, a, b)
        if stairs is not None and (low is None or high is None or stairs < high - low):
            name = f"({name_of(a)} {op} {name_of(b)})"
            of_warp = self.fresh(
                name, varying=True, low=low, high=high, rank=rank, shared=True, cut=_divided_by(op, a, b)
            )
            step = self.fresh(name, varying=True, low=0, high=stairs, reason=reason)
            return Int(0, type, {(of_warp,): 1, (step,): 1})
        symbol = self.fresh(
            f"({name_of(a)} {op} {name_of(b)})",
            varying=not uniform,
            low=low,
            high=high,
            multiple=multiple,
            rank=rank if op in ("/", ">>", "*", "<<") else 0,
            reason=None if uniform else reason,
            shared=shared,
            cut=_divided_by(op, a, b),
        )
        if key is not None:
            self.memo[key] = symbol
            if symbol.bit and op in CONTRARY and b.known and b.const == 0:
                self.asked[symbol.order] = (op, a)
        if self.recipes is not None:
            self.recipes[symbol.order] = (op, a, b)
        return Int(0, type, {(symbol,): 1})

    def condition(self, bit: Symbol, holds: int) -> str:
        """What a 0/1 unknown stands for, as a user writes it; '' where nothing of the source does."""
        if bit.order in self.asked:
            return condition_of(*self.asked[bit.order], holds)
        own = not bit.choice and all(map(str.isidentifier, bit.name.split(".")))
        return ("" if holds else "!") + bit.name if own else ""

    def quotient(self, symbol: Symbol, by: int) -> Symbol:
        """symbol / by, which `symbol.multiple` proves exact."""
        key = ("quotient", symbol.order, by)
        if key not in self.memo:
            self.memo[key] = self.fresh(
                f"({symbol.name}/{by})",
                varying=symbol.varying,
                low=None if symbol.low is None else symbol.low // by,
                high=None if symbol.high is None else symbol.high // by,
                multiple=symbol.multiple // by,
                rank=symbol.rank,
                reason=symbol.reason,
                shared=symbol.shared,
                cut=symbol.cut * by,
            )
            if self.recipes is not None:
                whole = Int(0, LONG, {(symbol,): 1})
                self.recipes[self.memo[key].order] = ("/", whole, Int(by, LONG))
        return self.memo[key]


def _stairs(op: str, a: Int, b: Int) -> int | None:
    """How many steps the quotients of the lanes of a warp take at most: lanes that lie s apart are cut into
    s / b + 1 of them, one after the other, wherever the first begins. None where it is not known how far they
    lie apart."""
    if op not in ("/", ">>") or not b.uniform or isinstance(a.const, int) or a.const.size % 32:
        return None
    if not all(isinstance(c, int) and not s.varying for m, c in a.terms.items() for s in m):
        return None
    rows = a.const.reshape(-1, 32)
    apart = int((rows.max(axis=1) - rows.min(axis=1)).max())
    least = bounds(b)[0]
    by = 1 if least is None or least < 1 else 1 << min(least, 31) if op == ">>" else least
    return -(-apart // by)


def _divided_by(op: str, a: Int, b: Int) -> int:
    """What the sizes in a are divided by, if b is a number."""
    if op not in ("/", ">>") or not b.known or not isinstance(b.const, int) or not 0 < b.const < LARGEST_CUT:
        return 1
    before = max((s.cut for s in a.symbols()), default=1)
    return min(before * (b.const if op == "/" else 1 << min(b.const, 31)), LARGEST_CUT)


def condition_of(op: str, d: Int, holds: int) -> str:
    """`d op 0` as a user writes it, numbers on the right: `n > 3` where `n - 3 <= 0` does not hold; '' for
    what is longer than a condition that is looked at."""
    if not isinstance(d.const, int) or not all(isinstance(c, int) for c in d.terms.values()):
        return ""
    turned = all(c < 0 for c in d.terms.values() if isinstance(c, int))
    sign = -1 if turned else 1
    left = {m: c * sign for m, c in d.terms.items() if c * sign > 0}
    right = {m: -c * sign for m, c in d.terms.items() if c * sign < 0}
    op = op if holds else CONTRARY[op]
    texts = [
        name_of(Int(0, d.type, left)),
        TURNED[op] if turned else op,
        name_of(Int(-d.const * sign, d.type, right)),
    ]
    return "" if "..." in texts else " ".join(texts).replace(" + -", " - ")


def name_of(v: Int) -> str:
    """A short text of a value for messages."""
    parts: list[str] = []
    length = 0
    for mono, c in v.terms.items():
        text = mono[0].name if len(mono) == 1 else " * ".join(s.name for s in mono)
        if not isinstance(c, int):
            text = f"lanes * {text}"
        elif c != 1:
            text = f"{c} * {text}"
        parts.append(text)
        length += len(text) + 3
        if length >= LONGEST + 3:
            return "..."
    if isinstance(v.const, int):
        if v.const or not parts:
            parts.append(str(v.const))
    else:
        parts.append("lanes")
    text = " + ".join(parts)
    return text if len(text) < LONGEST else "..."


def rank_of(v: Int) -> int:
    """Return the highest rank of the symbols in a number."""
    return max((s.rank for s in v.symbols()), default=0)
