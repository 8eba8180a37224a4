"""Which files a user means when naming folders."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from smemlint.source.project import SKIPPED_FOLDERS, project_root

if TYPE_CHECKING:
    import pathspec

CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
HEADER_SUFFIXES = frozenset({".h", ".hpp", ".hxx", ".hh", ".inl", ".cpp", ".cc", ".cxx"})
_MARKS = (b"__shared__", b"__global__")


def is_cuda_text(data: bytes) -> bool:
    """Whether a file that is no `.cu` by name holds device code."""
    return any(mark in data for mark in _MARKS)


def discover(paths: Iterable[Path | str]) -> Iterator[Path]:
    """Files to analyse, each once, in a stable order.

    A file that is named explicitly is always taken, whatever it is; so is a path that does not exist,
    because reading it then says so. Folders give `.cu` and `.cuh`, and headers that mention `__shared__`
    or `__global__`; hidden and version-control folders and what .gitignore excludes are left out.
    """
    seen: set[str] = set()
    for path in map(Path, paths):
        found = _walk(path) if path.is_dir() else iter((path,))
        for file in found:
            key = os.path.realpath(file)
            if key not in seen:
                seen.add(key)
                yield file


def _walk(folder: Path) -> Iterator[Path]:
    ignored = _Ignore(folder)
    for current, folders, files in os.walk(folder, onerror=None, followlinks=False):
        here = Path(current)
        ignored.enter(here)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in SKIPPED_FOLDERS
            and not ignored.matches(here / name, True)
        )
        for name in sorted(files):
            path = here / name
            if name.startswith(".") or not _is_candidate(path) or ignored.matches(path, False):
                continue
            yield path


def _is_candidate(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix in CUDA_SUFFIXES:
        return True
    if suffix not in HEADER_SUFFIXES:
        return False
    try:
        return is_cuda_text(path.read_bytes())
    except OSError:
        return False


class _Ignore:
    """The .gitignore files that hold for a walk, from the project root down."""

    def __init__(self, folder: Path) -> None:
        self._specs: list[tuple[Path, pathspec.GitIgnoreSpec]] = []
        start = Path(os.path.abspath(folder))
        root = project_root(start)
        for parent in [*reversed(start.parents)]:
            if parent == root or root in parent.parents:
                self._load(parent)

    def enter(self, folder: Path) -> None:
        self._load(Path(os.path.abspath(folder)))

    def _load(self, folder: Path) -> None:
        try:
            lines = (folder / ".gitignore").read_text("utf-8", "replace").splitlines()
        except OSError:
            return
        import pathspec

        self._specs.append((folder, pathspec.GitIgnoreSpec.from_lines(lines)))

    def matches(self, path: Path, is_folder: bool) -> bool:
        full = Path(os.path.abspath(path))
        answer = False
        for base, spec in self._specs:
            if base not in full.parents:
                continue
            verdict = _verdict(spec, full.relative_to(base).as_posix(), is_folder)
            if verdict is not None:
                answer = verdict
        return answer


def _verdict(spec: pathspec.GitIgnoreSpec, name: str, is_folder: bool) -> bool | None:
    """What the last pattern says that names this very path; None when none does.

    A pattern that names a folder above has had its say when the walk came to that folder: `!*/` keeps
    folders, and no file in them. (`GitIgnoreSpec` itself does not let `!*/` undo `*`.)
    """
    for pattern in reversed(spec.patterns):
        if pattern.include is not None and pattern.regex is not None:
            # Group `ps_d` is the slash behind a folder.
            found = any(m.groupdict().get("ps_d") is None for m in pattern.regex.finditer(name))
            if is_folder and not found:
                matches = pattern.regex.finditer(f"{name}/")
                found = any(m.groupdict().get("ps_d") and m.end() == len(name) + 1 for m in matches)
            if found:
                return pattern.include
    return None
