"""`goto` and labels: what stands between the two becomes a statement that is left, or begun again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smemlint.ir import Block, Goto, Labeled, Stmt
from smemlint.ir.walk import walk


def structured(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements of a block whose labels are `Labeled` with the one statement behind them.

    A jump forward leaves all before the label, a jump back begins again what stands from the label to the
    last such jump. A jump into a block has no statement around it, and stays.
    """
    done: list[Stmt] = []
    rest = list(body)
    while rest:
        s = rest.pop(0)
        if not isinstance(s, Labeled):
            done.append(s)
            continue
        if _jumps(done, s.label):
            done = [Labeled(s.label, Block(tuple(done)), place=s.place)]
        rest.insert(0, s.body)
        end = max((i for i, r in enumerate(rest, 1) if _jumps((r,), s.label)), default=0)
        if end:
            again = (*structured(rest[:end]), Goto(s.label, over=True))
            done.append(Labeled(s.label, Block(again), again=True, place=s.place))
            del rest[:end]
    return tuple(done)


def _jumps(body: Iterable[Stmt], label: str) -> bool:
    return any(isinstance(n, Goto) and n.label == label and not n.over for n in walk(tuple(body)))
