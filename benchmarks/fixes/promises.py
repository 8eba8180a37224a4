"""Whether fixed code lints as promised: in copies of checkouts, all edits applied.

    python benchmarks/fixes/promises.py FILE... [--json FILE]

Each file lies in a checkout (a folder whose name holds `+`, or its own). For each line and kind of access
of an array with an edit, the ways after the edit are compared with the promise; for each warning that is left
in such an array, whether it was promised. The file is fixed a second time, which must find nothing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import again
import kernels

ALIKE = 1.005
"""Ways that differ by less are the same."""


def examined(path: Path) -> Any:
    from smemlint.api import Job
    from smemlint.running import pipeline

    found = pipeline.examine(Job(str(path)), str)
    return found if hasattr(found, "suggestions") else None


def planned(found: Any) -> Any:
    from smemlint.fix.deliver import plan

    return plan(list(found.suggestions.values()), lambda name: Path(name).read_bytes(), unsafe=True)[0]


def promised(files: Iterable[Any]) -> dict[tuple[str, str, int, str], list[float]]:
    """(kernel, path, line after the edits, op) -> wavefronts and ideal, as promised."""
    table: dict[tuple[str, str, int, str], list[float]] = {}
    for file in files:
        for fix in file.suggestions:
            for kernel, line, op, _, after, ideal in kernels.promised(
                fix, file.path, file.before, file.suggestions
            ):
                row = table.setdefault((kernel, file.path, line, op), [0.0, 0.0])
                row[0] += after
                row[1] += ideal
    return table


def told(found: Any) -> dict[tuple[str, str, int, str], list[float]]:
    """The same as the edited text is analysed."""
    table: dict[tuple[str, str, int, str], list[float]] = {}
    for analysis in found.analyses:
        for c in analysis.conflicts:
            if c.wavefronts is None or not c.ideal:
                continue
            place = c.site.place
            row = table.setdefault((analysis.kernel.name, place.path, place.line, c.site.op), [0.0, 0.0])
            row[0] += c.wavefronts
            row[1] += c.ideal
    return table


def broken(
    mine: Mapping[tuple[str, str, int, str], list[float]],
    theirs: Mapping[tuple[str, str, int, str], list[float]],
) -> tuple[int, list[str]]:
    """How many lines were compared, and those with more ways than promised."""
    both = [key for key in mine if key in theirs and mine[key][1]]
    wrong = [
        f"{kernel}, line {line} ({op}): {mine[key][0] / mine[key][1]:.2f} ways promised, "
        f"{theirs[key][0] / theirs[key][1]:.2f} found"
        for key in both
        for kernel, _, line, op in [key]
        if theirs[key][0] / theirs[key][1] > mine[key][0] / mine[key][1] * ALIKE
    ]
    return len(both), wrong


def compare(path: Path) -> dict[str, Any]:
    root = kernels.repository(path)
    with tempfile.TemporaryDirectory() as scratch:
        copy = again.copied(root, Path(scratch, root.name)) / path.relative_to(root)
        first = examined(copy)
        if first is None:
            return {"file": str(path), "error": "not analysed"}
        files = planned(first)
        table = promised(files)
        for file in files:
            Path(file.path).write_bytes(file.after)
        second = examined(copy)
        if second is None:
            return {"file": str(path), "error": "not analysed after the edits"}
        lines, wrong = broken(table, told(second))
        fixed = {(s.array.name, f.path) for f in files for s in f.suggestions}
        clean = {
            (kernel, p, line) for (kernel, p, line, _), (after, ideal) in table.items() if after <= ideal
        }
        left = [
            f"{a.kernel.name}, line {c.site.place.line}"
            for a in second.analyses
            for c in a.conflicts
            if (c.wavefronts or 0) > (c.ideal or 0)
            and (a.kernel.name, c.site.place.path, c.site.place.line) in clean
        ]
        return {
            "file": str(path),
            "arrays": len(fixed),
            "lines": lines,
            "broken": wrong,
            "not clean": sorted(set(left)),
            "edits left": sum(len(f.suggestions) for f in planned(second)),
        }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for path in options.files:
        row = compare(path.resolve())
        rows.append(row)
        print(json.dumps(row), flush=True)
    total = {key: sum(r.get(key, 0) for r in rows) for key in ("arrays", "lines", "edits left")}
    bad = {key: sum(len(r.get(key, ())) for r in rows) for key in ("broken", "not clean")}
    print(json.dumps({"files": len(rows), **total, **bad}))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(bad.values()) or bool(total["edits left"]))


if __name__ == "__main__":
    raise SystemExit(main())
