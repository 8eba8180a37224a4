"""GitLab's code quality report: one entry a place; its fingerprint outlives lines that move above it."""

from __future__ import annotations

import os
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

from smemlint.diagnose.model import Diagnostic, Report
from smemlint.render.json import dumps
from smemlint.render.sarif import repository_root
from smemlint.render.style import PLAIN, Look
from smemlint.rules import Severity

_MAJOR, _MINOR = 0.25, 0.02
"""Share of its kernel's wavefronts that a conflict wastes, from which on it is major or minor."""


def render(report: Report, look: Look = PLAIN) -> str:
    root = repository_root(Path.cwd())
    seen: Counter[str] = Counter()
    return dumps([_entry(d, root, seen) for d in report.diagnostics], indent=1)


def _entry(d: Diagnostic, root: Path, seen: Counter[str]) -> dict[str, Any]:
    path = _path(d.place.path, root)
    what = "\0".join((path, d.code, d.kernel, d.array, d.expression or d.title))
    seen[what] += 1
    digest = sha256(f"{what}\0{seen[what]}".encode(errors="replace")).hexdigest()
    return {
        "description": f"{d.name}: {d.message}",
        "check_name": d.code,
        "fingerprint": digest,
        "severity": _severity(d),
        "location": {"path": path, "lines": {"begin": d.place.line, "end": d.place.end_line}},
    }


def _severity(d: Diagnostic) -> str:
    if d.severity is Severity.ERROR:
        return "critical"
    if d.severity is Severity.NOTE or d.cost is None:
        return "info" if d.severity is Severity.NOTE else "minor"
    share = d.cost.excess_share
    return "major" if share >= _MAJOR else "minor" if share >= _MINOR else "info"


def _path(path: str, root: Path) -> str:
    full = Path(os.path.abspath(path))  # noqa: PTH100  links stay as they are
    try:
        return full.relative_to(root).as_posix()
    except ValueError:
        return full.as_posix()
