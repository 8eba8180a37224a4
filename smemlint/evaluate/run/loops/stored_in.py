"""Loops of which the optimiser knows less than their rounds say, so that neighbours in them may stay apart.

Those that machine code alone makes disappear: it cannot tell loads from stores of the same array, and the
optimiser peels rounds off where a condition looks at the counter. And those that stay and store to an array
that is used as another type: the optimiser loses the array's alignment. Read from machine code.
"""

from __future__ import annotations

from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.run.loops.compile_time import counter_of
from smemlint.ir import Binary, If, Index, Literal, Loop
from smemlint.ir.memo import by_identity
from smemlint.ir.types import element_type
from smemlint.ir.walk import names_in, walk


def note_stored(m: Machine, s: Loop, since: int, *, late: bool, copied: bool) -> None:
    """Note the accesses of a loop that has ended. since: where in the log it began; late: it disappears in
    machine code; copied: it stays, with copies of its body."""
    events = [e for e in m.log[since:] if isinstance(e, Event)]
    loaded, stored = ({id(e.site.object) for e in events if e.site.op == op} for op in ("load", "store"))
    peeled = late and asks_its_counter(s)
    for e in events:
        both = id(e.site.object) in loaded & stored
        if peeled or (both and copied and _is_of_another_type(m, e)):
            m.turns.stored[id(e.site)] = True
        elif both and late:
            m.turns.stored.setdefault(id(e.site), False)


def _is_of_another_type(m: Machine, e: Event) -> bool:
    """Whether an element is one of a pointer that was cast."""
    return (
        isinstance(e.site.node, Index) and m.types.size_of(element_type(e.site.object.type)) != e.site.width
    )


@by_identity
def asks_its_counter(s: Loop) -> bool:
    """Return whether a condition of the body compares the counter with a number."""
    counter = counter_of(s)
    asked = (n.condition for n in walk(s.body) if isinstance(n, If))
    return any(
        isinstance(c, Binary) and isinstance(c.right, Literal) and names_in(c.left) == {counter}
        for c in asked
    )
