"""Objects with destructors: which have one, and what is noted when their lives begin."""

from __future__ import annotations

from collections.abc import Iterator

from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.types.bases import bases_of
from smemlint.evaluate.values.value import Object
from smemlint.ir import ArrayOf, Block, Function, Literal, Module, RecordRef, Type
from smemlint.ir.memo import by_identity
from smemlint.ir.types import own_name


@by_identity
def has_destructors(module: Module) -> bool:
    """Return whether any class of a program has a destructor."""
    return any(name.startswith("~") for name in module.methods)


Ending = tuple[int, RecordRef, Function]
"""A destructor to run: the byte at which its object begins, the class."""
MOST_ELEMENTS = 64
"""Objects of an array that end one by one."""


def endings(m: Machine, t: Type) -> tuple[Ending, ...]:
    """Return the destructors that run where an object ends, in order: its own, its members', its bases'."""
    if not has_destructors(m.module):
        return ()
    known = m.memo.endings.get(t)
    if known is None:
        known = m.memo.endings[t] = tuple(_endings(m, t))
    return known


def _endings(m: Machine, t: Type) -> Iterator[Ending]:
    if isinstance(t, ArrayOf):
        size, of = m.types.size_of(t.element), endings(m, t.element)
        count = t.extent.value if isinstance(t.extent, Literal) else 0
        if of and size is not None and count <= MOST_ELEMENTS:
            yield from ((i * size + at, u, f) for i in reversed(range(count)) for at, u, f in of)
    found = m.types.record_of(t)
    if found is None or not isinstance(t, RecordRef):
        return
    own = own_name(found[0].name)
    for id in found[0].methods.get(f"~{own}", ())[:1]:
        f = m.module.functions.get(id)
        if f is not None and not (isinstance(f.body, Block) and not f.body.body):
            yield 0, t, f
    layout = m.types.layout(t)
    if layout is None or found[0].union:
        return
    bases = list(bases_of(m.types, t))
    inherited = {name for _, _, inner in bases for name in inner.fields} - {f.name for f in found[0].fields}
    for name, (at, ft) in reversed([*layout.fields.items()]):
        if name not in inherited and isinstance(ft, RecordRef | ArrayOf):
            yield from ((at + k, u, f) for k, u, f in endings(m, ft))
    for base, at, _ in reversed(bases):
        yield from ((at + k, u, f) for k, u, f in endings(m, base))


def begin_life(m: Machine, o: Object) -> None:
    """Note a variable or temporary of device code whose destructor is to run."""
    if endings(m, o.type):
        m.frame.live.append(o)
