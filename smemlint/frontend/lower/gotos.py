"""`goto` and labels: what stands between the two becomes a statement that is left, or begun again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from smemlint.ir import Block, Goto, Labeled, Stmt
from smemlint.ir.walk import children, walk


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


def jump_into_block(code: object, around: frozenset[str] = frozenset()) -> Goto | None:
    """The first jump to a label that nothing around it has; None where there is none."""
    if isinstance(code, Goto):
        return None if code.label in around else code
    inside = around | {code.label} if isinstance(code, Labeled) else around
    return next((found for c in children(code) if (found := jump_into_block(c, inside)) is not None), None)


def _jumps(body: Iterable[Stmt], label: str) -> bool:
    return any(isinstance(n, Goto) and n.label == label and not n.over for n in walk(tuple(body)))
