"""`c ? a : b`, `&&` and `||`: a side runs in the lanes that need it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import partial

from smemlint.evaluate.analysis.arms.branch_left import Left
from smemlint.evaluate.analysis.arms.pointer_selects import moves
from smemlint.evaluate.compiler.selects import differ_in_elements, note, one_of_elements
from smemlint.evaluate.compiler.slow_paths import may_end_the_line
from smemlint.evaluate.control_flow.contrary import by_sign
from smemlint.evaluate.control_flow.join_points import merge_into
from smemlint.evaluate.control_flow.launch_choices import decided_by_launch, either_value
from smemlint.evaluate.control_flow.masks import decode, restore, snapshot
from smemlint.evaluate.control_flow.settling import choice_at, differ, leave_open, settle, settled_at
from smemlint.evaluate.language.accesses import load, mention
from smemlint.evaluate.language.conversions import operand_of, truth
from smemlint.evaluate.language.destructors import full
from smemlint.evaluate.language.expression_types import type_of_expression
from smemlint.evaluate.language.names import shared_named
from smemlint.evaluate.machine.dispatch import lvalue, rvalue, unseen
from smemlint.evaluate.machine.machine import Machine, Mask
from smemlint.evaluate.memory.local_memory import here
from smemlint.evaluate.memory.merging import merge
from smemlint.evaluate.run.meeting import condition_key, line_of_arms
from smemlint.evaluate.run.selected import (
    is_asked_in_front,
    is_one_for_all,
    leaves_a_branch,
    reaches_memory,
)
from smemlint.evaluate.run.speculated import spare, speculate
from smemlint.evaluate.values import arithmetic as ar
from smemlint.evaluate.values.comparison import LARGE
from smemlint.evaluate.values.number import Int, add, collapse, form_of, subtract
from smemlint.evaluate.values.value import Other, Pointer, Value
from smemlint.evaluate.values.widths import common_type
from smemlint.ir import (
    STEPS,
    ArrayOf,
    Asm,
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Construct,
    Expr,
    FloatLiteral,
    Index,
    Literal,
    Name,
    PackSize,
    Scalar,
    SizeOf,
    Special,
    StaticMember,
    Unary,
    UnknownExpr,
)
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import BOOL, LONG
from smemlint.ir.uses import holds
from smemlint.ir.walk import names_in, walk

MOST_TYPED = 24
"""Nodes of an operand that is evaluated for its type alone."""


def logical_value(m: Machine, e: Binary) -> Value:
    """Short circuit: the right side runs in the lanes that need it."""
    line, m.lines.follows = m.lines.region, None
    guesses = m.unknowns.guesses
    left = rvalue(m, e.left)
    regions, guessed = continued(m, e.left), m.unknowns.guesses != guesses
    right = partial(rvalue, m, e.right)
    return short_circuit(
        m, e.op, left, e.right, right, line, regions, at=None if m.host else _choice(e), guessed=guessed
    )


@by_identity
def _choice(e: Binary) -> Conditional:
    """`a && b` as the choice that it is."""
    return Conditional(e.left, e.right, Literal(0))


def short_circuit(
    m: Machine,
    op: str,
    left: Value,
    e: Expr,
    evaluate: Callable[[], Value],
    line: int,
    regions: tuple[int, int],
    *,
    at: Conditional | None = None,
    guessed: bool = False,
) -> Value:
    """`left && e`, where evaluate tells what e is. regions: where code goes on for a left that is true, and
    for one that is false. at: the same as a choice; guessed: what the left side tells is open to the
    compiler."""
    left = here(m, ar.truth_of(truth(m, left), m.unknowns))
    if left.known and isinstance(left.const, int):
        if bool(left.const) != (op == "&&"):
            return left
        if guessed and not m.host:
            m.arm(
                regions[op == "||"], (op, m.lines.made if at is None else _line(m, at, left, together=False))
            )
        arm = m.lines.region
        right = ar.truth_of(truth(m, evaluate()), m.unknowns)
        if guessed and not m.host:
            m.lines.region, m.lines.follows = line, (arm, line) if op == "&&" else (line, arm)
        return right
    together = at is not None and left.uniform and not left.known and is_one_for_all(m, at.condition)
    named = m.lines.made if at is None else _line(m, at, left, together=together)
    m.arm(regions[op == "||"], (op, named))
    arm = m.lines.region
    condition = left if op == "&&" else ar.logical_not(left, m.unknowns)
    then = decode(m, condition, stays=True)
    keep = m.must, m.may
    before = snapshot(m) if _may_be_passed_over(condition, e) else None
    m.must, m.may = then.must, then.may
    right = ar.truth_of(truth(m, evaluate()), m.unknowns) if m.anyone() else Int(0, BOOL)
    right = _shared(right, m.may)
    m.must, m.may = keep
    m.lines.region, m.lines.follows = line, (arm, line) if op == "&&" else (line, arm)
    if before is not None:
        after = snapshot(m)
        restore(m, before)
        merge_into(m, ar.one_unknown(condition, m.unknowns), after)
    left = _shared(left, m.may)
    result = ar.logical_and(left, right) if op == "&&" else ar.logical_or(left, right)
    return ar.one_unknown(result, m.unknowns)


def _shared(c: Int, lanes: Mask) -> Int:
    """A truth value that these lanes share, as one number: beside it an unknown of all lanes stays one."""
    return Int(collapse(c.const, lanes), BOOL, None, c.form) if c.known else c


def asked(m: Machine, condition: Expr, senseless: int | None) -> Int:
    """What the condition of a loop or an `if` tells. senseless: what nobody writes it for; None: it makes
    sense either way. `while (i >= n) i -= n;` would never go round if `n` were large: where only the guess
    that a size is large tells all lanes so, the condition is left open."""
    since, assumed = m.unknowns.guesses, None if senseless is None or m.host else dict(m.journal.assumptions)
    c = here(m, ar.truth_of(truth(m, full(m, condition)), m.unknowns))
    if assumed is None or not c.known or LARGE not in m.unknowns.guessed[since:] or may_set(condition):
        return c
    told = collapse(c.const, m.may)
    if not isinstance(told, int) or told != senseless:
        return c
    m.journal.assumptions = assumed
    del m.unknowns.guessed[since:]
    m.unknowns.certain, certain = True, m.unknowns.certain
    c = asked_again(m, condition)
    m.unknowns.certain = certain
    return c


def asked_again(m: Machine, condition: Expr) -> Int:
    """What a condition tells that was asked before: it is no access of the program."""
    return here(m, ar.truth_of(truth(m, unseen(m, condition)), m.unknowns))


def continued(m: Machine, condition: Expr) -> tuple[int, int]:
    """The regions in which code goes on after a condition was found true, and false."""
    if isinstance(condition, Binary) and condition.op in ("&&", "||") and m.lines.follows is not None:
        return m.lines.follows
    return m.lines.region, m.lines.region


def conditional_value(m: Machine, e: Conditional) -> Value:
    return _conditional(m, e, rvalue)


def conditional_place(m: Machine, e: Conditional) -> Pointer | Value:
    return _conditional(m, e, lvalue)


def _conditional(m: Machine, e: Conditional, evaluate: Callable[[Machine, Expr], Value]) -> Value:
    keep_interior = m.unknowns.interior
    limits = not m.host and is_plain(e.then) and is_plain(e.otherwise) and not may_set(e.condition)
    m.unknowns.interior = keep_interior or limits
    guesses, assumed = m.unknowns.guesses, dict(m.journal.assumptions)
    line, m.lines.follows = m.lines.region, None
    c = here(m, ar.truth_of(truth(m, rvalue(m, e.condition)), m.unknowns))
    m.unknowns.interior = keep_interior
    if m.unknowns.guesses != guesses and not m.host and _only_chooses(m, e):
        certain, rests = m.unknowns.certain, m.unknowns.rests
        m.unknowns.certain, m.unknowns.rests = True, not certain
        m.journal.assumptions = assumed
        c = here(m, ar.truth_of(truth(m, rvalue(m, e.condition)), m.unknowns))
        m.unknowns.certain, m.unknowns.rests = certain, rests
    if c.known and id(e) in m.frame.slice.deciding and by_sign(m, e.condition):
        c = m.unknowns.value(BOOL, "either way", low=0, high=1)
    touched = m.code_size.touched
    roots = continued(m, e.condition)
    choice = None if c.known and m.unknowns.guesses == guesses else choice_at(m, e)
    settled = settled_at(m, choice, c)
    if settled is not None:
        settle(m, c, settled)
        return evaluate(m, e.then if settled else e.otherwise)
    guessed = m.unknowns.guesses != guesses
    early = evaluate is rvalue and speculate(m, c, (e.then, e.otherwise), guessed=guessed)
    first = len(m.log)
    if c.known and isinstance(c.const, int):
        leave_open(m, choice)
        open_to_nvcc = guessed or bool(form_of(c).terms)
        if open_to_nvcc:
            m.arm(roots[not c.const], ("?", _line(m, e, c, together=False)))
        arm = m.lines.region
        chosen = evaluate(m, e.then if c.const else e.otherwise)
        whole, other = m.lines.goes_on(arm), e.otherwise if c.const else e.then
        if open_to_nvcc:
            _log_fork(m, e, touched, together=False, aside=other)
        if early:
            spare(m, first)
        _go_on(m, line, whole=whole)
        if evaluate is rvalue and isinstance(chosen, Int):
            chosen = _of_common_type(m, chosen, other)
        return _chosen_by_launch(m, c, e, chosen, evaluate)
    if evaluate is rvalue and not early and _of_two_arrays(m, e):
        return _chosen_element(m, e, c)
    then = decode(m, c, stays=True)
    together = then.together and not c.known and is_one_for_all(m, e.condition)
    named = _line(m, e, c, together=together)
    otherwise = decode(m, ar.logical_not(c, m.unknowns), stays=True)
    keep = m.must, m.may
    before = snapshot(m) if _may_be_passed_over(c, e.then, e.otherwise) else None
    m.must, m.may = then.must, then.may
    m.arm(roots[0], ("?", named, True))
    began, arm = len(m.log), m.lines.region
    a = evaluate(m, e.then) if m.anyone() else None
    whole = m.lines.goes_on(arm)
    after = snapshot(m) if before is not None else None
    if before is not None:
        restore(m, before)
    m.must, m.may = otherwise.must, otherwise.may
    m.arm(roots[1], ("?", named, False))
    turned, arm = len(m.log), m.lines.region
    b = evaluate(m, e.otherwise) if m.anyone() else None
    whole = whole and m.lines.goes_on(arm)
    m.must, m.may = keep
    if early:
        spare(m, first)
    elif evaluate is rvalue:
        note(
            m,
            c,
            began,
            turned,
            (e.then, e.otherwise),
            one_of_elements(e) or differ_in_elements(e.then, e.otherwise),
        )
    _go_on(m, line, whole=whole)
    if after is not None:
        merge_into(m, ar.one_unknown(c, m.unknowns), after)
    aside = e.then if a is None else e.otherwise if b is None else None
    _log_fork(m, e, touched, together=together, aside=aside if c.known else None)
    if a is None or b is None:
        chosen = a if a is not None else b if b is not None else Other()
        if evaluate is rvalue and isinstance(chosen, Int):
            return _of_common_type(m, chosen, e.then if a is None else e.otherwise)
        return chosen
    if evaluate is rvalue and isinstance(a, Int) is not isinstance(b, Int):
        a, b = operand_of(m, a), operand_of(m, b)
    if evaluate is rvalue and isinstance(a, Int) and isinstance(b, Int) and a.type != b.type:
        t = common_type(a.type, b.type)
        if t.kind in ("int", "uint"):
            a, b = ar.convert(a, t, m.unknowns), ar.convert(b, t, m.unknowns)
    around, m.context.moves = m.context.moves, moves(e) if isinstance(a, Pointer) and not m.host else None
    merged = merge(m, c, a, b)
    m.context.moves = around
    if choice is not None and differ(m, a, b, merged):
        leave_open(m, choice)
    return merged


def _line(m: Machine, e: Conditional, c: Int, *, together: bool) -> Hashable:
    """What the operands of a choice are called, as in `line_of_arms`."""
    named = condition_key(m, e) or (show(e.condition) if c.known else form_of(c))
    named, perhaps = line_of_arms(m, e, c, named, together=together)
    if perhaps:
        m.stop("perhaps", 1)
    return named


def _go_on(m: Machine, line: int, *, whole: bool) -> None:
    """Go on behind a choice, in the line in front of it where no operand ends that."""
    if whole:
        m.lines.region = line
    else:
        m.straight()
        m.lines.parents[m.lines.region] = line
        m.stop("call")


def _log_fork(m: Machine, e: Conditional, touched: int, *, together: bool, aside: Expr | None = None) -> None:
    """Log what a choice leaves between what stands before and behind it. touched: the accesses before; aside:
    an operand that nobody takes, as the launch tells."""
    if m.host:
        return
    touches = m.code_size.touched > touched or (aside is not None and reaches_memory(m, aside))
    if aside is not None and may_end_the_line(aside) and not is_asked_in_front(m, e.condition, together):
        m.stop("perhaps", 1)
    left = leaves_a_branch(m, e.condition, (e.then, e.otherwise), touches=touches, together=together)
    if left is not Left.CHOICE:
        m.stop("fork" if left is Left.BRANCH else "perhaps")


def _of_two_arrays(m: Machine, e: Conditional) -> bool:
    """Whether elements of two shared arrays are chosen: then their addresses are, and one load follows."""
    return not m.task.as_written and chooses_arrays(m, e)


def chooses_arrays(m: Machine, e: Conditional) -> bool:
    """Whether a choice is between elements of several shared arrays, all of one type."""
    found = [_element_of(m, arm) for arm in _elements(e)]
    arrays = {o for o, _ in (x for x in found if x is not None)}
    return len(arrays) > 1 and None not in found and len({t for _, t in (x for x in found if x)}) == 1


def _elements(e: Expr) -> Iterator[Expr]:
    if isinstance(e, Conditional):
        yield from _elements(e.then)
        yield from _elements(e.otherwise)
    else:
        yield e


def _element_of(m: Machine, e: Expr) -> tuple[str, Scalar] | None:
    """The shared array, by id, of which an expression reads an element, and the element's type."""
    depth = 0
    while isinstance(e, Index):
        e, depth = e.base, depth + 1
    o = shared_named(m, e)
    if o is None or o.volatile:
        return None
    t = o.type
    while isinstance(t, ArrayOf) and depth:
        t, depth = t.element, depth - 1
    return (o.id, t) if isinstance(t, Scalar) and not depth else None


