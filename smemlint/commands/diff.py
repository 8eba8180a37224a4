"""`smemlint diff`: what became better, worse and new between two revisions, or two reports."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smemlint.commands import CLEAN, FINDINGS
from smemlint.commands.common.usage import UsageError
from smemlint.system.streams import put
from smemlint.system.visible import visible, visible_path

_SECONDS = 3600


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "what",
        nargs="+",
        metavar="BASE..HEAD [PATH...] | BEFORE.json AFTER.json",
        help="two revisions (without HEAD: the working tree) and paths to look at, or two reports as "
        "`smemlint check --output-format json` writes them",
    )
    add("--output-format", choices=("table", "json"), default="table", help="default: table")


def run(options: argparse.Namespace) -> int:
    from smemlint.diagnose.changes import ReportError, changes, loaded
    from smemlint.source.revisions import GitError

    first, *rest = options.what
    try:
        if first.endswith(".json"):
            if len(rest) != 1:
                raise UsageError("expected two reports, such as before.json after.json")
            before, after = loaded(Path(first)), loaded(Path(rest[0]))
        else:
            before, after = _revisions(first, rest or ["."])
        found = changes(before, after)
    except (ReportError, GitError) as error:
        raise UsageError(str(error)) from None
    counts = {kind: sum(c.kind == kind for c in found) for kind in ("worse", "new", "better", "gone", "same")}
    if options.output_format == "json":
        rows = [
            {
                "kind": c.kind,
                "path": c.path,
                "line": c.line,
                "code": c.code,
                "kernel": c.kernel,
                "what": c.what,
                "ways_before": c.before,
                "ways_after": c.after,
            }
            for c in found
        ]
        put(json.dumps({"version": 1, "changes": rows, "summary": counts}, indent=2) + "\n")
    else:
        for c in found:
            if c.kind != "same":
                ways = f"{_number(c.before)} -> {_number(c.after)}"
                where = f"{visible_path(c.path)}:{c.line}"
                put(f"{c.kind:6}  {where}: {c.code} {visible(c.what)}: {ways}\n")
        put(", ".join(f"{number} {kind}" for kind, number in counts.items()) + "\n")
    return FINDINGS if counts["worse"] or counts["new"] else CLEAN


def _number(ways: float | None) -> str:
    return "none" if ways is None else f"{ways:g}-way" if ways else "there"


def _revisions(text: str, paths: Sequence[str]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The reports of two revisions, each checked in a folder of its own."""
    from smemlint.source.revisions import exported, root_of

    below = Path.cwd().resolve().relative_to(root_of(Path.cwd()).resolve())
    base, dots, head = text.partition("..")
    with tempfile.TemporaryDirectory(prefix="smemlint-") as name:
        folder = Path(name)
        before = folder / "before"
        exported(base, Path.cwd(), before)
        if not dots or not head:
            return _report(before / below, paths), _report(Path.cwd(), paths)
        after = folder / "after"
        exported(head, Path.cwd(), after)
        return _report(before / below, paths), _report(after / below, paths)


def _report(folder: Path, paths: Sequence[str]) -> Mapping[str, Any]:
    """What `smemlint check` says of a folder. Paths that are not there at that time are no mistake."""
    present = [p for p in paths if (folder / p).exists()] if folder.is_dir() else []
    if not present:
        return {"diagnostics": []}
    said = ("--exit-zero", "--output-format", "json", "--", *present)
    command = [sys.executable, "-m", "smemlint", "check", *said]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=_SECONDS, check=False)
    try:
        data: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise UsageError(
            done.stderr.decode("utf-8", "replace").strip() or "the check gave no report"
        ) from None
    return data
