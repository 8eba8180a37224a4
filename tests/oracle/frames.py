"""What a thread has: frames of calls, references to objects, and what it tells the scheduler."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from oracle.layout import Scope
from oracle.values import (
    Num,
    Ptr,
    Rec,
)
from smemlint.ir import (
    Expr,
    Function,
    Lambda,
    Place,
    Type,
)

if TYPE_CHECKING:
    from oracle.run import Machine


@dataclass(slots=True, unsafe_hash=True)
class Access:
    path: tuple[int, ...]
    node: Expr
    op: str
    width: int
    address: int
    matrices: int
    via: tuple[Place | None, ...]


@dataclass(frozen=True, slots=True)
class Barrier:
    """vote: which of the barriers that count; holds: what this thread says to it."""

    path: tuple[int, ...]
    vote: str = ""
    holds: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """A shuffle, vote or reduction: what a lane gives, after which it is sent the result."""

    path: tuple[int, ...]
    name: str
    given: tuple[int, ...]


@dataclass(slots=True, unsafe_hash=True)
class Ref:
    """An object of some type at an address: an lvalue. bits: (first, count) of a bit-field in it; align: what
    divides its address, where the type of a member would ask for more."""

    address: int
    type: Type
    bits: tuple[int, int] | None = None
    align: int = 16


@dataclass(frozen=True, slots=True)
class Callee:
    """A function with what is known of its template arguments, or a lambda with its frame."""

    function: Function | Lambda
    arguments: tuple[Any, ...] = ()
    scope: Scope = field(default_factory=dict)
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A cooperative group: a tile of so many lanes, or the block (0)."""

    size: int


@dataclass(slots=True)
class Frame:
    scope: Scope
    this: Ref | None = None
    env: dict[str, Ref | Callee | Group] = field(default_factory=dict)
    returns: Type | None = None
    result: Value | Ref = None
    packs: dict[str, list[Any]] = field(default_factory=dict)
    """By id of a parameter pack, of a function or of its template: what it holds, one by one."""


Value: TypeAlias = "Num | Ptr | Rec | Callee | Group | None"
Flow: TypeAlias = Generator["Access | Barrier | Exchange", Any, Any]

OWN = 1000
"""Path element of an expression's own access, after those of its parts."""


class Part:
    """The state of a thread. `Thread` is made of the parts beside it, which call each other through self."""

    def __init__(self, machine: Machine, index: tuple[int, int, int]) -> None:
        self.machine = machine
        self.index = index
        self.path: list[int] = []
        self.via: list[Place | None] = []
        self._pure = machine.pure

    def at(self, position: int, flow: Flow) -> Flow:
        self.path.append(position)
        result = yield from flow
        self.path.pop()
        return result
