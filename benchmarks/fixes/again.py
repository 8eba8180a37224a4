"""Whether fixing twice changes nothing, and whether the patch is one: over copies of whole checkouts.

    python benchmarks/fixes/again.py CHECKOUT... [--command smemlint] [--jobs N] [--json FILE]

For each checkout, in a copy below a folder whose name holds a space: `--diff --unsafe-fixes` is tried with
`patch -p1` and with `git apply`, and must lead to the files that `--fix --unsafe-fixes` writes. These are
fixed a second time, which should change none of them, and show no warning with an edit.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SUFFIXES = (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".c", ".cc", ".cpp")
COLUMNS = (
    "checkout",
    "warnings",
    "edits",
    "files",
    "patch",
    "git apply",
    "alike",
    "again",
    "left",
    "edits left",
)


@dataclass
class Row:
    """One checkout. files: that were fixed; patch, git, alike: whether the patch applies and gives them;
    again: those that a second `--fix` changes; left, offered: warnings after it, and those with an edit."""

    name: str
    warnings: int = 0
    edits: int = 0
    files: int = 0
    patch: bool = True
    git: bool = True
    alike: bool = True
    again: int = 0
    left: int = 0
    offered: int = 0


def called(
    command: Sequence[str], folder: Path, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, cwd=folder, input=data, capture_output=True, check=False)


def copied(checkout: Path, to: Path) -> Path:
    for path in checkout.rglob("*"):
        if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
            target = to / path.relative_to(checkout)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return to


def texts(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in found}


def warnings(smemlint: Sequence[str], folder: Path) -> tuple[int, int]:
    """Conflict warnings, and those with an edit."""
    said: dict[str, Any] = json.loads(called([*smemlint, "--output-format", "json", "."], folder).stdout)
    mine = [d for d in said["diagnostics"] if d["code"].startswith("SMEM1") and d["severity"] == "warning"]
    return len(mine), sum(bool((d.get("fix") or {}).get("edits")) for d in mine)


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> int:
    return sum(one.get(name) != other.get(name) for name in {*one, *other})


def examine(checkout: Path, smemlint: Sequence[str]) -> Row:
    row = Row(checkout.name)
    with tempfile.TemporaryDirectory() as scratch:
        fixed = copied(checkout, Path(scratch, "a folder", "fixed"))
        if not fixed.is_dir():
            return row
        before = texts(fixed)
        row.warnings, row.edits = warnings(smemlint, fixed)
        diff = called([*smemlint, "--diff", "--unsafe-fixes", "."], fixed).stdout
        patched = [copied(checkout, Path(scratch, "a folder", name)) for name in ("patched", "applied")]
        if diff:
            row.patch = not called(
                ["patch", "-p1", "-s", "--no-backup-if-mismatch"], patched[0], diff
            ).returncode
            row.git = not called(["git", "apply", "-"], patched[1], diff).returncode
        called([*smemlint, "--fix", "--unsafe-fixes", "."], fixed)
        after = texts(fixed)
        row.files = differing(before, after)
        row.alike = all(texts(each) == after for each in patched)
        called([*smemlint, "--fix", "--unsafe-fixes", "."], fixed)
        row.again = differing(after, texts(fixed))
        row.left, row.offered = warnings(smemlint, fixed)
    return row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--command", default="smemlint")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    for checkout in options.checkouts:
        row = examine(checkout.resolve(), [*options.command.split(), "--no-cache", "-j", options.jobs])
        rows.append(asdict(row))
        cells = (("yes" if v else "NO") if isinstance(v, bool) else str(v) for v in rows[-1].values())
        print("| " + " | ".join(cells) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(r["again"] or not (r["patch"] and r["git"] and r["alike"]) for r in rows))


if __name__ == "__main__":
    raise SystemExit(main())
