"""What a compile_commands.json says about a file, reduced to what clang may be told."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH118

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from smemlint.records import record
from smemlint.system.observed import is_folder, real_path, remembered
from smemlint.system.reading import UnreadableError, read_regular

MAX_BYTES = 64 * 1024 * 1024


class CompileCommandsError(Exception):
    """The file is missing or is not a compilation database, or the entry of a file is none."""


class _EntryError(Exception):
    """What is wrong with one entry."""


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
    known = load_commands(database)
    full = real_path(path)
    command = known.commands.get(full)
    if isinstance(command, Command):
        return command
    if command is not None or known.broken:  # an entry without a name may be that of any file
        raise CompileCommandsError(command or known.broken)
    good = [other for other, found in known.commands.items() if isinstance(found, Command)]
    if full.endswith((".cu", ".cpp", ".cc", ".cxx")) or not good:
        return None
    command = known.commands[min(good, key=lambda other: (-_shared_prefix(full, other), other))]
    return command if isinstance(command, Command) else None


def _shared_prefix(path: str, other: str) -> int:
    """How many characters two paths share at their start."""
    return next((n for n, (a, b) in enumerate(zip(path, other, strict=False)) if a != b), len(path))


@record(frozen=True, slots=True)
class Database:
    """commands: by real path of the source file, or why the entry of that file is none; the first entry of a
    file wins. broken: what is wrong with the first entry that names no file, '' where all do.
    """

    commands: Mapping[str, Command | str]
    broken: str = ""


@remembered(maxsize=4)
def load_commands(database: str) -> Database:
    """All commands of a database. An entry that is none costs its own file, not the others."""
    path = Path(database)
    if is_folder(str(path)):
        path = path / "compile_commands.json"
    commands: dict[str, Command | str] = {}
    broken = ""
    for number, entry in enumerate(_entries(path), 1):
        file = ""
        try:
            if not isinstance(entry, dict):
                raise _EntryError("is no object")
            folder = os.path.join(path.parent, _name(entry, "directory", str(path.parent)))
            file = real_path(os.path.join(folder, _name(entry, "file")))
            commands.setdefault(file, parse_arguments(_arguments(entry), folder))
        except _EntryError as error:
            said = f"{path}: entry {number}: {error}"
            if file:
                commands.setdefault(file, said)
            broken = broken or ("" if file else said)
    return Database(commands, broken)


def _entries(path: Path) -> list[Any]:
    try:
        entries = json.loads(read_regular(path, MAX_BYTES).decode("utf-8"))
    except UnreadableError as error:
        raise CompileCommandsError(f"{path}: {error.message}") from error
    except ValueError as error:
        raise CompileCommandsError(f"{path}: is not JSON: {error}") from error
    except RecursionError as error:
        raise CompileCommandsError(f"{path}: is nested too deeply") from error
    if not isinstance(entries, list):
        raise CompileCommandsError(f"{path}: is not a compilation database: no list of commands")
    return entries


def _name(entry: Mapping[str, Any], key: str, default: str | None = None) -> str:
    """A name of a file or folder. Raises _EntryError."""
    value = entry.get(key, default)
    if value is None:
        raise _EntryError(f"has no `{key}`")
    return _text(key, value)


def _text(key: str, value: object) -> str:
    """A string that can be handed to the system. Raises _EntryError."""
    if not isinstance(value, str):
        raise _EntryError(f"`{key}` holds something that is no string")
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise _EntryError(f"`{key}` holds half of a surrogate pair, which is no character") from None
    if "\0" in value:
        raise _EntryError(f"`{key}` holds a NUL character")
    return value


def _arguments(entry: Mapping[str, Any]) -> list[str]:
    """The words of a command; none where it has neither key. Raises _EntryError."""
    words = entry.get("arguments")
    if words is not None:
        if not isinstance(words, list):
            raise _EntryError("`arguments` is no list")
        return [_text("arguments", word) for word in words]
    command = _text("command", entry.get("command", ""))
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


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