def _chosen_element(m: Machine, e: Conditional, c: Int) -> Value:
    keep = m.must, m.may
    found: list[Value] = []
    for arm, when in ((e.then, c), (e.otherwise, ar.logical_not(c, m.unknowns))):
        lanes = decode(m, when, stays=True)
        m.must, m.may = lanes.must, lanes.may
        if m.anyone():
            found.append(lvalue(m, arm))
        m.must, m.may = keep
    first = next(_elements(e))
    place = first.place if isinstance(first, Index) else None
    p = merge(m, c, *found) if len(found) == 2 else found[0]
    for arm in _elements(e):
        element = _element_of(m, arm)
        if arm is not first and element is not None:
            mention(m, "load", m.memory.shared[element[0]], element[1], arm)
    return load(m, p, place, first) if isinstance(p, Pointer) else p


def _chosen_by_launch(
    m: Machine, c: Int, e: Conditional, chosen: Value, evaluate: Callable[[Machine, Expr], Value]
) -> Value:
    """What a condition chose that only the launch decides: the compiler covers the other operand as well."""
    decision = decided_by_launch(m, c)
    if decision is None or not isinstance(chosen, Int | Pointer):
        return chosen
    v: Value | None = None
    other = e.otherwise if c.const else e.then
    if _tells_type(other):
        guessed, assumed = list(m.unknowns.guessed), dict(m.journal.assumptions)
        size, m.code_size = m.code_size, replace(m.code_size)  # loops around count in the one they know
        v = unseen(m, other, evaluate)
        m.unknowns.guessed, m.journal.assumptions, m.code_size = guessed, assumed, size
    anew = m.context.renews(names_in(e.condition))
    return either_value(m, decision, chosen, [v], "?", anew)


