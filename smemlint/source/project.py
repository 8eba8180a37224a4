"""Where a project begins, and which of its files an include may mean."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH112, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from smemlint.system.observed import digest, exists, is_folder, note, remembered

ROOT_MARKS = ("smemlint.toml", "pyproject.toml", ".git", ".hg")
WEAK_MARKS = (".gitignore", "LICENSE", "LICENSE.txt", "LICENSE.md", "CMakeLists.txt")
"""What an unpacked archive of a project has at its top; parts of it may have the same."""
_SHARED_FOLDERS = ("/tmp", "/var/tmp")
"""What lies in one of these is not of one project."""
SKIPPED_FOLDERS = frozenset(
    {
        "build",
        "cmake-build-debug",
        "cmake-build-release",
        "node_modules",
        "__pycache__",
        "site-packages",
        "CMakeFiles",
    }
)
MAX_INDEXED_FILES = 100_000
_INCLUDED_SUFFIXES = (
    ".cuh",
    ".h",
    ".hpp",
    ".hxx",
    ".hh",
    ".inl",
    ".cu",
    ".inc",
    ".ipp",
    ".tpp",
    ".def",
    ".cpp",
    ".cc",
    ".impl",
    ".ptxh",
    ".jit",
)


def project_root(path: Path) -> Path:
    """Return the nearest folder at or above `path` that holds a mark of a project; without any, the outermost
    that looks like one; else the working folder if `path` lies in it, else the path's own folder."""
    start = os.path.abspath(path)
    if not is_folder(start):
        start = os.path.dirname(start)
    folders = [start]
    while (above := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(above)
    for folder in folders:
        if _holds(folder, ROOT_MARKS):
            return Path(folder)
    never = (str(Path.home()), folders[-1], *_SHARED_FOLDERS)
    mine = [folder for folder in reversed(folders) if folder not in never]
    looks = (folder for folder in mine if _holds(folder, WEAK_MARKS))
    working = str(Path.cwd())
    return Path(next(looks, working if working in mine else start))


@remembered(maxsize=65536)
def _holds(folder: str, marks: tuple[str, ...]) -> bool:
    return any(exists(os.path.join(folder, mark)) for mark in marks)


def why_foreign(path: str, asked: Iterable[str]) -> str | None:
    """Why a file is none of those that the user may mean by naming some paths; None where it may be one.

    A file that is named is meant, whatever it is; else it must lie in a folder that is named or in the
    project of a named path, with no link on the way from there.
    """
    full = os.path.abspath(path)
    named = [os.path.abspath(each) for each in asked]
    if full in named:
        return None
    reason = "it lies outside of the project"
    for folder in dict.fromkeys(
        (*(each for each in named if os.path.isdir(each)), *(str(project_root(Path(each))) for each in named))
    ):
        inside = os.path.join(folder, "")
        if full.startswith(inside):
            if os.path.realpath(full) == os.path.join(os.path.realpath(folder), full.removeprefix(inside)):
                return None
            reason = "it is reached through a link"
    return reason


class ProjectIndex:
    """The files of a project by name, read lazily and at most MAX_INDEXED_FILES of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, list[str]] | None = None

    def find(self, include: str, beside: str) -> str | None:
        """The file that `#include "include"` in the file `beside` most probably means, or None.

        The candidate must end in the whole path as included; of several the one that shares the longest
        part of its path with the including file wins, then the shortest, then the first by name.
        """
        parts = [part for part in include.replace("\\", "/").split("/") if part not in (".", "")]
        while parts and parts[0] == "..":
            parts.pop(0)
        if not parts or ".." in parts:
            return None
        suffix = "/" + "/".join(parts)
        candidates = [path for path in self._index().get(parts[-1], ()) if path.endswith(suffix)]
        if not candidates:
            return None
        return min(candidates, key=lambda path: (-_shared(path, beside), len(path), path))

    def _index(self) -> dict[str, list[str]]:
        if self._files is None:
            self._files = index_files(str(self.root))
        return self._files


def _shared(path: str, other: str) -> int:
    """How many leading folders two absolute paths have in common."""
    count = 0
    for mine, theirs in zip(path.split("/"), other.split("/"), strict=False):
        if mine != theirs:
            break
        count += 1
    return count


def listed(root: str) -> dict[str, list[str]]:
    """Sources and headers below a folder, by name."""
    files: dict[str, list[str]] = {}
    count = 0
    for current, folders, names in os.walk(root):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS
        )
        for name in sorted(names):
            if name.endswith(_INCLUDED_SUFFIXES):
                files.setdefault(name, []).append(f"{current}/{name}".replace(os.sep, "/"))
                count += 1
        if count >= MAX_INDEXED_FILES:
            break
    return files


@remembered(maxsize=8)
def index_files(root: str) -> dict[str, list[str]]:
    """As `listed`, read once a process."""
    files = listed(root)
    note(("listed", root), digest_of(files))
    return files


def digest_of(files: object) -> str:
    """What stands for a listing."""
    return digest(repr(files).encode("utf-8", "surrogateescape"))


def project_index(root: Path) -> ProjectIndex:
    """The index of a project."""
    return ProjectIndex(Path(os.path.abspath(root)))
