"""`goto` and labels: what stands between the two becomes a statement that is left, or begun again."""

from __future__ import annotations

from collections.abc import Sequence

from smemlint.ir import Block, Goto, Labeled, Stmt
from smemlint.ir.walk import walk


def structured(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The statements of a block whose labels are `Labeled` with the one statement behind them.

    A jump forward leaves all before the label, a jump back begins all behind it again. A jump into a block
    has no statement around it, and stays.
    """
    done: list[Stmt] = []
    for i, s in enumerate(body):
        if not isinstance(s, Labeled):
            done.append(s)
            continue
        rest = (s.body, *body[i + 1 :])
        if _jumps(done, s.label):
            done = [Labeled(s.label, Block(tuple(done)), place=s.place)]
        if _jumps(rest, s.label):
            again = (*structured(rest), Goto(s.label, over=True))
            return (*done, Labeled(s.label, Block(again), again=True, place=s.place))
        done.append(s.body)
    return tuple(done)


def _jumps(body: Sequence[Stmt], label: str) -> bool:
    return any(isinstance(n, Goto) and n.label == label and not n.over for n in walk(tuple(body)))
