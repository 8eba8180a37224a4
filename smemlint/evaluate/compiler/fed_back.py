"""Loads and stores that may come apart: `v = s[i]; w = s[i + 1]; s[i] = 2 * v; s[i + 1] = 2 * w;`.

nvcc puts a load whose value is first used for what is stored right before that store, past stores that cannot
hit it, where stores go back to what was loaded. In a plain array neither the loads join then nor the stores;
where one value of all is needed first they do (docs/dev/joining.md).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from smemlint.evaluate.compiler.log import Log
from smemlint.evaluate.machine.machine import Event, SiteLog
from smemlint.ir import Assign, Expr, Function, Index, Name, Var
from smemlint.ir.memo import by_identity
from smemlint.ir.types import is_reference
from smemlint.ir.walk import children, nodes_of


def put_apart(log: Log) -> set[int]:
    """id() of the sites that may not join for that."""
    sites = log.sites()
    stores = {id(s.node): s for s in sites if s.op == "store"}
    pairs: defaultdict[int, list[tuple[SiteLog, SiteLog]]] = defaultdict(list)
    for load in sites:
        store = stores.get(_target_of(load))
        if store is not None and store.object is load.object:
            pairs[id(load.object)].append((load, store))
    found: set[int] = set()
    for of in pairs.values():
        written = sorted({id(e): e for _, store in of for e in log.of(store)}.values(), key=lambda e: e.order)
        back = {_place(e) for e in written} & {_place(e) for load, _ in of for e in log.of(load)}
        if back and any(_may_move(log, load, store, written) for load, store in of):
            found |= {id(s) for pair in of for s in pair}
    return found


def _target_of(load: SiteLog) -> int:
    """id() of the place for which what is loaded is first used; 0: it is used for something else."""
    if load.op != "load" or load.function is None:
        return 0
    return _first_used(load.function).get(id(load.node), 0)


def _may_move(log: Log, load: SiteLog, store: SiteLog, written: list[Event]) -> bool:
    """Whether a load may be put behind one of the stores."""
    loaded, own = log.of(load), log.of(store)
    places = {_place(e) for e in loaded}
    if len(loaded) > 1 or len(own) > 1:  # elements of an array: which of them each store needs is not known
        return any(_place(e) in places for e in written)
    before = [_place(e) for e in written if loaded[0].order < e.order < own[0].order]
    return bool(before) and places.isdisjoint(before)


def _place(e: Event) -> Hashable:
    """Equal of events at one address."""
    key = e.offset.key()
    return e.offset.form or (id(e) if key is None else key)


@by_identity
def _first_used(f: Function) -> dict[int, int]:
    """By id() of a loaded expression that a variable is given, id() of the place that the variable is first
    used for, where it is used for what is stored."""
    own = {n.id for n in nodes_of(f.body) if isinstance(n, Var) and n.storage == "local"}
    own -= {n.id for n in nodes_of(f.body) if isinstance(n, Var) and is_reference(n.type)}
    loaded: dict[str, list[Expr]] = {}
    first: dict[str, Expr | None] = {}

    def use(node: object, place: Expr | None) -> None:
        """Note the variables that are used here, for what is stored at a place."""
        if isinstance(node, Name) and node.id in own:
            first.setdefault(node.id, place)
        elif isinstance(node, Assign) and node.op == "=":
            variable = _variable(node.target)
            if variable in own:
                loaded.setdefault(variable, []).append(node.value)
                use(node.value, None)
                if isinstance(node.target, Index):
                    use(node.target.index, None)
            else:
                use(node.target, None)
                use(node.value, node.target)
        else:
            if isinstance(node, Var) and node.id in own and node.init is not None:
                loaded.setdefault(node.id, []).append(node.init)
            for child in children(node):
                use(child, place if isinstance(node, Expr) else None)

    use(f.body, None)
    return {id(e): id(place) for variable, place in first.items() if place for e in loaded.get(variable, ())}


def _variable(e: Expr) -> str:
    """The variable that an assignment sets, or sets an element of."""
    e = e.base if isinstance(e, Index) else e
    return e.id if isinstance(e, Name) else ""
