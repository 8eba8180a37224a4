"""How a kernel is started: facts, each with where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import PurePath
from typing import TypeAlias

from smemlint.ir.nodes import Scalar, Type
from smemlint.ir.place import Place
from smemlint.records import record

TemplateValue: TypeAlias = "Type | int | tuple[Type | int, ...]"
"""What a template parameter stands for; of a pack, all of it."""


def origin_of(place: Place) -> str:
    """How a launch is named: the file and the line."""
    return f"{PurePath(place.path).name}:{place.line}"


@record(frozen=True, slots=True)
class Launch:
    """One way to start one kernel instance.

    block: threads in x, y, z. grid: blocks, None where unknown. dynamic: bytes of dynamic shared
    memory, None when unknown. template: parameter name -> Type or integer (after deduction and defaults).
    arguments: kernel parameter name -> known integer. origin: where the block shape comes from, as the
    user reads it
    (`transpose.cu:108`, `--block`, `__launch_bounds__(256)`, `implied by tile[16][16]`, `default`).
    assumed: the block shape is a candidate, not a fact. variants: arguments in which launches that are
    equal otherwise differ, one mapping for each; of a launch with the arguments of one of them, that one.
    """

    block: tuple[int, int, int]
    grid: tuple[int | None, int | None, int | None] = (None, None, None)
    dynamic: int | None = None
    template: Mapping[str, TemplateValue] = field(default_factory=dict)
    arguments: Mapping[str, int] = field(default_factory=dict)
    origin: str = ""
    place: Place | None = None
    assumed: bool = False
    variants: tuple[Mapping[str, int], ...] = ()
    packed: tuple[tuple[Type, int | None], ...] = ()
    """Type and value of each argument that the kernel's parameter pack takes."""
    captures: Mapping[str, tuple[Type, int | None]] = field(default_factory=dict)
    """By id: the variables of host code that a lambda among the arguments takes with it, and their values."""

    guessed: bool = False
    """Whether no launch tells the template arguments, or that this kernel is meant."""
    filled: bool = False
    """No launch tells all template arguments: the usual ones are put in, beside instances that are known."""
    family: str = ""
    """Of a shape that is one of several: `x` where the block has an unknown number of threads along x alone,
    `whole x` where the launch makes them whole warps, `any x` where it may be any number; `yz` where it has
    32 along x and unknown numbers along the others; '' for anything else."""
    warp: bool = False
    """Whether one warp of any block of the family is meant, of which `block` is the shape."""
    taken: Mapping[str, Scalar] = field(default_factory=dict)
    """By spelling: numbers that types stand for which no file declares."""

    defaults: frozenset[str] = frozenset()
    """What of it follows from `main` having no arguments: names of arguments, `block`, `grid` (and with it
    the dynamic memory)."""
    beside: tuple[str, ...] = ()
    """Where else the same instance is started, in a shape that is not known."""

    @property
    def is_supposed(self) -> bool:
        """Whether the program does not say the block: not in a launch, nor as what it takes without
        arguments."""
        return self.assumed and "block" not in self.defaults

    @property
    def opened(self) -> str:
        """Where the launch stands that leaves this shape open; nothing for one that is known, or a guess."""
        is_open = self.assumed and not self.guessed and self.place is not None
        return origin_of(self.place) if is_open and self.place is not None else ""

    @property
    def is_guess(self) -> bool:
        """Whether nothing else is known of it than that such blocks are usual, and how many threads they have
        at most."""
        bounded = self.assumed and not self.family and self.origin.startswith("__launch_bounds__")
        return self.place is None and (self.origin == "candidate" or bounded)

    @property
    def threads(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]
