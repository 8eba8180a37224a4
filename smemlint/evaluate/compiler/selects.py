"""Accesses in both arms of a condition that run as one.

`c ? s[i] : s[j]` is one load, in the lanes of both arms: the compiler chooses the address, then loads. So is
a load of one address with which both arms begin (docs/dev/joining.md). What becomes of stores to one address
with which both arms end is told by `stored_by_both`. In: the log. Out: the log with one access for the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import TypeAlias

import numpy as np

from smemlint.evaluate.analysis.arms.behind_arms import Behind, behind_arms
from smemlint.evaluate.analysis.arms.chosen_values import Pair, chosen_values, is_of_one_value
from smemlint.evaluate.analysis.arms.leading_addresses import reads_alike
from smemlint.evaluate.analysis.purity import computes
from smemlint.evaluate.compiler.hoist import reads_first
from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.compiler.sink import nowhere
from smemlint.evaluate.machine.components import Journal
from smemlint.evaluate.machine.machine import Barrier, Event, Machine
from smemlint.evaluate.machine.state import Selected
from smemlint.evaluate.memory import merging
from smemlint.evaluate.values.number import Int
from smemlint.evaluate.values.value import same
from smemlint.ir import (
    STEPS,
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Evaluate,
    Expr,
    FloatLiteral,
    Function,
    If,
    Index,
    Literal,
    Member,
    Name,
    Scalar,
    Stmt,
    Unary,
)
from smemlint.ir.expr import is_element
from smemlint.ir.memo import by_identity
from smemlint.ir.show import show
from smemlint.ir.types import element_type
from smemlint.ir.uses import assignment, only_statement, statements
from smemlint.ir.walk import children, nodes_of, walk

_COMPUTES = (tuple, Block, Evaluate, Assign, Binary, Unary, Cast, Call, Member, Name, Literal, FloatLiteral)
Node: TypeAlias = "Expr | Stmt | None"
Both: TypeAlias = "tuple[tuple[Event, Int], tuple[Event, Int]]"
"""An access of each arm, with its address."""


def note(
    m: Machine,
    c: Int,
    then: int,
    otherwise: int,
    arms: tuple[Node, Node],
    chosen: bool,
    at: If | None = None,
) -> None:
    """Remember which loads of two arms run as one.

    then, otherwise: where in the log the arms begin; the second ends where the log does. arms: the code of
    both. chosen: they differ in nothing but which elements they read. at: the `if`.
    """
    if m.silent or otherwise == len(m.log) or then == otherwise:
        return
    first, second = m.log[then:otherwise], m.log[otherwise:]
    together = not c.known and not any(s.varying for mono in c.terms for s in mono)
    perhaps = False
    laddered = isinstance(only_statement(arms[1]), If)
    behind = what_is_behind(m, at)
    kept_apart = _is_kept_apart(m, at)
    if (together or laddered or not chosen) and not m.task.as_written:
        if not kept_apart and note_values(m, c, first, second, chosen_values(*arms)):
            return
        chosen = is_of_one_value(*arms) or (laddered and not together and chosen)
        perhaps = not together and not chosen
        if perhaps and note_values(m, c, first, second, chosen_values(*arms, tail=True), perhaps=True):
            return
        chosen = chosen or (perhaps and is_of_one_value(*arms, tail=True))
    if chosen:
        if kept_apart:
            return
        pairs = _pairs(m, first, second)
        if behind is not Behind.STEP and _ends_in_a_store(arms[1]):
            pairs = [(other, one) for one, other in pairs]  # on the line of the second
        for (one, address), (other, there) in _of_one_place_each(pairs, arms):
            kept = one.site.op == "store" and same(address, there)  # see `stored_by_both`
            if alike_accesses(m, one, other, one.site.op) and not _is_vector(one) and not kept:
                here, beside = (address, there) if one.order < other.order else (there, address)
                offset = merging.merge(m, c, here, beside)
                assert isinstance(offset, Int)
                m.journal.selected.append(Selected(one.order, other.order, offset, perhaps))
        return
    apart = _adds_what_differs(arms, together)
    heads = islice(zip(_head(first, arms[0]), _head(second, arms[1]), strict=False), reads_alike(*arms))
    for a, b in heads:
        of_both = one_offset(a, b) if alike_accesses(m, a, b) else None
        if of_both is None or (apart and not is_fixed(of_both)):
            return
        line = m.lines.parents.get(a.region)
        m.journal.selected.append(Selected(a.order, b.order, of_both, line=line))


def note_values(
    m: Machine,
    c: Int,
    first: Sequence[Event | Barrier],
    second: Sequence[Event | Barrier],
    pairs: Sequence[Pair],
    *,
    perhaps: bool = False,
) -> bool:
    """Remember that of each pair of elements one is loaded, or perhaps; whether there is any such."""
    found = False
    for one, other in pairs:
        a, b = (
            [e for e in log if isinstance(e, Event) and e.site.node is node]
            for log, node in ((first, one), (second, other))
        )
        if len(a) == len(b) == 1 and alike_accesses(m, a[0], b[0]):
            offset = merging.merge(m, c, _offset(m, a[0]), _offset(m, b[0]))
            assert isinstance(offset, Int)
            m.journal.selected.append(Selected(a[0].order, b[0].order, offset, perhaps))
            found = True
    return found


def _offset(m: Machine, e: Event) -> Int:
    """The address of an access that may stand for those of several arms already."""
    return next((s.offset for s in reversed(m.journal.selected) if s.kept == e.order), e.offset)


def _ends_in_a_store(arm: Node) -> bool:
    """Whether the last statement of an arm sets more than a variable."""
    last = statements(arm)[-1:]
    return any(isinstance(s, Evaluate) and is_element(a.target) for s in last if (a := assignment(s)))


def _pairs(m: Machine, first: Sequence[Event | Barrier], second: Sequence[Event | Barrier]) -> list[Both]:
    """Accesses of two arms that run as one, with their addresses."""
    one, other = _only_load(m, first), _only_load(m, second)
    if one is not None and other is not None:
        return [(one, other)]
    a, b = ([e for e in log if isinstance(e, Event)] for log in (first, second))
    if len(a) != len(first) or len(b) != len(second) or [e.site.op for e in a] != [e.site.op for e in b]:
        return []
    if any(_side_by_side(x, y) for x, y in combinations(a, 2)):
        return []  # they join, whichever element is chosen
    return [((x, x.offset), (y, y.offset)) for x, y in zip(a, b, strict=True)]


def _of_one_place_each(pairs: list[Both], arms: tuple[Node, Node]) -> Iterator[Both]:
    """The pairs of which the compiler chooses the address. It chooses none for a value that is made of
    several elements (`s[0] * s[3]` or `s[1] * s[2]`), if the addresses of one pair are numbers."""
    made: dict[str, set[int]] = {}
    for n in statements(arms[0]):
        a = assignment(n)
        name = a.target.id if a is not None and isinstance(a.target, Name) else f"{len(made)}"
        made.setdefault(name, set()).update(id(x) for x in walk(n) if is_element(x))
    kept: set[int] = set()
    for elements in made.values():
        differ = [p for p in pairs if not same(p[0][1], p[1][1])]
        within = [p for p in differ if elements & {id(p[0][0].site.node), id(p[1][0].site.node)}]
        if len(within) > 1 and any(is_fixed(p[0][1]) and is_fixed(p[1][1]) for p in within):
            kept |= {p[0][0].order for p in within}
    yield from (pair for pair in pairs if pair[0][0].order not in kept)


def is_fixed(offset: Int) -> bool:
    """Return whether an address is a number."""
    return isinstance(offset.const, int) and not offset.terms


def _side_by_side(a: Event, b: Event) -> bool:
    """Whether two members of an element are accessed."""
    return (
        a.site.object is b.site.object and isinstance(a.site.node, Member) and isinstance(b.site.node, Member)
    )


def _is_vector(e: Event) -> bool:
    """Whether an access is of several numbers at once: each arm has its own."""
    t = element_type(e.site.object.type)
    return e.site.width > t.size if isinstance(t, Scalar) else not isinstance(e.site.node, Member)


def one_offset(a: Event, b: Event) -> Int | None:
    """Return the address of an access of both arms; None where they may have one each. In an arm of few lanes
    it may be told for these alone: then the other arm tells it, or each its own lanes', if both are written
    alike."""
    if same(a.offset, b.offset):
        return a.offset
    x, y = (Int(0, e.offset.type, e.offset.terms) for e in (a, b))
    one, other = a.site.node, b.site.node
    if one is None or other is None or show(one) != show(other) or not same(x, y):
        return None
    apart = np.broadcast_to(np.asarray(a.offset.const != b.offset.const), a.may.shape)
    for part, whole in ((a, b), (b, a)):
        if not (apart & part.may).any():
            return whole.offset
    if any(isinstance(e.offset.const, int) for e in (a, b)) and not (a.may & b.may).any():
        return Int(np.where(b.may, b.offset.const, a.offset.const), a.offset.type, a.offset.terms)
    return None


def _only_load(m: Machine, log: Sequence[Event | Barrier]) -> tuple[Event, Int] | None:
    """The one load that an arm is, with its address: an arm may itself be a choice."""
    chosen = m.journal.selected[-len(log) :] if len(log) > 1 else []
    gone = {s.other for s in chosen}
    left = [
        e
        for e in log
        if (
            e.order not in gone
            if isinstance(e, Event)
            else not gone or e.stop not in ("fork", "perhaps", "assert")
        )
    ]
    if len(left) != 1 or not isinstance(left[0], Event):
        return None
    one = left[0]
    return one, next((s.offset for s in reversed(chosen) if s.kept == one.order), one.offset)


def _adds_what_differs(arms: tuple[Node, Node], together: bool) -> bool:
    """Whether arms begin with `s[i] += x`, where what they add is computed first, and is not the same.
    together: all lanes take the same arm."""
    first = [assignment(s) for arm in arms for s in statements(arm)[:1]]
    added = [a for a in first if a is not None and a.op != "="]
    computed = any(isinstance(n, Binary | Call) for a in added for n in walk(a.value))
    if not computed or len({show(a.value) for a in added}) == 1:
        return False
    return together or len({a.op for a in added}) > 1


def _head(log: Sequence[Event | Barrier], arm: Node) -> Iterator[Event]:
    """The loads with which an arm begins, before it does anything else with memory."""
    for e, place in zip(log, reads_first(arm), strict=False):
        if not isinstance(e, Event) or e.site.place != place or e.site.op != "load":
            return
        yield e


def _is_kept_apart(m: Machine, at: If | None) -> bool:
    """Whether another way meets the arms of an `if` behind it, and brings no element of its own."""
    f = m.frame.function
    while at is not None and what_is_behind(m, at) is Behind.JOIN:
        around = None if f is None else _ladders(f).get(id(at))
        if around is None:
            return True
        at = around
    return False


@by_identity
def _ladders(f: Function) -> Mapping[int, If]:
    """By id() of each `if` that is an arm of another one of which all arms give an element, that one."""
    found: dict[int, If] = {}
    for n in nodes_of(f.body):
        if isinstance(n, If) and (alike(n) or chosen_values(n.then, n.otherwise)):
            found |= {id(only_statement(arm)): n for arm in (n.then, n.otherwise) if arm is not None}
    return found


@by_identity
def alike(s: If) -> bool:
    """Whether the arms of an `if` give one variable an element, or differ in elements alone."""
    target = gives_element(s.then)
    if target is not None and target == gives_element(s.otherwise):
        return True
    return differ_in_elements(s.then, s.otherwise)


def what_is_behind(m: Machine, at: If | None) -> Behind:
    """Return what comes behind an `if` of the function that runs."""
    f = m.frame.function
    found = None if at is None or f is None else behind_arms(f).get(id(at))
    if found is Behind.CODE and m.context.loops:
        return Behind.LOOPED  # of a function that is called there
    return found or Behind.LOOPED


def alike_accesses(m: Machine, a: Event, b: Event, op: str = "load") -> bool:
    """Return whether accesses of two arms may be one instruction, if their addresses allow it."""
    return (
        a.site.op == b.site.op == op
        and a.site.object is b.site.object
        and a.site.width == b.site.width
        and not (a.volatile or b.volatile)
        and a.choice is b.choice is None
        and not {a.order, b.order} & m.journal.sunk.keys()
    )


def merge(log: Log, journal: Journal) -> Log:
    """Put one access in the place of two, and none in that of idle loads. A site may be left without any."""
    if not journal.selected and not journal.idle:
        return log
    there = {e.order: e for e in log.events if not nowhere(journal, e)} if journal.selected else {}
    gone = set(journal.idle)
    merged: set[int] = set()
    anew: dict[int, Event] = {}
    for s in journal.selected:
        kept, other = anew.get(s.kept) or there.get(s.kept), anew.get(s.other) or there.get(s.other)
        if kept is None or other is None or s.kept in merged or s.other in merged:
            continue
        may = kept.may | other.may
        if s.perhaps:
            guessed = kept.at_edge is not other.at_edge
            must = np.zeros_like(kept.must) if guessed else kept.must
            anew[s.kept] = replace(kept, offset=s.offset, must=must, may=may, perhaps=True)
            must = np.zeros_like(other.must) if guessed or s.line is not None else other.must
            anew[s.other] = replace(other, offset=s.offset, must=must, may=may, perhaps=True)
            continue
        line = kept.region if s.line is None else s.line
        anew[s.kept] = replace(
            kept,
            offset=s.offset,
            must=kept.must | other.must,
            may=may,
            region=line,
            at_edge=kept.at_edge and other.at_edge,
        )
        merged.add(s.other)
    return log.without(gone | merged, anew)


def one_of_elements(e: Expr) -> bool:
    """Whether an expression just reads an element, or one of several."""
    if isinstance(e, Conditional):
        return one_of_elements(e.then) and one_of_elements(e.otherwise)
    return is_element(e)


def gives_element(s: Stmt | None) -> str | None:
    """The variable that a statement gives an element, if that is all it does."""
    s = only_statement(s)
    if isinstance(s, If) and s.otherwise is not None:
        given = gives_element(s.then)
        return given if given == gives_element(s.otherwise) else None
    if not isinstance(s, Evaluate) or not isinstance(s.expr, Assign) or s.expr.op != "=":
        return None
    target = s.expr.target
    return target.id if isinstance(target, Name) and one_of_elements(s.expr.value) else None


def differ_in_elements(then: Node, otherwise: Node) -> bool:
    """Whether two arms are the same code but for the elements that they name."""
    shape = _shape(then)
    return shape is not None and shape == _shape(otherwise) and not _stores_early(then)


def _stores_early(arm: Node) -> bool:
    """Whether an arm stores anything before its end."""
    sets = [a.target for s in statements(arm) if (a := assignment(s))]
    return any(not isinstance(target, Name) for target in sets[:-1])


def _shape(node: object) -> tuple[object, ...] | None:
    """What is left of code without the indices in it; None where it does more than compute and set. The arms
    of a ladder of `else if` are alike."""
    if isinstance(node, If) and node.otherwise is not None:
        return _shape(node.then) if differ_in_elements(node.then, node.otherwise) else None
    if isinstance(node, Block) and len(node.body) == 1:
        return _shape(node.body[0])
    if isinstance(node, Index):
        inner = _shape(node.base)
        return None if inner is None or any(map(is_element, walk(node.index))) else ("[]", *inner)
    if isinstance(node, Call) and not computes(node):
        return None
    if not isinstance(node, _COMPUTES) or (isinstance(node, Unary) and node.op in (*STEPS, "*")):
        return None
    parts = [_shape(child) for child in children(node) if not isinstance(child, Scalar)]
    if None in parts:
        return None
    own = (getattr(node, name, None) for name in ("op", "id", "name", "value", "type"))
    return (type(node).__name__, *(x for x in own if isinstance(x, str | int | float | Scalar)), *parts)
