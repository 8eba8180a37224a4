"""What became better, worse and new between two runs, and kernels that exceed what they were allowed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smemlint import __version__
from smemlint.diagnose.ranking import RankedKernel
from smemlint.records import record
from smemlint.system.reading import UnreadableError, read_regular

VERSION = 1
MAX_BYTES = 256 * 2**20
SLACK = 0.05
"""Ways, and parts of a kernel's excess, within which nothing changed."""

Key = tuple[str, str, str, str, str]


class ReportError(Exception):
    """A file that is no report or budget; the text names it and why."""


@record(frozen=True, slots=True)
class Change:
    """A finding in two runs. before, after: its ways, summed up over equal findings; None where it is not
    there, 0 for what has no ways."""

    path: str
    line: int
    code: str
    kernel: str
    what: str
    before: float | None
    after: float | None

    @property
    def kind(self) -> str:
        """`new`, `gone`, `worse`, `better` or `same`."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        if self.after > self.before + SLACK:
            return "worse"
        return "better" if self.after < self.before - SLACK else "same"


def loaded(path: Path) -> Mapping[str, Any]:
    """A JSON file of a run or a budget. Raises ReportError."""
    try:
        data = json.loads(read_regular(path, MAX_BYTES).decode("utf-8"))
    except UnreadableError as error:
        raise ReportError(f"{path}: {error.message}") from None
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise ReportError(f"{path}: is no report of smemlint")
    return data


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """All findings of two reports (as `--output-format json` writes them), what is worse first."""
    old, new = _findings(before), _findings(after)
    found = [
        Change(
            key[0], (new.get(key) or old[key])[1], key[1], key[2], key[4], _ways(old, key), _ways(new, key)
        )
        for key in {**old, **new}
    ]
    order = ("worse", "new", "better", "gone", "same")
    return sorted(found, key=lambda c: (order.index(c.kind), c.path, c.line, c.code))


def _ways(found: Mapping[Key, tuple[float, int]], key: Key) -> float | None:
    return found[key][0] if key in found else None


def _findings(report: Mapping[str, Any]) -> dict[Key, tuple[float, int]]:
    """Ways and line of each finding; equal ones (a copy on another line) are added up."""
    rows = report.get("diagnostics")
    if not isinstance(rows, list):
        raise ReportError("no report of smemlint: `diagnostics` is missing")
    found: dict[Key, tuple[float, int]] = {}
    for row in rows:
        if not isinstance(row, dict) or row.get("severity") == "note":
            continue
        what = " ".join(str(row.get("expression") or row.get("title") or "").split())
        path, code, kernel, array = (str(row.get(k) or "") for k in ("path", "code", "kernel", "array"))
        key = (path, code, kernel, array, what)
        ways, line = found.get(key, (0.0, 0))
        found[key] = (ways + float(row.get("worst_ways") or 0), line or int(row.get("line") or 0))
    return found


def budget_text(kernels: Iterable[RankedKernel]) -> str:
    """The excess of each kernel, as what it is allowed from now on."""
    found = sorted(_excess(kernels).items())
    rows = [{"path": path, "name": name, "excess": excess} for (path, name), excess in found]
    tool = {"name": "smemlint", "version": __version__}
    return json.dumps({"version": VERSION, "tool": tool, "kernels": rows}, indent=1) + "\n"


@record(frozen=True, slots=True)
class Exceeded:
    """A kernel whose excess wavefronts of a block grew beyond what it is allowed."""

    path: str
    name: str
    allowed: float
    excess: float


def exceeded(kernels: Sequence[RankedKernel], budget: Mapping[str, Any], path: str) -> list[Exceeded]:
    """Kernels beyond their budget, the furthest first. A kernel that the budget does not know is allowed no
    excess. Raises ReportError."""
    rows = budget.get("kernels")
    if budget.get("version") != VERSION or not isinstance(rows, list):
        raise ReportError(f"{path}: is no budget of version {VERSION}; --write-budget makes one")
    allowed: dict[tuple[str, str], float] = {}
    for row in rows:
        if not isinstance(row, dict) or isinstance(row.get("excess"), bool):
            raise ReportError(f"{path}: a kernel has no `excess`")
        if not isinstance(row.get("excess"), int | float):
            raise ReportError(f"{path}: a kernel has no `excess`")
        allowed[(str(row.get("path")), str(row.get("name")))] = float(row["excess"])
    found = [
        Exceeded(*key, allowed.get(key, 0.0), excess)
        for key, excess in _excess(kernels).items()
        if excess > allowed.get(key, 0.0) * (1 + SLACK / 10) + 0.5
    ]
    return sorted(found, key=lambda e: e.allowed - e.excess)


def _excess(kernels: Iterable[RankedKernel]) -> dict[tuple[str, str], float]:
    """Of a name that several kernels of a file have, the most."""
    found: dict[tuple[str, str], float] = {}
    for each in kernels:
        key = (Path(each.kernel.place.path).as_posix(), each.kernel.name)
        found[key] = max(found.get(key, 0.0), round(each.demand.excess, 1))
    return found
