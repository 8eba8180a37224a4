"""Measured programs as they were saved, and copies of their sources as they were measured."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkout import SOURCE_SUFFIXES, Checkout


@dataclass(frozen=True, slots=True)
class Line:
    """One measured source line: totals over the SASS instructions of one kind that it became."""

    file: str
    line: int
    op: str
    warps: int
    threads: int
    wavefronts: int
    ideal: int

    @property
    def ways(self) -> float:
        return self.wavefronts / self.ideal if self.ideal else 1.0


@dataclass(frozen=True, slots=True)
class MeasuredLaunch:
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    repo: str
    folder: str
    only: str | None
    defines: tuple[str, ...]
    edits: tuple[tuple[str, str, str], ...]
    driver_is_ours: bool
    launches: tuple[MeasuredLaunch, ...]


def load(path: Path) -> list[Program]:
    """The measurements, in the file's order: of programs (.json.gz) or of the fixtures (.json)."""
    if path.suffix != ".gz":
        return fixtures(json.loads(path.read_text(encoding="utf-8")))
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        data = json.load(stream)
    return [
        Program(
            name=name,
            repo=p["repo"],
            folder=p["dir"],
            only=p["only"],
            defines=tuple(p["defines"]),
            edits=tuple((e[0], e[1], e[2]) for e in p["edits"]),
            driver_is_ours=p["driver_is_ours"],
            launches=tuple(
                MeasuredLaunch(
                    kernel=r["kernel"],
                    grid=tuple(r["grid"]),
                    block=tuple(r["block"]),
                    dynamic=r["dynamic"],
                    lines=tuple(Line(*entry) for entry in r["lines"]),
                )
                for r in p["launches"]
            ),
        )
        for name, p in data["programs"].items()
    ]


def fixtures(data: dict[str, Any]) -> list[Program]:
    """The measured fixtures, each as a program of its own in a check-out named `fixtures`."""
    return [
        Program(
            name=Path(name).stem,
            repo="fixtures",
            folder=".",
            only=f"^{re.escape(name)}$",
            defines=(),
            edits=(),
            driver_is_ours=False,
            launches=tuple(
                MeasuredLaunch(
                    r["kernel"], tuple(r["grid"]), tuple(r["block"]), -1, tuple(Line(*x) for x in r["lines"])
                )
                for r in runs
            ),
        )
        for name, runs in data["fixtures"].items()
    ]


def stage(program: Program, checkout: Checkout, work: Path) -> list[Path]:
    """Copy a program and its includes to `work`, apply the edits, return the paths to inspect.

    Raises: FileNotFoundError when the program is not in the check-out, ValueError when an edit finds nothing.
    """
    root = checkout.root.resolve()
    folder = root / program.folder
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not there")
    mine = [p for p in sorted(folder.rglob("*")) if p.suffix in SOURCE_SUFFIXES and p.is_file()]
    if program.only is not None:
        mine = [p for p in mine if re.search(program.only, p.name)]
    for source in checkout.closure(mine):
        target = work / source.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for name, pattern, replacement in program.edits:
        target = work / program.folder / name
        text, times = re.subn(pattern, replacement, target.read_text(encoding="utf-8", errors="replace"))
        if not times:
            raise ValueError(f"{program.name}: nothing in {name} matches {pattern!r}")
        target.write_text(text, encoding="utf-8")
    if program.only is None:
        return [work / program.folder]
    return [work / p.relative_to(root) for p in mine]
