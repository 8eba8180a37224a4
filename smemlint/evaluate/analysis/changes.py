"""What a loop or function may change: variables, and the arrays that it stores to."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from smemlint.evaluate.analysis.purity import computes
from smemlint.ir import ArrayOf, Asm, Call, Declare, Expr, Function, Index, Loop, Member, Name, Var
from smemlint.ir.memo import by_identity
from smemlint.ir.uses import HANDED, array_of, holds, target_of, variables, variables_set
from smemlint.ir.walk import names_in, nodes_of, walk
from smemlint.records import record


@record(frozen=True, slots=True)
class Changes:
    """Ids of the variables that code may set, those that it declares among them, and of the arrays that it
    stores to by their names. anywhere: it may store to other memory, too."""

    variables: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    anywhere: bool = False

    def leave(self, e: Expr) -> bool:
        """Return whether an expression of variables and elements is the same wherever such code asks it."""
        names = names_in(e)
        if holds(e, (Call, Asm, Member), ("*", *HANDED)) or not self.variables.isdisjoint(names):
            return False
        return not holds(e, Index) or (not self.anywhere and self.arrays.isdisjoint(names))

    def and_set(self, more: Set[str]) -> Changes:
        """Return the same of code that may set further variables."""
        return replace(self, variables=self.variables | more)


NOTHING = Changes()


def changes_of(code: Loop | Function, f: Function | None) -> Changes:
    """Return what a loop of a function, or a function, changes itself, but for what it hands to others."""
    own = frozenset[str]()
    if isinstance(code, Loop):
        nodes = tuple(walk((code.condition, code.step, code.body)))
        own = frozenset(n.var.id for n in nodes if isinstance(n, Declare))
    else:
        nodes = nodes_of(code.body)
    arrays = frozenset() if f is None else frozenset(v.id for v in _arrays(f))
    places = [t for n in nodes if (t := target_of(n)) is not None and not isinstance(t, Name)]
    stored = {root.id if isinstance(root := array_of(t), Name) else "" for t in places}
    anywhere = any(isinstance(n, Asm) or (isinstance(n, Call) and not computes(n)) for n in nodes)
    return Changes(own | variables_set(nodes, HANDED), arrays & stored, anywhere or not stored <= arrays)


@by_identity
def _arrays(f: Function) -> tuple[Var, ...]:
    return tuple(v for v in variables(f).values() if isinstance(v.type, ArrayOf))
