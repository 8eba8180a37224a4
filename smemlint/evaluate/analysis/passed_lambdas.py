"""What the parameters of a function's lambdas are given, as far as their calls show."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.ir import Call, Expr, Lambda, Member, Name, Return, Var
from smemlint.ir.walk import handed, walk


def _called_by(e: Call) -> str:
    """The variable that holds the lambda which a call may run, '' for other calls."""
    callee = e.callee
    if isinstance(callee, Member) and callee.name == "operator()":
        callee = callee.base
    return callee.id if isinstance(callee, Name) else ""


class PassedLambdas:
    """What the parameters of a function's lambdas are given.

    links: (parameter, argument) of every call by the name of a lambda that is used in no other way. open:
    the parameters of all other lambdas, which may be given anything. bodies: id() of the lambdas of the first
    kind.
    """

    def __init__(self, nodes: Sequence[object]) -> None:
        named = {n.id: n.init for n in nodes if isinstance(n, Var) and isinstance(n.init, Lambda)}
        uses: dict[str, int] = {}
        called: dict[str, list[Call]] = {}
        for n in nodes:
            if isinstance(n, Name) and n.id in named:
                uses[n.id] = uses.get(n.id, 0) + 1
            elif isinstance(n, Call) and (holder := _called_by(n)) in named:
                called.setdefault(holder, []).append(n)
        known = {name: f for name, f in named.items() if uses.get(name, 0) == len(called.get(name, ()))}
        self.known = known
        self.bodies = {id(f) for f in known.values()}
        self.links = [
            (parameter, value)
            for name, f in known.items()
            for call in called.get(name, ())
            for parameter, value in handed(f.parameters, call.arguments)
        ]
        self.open = [
            p for n in nodes if isinstance(n, Lambda) and id(n) not in self.bodies for p in n.parameters
        ]

    def calls(self, e: Call) -> bool:
        """Whether a call is one of a known lambda by its name."""
        return _called_by(e) in self.known

    def results(self, e: Call) -> list[Expr]:
        """What a known lambda returns."""
        nodes = walk(self.known[_called_by(e)].body)
        return [n.value for n in nodes if isinstance(n, Return) and n.value is not None]
