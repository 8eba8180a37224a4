"""How a variable changes from one iteration of a loop to the next, and to the one after that."""

from __future__ import annotations

from dataclasses import replace

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.memory.several import lost_among, one_of, within
from smemlint.evaluate.model import Unresolved
from smemlint.evaluate.values.number import (
    Int,
    Symbol,
    add,
    bounds,
    collapse,
    gcd_of,
    multiple_of,
    multiply,
    subtract,
)
from smemlint.evaluate.values.value import Object, Other, Pointer, Value, same
from smemlint.ir.types import INT, LONG


def difference(new: Value | None, old: Value | None) -> Int | None:
    """By how much a variable changed, as one number where that is the same for all lanes."""
    if isinstance(new, Int) and isinstance(old, Int):
        d = subtract(new, old, old.type)
    elif isinstance(new, Pointer) and isinstance(old, Pointer) and new.object is old.object:
        d = subtract(new.offset, old.offset, LONG)
    else:
        return None
    return Int(collapse(d.const), d.type, {mono: collapse(c) for mono, c in d.terms.items()})


def kind_of(old: Value | None, new: Value) -> str:
    """affine: start + delta * k. uniform: start + unknown. varying: nothing known. fresh: set anew each
    time. moved: a pointer to what it led to before, or to what it leads to then; roams: or after that."""
    if old is None:
        return "fresh"
    d = difference(new, old)
    if d is None:
        if isinstance(new, Pointer) and isinstance(old, Pointer):
            return "moved"
        if isinstance(new, Other) and isinstance(old, Int | Pointer):
            return "lost" if new.uniform else "varying"
        return "fresh" if isinstance(new, Other) or isinstance(old, Other) else "lost"
    if d.varying:
        return "varying"
    return "affine"


def late_kind_of(old: Value, new: Value) -> str:
    """The kind of what the first iteration left alone and a later one does not: it goes in no equal steps."""
    kind = kind_of(old, new)
    if kind != "affine":
        return kind
    d = difference(new, old)
    return "uniform" if d is not None and d.uniform else "varying"


def confirmed(old: Value | None, before: Value, after: Value, kind: str, first: Value | None) -> str:
    """The kind that the second trial leaves standing."""
    if kind in ("fresh", "lost", "varying"):
        return kind
    if kind in ("moved", "roams"):
        if isinstance(after, Pointer) and isinstance(before, Pointer) and within(after, before):
            return kind
        return "roams" if kind == "moved" else "lost"
    d = difference(after, before)
    if d is None or d.varying:
        return "varying"
    if kind == "affine":
        planned = difference(first, old)
        if planned is not None and same(d, planned):
            return "affine"
        if isinstance(old, Int) and not old.uniform and not d.uniform:
            return "varying"
    return "uniform" if d.uniform else "varying"


def closed(old: Value | None, before: Value, after: Value) -> bool:
    """Whether an iteration that begins with a start and an unknown (kind `uniform`) ends with such a value: a
    multiple of the same number from the start, and within the same bounds."""
    assumed, found = difference(before, old), difference(after, old)
    if assumed is None or found is None or _content(found) % (_content(assumed) or 1):
        return False
    if not isinstance(before, Int) or not isinstance(after, Int):
        return True
    (low, high), (lowest, highest) = bounds(before), bounds(after)
    if high is not None and (highest is None or highest > high):
        return False
    return low is None or lowest is None or lowest >= low


def form_of(
    m: Machine,
    o: Object,
    old: Value | None,
    new: Value | None,
    kind: str,
    k: Symbol,
    after: Value | None = None,
    *,
    again: bool = False,
) -> Value:
    """What a changed variable is in the generic iteration. again: a first such form was not closed."""
    if kind == "fresh" and new is not None:
        return _of_any_iteration(new if old is None else old)
    d = difference(new, old)
    if kind == "affine" and d is not None and old is not None:
        return moved_by(old, multiply(d, Int(0, INT, {(k,): 1}), d.type))
    if kind == "uniform" and old is not None and d is not None:
        step = _content(d)
        if after is not None:
            moved = difference(after, old)
            step = _gcd(step, _content(moved)) if moved is not None and not again else 1
        low = high = None
        if isinstance(old, Int) and isinstance(new, Int) and old.uniform:
            low = 0 if (bounds(old)[0] or -1) >= 0 or old.key() == (0, ()) else None
            if low == 0 and again and isinstance(after, Int) and (bounds(after)[0] or 0) < 0:
                low = None
            if low == 0 and isinstance(after, Int) and not again:
                tops = [bounds(v)[1] for v in (old, new, after)]
                known = [t for t in tops if t is not None]
                high = max(known) if len(known) == 3 else None
            if low == 0 and old.known:
                step = _gcd(step, _content(old)) or 1
                s = m.unknowns.fresh(o.name, low=0, high=high, multiple=max(step, 1))
                return Int(0, old.type, {(s,): 1})
        s = m.unknowns.fresh(o.name, multiple=max(step, 1))
        return moved_by(old, Int(0, INT, {(s,): 1}))
    if kind in ("moved", "roams"):
        ways = [v for v in (old, new, after if kind == "roams" else None) if isinstance(v, Pointer)]
        return one_of(m, ways, o.name)
    reason = Unresolved(
        "loop-carried", f"`{o.name}` changes from iteration to iteration in a way that is not followed"
    )
    template = old if old is not None else new
    if isinstance(template, Int):
        both = [v for v in (old, new) if isinstance(v, Int)]
        lows, highs = [bounds(v)[0] for v in both], [bounds(v)[1] for v in both]
        uniform = all(v.uniform for v in both) and kind != "varying"
        low = 0 if all(x is not None and x >= 0 for x in lows) else None
        del highs
        return m.unknowns.value(template.type, o.name, varying=not uniform, low=low, reason=reason)
    if isinstance(template, Pointer):
        ends = [v.object for v in (old, new) if isinstance(v, Pointer)]
        if any(end is not template.object for end in ends):
            return lost_among(ends, "changes from iteration to iteration in a way that is not followed")
        s = m.unknowns.fresh(o.name, varying=True, reason=reason)
        return Pointer(template.object, Int(0, LONG, {(s,): 1}), template.pointee, template.integer)
    return _of_any_iteration(template) if template is not None else Other(None, False, reason)


def _of_any_iteration(v: Value) -> Value:
    """A float that changes, without the number or the bytes that it has in one iteration."""
    return replace(v, value=None, bits=None, near=None) if isinstance(v, Other) else v


def _content(v: Int | None) -> int:
    """What divides every value of v."""
    if v is None:
        return 1
    g = gcd_of(v.const)
    for mono, c in v.terms.items():
        g = _gcd(g, gcd_of(c) * multiple_of(mono))
    return g


def _gcd(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a


def moved_by(v: Value, d: Int) -> Value:
    """A number or pointer that went on by a number."""
    if isinstance(v, Int):
        return add(v, d, v.type)
    assert isinstance(v, Pointer)
    return Pointer(v.object, add(v.offset, d, LONG), v.pointee, v.integer)
