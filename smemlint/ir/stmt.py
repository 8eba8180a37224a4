"""Statements."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from smemlint.ir.expr import Expr, Var
from smemlint.ir.place import Place
from smemlint.records import record


@record(frozen=True, slots=True)
class Declare:
    """One declared variable; `__shared__` arrays arrive here too (storage 'shared')."""

    var: Var


@record(frozen=True, slots=True)
class Evaluate:
    expr: Expr


@record(frozen=True, slots=True)
class Block:
    """scope: the variables that it declares are its own."""

    body: tuple[Stmt, ...]
    scope: bool = field(default=False, compare=False)


@record(frozen=True, slots=True)
class Try(Block):
    """Two statements: what is tried, and an `if` for each handler, in one another, on a condition that nobody
    knows."""


@record(frozen=True, slots=True)
class If:
    condition: Expr
    then: Stmt
    otherwise: Stmt | None
    constexpr: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class Loop:
    """`for`, `while` (no init, no step) and `do` (`test_first` False).

    label: of a loop that `goto` makes; '' for others.
    unroll: None when no pragma, 0 for `#pragma unroll` without a count, else the count (1: keep).
    """

    init: Stmt | None
    condition: Expr | None
    step: Expr | None
    body: Stmt
    test_first: bool = True
    unroll: int | None = None
    place: Place | None = None
    label: str = ""


@record(frozen=True, slots=True)
class Case:
    """One label of a switch with the statements up to the next label; no value: default."""

    value: Expr | None
    body: tuple[Stmt, ...]


@record(frozen=True, slots=True)
class Switch:
    value: Expr
    cases: tuple[Case, ...]
    place: Place | None = None


@record(frozen=True, slots=True)
class Return:
    value: Expr | None = None


@record(frozen=True, slots=True)
class Break:
    pass


@record(frozen=True, slots=True)
class Continue:
    pass


@record(frozen=True, slots=True)
class Labeled:
    """What `goto label` leaves for its end or, with `again`, for its beginning: the statements between the
    two, whichever comes first."""

    label: str
    body: Stmt
    again: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class Goto:
    """To the end, or the beginning, of the Labeled around it. over: to the end of one that runs again."""

    label: str
    over: bool = False
    place: Place | None = None


@record(frozen=True, slots=True)
class LaunchStmt:
    """A kernel started by host code: `kernel<<<grid, block, dynamic>>>(arguments)`, or the
    same through cudaLaunchKernel(Ex). `kernel` is a Name or any expression of function-pointer value.
    `array`: an array of pointers to the arguments, instead of these. `stream`: what gives the stream, where
    that changes something (`pool.next()`)."""

    kernel: Expr
    grid: Expr | None
    block: Expr | None
    dynamic: Expr | None
    arguments: tuple[Expr, ...]
    place: Place
    array: Expr | None = None
    stream: Expr | None = None


@record(frozen=True, slots=True)
class UnknownStmt:
    """Not understood; its sub-statements are still walked."""

    reason: str
    parts: tuple[Stmt, ...] = ()
    place: Place | None = None


Stmt: TypeAlias = (
    Declare
    | Evaluate
    | Block
    | Try
    | If
    | Loop
    | Switch
    | Return
    | Break
    | Continue
    | Labeled
    | Goto
    | LaunchStmt
    | UnknownStmt
)
