"""Integer operators on lanes plus uniform unknowns, against C on every choice of the unknowns."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle.values import Num, UndefinedError
from oracle.values import binary as c_binary
from oracle.values import convert as c_convert

from smemlint.evaluate.values import arithmetic
from smemlint.evaluate.values.number import Int, Symbol, bounds
from smemlint.evaluate.values.unknowns import Unknowns
from smemlint.ir import Scalar
from smemlint.ir.types import CHAR, INT, LONG, SHORT, UCHAR, UINT, ULONG

TYPES = (INT, UINT, LONG, ULONG)
LANES = np.arange(32, dtype=np.int64)
UNKNOWNS = (
    Symbol(1, "u", low=0),
    Symbol(2, "v", low=0, multiple=8),
    Symbol(3, "w", low=0, high=7),
    Symbol(4, "z", low=0, multiple=128),
)


class Sample:
    """An operand and what it is in each lane once the unknowns have values."""

    def __init__(self, value: Int, lanes: tuple[int, ...]) -> None:
        self.value = value
        self.lanes = lanes

    def __repr__(self) -> str:
        return repr(self.value)


SLOW = (HealthCheck.too_slow, HealthCheck.filter_too_much)
HASHES = (2654435761, 0x9E3779B97F4A7C15, 1664525, 0x80000000, 1 << 63, (1 << 64) - 1, 0xFF00FF00FF00FF00)
"""Factors and numbers that fill a register."""


def large(draw: st.DrawFn, type_: Scalar) -> int | np.ndarray:
    """Numbers of all widths, as the type holds them."""
    factor, start = draw(st.sampled_from(HASHES)), draw(st.sampled_from((0, 1, 12345, *HASHES)))
    if draw(st.booleans()):
        return int(c_convert(Num(factor * draw(st.integers(0, 40)) + start, LONG), type_).value)
    held = [c_convert(Num(factor * i + start, LONG), type_).value for i in range(32)]
    return np.array([kept(int(x)) for x in held], dtype=np.int64)


def kept(x: int) -> int:
    """A number of 64 bits as the evaluator keeps it: with a sign."""
    return (x + 2**63) % 2**64 - 2**63


def lanes_of(draw: st.DrawFn, low: int) -> int | np.ndarray:
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return draw(st.integers(low, 200))
    scaled = LANES * draw(st.sampled_from((1, 2, 4, 8, 32, 33))) + draw(st.integers(low, 40))
    if kind == 1:
        return scaled % draw(st.sampled_from((2, 8, 16, 5)))
    return scaled // draw(st.sampled_from((1, 1, 4, 3)))


@st.composite
def samples(draw: st.DrawFn, choice: dict[Symbol, int], low: int = 0, known: bool = False) -> Sample:
    const = lanes_of(draw, low)
    terms: dict[tuple[Symbol, ...], int | np.ndarray] = {}
    if not known:
        for symbol in draw(st.lists(st.sampled_from(UNKNOWNS), max_size=2, unique=True)):
            terms[(symbol,)] = draw(st.sampled_from((1, 2, 4, 8, 16, 32, 3, 100)))
            if draw(st.integers(0, 5)) == 0:
                terms[(symbol,)] = LANES * terms[(symbol,)] + 1
    type_ = draw(st.sampled_from(TYPES))
    if type_.kind == "uint":
        const = abs(const) if type_.size == 8 else const % (1 << 32)
    if known and not choice and draw(st.integers(0, 2)) == 0:
        const = large(draw, type_)
    total = np.broadcast_to(np.asarray(const), (32,)).astype(object)
    total = total + sum(np.asarray(c).astype(object) * choice[m[0]] for m, c in terms.items())
    if type_ == ULONG:
        total = total % 2**64
    const = kept(const) if isinstance(const, int) else const
    return Sample(Int(const, type_, terms), tuple(int(x) for x in total))


@st.composite
def choices(draw: st.DrawFn) -> dict[Symbol, int]:
    return {
        s: s.multiple * draw(st.integers(0, (s.high if s.high is not None else 3000) // s.multiple))
        for s in UNKNOWNS
    }


def check(result: Int, truth: list[int], choice: dict[Symbol, int], what: str) -> None:
    """The result must be able to be the truth, for some value of the unknowns that it introduced."""
    rest = np.asarray(truth, dtype=object) - np.broadcast_to(np.asarray(result.const), (32,)).astype(object)
    step, varying, coefficients = 0, False, []
    for monomial, coefficient in result.terms.items():
        if all(s in choice for s in monomial):
            rest = rest - np.broadcast_to(np.asarray(coefficient), (32,)).astype(object) * math.prod(
                choice[s] for s in monomial
            )
            continue
        varying |= any(s.varying for s in monomial) or not isinstance(coefficient, int)
        coefficients.append(coefficient)
        if isinstance(coefficient, int) and len(monomial) == 1:
            step = math.gcd(step, coefficient * monomial[0].multiple)
        else:
            step = 1
    if not coefficients:
        rest = (rest + 2**63) % 2**64 - 2**63
        assert not rest.any(), f"{what}: {result}, off by {rest.tolist()}"
        return
    if not varying:
        assert len(set(rest.tolist())) == 1, f"{what}: {result} is not off by one number: {rest.tolist()}"
    assert all(r % step == 0 for r in rest.tolist() if step), f"{what}: {result} steps by {step}"
    low, high = bounds(result)
    if all(s in choice or s.low is not None for m in result.terms for s in m):
        assert low is None or min(truth) >= low, f"{what}: {result} below {low}: {min(truth)}"
        assert high is None or max(truth) <= high, f"{what}: {result} above {high}: {max(truth)}"


def compared(op: str, a: Sample, b: Sample, choice: dict[Symbol, int]) -> None:
    try:
        truth = [
            c_binary(
                op,
                c_convert(Num(x, LONG), a.value.type),
                c_convert(Num(y, LONG), b.value.type),
            )
            for x, y in zip(a.lanes, b.lanes, strict=True)
        ]
    except UndefinedError:
        assume(False)
    if a.value.terms or b.value.terms:
        assume(all(abs(int(t.value)) < 1 << 63 for t in truth))
        if arithmetic.common_type(a.value.type, b.value.type).kind == "uint":
            # An unknown is not taken to become negative.
            assume(min(*a.lanes, *b.lanes) >= 0)
    if op == "*" and (a.value.terms or b.value.terms):
        # An unknown is taken not to overflow.
        assume(all(x * y < 1 << 31 for x, y in zip(a.lanes, b.lanes, strict=True)))
    result = arithmetic.binary(op, a.value, b.value, arithmetic.Unknowns(count=100))
    values = [kept(int(t.value)) for t in truth]
    check(result, values, choice, f"{a.value} {op} {b.value} with {[(s.name, v) for s, v in choice.items()]}")
    if op not in ("<", "<=", ">", ">=", "==", "!="):
        assert (result.type.size, result.type.kind) == (truth[0].type.size, truth[0].type.kind)


@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
@given(
    st.data(),
    st.sampled_from(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", ">", ">=", "==", "!=")),
)
def test_known_operands_give_what_c_gives(data: st.DataObject, op: str) -> None:
    a, b = data.draw(samples({}, -100, known=True)), data.draw(samples({}, -100, known=True))
    compared(op, a, b, {})


@settings(max_examples=400, deadline=None, suppress_health_check=SLOW)
@given(st.data(), choices(), st.sampled_from(("+", "*", "/", "%", "&", "|", "^", "<", "<=", ">", ">=")))
def test_a_uniform_unknown_never_makes_a_wrong_lane(
    data: st.DataObject, choice: dict[Symbol, int], op: str
) -> None:
    a = data.draw(samples(choice))
    b = data.draw(samples(choice, known=data.draw(st.booleans())))
    compared(op, a, b, choice)


@settings(max_examples=250, deadline=None, suppress_health_check=SLOW)
@given(
    st.data(),
    choices(),
    st.sampled_from(("/", "%", "&", "|", "^", ">>", "<<")),
    st.sampled_from((1, 2, 3, 4, 7, 8, 12, 16, 24, 31, 32, 33, 64, 96, 128, 255, ~3, ~31)),
)
def test_constants_cut_unknowns_where_their_factors_allow(
    data: st.DataObject, choice: dict[Symbol, int], op: str, constant: int
) -> None:
    if op in ("<<", ">>"):
        constant &= 7
    if op in ("/", "%"):
        constant = abs(constant)
    b = Sample(Int(constant), (constant,) * 32)
    compared(op, data.draw(samples(choice)), b, choice)


@settings(max_examples=150, deadline=None, suppress_health_check=SLOW)
@given(st.data(), choices(), st.sampled_from((CHAR, UCHAR, SHORT, INT, UINT, LONG)))
def test_conversions_keep_what_the_type_holds(
    data: st.DataObject, choice: dict[Symbol, int], target: Scalar
) -> None:
    a = data.draw(samples(choice, -300, known=data.draw(st.booleans())))
    truth = [int(c_convert(c_convert(Num(x, LONG), a.value.type), target).value) for x in a.lanes]
    first = [c_convert(Num(x, LONG), a.value.type).value for x in a.lanes]
    if a.value.terms:
        # An unknown is taken not to overflow, and not to make an unsigned number of a negative one.
        assume(list(a.lanes) == first and (target.kind != "uint" or min(a.lanes) >= 0))
        assume(target.size < 4 or truth == first)
    result = arithmetic.convert(a.value, target, arithmetic.Unknowns(count=100))
    check(result, truth, choice, f"({target.name}) {a.value} with {[(s.name, v) for s, v in choice.items()]}")


def test_lanes_of_an_unsigned_sum_that_wrapped_stand_beside_those_that_did_not() -> None:
    """`(x + m) + (5 - x)` is `m + 5` in all lanes, also in those above 5, where `5 - x` wraps."""
    table = Unknowns()
    x, m = Int(LANES, UINT), table.value(INT, "m", low=0)
    left = arithmetic.binary("+", x, m, table)
    right = arithmetic.binary("-", Int(5), x, table)
    found = arithmetic.binary("+", left, right, table)
    assert np.array_equal(np.broadcast_to(found.const, (32,)), np.full(32, 5))
