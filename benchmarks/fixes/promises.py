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
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeAlias

import again
import kernels

Key: TypeAlias = tuple[str, str, int, str, str]
"""Kernel, path, line after the edits, op and name of the array."""
ALIKE = 1.005
"""Ways that differ by less are the same."""
ROUNDS = 6
"""Times that a file is fixed, as `--fix` does it, until no edit is left."""


def examined(path: Path) -> Any:
    from smemlint.api import Job
    from smemlint.running import pipeline

    found = pipeline.examine(Job(str(path)), str)
    return found if hasattr(found, "suggestions") else None


def planned(found: Any) -> Any:
    from smemlint.fix.deliver import plan

    return plan(list(found.suggestions.values()), lambda name: Path(name).read_bytes(), unsafe=True)[0]


def promised(files: Iterable[Any]) -> dict[Key, list[float]]:
    """Wavefronts and ideal, as promised."""
    table: dict[Key, list[float]] = {}
    for file in files:
        moved = lines_after(file.before, file.after)
        for name, change in ((fix.array.name, c) for fix in file.suggestions for c in fix.sites):
            place = change.site.place
            if place.path != file.path or not change.ideal:
                continue
            key = (change.kernel, file.path, moved.get(place.line, 0), change.site.op, name)
            row = table.setdefault(key, [0.0, 0.0])
            row[0] += change.after
            row[1] += change.ideal
    return table


def lines_after(before: bytes, after: bytes) -> dict[int, int]:
    """The line of each line of a text in the edited one, behind what was put before it."""
    texts = [text.splitlines() for text in (before, after)]
    moved = {}
    for _, a, b, _, end in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        moved.update({n + 1: end - (b - n) + 1 for n in range(a, b)})
    return moved


def told(found: Any) -> dict[Key, list[float]]:
    """The same as the edited text is analysed."""
    table: dict[Key, list[float]] = {}
    for analysis in found.analyses:
        for c in analysis.conflicts:
            if not c.ideal or c.wavefronts != c.wavefronts_low:  # of a range nothing was promised
                continue
            place = c.site.place
            name = analysis.arrays[c.site.array].name
            row = table.setdefault(
                (analysis.kernel.name, place.path, place.line, c.site.op, name), [0.0, 0.0]
            )
            row[0] += c.wavefronts
            row[1] += c.ideal
    return table


def broken(
    mine: Mapping[Key, list[float]],
    theirs: Mapping[Key, list[float]],
) -> tuple[int, list[str]]:
    """How many lines were compared, and those with more ways than promised."""
    both = [key for key in mine if key in theirs and mine[key][1]]
    wrong = [
        f"{kernel}, line {line} ({op}): {mine[key][0] / mine[key][1]:.2f} ways promised, "
        f"{theirs[key][0] / theirs[key][1]:.2f} found"
        for key in both
        for kernel, _, line, op, _ in [key]
        if theirs[key][0] / theirs[key][1] > max(mine[key][0] / mine[key][1], 1) * ALIKE
    ]
    return len(both), wrong


def compare(path: Path) -> dict[str, Any]:
    root = kernels.repository(path)
    with tempfile.TemporaryDirectory() as scratch:
        copy = again.copied(root, Path(scratch, root.name)) / path.relative_to(root)
        found = examined(copy)
        row: dict[str, Any] = {"file": str(path), "arrays": 0, "lines": 0, "broken": [], "not clean": []}
        for _ in range(ROUNDS):
            files = planned(found) if found is not None else []
            if not files:
                break
            for file in files:
                Path(file.path).write_bytes(file.after)
            found = examined(copy)
            if found is not None:
                weigh(files, found, row)
        row["edits left"] = sum(len(f.suggestions) for f in planned(found)) if found is not None else 0
        return row if found is not None else {"file": str(path), "error": "not analysed"}


def weigh(files: Sequence[Any], found: Any, row: dict[str, Any]) -> None:
    """Add to the row what became of the promises of edits in the analysis of the edited text."""
    table = promised(files)
    lines, wrong = broken(table, told(found))
    kept = {(*key[:3], key[4]) for key, (after, ideal) in table.items() if after > ideal}
    clean = {(*key[:3], key[4]) for key in table} - kept
    left = [
        f"{a.kernel.name}, line {c.site.place.line}"
        for a in found.analyses
        for c in a.conflicts
        if (c.wavefronts_low or 0) > (c.ideal or 0)
        and (a.kernel.name, c.site.place.path, c.site.place.line, a.arrays[c.site.array].name) in clean
    ]
    row["arrays"] += len({(s.array.name, f.path) for f in files for s in f.suggestions})
    row["lines"] += lines
    row["broken"] += wrong
    row["not clean"] += sorted(set(left))


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
