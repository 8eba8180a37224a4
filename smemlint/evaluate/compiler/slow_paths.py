"""Arithmetic that nvcc compiles to more than a straight line: a call, predicates, branches or a loop.

What stands between two accesses decides whether they join (docs/dev/joining.md); `toolkit/compiled` says
which functions do so.
"""

from __future__ import annotations

import math
import re
from enum import Enum, auto

import numpy as np

from smemlint.evaluate.compiler.function_sizes import function_size, is_special
from smemlint.evaluate.machine.functions import called, short_name
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.model import Stop
from smemlint.evaluate.values.number import Int, form_of
from smemlint.evaluate.values.value import Other, Pointer, RecordValue, Value
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Call,
    Expr,
    FloatLiteral,
    Function,
    Index,
    Literal,
    Loop,
    Member,
    Name,
    Place,
    RecordRef,
    Scalar,
)
from smemlint.ir.expr import is_element, uncast
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import BFLOAT16, HALF
from smemlint.ir.uses import holds
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.patterns import pattern
from smemlint.toolkit.compiled import Code, code_of, plain_name
from smemlint.toolkit.model import Effect
from smemlint.toolkit.numbers import NARROW
from smemlint.toolkit.table import effect_of

_INTRINSICS: tuple[tuple[re.Pattern[str], Stop], ...] = (
    (pattern(r"__[fd](?:sqrt|rcp|div)_r[nzdu]"), "call"),
    (pattern(r"__frsqrt_rn|__hdiv|__h2div|h2div"), "fork"),
    (pattern(r"fdividef"), "predicate"),
)
_SCALES = pattern(r"__fdividef")
"""Functions that scale their operands in place, under a predicate: one that was stored in front stands so."""
_COPIED = pattern(
    r"a(?:cosh|sinh|tanh?)|(?:cos|sin)pi|erf(?:c?inv)?|log(?:2|10|1p|b)?|normcdf(?:inv)?|nextafter"
)
_COPIED_IN_ARMS = pattern(r"log(?:2|10|1p)?")
"""Those of floats with a rare case of which the optimiser makes copies of a loop that disappears."""
_BARRIERS = pattern(r"v?printf|__nanosleep")
_OPAQUE = pattern(
    r"__ld(?:g|c[agsv]|lu)|__st(?:wb|c[gs]|wt)|atomic\w+|__dp[24]a\w*|clock(?:64)?"
    r"|__(?:low|high)2float|__(?:half|bfloat16)2float"
)
"""Functions that CUDA's headers or the compiler make of assembler."""
_OPAQUE_NARROW = frozenset(f.name for f in NARROW if "_as_" not in f.name and not f.name.startswith("make_"))
"""The same of half and bfloat16: all but those that only rename bits."""
_PAIRS = frozenset(("half2", "__half2", "nv_bfloat162", "__nv_bfloat162"))
_EXCHANGES = pattern(
    r"__shfl\w*|__(?:any|all|ballot|uni)(?:_sync)?|__activemask|__match_\w+|__reduce_\w+_sync"
)
"""Those by which lanes tell each other numbers: they stay in their loops, and what stands there does."""


