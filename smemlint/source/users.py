"""Which other files of a project use a name: a textual search, nearest files first, within bounds."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from smemlint.patterns import pattern
from smemlint.source.per_text import per_text
from smemlint.source.project import ROOT_MARKS, SKIPPED_FOLDERS, digest_of, project_root
from smemlint.system.observed import exists, note, remembered
from smemlint.system.reading import UnreadableError, read_regular

BUILD_FILES = (
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "meson.build",
    "setup.py",
    "BUILD",
    "BUILD.bazel",
    "SConstruct",
)
"""A folder with one of these builds a program or library of its own: no name is looked for above it."""
MAX_FILES = 300
"""A folder with more sources below it is a collection, not one program."""
FAR_FILES = 1000
"""The same where it is worth a longer search."""
MOST_COMPILING = 2
"""Source files that are read in place of a header which they include."""
MAX_BYTES = 1_000_000
"""Larger files are data."""
_MOST_PARAMETERS = 5_000
"""Bytes behind a name in which its parameters end."""
_BRACKET = pattern(rb"[()]")
_BODY = pattern(rb"(?:const\b|noexcept\b|\s)*\{")
_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
_HEADERS = (".cuh", ".h", ".hpp", ".hxx", ".hh", ".inl", ".inc", ".impl")
_INCLUDE = pattern(rb'^[ \t]*#[ \t]*include[ \t]*[<"][^">\n]*?([^">/\n]+)[">]', re.MULTILINE)


def users_of(path: str, names: Iterable[str], far: bool = True) -> tuple[str, ...]:
    """Files that mention one of the names, sources before headers, nearest first.

    Looked for beside and below `path`, then folder by folder above it, up to the first folder that has a
    user (a source, or a header that includes `path`), has a build file, is the project's root, or holds
    too much. A source that another one includes is compiled there: that one comes first, in whichever of
    these folders it lies; a source that includes a header comes last, should none of the others do. Who
    links with whom is the reader's question. far: whether larger folders are searched, too.
    """
    most = FAR_FILES if far else MAX_FILES
    wanted = [name.encode() for name in names if name]
    if not wanted:
        return ()
    word = re.compile(rb"\b(?:" + b"|".join(sorted(map(re.escape, wanted))) + rb")\b")
    own = os.path.abspath(path)
    around = _compiled_in(own) if own.endswith(_SOURCES) else ()
    using = _nearest_users(own, wanted, word, most)
    if is_header(own) and not any(f.endswith(_SOURCES) and includes(f, own) for f in using):
        using += _compiled_with(own)
    return tuple(dict.fromkeys((*around, *using)))


def definers_of(path: str, names: Iterable[str]) -> tuple[str, ...]:
    """Source files that define a function of one of the names, from the nearest folder that has any."""
    wanted = [name.encode() for name in names]
    calls = re.compile(rb"\b(?:" + b"|".join(map(re.escape, wanted)) + rb")\s*\(")
    own = os.path.abspath(path)
    for files in _folders_around(own):
        sources = (f for f in files if f != own and f.endswith(_SOURCES))
        found = [f for f in sources if _mentions(f, wanted, calls) and _defines(_bytes(f), calls)]
        if found:
            return _nearest_first(found, own)
    return ()


def _defines(text: bytes, calls: re.Pattern[bytes]) -> bool:
    """Whether a brace stands behind what looks like a call (calls: its name, up to the bracket)."""
    for match in calls.finditer(text):
        depth, at = 1, match.end()
        for mark in _BRACKET.finditer(text, at, at + _MOST_PARAMETERS):
            depth += 1 if mark.group() == b"(" else -1
            at = mark.end()
            if not depth:
                break
        if not depth and _BODY.match(text, at):
            return True
    return False


def _compiled_with(own: str) -> tuple[str, ...]:
    """The nearest source that includes a header, directly or through others: what the header takes for
    declared is declared there."""
    for files in _folders_around(own):
        found = _compiling(files, [own])
        if found:
            return _nearest_first(found, own)[:1]
    return ()


def _compiled_in(own: str) -> tuple[str, ...]:
    """The nearest source that includes a source file; none for most of them."""
    for files in _folders_around(own):
        found = [f for f in files if f != own and f.endswith(_SOURCES) and includes(f, own)]
        if found:
            return _nearest_first(found, own)[:1]
    return ()


def _nearest_users(own: str, wanted: list[bytes], word: re.Pattern[bytes], most: int) -> tuple[str, ...]:
    declaring: tuple[str, ...] = ()
    for files in _folders_around(own, most):
        found = [file for file in files if file != own and _mentions(file, wanted, word)]
        if found:
            if all(map(is_header, found)):
                found += [f for f in _compiling(files, found) if f != own]
            nearest = _nearest_first(found, own)
            if not all(
                is_header(file) and (includes(own, file) or not includes(file, own)) for file in found
            ):
                return nearest
            # its own headers declare the names for others, those beside it may mean names of their own
            declaring = declaring or nearest
    return declaring


def _compiling(files: Iterable[str], headers: Iterable[str]) -> list[str]:
    """The first source files that include one of the headers, directly or through others: there it stands
    with all that it needs."""
    including: dict[bytes, list[str]] = {}
    for file in files:
        for name in _included(file):
            including.setdefault(name, []).append(file)
    found: dict[str, None] = {}
    todo = [os.path.basename(h).encode() for h in headers]
    for name in todo:
        for file in including.get(name, ()):
            if file.endswith(_SOURCES):
                found[file] = None
            elif (above := os.path.basename(file).encode()) not in todo:
                todo.append(above)
    return sorted(found, key=lambda file: not file.endswith(".cu"))[:MOST_COMPILING]


def _nearest_first(files: Iterable[str], own: str) -> tuple[str, ...]:
    """Sources before headers, of each those that include the file first."""
    beside = os.path.dirname(own)
    return tuple(
        sorted(
            files,
            key=lambda f: (
                not f.endswith(_SOURCES),
                is_header(own) and not includes(f, own),
                os.path.dirname(f) != beside,
                len(f),
                f,
            ),
        )
    )


def includes(path: str, header: str) -> bool:
    """Whether a file includes another, directly, by its name alone."""
    return os.path.basename(header).encode() in _included(path)


def _included(path: str) -> set[bytes]:
    """Names of the files that a file includes, without their folders."""
    return _names_included(_bytes(path))


@per_text
def _names_included(text: bytes) -> set[bytes]:
    return {match.group(1) for match in _INCLUDE.finditer(text)}


def is_header(path: str) -> bool:
    return path.endswith(_HEADERS)


def _folders_around(own: str, most: int = MAX_FILES) -> Iterator[tuple[str, ...]]:
    """The files below each folder around a file, from its own upwards, until one has too many."""
    for folder in _levels(os.path.dirname(own)):
        files = sources_below(folder)
        if files is None or len(files) > most:
            return
        yield files


def _levels(folder: str) -> list[str]:
    """The folder and those above it that may belong to the same program."""
    root = str(project_root(Path(folder)))
    levels = [folder]
    while folder != root and not _is_top(folder):
        above = os.path.dirname(folder)
        if above == folder:
            break
        levels.append(above)
        folder = above
    return levels


@remembered(maxsize=1024)
def _is_top(folder: str) -> bool:
    return any(exists(os.path.join(folder, mark)) for mark in (*BUILD_FILES, *ROOT_MARKS))


@remembered(maxsize=64)
def sources_below(folder: str) -> tuple[str, ...] | None:
    """As `found_below`, read once a process."""
    found = found_below(folder)
    note(("below", folder), digest_of(found))
    return found


def found_below(folder: str) -> tuple[str, ...] | None:
    """C, C++ and CUDA files at or below a folder by name; None when there are more than FAR_FILES."""
    found: list[str] = []
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in SKIPPED_FOLDERS)
        found += [f"{current}/{name}" for name in sorted(names) if name.endswith(_SOURCES + _HEADERS)]
        if len(found) > FAR_FILES:
            return None
    return tuple(found)


def _mentions(path: str, wanted: list[bytes], word: re.Pattern[bytes]) -> bool:
    data = _bytes(path)
    return any(name in data for name in wanted) and word.search(data) is not None


@remembered(maxsize=128)
def _bytes(path: str) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except UnreadableError:
        return b""
