"""Findings that are accepted as they are: written once, left out afterwards, named when they are gone.

An entry knows a finding by its file, rule, kernel, array and expression, not by its line. A conflict that has
become worse than its entry is a finding again.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smemlint import __version__
from smemlint.diagnose.model import Diagnostic
from smemlint.records import record
from smemlint.system.reading import UnreadableError, read_regular

VERSION = 1
MAX_BYTES = 64 * 2**20
SLACK = 0.05
"""Ways by which a conflict may exceed its entry."""


class BaselineError(Exception):
    """A baseline that cannot be read; the text names the file and why."""


@record(frozen=True, slots=True)
class Entry:
    """What is known of an accepted finding. path: from the folder of the baseline, with `/`. what: the
    expression, or the headline of what is no access. ways: the most that is accepted, None where there is no
    such number."""

    path: str
    code: str
    kernel: str
    array: str
    what: str
    ways: float | None = None


@record(frozen=True, slots=True)
class Baseline:
    """The entries of a file, each with how many findings it stands for."""

    path: str
    entries: Mapping[Entry, int]


def entry_of(d: Diagnostic, folder: str) -> Entry:
    """A finding as an entry of a baseline that lies in `folder` (absolute)."""
    path = Path(os.path.relpath(os.path.abspath(d.place.path), folder)).as_posix()  # noqa: PTH100
    ways = round(d.worst_ways, 3) if d.worst_ways is not None else None
    return Entry(
        path, d.stands_for or d.code, d.kernel, d.array, " ".join((d.expression or d.title).split()), ways
    )


def written(diagnostics: Iterable[Diagnostic], path: Path) -> str:
    """The text of a baseline file for some findings."""
    counts = Counter(entry_of(d, _folder(path)) for d in diagnostics)
    rows = [
        {
            "path": e.path,
            "code": e.code,
            "kernel": e.kernel,
            "array": e.array,
            "what": e.what,
            "ways": e.ways,
            "count": n,
        }
        for e, n in sorted(counts.items(), key=lambda pair: (*_key(pair[0]), pair[0].ways or 0.0))
    ]
    tool = {"name": "smemlint", "version": __version__}
    return json.dumps({"version": VERSION, "tool": tool, "findings": rows}, indent=1) + "\n"


def read(path: Path) -> Baseline:
    """The baseline of a file. Raises BaselineError."""
    try:
        data = json.loads(read_regular(path, MAX_BYTES).decode("utf-8"))
    except UnreadableError as error:
        raise BaselineError(f"{path}: {error.message}") from None
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: is no baseline: {error}") from None
    rows = data.get("findings") if isinstance(data, dict) and data.get("version") == VERSION else None
    if not isinstance(rows, list):
        raise BaselineError(f"{path}: is no baseline of version {VERSION}; --write-baseline makes one")
    entries: Counter[Entry] = Counter()
    for number, row in enumerate(rows, 1):
        entry = _entry(row)
        if entry is None:
            raise BaselineError(f"{path}: finding {number} is not one that smemlint wrote")
        entries[entry] += row.get("count", 1)
    return Baseline(str(path), entries)


def _entry(row: Any) -> Entry | None:
    names = ("path", "code", "kernel", "array", "what")
    if not isinstance(row, dict) or not all(isinstance(row.get(n), str) for n in names):
        return None
    ways, count = row.get("ways"), row.get("count", 1)
    number = ways is None or (isinstance(ways, int | float) and not isinstance(ways, bool))
    if not number or not isinstance(count, int) or isinstance(count, bool) or count < 1:
        return None
    return Entry(row["path"], row["code"], row["kernel"], row["array"], row["what"], ways)


def compared(
    diagnostics: Sequence[Diagnostic], baseline: Baseline, checked: Collection[str]
) -> tuple[list[Diagnostic], list[Diagnostic], list[Entry]]:
    """(findings that are new or worse, those that are accepted, entries that nothing matches any more).

    checked: paths that were analysed; entries of other files are stale only where the file is gone.
    """
    folder = _folder(Path(baseline.path))
    left = Counter(baseline.entries)
    by_key: dict[tuple[str, ...], list[Entry]] = {}
    for entry in baseline.entries:
        by_key.setdefault(_key(entry), []).append(entry)
    new: list[Diagnostic] = []
    # The worst first, so that each takes the entry that is closest above it.
    for d in sorted(diagnostics, key=lambda d: -(d.worst_ways or 0.0)):
        mine = entry_of(d, folder)
        fits = [e for e in by_key.get(_key(mine), ()) if left[e] > 0 and _covers(e, mine)]
        if fits:
            left[min(fits, key=lambda e: e.ways or 0.0)] -= 1
        else:
            new.append(d)
    names = {Path(os.path.relpath(os.path.abspath(p), folder)).as_posix() for p in checked}  # noqa: PTH100
    gone = {e for e in baseline.entries if e.path not in names and not Path(folder, e.path).exists()}
    stale = [e for e, n in left.items() if n > 0 and (e.path in names or e in gone)]
    kept = {id(d) for d in new}
    accepted = [d for d in diagnostics if id(d) not in kept]
    return [d for d in diagnostics if id(d) in kept], accepted, sorted(stale, key=_key)


def _covers(entry: Entry, mine: Entry) -> bool:
    if entry.ways is None or mine.ways is None:
        return entry.ways == mine.ways
    return mine.ways <= entry.ways + SLACK


def _key(e: Entry) -> tuple[str, ...]:
    return (e.path, e.code, e.kernel, e.array, e.what)


def _folder(path: Path) -> str:
    return os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120  links stay as they are
