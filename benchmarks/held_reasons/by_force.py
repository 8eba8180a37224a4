"""What layouts of an array cost, without the search: each address is moved by a formula, and the banks say.

Every pitch of up to one bank cycle more and every exclusive-or of up to five bits is enumerated here. What is
taken from the analysis are the requests of each access, how often they run, and what a request costs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from smemlint.score.model import Conflict
from smemlint.score.requests import Access, costs

CYCLE = 128
"""Bytes after which the banks repeat."""
LONG = 32
"""Iterations that a loop of unknown length stands for in what fixes say."""
MOST_ROWS = 60_000
"""Requests of one array above which nothing is enumerated."""
ATOMICS = ("atomic", "cas", "cas loop", "cas loop load", "increment")
Moved: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""From byte offsets of one access to others."""


@dataclass(frozen=True)
class Requests:
    """Equal requests of one access once, with how often they run. unknown: what divides the part of the
    address that is the same for all lanes and not known; 0: there is none."""

    conflict: Conflict
    width: int
    offsets: np.ndarray
    runs: np.ndarray
    maybe: np.ndarray | None
    unknown: int

    @property
    def line(self) -> int:
        return self.conflict.site.place.line

    def cost(self, moved: Moved, unknown: int | None = None) -> int | None:
        """Wavefronts under a layout; None where an address would not be aligned."""
        active = self.offsets >= 0
        offsets = np.where(active, moved(np.maximum(self.offsets, 0)), -1)
        left = self.unknown if unknown is None else unknown
        if not left and (offsets[active] % self.width).any():
            return None
        site = self.conflict.site
        try:
            found = costs(Access(site.op, self.width, site.matrices, left), offsets, self.maybe)
        except ValueError:
            return None
        return max(int(part.sum()) for part in np.split(found.high * self.runs, self.conflict.trace.ways))

    def ideal(self) -> int:
        access = Access(self.conflict.site.op, self.width, self.conflict.site.matrices, self.unknown)
        found = costs(access, self.offsets, self.maybe)
        return max(int(part.sum()) for part in np.split(found.ideal * self.runs, self.conflict.trace.ways))


def requests_of(conflicts: Sequence[Conflict]) -> list[Requests] | None:
    """The requests of accesses as they run: of joined ones the first stands for all. None where a place in
    the array is not known."""
    found, groups = [], set()
    for conflict in conflicts:
        trace = conflict.trace
        key = (id(trace.site), trace.group)
        if trace.group is not None and trace.offsets.size == 0:
            continue
        if not conflict.executions:
            continue
        if trace.offsets.size == 0 or trace.data or trace.parameter is not None:
            return None
        if trace.group is not None and key in groups:
            continue
        groups.add(key)
        runs = trace.weights
        if trace.repeats is not None:
            shares = trace.weights * trace.repeats.times * float(LONG) ** trace.repeats.depth
            runs = np.maximum(np.rint(shares).astype(np.int64), np.minimum(trace.weights, 1))
        width = trace.joined or trace.site.width
        found.append(Requests(conflict, width, trace.offsets, runs, trace.maybe, trace.alignment))
    return found


def taken_apart(accesses: Sequence[Requests]) -> list[Requests]:
    """The requests one by one that the compiler joins."""
    result = []
    for each in accesses:
        own = each.conflict.site.width
        steps, ways = range(0, each.width, own), each.conflict.trace.ways
        if each.width == own:
            result.append(each)
            continue
        parts = [np.where(part >= 0, part + n, -1) for part in np.split(each.offsets, ways) for n in steps]
        runs = np.concatenate([part for part in np.split(each.runs, ways) for _ in steps])
        maybe = each.maybe
        if maybe is not None:
            maybe = np.concatenate([part for part in np.split(maybe, ways) for _ in steps])
        result.append(Requests(each.conflict, own, np.concatenate(parts), runs, maybe, each.unknown))
    return result


def from_start(accesses: Sequence[Requests]) -> list[Requests]:
    """The requests counted from the first byte that one of them reaches, as those of a part are."""
    reached = [each.offsets[each.offsets >= 0] for each in accesses]
    start = min((int(at.min()) for at in reached if at.size), default=0)
    return [replace(x, offsets=np.where(x.offsets >= 0, x.offsets - start, -1)) for x in accesses]


def total(accesses: Sequence[Requests], moved: Moved, period: int = 0) -> list[int] | None:
    """Wavefronts of each access under a layout. period: bytes that an unknown part must be a multiple of for
    the layout to leave it alone. None where the layout cannot be."""
    result = []
    for each in accesses:
        if each.unknown and (not period or each.unknown % period):
            return None
        cost = each.cost(moved)
        if cost is None:
            return None
        result.append(cost)
    return result


