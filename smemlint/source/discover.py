"""Which files a user means when naming folders."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH112, PTH109, PTH114, PTH118, PTH122

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from smemlint.records import record
from smemlint.source.gitignore import Pattern, patterns, verdict
from smemlint.source.hip import HIP_SUFFIX
from smemlint.source.project import SKIPPED_FOLDERS, project_root
from smemlint.source.text import MAX_BYTES
from smemlint.system.reading import UnreadableError, read_regular, read_start, too_large

CUDA_SUFFIXES = frozenset({".cu", ".cuh", HIP_SUFFIX})
HEADER_SUFFIXES = frozenset({".h", ".hpp", ".hxx", ".hh", ".inl", ".cpp", ".cc", ".cxx"})
_PLAIN_SOURCES = frozenset({".cpp", ".cc", ".cxx"})
MAX_IGNORE_BYTES = 1_000_000
_MARKS = (b"__shared__", b"__global__")
_BOTH_WAYS = b"__CUDACC__"
"""A source that asks which compiler reads it is given to nvcc as well."""


@record(frozen=True, slots=True)
class LeftOut:
    """Something that a walk came by and did not look at. lost: findings may be missing for that."""

    path: str
    message: str
    lost: bool = True


Tell: TypeAlias = Callable[[LeftOut], None]


def is_cuda_text(data: bytes, suffix: str = "") -> bool:
    """Whether a file that is no `.cu` by name holds device code, or includes it where nvcc reads it."""
    return any(mark in data for mark in _MARKS) or (suffix in _PLAIN_SOURCES and _BOTH_WAYS in data)


def discover(paths: Iterable[Path | str], tell: Tell = lambda left: None) -> Iterator[Path]:
    """Files to analyse, each once, in a stable order.

    A file that is named explicitly is always taken, whatever it is; so is a path that does not exist,
    because reading it then says so. Folders give `.cu`, `.cuh` and `.hip`, headers and C++ sources that
    mention `__shared__` or `__global__`, and sources that mention `__CUDACC__`; hidden and version-control
    folders, what .gitignore excludes and links that lead out of the folder are left out. tell: gets what
    could not be looked at on the way, and why.
    """
    seen: set[str] = set()
    real = RealPaths()
    for path in map(Path, paths):
        for file in _walk(path, tell) if path.is_dir() else (path,):
            key = real.of(file)
            if key not in seen:
                seen.add(key)
                yield file


class RealPaths:
    """Absolute paths in which no link stands: one for each file.

    As `os.path.realpath`, which looks at every folder above a file again for each file in it.
    """

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: Path | str) -> str:
        """Return the real path of a file, whether it exists or not."""
        name = os.path.join(os.getcwd(), path)
        folder, base = os.path.split(name)
        if base in ("", ".", "..") or os.path.islink(name):
            return os.path.realpath(name)
        return os.path.join(self._folder(folder), base)

    def _folder(self, folder: str) -> str:
        climbed: list[tuple[str, str]] = []
        while folder not in self._folders:
            above, base = os.path.split(folder)
            if base in ("", ".", ".."):
                self._folders[folder] = os.path.realpath(folder)
            else:
                climbed.append((folder, base))
                folder = above
        real = self._folders[folder]
        for name, base in reversed(climbed):
            real = os.path.realpath(name) if os.path.islink(name) else os.path.join(real, base)
            self._folders[name] = real
        return real


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


@record(frozen=True, slots=True)
class _Ignored:
    """The patterns of one `.gitignore`. depth: folders from the project's root to it."""

    depth: int
    patterns: tuple[Pattern, ...]


def _below(folder: Path, tell: Tell) -> Iterator[Path]:
    """Files with the names of sources and headers, of whatever kind, that are not left out by name.

    Folders wait on a stack: no depth of them ends the walk.
    """
    start = Path(os.path.abspath(folder))
    root = project_root(start)
    above = start.relative_to(root).parts
    rules: tuple[_Ignored, ...] = ()
    for depth in range(len(above)):
        rules = _with_rules(rules, root.joinpath(*above[:depth]), depth, tell)
    waiting: list[tuple[Path, tuple[str, ...], tuple[_Ignored, ...]]] = [(folder, (), rules)]
    while waiting:
        here, names, rules = waiting.pop()
        rules = _with_rules(rules, here, len(above) + len(names), tell)
        try:
            with os.scandir(here) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            tell(LeftOut(str(here), f"cannot be listed: {(error.strerror or str(error)).lower()}"))
            continue
        folders = []
        for entry in entries:
            below = (*names, entry.name)
            if entry.name.startswith(".") or not (kind := _kind(entry)):
                continue
            if not _left_out(rules, (*above, *below), kind == "folder"):
                if kind == "folder":
                    folders.append((here / entry.name, below, rules))
                else:
                    yield here / entry.name
        waiting += reversed(folders)


def _kind(entry: os.DirEntry[str]) -> str:
    """`folder`, `file`, or nothing where nobody would look for CUDA."""
    if entry.is_dir(follow_symlinks=False):
        return "" if entry.name in SKIPPED_FOLDERS else "folder"
    suffix = os.path.splitext(entry.name)[1].lower()
    named = suffix in CUDA_SUFFIXES or suffix in HEADER_SUFFIXES
    # A link to a folder is not followed, whatever its name.
    return "file" if named and not os.path.isdir(entry.path) else ""


def _with_rules(rules: tuple[_Ignored, ...], folder: Path, depth: int, tell: Tell) -> tuple[_Ignored, ...]:
    """The rules with those of a folder's own `.gitignore`."""
    path = os.path.join(folder, ".gitignore")
    if not os.path.lexists(path):
        return rules
    try:
        text = read_regular(path, MAX_IGNORE_BYTES).decode("utf-8", "replace")
    except UnreadableError as error:
        tell(LeftOut(path, error.message))
        return rules
    return (*rules, _Ignored(depth, patterns(text)))


def _left_out(rules: tuple[_Ignored, ...], names: tuple[str, ...], is_folder: bool) -> bool:
    """Whether the last pattern that names a path leaves it out. names: from the project's root on."""
    for ignored in reversed(rules):
        said = verdict(ignored.patterns, names[ignored.depth :], is_folder)
        if said is not None:
            return said
    return False


def _is_candidate(path: Path, tell: Tell) -> bool:
    """Whether a file is CUDA by its name, or by what it begins with."""
    if path.suffix.lower() in CUDA_SUFFIXES:
        return True
    try:
        start = read_start(path, MAX_BYTES + 1)
    except UnreadableError as error:
        tell(LeftOut(str(path), error.message))
        return False
    found = is_cuda_text(start, path.suffix.lower())
    if len(start) > MAX_BYTES and not found:  # data, by its first bytes; with device code, reading refuses it
        tell(LeftOut(str(path), too_large(path.stat().st_size, MAX_BYTES), lost=False))
    return found
