"""Rules that other installed distributions add, by the entry point group `smemlint.rules`.

Only what is installed counts: the working folder is not looked at, so that no project brings rules along. A
rule that cannot be used is told, and costs nothing but itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.rules.base import ConflictRule, DeclarationRule, Rule, Severity

from smemlint.records import record

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "smemlint.rules"
_MOST_FILES = 1000
"""Of a rule's package whose times are looked at."""


@record(frozen=True, slots=True)
class Added:
    """conflict, declaration: the rules, by their codes. sources: code -> distribution and version. faults:
    what could not be loaded, a sentence each. stamp: changes with the text of the rules."""

    conflict: tuple[ConflictRule, ...] = ()
    declaration: tuple[DeclarationRule, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    faults: tuple[str, ...] = ()
    stamp: str = ""

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        return tuple(sorted((type(r) for r in (*self.conflict, *self.declaration)), key=lambda r: r.code))

    def source(self, code: str) -> str:
        """`house-rules 1.0`; empty for a rule that nobody added."""
        return dict(self.sources).get(code, "")


_instead: list[Added] = []


def added() -> Added:
    """What is installed, looked up once; what `using` says, within it."""
    return _instead[-1] if _instead else _installed()


@contextlib.contextmanager
def using(*rules: type[Rule]) -> Iterator[None]:
    """Take these rules for the added ones, for tests of a rule that is not installed. Raises ValueError."""
    found, faults = _checked([(rule, "under test") for rule in rules])
    if faults:
        raise ValueError(faults[0])
    _instead.append(found)
    try:
        yield
    finally:
        _instead.pop()


@cache
def _installed() -> Added:
    loaded: list[tuple[object, str]] = []
    faults, stamps = [], []
    for source, entry in _entries():
        what = f"the rule `{entry.name}` of {source}"
        try:
            with contextlib.redirect_stdout(sys.stderr):
                rule = entry.load()
        except (Exception, SystemExit) as error:
            faults.append(f"{what} cannot be loaded: {type(error).__name__}: {error}")
            continue
        loaded.append((rule, source))
        stamps.append((entry.name, entry.value, source, _stamp(entry.module)))
    found, wrong = _checked(loaded)
    return Added(
        found.conflict,
        found.declaration,
        found.sources,
        (*faults, *wrong),
        repr(stamps) if stamps else "",
    )


def _entries() -> list[tuple[str, EntryPoint]]:
    """Each entry of the group with the distribution that makes it, in the order of their names."""
    found: dict[str, list[tuple[str, EntryPoint]]] = {}
    for folder in _mentions():
        from importlib.metadata import Distribution

        distribution = Distribution.at(folder)
        name = distribution.metadata["Name"] or folder.name
        if name not in found:  # the first one on the path is the one that is imported
            source = f"{name} {distribution.version}"
            found[name] = [(source, e) for e in distribution.entry_points if e.group == GROUP]
    return sorted((pair for pairs in found.values() for pair in pairs), key=lambda p: (p[0], p[1].name))


def _mentions() -> Iterator[Path]:
    """Folders of installed distributions that speak of the group: a look at file names costs a millisecond,
    importlib.metadata thirty."""
    here = os.path.realpath(Path.cwd()) if _has_folder() else ""
    for place in sys.path:
        if not place or os.path.realpath(place) == here:
            continue
        try:
            names = sorted(os.listdir(place))  # noqa: PTH208
        except OSError:
            continue
        for name in names:
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            folder = Path(place, name)
            with contextlib.suppress(OSError):
                if GROUP.encode() in (folder / "entry_points.txt").read_bytes():
                    yield folder


def _has_folder() -> bool:
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def _checked(loaded: list[tuple[object, str]]) -> tuple[Added, list[str]]:
    """The rules that can be used, and what is wrong with the others."""
    from smemlint.rules import RULES

    taken = {name: "smemlint" for r in RULES for name in (r.code, r.name)}
    conflict: list[ConflictRule] = []
    declaration: list[DeclarationRule] = []
    sources, faults = [], []
    for rule, source in loaded:
        found = _rule(rule)
        if isinstance(found, str):
            name = getattr(rule, "__name__", rule)
            faults.append(f"the rule `{name}` of {source} cannot be used: {found}")
            continue
        used = next((name for name in (found.code, found.name) if name in taken), None)
        if used is not None:
            said = f"`{used}` is a rule of {taken[used]} already"
            faults.append(f"the rule `{type(found).__name__}` of {source} cannot be used: {said}")
            continue
        taken.update({found.code: source, found.name: source})
        sources.append((found.code, source))
        if isinstance(found, ConflictRule):
            conflict.append(found)
        else:
            declaration.append(found)
    return Added(
        tuple(sorted(conflict, key=lambda r: r.code)),
        tuple(sorted(declaration, key=lambda r: r.code)),
        tuple(sources),
    ), faults


def _rule(rule: object) -> ConflictRule | DeclarationRule | str:
    """The rule of a class; a text where it is none that can be used, which says why."""
    if not isinstance(rule, type) or not issubclass(rule, (ConflictRule, DeclarationRule)):
        return "it is no class that derives from ConflictRule or DeclarationRule"
    code, name = getattr(rule, "code", None), getattr(rule, "name", None)
    if not isinstance(code, str) or not re.fullmatch("[A-Z]{2,12}[0-9]{2,4}", code):
        return "`code` is no code such as HOUSE101"
    if code.startswith("SMEM"):
        return f"the code `{code}` begins with SMEM, which is smemlint's own"
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)+", name):
        return "`name` is no name in lower case with a dash, such as column-access"
    if not isinstance(rule.severity, Severity):
        return "`severity` is no Severity"
    if not rule.__doc__:
        return "it has no docstring, which is its documentation"
    try:
        return rule()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _stamp(module: str) -> list[tuple[str, int, int]]:
    """Size and time of the files that a rule's top package is made of."""
    loaded = sys.modules.get(module.partition(".")[0])
    file = getattr(loaded, "__file__", None)
    if not file:
        return []
    path = Path(file)
    files = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    seen = []
    for each in files[:_MOST_FILES]:
        with contextlib.suppress(OSError):
            status = each.stat()
            seen.append((str(each), status.st_size, status.st_mtime_ns))
    return seen