def _of_common_type(m: Machine, chosen: Int, other: Expr) -> Int:
    """A value in the type that the operand which is not taken gives it: `c ? -1 : 1u` is a large number."""
    found = type_of_expression(m, other)
    written = found.type if found is not None else None
    if written is None and _tells_type(other):
        guessed, assumed = list(m.unknowns.guessed), dict(m.journal.assumptions)
        v = unseen(m, other)
        m.unknowns.guessed, m.journal.assumptions = guessed, assumed
        written = v.type if isinstance(v, Int) else None
    if not isinstance(written, Scalar) or written.kind in ("float", "void") or written == chosen.type:
        return chosen
    t = common_type(chosen.type, written)
    return ar.convert(chosen, t, m.unknowns) if t.kind in ("int", "uint") else chosen


def _only_chooses(m: Machine, e: Conditional) -> bool:
    """Whether a condition that scale decides only chooses one of two numbers or places, and is no limit: of
    `i + 8 <= n ? 8 : n - i` blocks in the middle have the 8, but `n > 20 ? 8 : 4` is either, and what lanes
    are compared with may be any number."""
    c = e.condition
    if not (is_plain(c) and isinstance(c, Binary) and is_plain(e.then) and is_plain(e.otherwise)):
        return False
    sides = [unseen(m, x) for x in (c.left, c.right, e.then, e.otherwise)]
    if any(isinstance(v, Pointer) for v in sides[2:]):  # one of two places is as open as one of two numbers
        if c.op not in ("&&", "||"):
            return all(isinstance(v, Int) and v.uniform for v in sides[:2])
        return any(isinstance(v, Int) and v.uniform for v in sides[:2])
    if not all(isinstance(v, Int) for v in sides):
        return False
    left, right, then, otherwise = (v for v in sides if isinstance(v, Int))
    if c.op in ("&&", "||") or not (then.uniform and otherwise.uniform):
        return True
    if not (left.uniform and right.uniform):
        return False
    gap, choice = subtract(left, right, LONG), subtract(then, otherwise, LONG)
    if all(s.rank >= 3 for mono in gap.terms for s in mono):
        return True  # `n > 4 ? 3 : n` is either, as `min(n, 3)`
    rests = (subtract(choice, gap, LONG), add(choice, gap, LONG))
    return not any(r.known and isinstance(r.const, int) and abs(r.const) <= 1 for r in rests)


def _may_be_passed_over(c: Int, *sides: Expr) -> bool:
    """Whether sides may set something, or not, as c decides."""
    return not c.known and any(map(may_set, sides))


def _may_set(e: Expr) -> bool:
    return holds(e, (Assign, Asm, Call, Construct, UnknownExpr), STEPS)


@by_identity
def _tells_type(e: Expr) -> bool:
    """Whether an operand that is not taken may be evaluated for its type."""
    return not _may_set(e) and sum(1 for _ in walk(e)) <= MOST_TYPED


may_set = by_identity(_may_set)
"""Whether evaluating an operand may change a variable."""


def is_plain(e: Expr) -> bool:
    """Arithmetic on names and numbers: nothing is lost when it is not evaluated."""
    if isinstance(e, Literal | Name | Special | FloatLiteral | PackSize | SizeOf | StaticMember):
        return True
    if isinstance(e, Unary):
        return e.op in ("+", "-", "~", "!") and is_plain(e.operand)
    if isinstance(e, Binary):
        return is_plain(e.left) and is_plain(e.right)
    if isinstance(e, Cast):
        return is_plain(e.operand)
    return isinstance(e, Conditional) and all(is_plain(x) for x in (e.condition, e.then, e.otherwise))