def padded(accesses: Sequence[Requests], row: int, extra: int) -> list[int] | None:
    """The same with each row of so many bytes longer by `extra` bytes."""
    result = []
    for each in accesses:
        left = each.unknown
        if left:  # a part that is a number of rows grows with them
            left = left // row * (row + extra) if left % row == 0 else int(np.gcd(left, extra))
        cost = each.cost(lambda at: at + at // row * extra, left)
        if cost is None:
            return None
        result.append(cost)
    return result


def pitches(accesses: Sequence[Requests], row: int, element: int) -> Iterator[tuple[int, list[int]]]:
    """All paddings of rows of so many bytes, in bytes, that leave every access aligned."""
    widest = 1
    for each in accesses:
        matrix = each.conflict.site.op in ("ldmatrix", "stmatrix")
        pitched = "_matrix_sync" in each.conflict.site.expression
        widest = int(np.lcm(widest, 16 if matrix or pitched else each.width))
    for extra in range(element, CYCLE + 1, element):
        if (row + extra) % widest == 0 and (found := padded(accesses, row, extra)) is not None:
            yield extra, found


def formula(text: str, dims: Sequence[int], element: int) -> Moved | None:
    """A layout as a reason spells it: of `i` in an array of one dimension, else of `col` and `row`."""
    if re.sub(r"[\s()^&|+>\d-]|<<|\b(?:i|col|row)\b", "", text):
        return None
    code = compile(text, "layout", "eval")

    def moved(at: np.ndarray) -> np.ndarray:
        unit, rest = at // element, at % element
        last = unit % dims[-1] if len(dims) > 1 else unit
        row = unit // dims[-1] % dims[-2] if len(dims) > 1 else unit * 0
        new = eval(code, {"__builtins__": {}, "i": last, "col": last, "row": row})
        # A skew makes each row longer by its gaps.
        end = eval(code, {"__builtins__": {}, "i": dims[-1], "col": dims[-1], "row": 0})
        longer = end - dims[-1] if "^" not in text and len(dims) > 1 else 0
        return (unit - last + unit // dims[-1] * longer + new) * element + rest

    return moved


def period(text: str, dims: Sequence[int], element: int) -> int:
    """Bytes after which a layout repeats: what is a multiple of them it does not move."""
    masks = [int(n) for n in re.findall(r"& (\d+)", text)]
    shift = max((int(n) for n in re.findall(r">> (\d+)", text)), default=0)
    top = 1 << (max(masks, default=0).bit_length() + shift)
    rows = "row" in text
    return top * element * (dims[-1] if rows and len(dims) > 1 else 1)


def swizzles(accesses: Sequence[Requests], dims: Sequence[int], element: int) -> Iterator[str]:
    """Each xor of up to five bits of the index, or of the row, within the banks and the row, that keeps what
    the compiler joins together."""
    if any("_matrix_sync" in each.conflict.site.expression for each in accesses):
        return
    name = "col" if len(dims) > 1 else "i"
    unit = max([each.width // element for each in accesses] + [1])
    if any(each.conflict.site.op in ("ldmatrix", "stmatrix") for each in accesses):
        unit = max(unit, 16 // element)
    low = unit.bit_length() - 1
    columns = (CYCLE // element).bit_length() - 1
    if element & (element - 1) or unit & (unit - 1):
        return
    for source in dict.fromkeys((name, "row" if len(dims) > 1 else name)):
        for bits in range(1, 6):
            for base in range(low, columns - bits + 1):
                for shift in range(base + bits if source == name else 0, 10):
                    if dims[-1] % (1 << (base + bits)) == 0:
                        yield f"{name} ^ ((({source} >> {shift}) & {(1 << bits) - 1}) << {base})"


def same_words(accesses: Sequence[Requests]) -> int:
    """Wavefronts that no layout can free: the most lanes of each request that update one element."""
    least = 0
    for each in accesses:
        for row, runs in zip(each.offsets, each.runs, strict=True):
            active = row[row >= 0]
            if active.size:
                least += int(np.unique(active, return_counts=True)[1].max() * runs)
    return least


def value(text: str, names: Mapping[str, int]) -> int | None:
    """A constant expression of C in names that are known."""
    words = re.sub(r"\(\s*(?:int|unsigned|size_t|unsigned int)\s*\)", "", text)
    words = re.sub(r"(?<=\d)[uUlL]+\b", "", words)
    for name in set(re.findall(r"[A-Za-z_]\w*", words)):
        if name not in names:
            return None
        words = re.sub(rf"\b{name}\b", str(names[name]), words)
    if re.sub(r"[\d\s()+*/%<>&|-]", "", words):
        return None
    try:
        return int(eval(words.replace("/", "//"), {"__builtins__": {}}))
    except (SyntaxError, ZeroDivisionError, ValueError, TypeError):
        return None
