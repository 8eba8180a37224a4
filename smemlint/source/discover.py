"""Which files a user means when naming folders."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH118

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from smemlint.reading import UnreadableError, read_regular, read_start, too_large
from smemlint.records import record
from smemlint.source.project import SKIPPED_FOLDERS, project_root
from smemlint.source.text import MAX_BYTES

if TYPE_CHECKING:
    import pathspec

CUDA_SUFFIXES = frozenset({".cu", ".cuh"})
HEADER_SUFFIXES = frozenset({".h", ".hpp", ".hxx", ".hh", ".inl", ".cpp", ".cc", ".cxx"})
MAX_IGNORE_BYTES = 1_000_000
_MARKS = (b"__shared__", b"__global__")


@record(frozen=True, slots=True)
class LeftOut:
    """Something that a walk came by and did not look at. lost: findings may be missing for that."""

    path: str
    message: str
    lost: bool = True


Tell: TypeAlias = Callable[[LeftOut], None]


def is_cuda_text(data: bytes) -> bool:
    """Whether a file that is no `.cu` by name holds device code."""
    return any(mark in data for mark in _MARKS)


def discover(paths: Iterable[Path | str], tell: Tell = lambda left: None) -> Iterator[Path]:
    """Files to analyse, each once, in a stable order.

    A file that is named explicitly is always taken, whatever it is; so is a path that does not exist,
    because reading it then says so. Folders give `.cu` and `.cuh`, and headers that mention `__shared__`
    or `__global__`; hidden and version-control folders and what .gitignore excludes are left out, and so
    are links that lead out of the folder. tell: gets what could not be looked at on the way, and why.
    """
    seen: set[str] = set()
    for path in map(Path, paths):
        found = _walk(path, tell) if path.is_dir() else iter((path,))
        for file in found:
            key = os.path.realpath(file)
            if key not in seen:
                seen.add(key)
                yield file


def _walk(folder: Path, tell: Tell) -> Iterator[Path]:
    """The files below a folder, links to others of them last."""
    top = os.path.realpath(folder)
    links: list[Path] = []
    for path in _below(folder, tell):
        if not path.is_symlink():
            if _is_candidate(path, tell):
                yield path
        elif os.path.realpath(path).startswith(os.path.join(top, "")):
            links.append(path)
        else:
            tell(LeftOut(str(path), "is a link that leads out of the folder, not followed", lost=False))
    yield from (path for path in links if _is_candidate(path, tell))


def _below(folder: Path, tell: Tell) -> Iterator[Path]:
    """Files with the names of sources and headers, of whatever kind, that are not left out by name."""
    ignored = _Ignore(folder, tell)

    def unlisted(error: OSError) -> None:
        tell(LeftOut(str(error.filename), f"cannot be listed: {(error.strerror or str(error)).lower()}"))

    for current, folders, files in os.walk(folder, onerror=unlisted, followlinks=False):
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
            named = path.suffix.lower() in CUDA_SUFFIXES | HEADER_SUFFIXES
            if named and not name.startswith(".") and not ignored.matches(path, False):
                yield path


def _is_candidate(path: Path, tell: Tell) -> bool:
    """Whether a file is CUDA by its name, or by what it begins with."""
    if path.suffix.lower() in CUDA_SUFFIXES:
        return True
    try:
        start = read_start(path, MAX_BYTES + 1)
    except UnreadableError as error:
        tell(LeftOut(str(path), error.message))
        return False
    found = is_cuda_text(start)
    if len(start) > MAX_BYTES and not found:  # data, by its first bytes; with device code, reading refuses it
        tell(LeftOut(str(path), too_large(path.stat().st_size, MAX_BYTES), lost=False))
    return found


class _Ignore:
    """The .gitignore files that hold for a walk, from the project root down."""

    def __init__(self, folder: Path, tell: Tell) -> None:
        self._tell = tell
        self._specs: list[tuple[Path, pathspec.GitIgnoreSpec]] = []
        start = Path(os.path.abspath(folder))
        root = project_root(start)
        for parent in [*reversed(start.parents)]:
            if parent == root or root in parent.parents:
                self._load(parent)

    def enter(self, folder: Path) -> None:
        self._load(Path(os.path.abspath(folder)))

    def _load(self, folder: Path) -> None:
        path = folder / ".gitignore"
        if not os.path.lexists(path):
            return
        try:
            lines = read_regular(path, MAX_IGNORE_BYTES).decode("utf-8", "replace").splitlines()
        except UnreadableError as error:
            self._tell(LeftOut(str(path), error.message))
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
