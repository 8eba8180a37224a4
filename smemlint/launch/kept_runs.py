"""Runs of host functions that are made once: a program of more files asks again for what one of fewer told.

A run is taken over where all that it looked up is the same, and as much is passed over of each function that
it entered. What it cost is written off as if it were made again, so that budgets end where they would.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from smemlint.evaluate.analysis.facts import SliceLike, Slicer
from smemlint.evaluate.language.lifetimes import has_destructors
from smemlint.evaluate.language.names import templates_named
from smemlint.evaluate.language.overloads import declared_operators
from smemlint.evaluate.language.places import set_to_numbers
from smemlint.evaluate.library.builtins import exported
from smemlint.evaluate.machine.paths import Choice, Paths
from smemlint.evaluate.run.construction import has_several
from smemlint.evaluate.run.copies import copiers
from smemlint.evaluate.run.virtual_calls import below
from smemlint.evaluate.types.layout import packs_of
from smemlint.ir import Function, Module, Record
from smemlint.launch.model import Started
from smemlint.launch.source.settings import Settings, filled_before
from smemlint.records import record

_TABLES = ("functions", "records", "globals", "specialisations", "variable_templates", "overloads")
_SETS = ("skippable", "quiet", "open", "deciding", "trailing", "handing")


@record(frozen=True, eq=False, slots=True)
class Shown:
    """What one run of a host function showed. reached: ids of the functions that led to launches; read: what
    it looked up, by table and key; entered: the functions that it ran, with what was passed over in each."""

    started: tuple[Started, ...]
    reached: frozenset[str]
    open: Mapping[Choice, int]
    steps: int
    read: Mapping[tuple[str, str], object]
    entered: tuple[tuple[Function, SliceLike], ...]


class _Watched(dict[str, Any]):
    """A table of a module that notes what is looked up in it."""

    def __init__(self, name: str, table: Mapping[str, Any], log: _Log) -> None:
        super().__init__(table)
        self.name = name
        self.log = log

    def get(self, key: str, default: Any = None) -> Any:
        found = self.log.read[self.name, key] = super().get(key)
        return default if found is None else found

    def __getitem__(self, key: str) -> Any:
        found = self.log.read[self.name, key] = super().get(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return self.get(str(key)) is not None

    def __iter__(self) -> Iterator[str]:
        self.log.whole = True
        return super().__iter__()

    def keys(self) -> Any:
        self.log.whole = True
        return super().keys()

    def values(self) -> Any:
        self.log.whole = True
        return super().values()

    def items(self) -> Any:
        self.log.whole = True
        return super().items()


class _Log:
    """What a run looked up. whole: a run before it asked for all that there is, which is remembered."""

    def __init__(self) -> None:
        self.read: dict[tuple[str, str], object] = {}
        self.whole = False


class KeptRuns:
    """The runs of one program: those that an earlier one made, and new ones for later ones. kept: by what was
    asked."""

    def __init__(
        self, module: Module, slicer: Slicer, kept: dict[Hashable, Shown], settings: Settings
    ) -> None:
        self.settings = settings
        self.filled = filled_before(module)
        self._plain = module
        self._slicer = slicer
        self._kept = kept
        self._log = _Log()
        self._entered: dict[str, tuple[Function, SliceLike]] = {}
        self._same: dict[tuple[int, int], bool] = {}
        watched: dict[str, Any] = {n: _Watched(n, getattr(module, n), self._log) for n in _TABLES}
        self.module = replace(module, **watched)
        for where_to_look in (declared_operators, packs_of, has_destructors, copiers, exported):
            where_to_look(self.module)
        set_to_numbers(self.module)  # of the classes that a run looks up, what they are set to is compared
        self._several = has_several(self.module)
        classes = {base: [(r.name, r.methods) for r in found] for base, found in below(self.module).items()}
        copied = {name: [f.id for f in found] for name, found in copiers(self.module).items()}
        self._whole: dict[str, tuple[str, Mapping[str, Any]]] = {
            "classes below": ("records", classes),
            "copy constructors": ("records", copied),
            "last parts of names": ("variable_templates", templates_named(self.module)),
        }
        """What only whole tables tell: the table, and by what is looked up there what it tells."""
        self._log.whole = False

    def slicer(self, f: Function, pointing: frozenset[str], real: frozenset[str]) -> SliceLike:
        """What can be passed over in a function that is entered."""
        found = self._slicer(f, pointing, real)
        self._entered[f.id] = f, found
        return found

    def begin(self) -> None:
        """A run begins."""
        self._log.read.clear()
        self._entered.clear()

    def shown(
        self, started: Iterable[Started], reached: Iterable[str], paths: Paths | None, steps: int
    ) -> Shown:
        """What the run that was begun has shown."""
        left_open = {} if paths is None else dict(paths.open)
        read, entered = dict(self._log.read), tuple(self._entered.values())
        for what, (of, told) in self._whole.items():
            read |= {(what, key): told.get(key) for table, key in read if table == of}
        return Shown(tuple(started), frozenset(reached), left_open, steps, read, entered)

    def keep(self, asked: Hashable, shown: Shown) -> None:
        """Keep a run, unless it asked for more than can be compared."""
        if not self._log.whole:
            self._kept[self._several, asked] = shown

    def find(self, asked: Hashable) -> Shown | None:
        """The run that was made before, where it would be the same here."""
        shown = self._kept.get((self._several, asked))
        if shown is None or not all(self._is_alike(*pair) for pair in shown.entered):
            return None
        return shown if all(self._is_same(*key, value) for key, value in shown.read.items()) else None

    def _is_alike(self, f: Function, known: SliceLike) -> bool:
        """Whether as much of a function is passed over here."""
        key = id(f), id(known)
        if key not in self._same:
            own = self._slicer(f, frozenset(), frozenset())
            self._same[key] = all(getattr(own, s) == getattr(known, s) for s in _SETS)
        return self._same[key]

    def _is_same(self, table: str, key: str, value: object) -> bool:
        if table in self._whole:
            return bool(self._whole[table][1].get(key) == value)
        found = getattr(self._plain, table).get(key)
        if found is value:
            return True
        if isinstance(found, Record) and isinstance(value, Record):
            joined = ("methods", "assigned")  # made anew where files are linked, be they the same or not
            names = [x.name for x in fields(Record) if x.name not in joined]
            return all(getattr(found, n) == getattr(value, n) for n in joined) and all(
                getattr(found, n) is getattr(value, n) for n in names
            )
        return isinstance(found, tuple) and found == value
