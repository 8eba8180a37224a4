"""What a compile_commands.json says about a file, reduced to what clang may be told."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from smemlint.records import record

MAX_BYTES = 256 * 1024 * 1024


class CompileCommandsError(Exception):
    """The file is missing or is not a compilation database."""


@record(frozen=True, slots=True)
class Command:
    """The flags of one file that are honoured; all others (nvcc's own would make clang stop) are left out."""

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    std: str | None = None
    forced: tuple[str, ...] = ()


def commands_for(database: str, path: str) -> Command | None:
    """The command of `path`; for a file that has none, as headers, that of the nearest file that has one.

    Raises CompileCommandsError when the database cannot be read.
    """
    commands = load_commands(database)
    full = os.path.realpath(path)
    if full in commands:
        return commands[full]
    if full.endswith((".cu", ".cpp", ".cc", ".cxx")) or not commands:
        return None
    return commands[min(commands, key=lambda other: (-_common(full, other), other))]


def _common(path: str, other: str) -> int:
    """How many characters two paths share at their start."""
    return next((n for n, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), len(path))


@lru_cache(maxsize=4)
def load_commands(database: str) -> Mapping[str, Command]:
    """Commands by real path of the source file; the first entry of a file wins."""
    path = Path(database)
    if path.is_dir():
        path = path / "compile_commands.json"
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CompileCommandsError(f"{path}: is too large")
        entries = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise CompileCommandsError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise CompileCommandsError(f"{path}: is not JSON: {error}") from error
    if not isinstance(entries, list):
        raise CompileCommandsError(f"{path}: is not a compilation database: no list of commands")
    commands: dict[str, Command] = {}
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            folder = str(entry.get("directory", path.parent))
            file = os.path.realpath(os.path.join(folder, entry["file"]))
            commands.setdefault(file, parse_arguments(_arguments(entry), folder))
    return commands


def _arguments(entry: dict[str, Any]) -> list[str]:
    if isinstance(entry.get("arguments"), list):
        return [str(argument) for argument in entry["arguments"]]
    try:
        return shlex.split(str(entry.get("command", "")))
    except ValueError:
        return str(entry.get("command", "")).split()


def parse_arguments(arguments: Sequence[str], folder: str) -> Command:
    """The allow-list: -I -isystem -iquote -D -U -std -include, joined or apart, also behind -Xcompiler."""
    found: dict[str, list[str]] = {"-I": [], "-D": [], "-U": [], "-std": [], "-include": []}
    for flag, value in _flags(arguments):
        found[flag].append(value)
    return Command(
        include_dirs=tuple(
            dict.fromkeys(os.path.normpath(os.path.join(folder, name)) for name in found["-I"])
        ),
        defines=tuple(found["-D"]),
        undefines=tuple(found["-U"]),
        std=found["-std"][-1] if found["-std"] else None,
        forced=tuple(os.path.normpath(os.path.join(folder, name)) for name in found["-include"]),
    )


_SPELLINGS = {
    "-I": "-I", "--include-path": "-I", "-isystem": "-I", "--system-include": "-I", "-iquote": "-I",
    "-D": "-D", "--define-macro": "-D", "-U": "-U", "--undefine-macro": "-U",
    "-std": "-std", "--std": "-std", "-include": "-include", "--pre-include": "-include",
}  # fmt: skip


def _flags(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if word in _SPELLINGS:
            following = next(words, None)
            if following is not None:
                yield _SPELLINGS[word], following
        elif equals and name in _SPELLINGS and name not in ("-I", "-D", "-U"):
            yield _SPELLINGS[name], value
        elif word[:2] in ("-I", "-D", "-U") and len(word) > 2:
            yield word[:2], word[2:]
        elif word.startswith(("-isystem", "-iquote")):
            yield "-I", word.removeprefix("-isystem").removeprefix("-iquote")