def function_stops(m: Machine, name: str, operands: list[Value], e: Call) -> None:
    """Log what a call of a library function keeps apart, and count its code."""
    if m.host:
        return
    short = short_name(name)
    plain, size = _function(short, operands)
    operations = function_size(plain, size)
    m.code_size.operations += operations
    m.code_size.special += max(operations // 3, 1) if is_special(short, plain, size) else 0
    if _BARRIERS.fullmatch(short):
        m.barrier()
        return
    for names, kind in _INTRINSICS:
        if names.fullmatch(short):
            if kind == "call":
                _log_call(m, kind, e.arguments, e.place)
            else:
                m.stop(kind, id(e.place))
            return
    if _SCALES.fullmatch(short):
        if m.frame.function is None or id(e) in _scaled_in_place(m.frame.function):
            m.stop("predicate")
        return
    made = code_of(plain, size)
    if made is Code.BRANCHES:
        m.straight()
    elif made is Code.PREDICATES:
        in_an_arm = bool(m.context.undecided) or bool((m.may != m.threads.present).any())
        copied = _COPIED_IN_ARMS if in_an_arm else _COPIED
        if not (size == 4 and copied.fullmatch(plain) and _has_copies(m, e.arguments)):
            m.stop("fork")
    elif made is Code.CALL:
        _log_call(m, "call", e.arguments, e.place)


@by_identity
def may_end_the_line(code: object) -> bool:
    """Return whether code that was not run may keep apart what stands in front of it and behind: a loop, a
    division, a function with branches or a call."""
    return any(map(_may_end, walk(code)))


def _may_end(n: object) -> bool:
    if isinstance(n, Call):
        short = short_name(called(n))
        slow = any(code_of(plain_name(short)[0], size) in (Code.BRANCHES, Code.CALL) for size in (4, 8))
        return slow or any(names.fullmatch(short) for names, kind in _INTRINSICS if kind == "call")
    if isinstance(n, Binary):
        return n.op in ("/", "%") and not isinstance(n.right, Literal)
    return isinstance(n, Loop) or (isinstance(n, Assign) and n.op in ("/=", "%="))


@by_identity
def _scaled_in_place(f: Function) -> frozenset[int]:
    """The id() of each such call with an operand that was stored in front, and is not needed behind."""
    nodes = nodes_of(f.body)
    given = [n for n in nodes if isinstance(n, Assign) and n.value is not None]
    stored = {show(n.value): n for n in reversed(given) if is_element(n.target)}
    found: set[int] = set()
    for call in nodes:
        if not isinstance(call, Call) or not _SCALES.fullmatch(called(call)) or call.place is None:
            continue
        needed = {n.id for n in nodes if isinstance(n, Name) and _stands_behind(n, call.place)}
        needed |= {
            n.target.id
            for n in given
            if n.op != "=" and isinstance(n.target, Name) and any(x is call for x in walk(n.value))
        }
        for a in () if _is_number(call.arguments[-1]) else call.arguments:
            if show(a) in stored and not (isinstance(a, Name) and a.id in needed):
                found.add(id(call))
    return frozenset(found)


def _is_number(e: Expr) -> bool:
    return isinstance(uncast(e), Literal | FloatLiteral)


def _stands_behind(n: Name, place: Place) -> bool:
    return n.place is not None and n.place.offset > place.end_offset


def _log_call(m: Machine, kind: Stop, of: Expr | tuple[Expr, ...], place: Place | None) -> None:
    """Log a calculation that machine code calls a function for, where it is made."""
    made = where_made(m, of)
    if made is not Made.BEFORE:
        m.stop(kind, id(place), front=made if isinstance(made, int) else None)


def _has_copies(m: Machine, of: tuple[Expr, ...]) -> bool:
    """Whether loops that disappear have copies for each case of a function: all lanes and rounds have one."""
    return bool(m.context.unrolled) and where_made(m, of) is not Made.HERE and _is_of_the_launch(m, of)


def _is_of_the_launch(m: Machine, of: tuple[Expr, ...]) -> bool:
    """Whether a calculation is made of the kernel's arguments alone."""
    f, names = m.frame.function, _variables_in(of)
    if f is None or names is None or len(m.frames) > 1:
        return False
    return bool(names) and names <= {v.id for v in f.parameters} - m.code.changes(f, f).variables


class Made(Enum):
    """Where a calculation is made that stands in a loop."""

    HERE = auto()
    BEFORE = auto()
    """In front of a loop around that stays one, or in an earlier round of one that disappears."""


def where_made(m: Machine, of: Expr | tuple[Expr, ...]) -> Made | int:
    """Return where a calculation is made; of one that no round of the loops around changes, which disappear:
    what the order of the log was in front of them."""
    if m.host or len(m.frames) > 1 or not m.context.loops:
        return Made.HERE
    names = _variables_in(of)
    found: Made | int = Made.HERE
    for exits in reversed(m.context.loops):
        if exits.switch:
            continue
        if names is None or not names.isdisjoint(exits.changes.variables):
            break
        if exits.stays or exits.round:
            return Made.BEFORE
        found = exits.began
    return found


@by_identity
def _variables_in(of: Expr | tuple[Expr, ...]) -> frozenset[str] | None:
    """The variables that a calculation is made of; None of one that does more, or reads memory."""
    calls = (n for n in walk(of) if isinstance(n, Call))
    if not all(effect_of(called(n)) is Effect.ARITHMETIC for n in calls):
        return None
    return None if holds(of, (Assign, Index, Member), ("*", *STEPS)) else names_in(of)


def opaque_stop(m: Machine, name: str) -> None:
    """Log that a function is assembler to the optimiser."""
    if m.host:
        return
    short = short_name(name)
    if short in _OPAQUE_NARROW or _OPAQUE.fullmatch(short):
        m.stop("opaque")
    elif _EXCHANGES.fullmatch(short):
        m.stop("exchange")


def narrow_stops(m: Machine, *values: Value) -> None:
    """Log that arithmetic on these is assembler to the optimiser: operators of half, bfloat16 and pairs."""
    if not m.host and any(map(_is_narrow, values)):
        m.stop("opaque")


def conversion_stops(m: Machine, v: Value, t: Scalar) -> None:
    """Log that a conversion is assembler to the optimiser: one to or from half or bfloat16."""
    if not m.host and (t in (HALF, BFLOAT16) or _is_narrow(v)):
        m.stop("opaque")


def _is_narrow(v: Value) -> bool:
    """Whether this is a half, a bfloat16 or a pair of them, or the place of one."""
    t = v.pointee if isinstance(v, Pointer) else v.type if isinstance(v, Other | RecordValue) else None
    return t in (HALF, BFLOAT16) or (isinstance(t, RecordRef) and t.name in _PAIRS)


def division_stops(m: Machine, a: Value, b: Value, place: Place | None, made: Made | int) -> None:
    """Log what a division `a / b` (or `a % b` of integers) keeps apart. made: where it is."""
    if m.host:
        return
    stop = _division(a, b)
    if stop is not None:
        m.code_size.special += 1
    if stop is not None and made is not Made.BEFORE:
        # That of integers of 64 bits has branches of its own: it ends the block.
        whole = isinstance(a, Int) and isinstance(b, Int)
        front = made if isinstance(made, int) and not (whole and m.context.undecided) else None
        m.stop(stop, 0 if whole else id(place), front=front)


def _division(a: Value, b: Value) -> Stop | None:
    if isinstance(a, Int) and isinstance(b, Int):
        return _integer_division(a, b)
    return _float_division(a, b)


def _integer_division(a: Int, b: Int) -> Stop | None:
    if b.known and not form_of(b).terms:
        return None
    if max(a.type.size, b.type.size) == 8:
        return "call"
    return "predicate" if a.type.kind == b.type.kind == "int" else None


def _float_division(a: Value, b: Value) -> Stop | None:
    types = [v.type for v in (a, b) if isinstance(v, Other)]
    sizes = [t.size for t in types if isinstance(t, Scalar) and t.kind == "float"]
    if not sizes:
        return None
    # What differs from lane to lane is no constant of the compiler.
    of, by = _constant(a), _constant(b)
    if by is not None and (of is not None or _is_power_of_two(by, max(sizes))):
        return None  # folded, or a product
    return "fork" if max(sizes) == 2 else "call"


def _constant(v: Value) -> float | None:
    """The number that the compiler computes with, if it knows it: also an integer, as in `sum / 8`."""
    if isinstance(v, Int):
        same_in_all = v.known and not form_of(v).terms and np.ndim(v.const) == 0
        return float(np.asarray(v.const)) if same_in_all else None
    return v.value if isinstance(v, Other) and isinstance(v.value, float) else None


def _is_power_of_two(v: float, size: int) -> bool:
    """Whether a number is one as a float of so many bytes, up to its sign."""
    return math.frexp(v if size == 8 else np.float32(v))[0] in (0.5, -0.5)


def _function(name: str, operands: list[Value]) -> tuple[str, int]:
    """A function's name without the `f` of floats, and 4 for floats, 8 for doubles: `sqrtf`, and `sqrt` by
    its argument."""
    plain, of_floats = plain_name(name)
    if of_floats:
        return plain, 4
    sizes = [v.type.size for v in operands if isinstance(v, Other) and isinstance(v.type, Scalar)]
    return name, 4 if sizes and max(sizes) <= 4 else 8
