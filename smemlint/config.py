"""What the user asked for: `[tool.smemlint]`, `smemlint.toml`, the command line; the closest wins.

In: paths of configuration files, parsed arguments. Out: Settings. Knows nothing of the stages.

A file of the project says how its code is read and which findings count. It has no hands: what writes a file,
starts a program or takes more of the machine is said on the command line alone.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, cast

from smemlint.patterns import pattern
from smemlint.reading import UnreadableError, read_regular
from smemlint.records import record

Block = tuple[int, int, int]
SEVERITIES = ("note", "warning", "error")
FORMATS = ("full", "concise", "json", "sarif", "github", "html")
MAX_THREADS = 1024
MAX_DEPTH = 64
"""Threads of a block in z: CUDA's limit."""
MAX_BYTES = 1024 * 1024
"""Of a configuration file."""
MAX_LEVELS = 100
"""Folders in which the configuration of a file is looked for."""
RANGES: Mapping[str, tuple[float, float]] = {
    "min-ways": (1, 1024),
    "timeout": (0.1, 86_400),
    "jobs": (1, 1024),
}
"""Least and most of each option that is a number."""


class ConfigError(Exception):
    """The user's configuration cannot be followed; the text says where and why."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.message = message
        self.path = path


@record(frozen=True, slots=True)
class Settings:
    """Every option; None where the user has not said anything.

    blocks: kernel name -> block shape, '' for all kernels.
    """

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    min_ways: float | None = None
    blocks: Mapping[str, Block] | None = None
    arch: str | None = None
    define: tuple[str, ...] | None = None
    include: tuple[str, ...] | None = None
    std: str | None = None
    compile_commands: str | None = None
    level: str | None = None
    fail_on: str | None = None
    fail_on_unseen: bool | None = None
    exit_zero: bool | None = None
    statistics: bool | None = None
    show_unresolved: bool | None = None
    output_format: str | None = None
    output: tuple[str, ...] | None = None
    jobs: int | None = None
    timeout: float | None = None

    def over(self, base: Settings) -> Settings:
        """These settings, with `base` where they say nothing. Block shapes are joined kernel by kernel."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        if self.blocks is not None and base.blocks is not None:
            said["blocks"] = {**base.blocks, **self.blocks}
        return replace(base, **said)


DEFAULTS = Settings(
    select=(),
    ignore=(),
    min_ways=2.0,
    blocks={},
    arch="sm_90",
    define=(),
    include=(),
    std="",
    level="warning",
    fail_on="warning",
    fail_on_unseen=False,
    exit_zero=False,
    statistics=False,
    show_unresolved=False,
    output_format="full",
    output=(),
    jobs=0,
    timeout=40.0,
)


def parse_block(text: str) -> Block:
    """`32,8` -> (32, 8, 1). Raises ConfigError."""
    parts = [p.strip() for p in text.split(",")]
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch("[0-9]{1,9}", p) for p in parts):
        raise ConfigError(f"block shape `{short(text)}`: expected one to three numbers, such as 32,8")
    return check_block([int(p) for p in parts], text)


def check_block(numbers: list[int], shown: object) -> Block:
    x, y, z = (*numbers, 1, 1)[:3]
    if min(x, y, z) < 1 or x * y * z > MAX_THREADS:
        raise ConfigError(f"block shape `{short(shown)}`: a block has 1 to {MAX_THREADS} threads")
    if z > MAX_DEPTH:
        raise ConfigError(f"block shape `{short(shown)}`: a block has at most {MAX_DEPTH} threads in z")
    return (x, y, z)


def parse_named_block(text: str) -> tuple[str, Block]:
    """`matmul=32,8` -> ("matmul", (32, 8, 1)); without a name it is for every kernel ('')."""
    name, equals, shape = text.rpartition("=")
    return (name.strip() if equals else "", parse_block(shape))


def _strings(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (_string(key, value),)
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(_string(key, v) for v in value)
    raise ConfigError(f"`{key}`: expected a list of strings, got {_shown(value)}")


def _string(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"`{key}`: expected a string, got {_shown(value)}")
    if "\0" in value:
        raise ConfigError(f"`{key}`: holds a NUL character")
    return value


def define(text: str) -> str:
    """`NAME`, `NAME=VALUE` or `NAME(a)=VALUE` as it is. Raises ConfigError."""
    if not re.fullmatch(r"\s*[A-Za-z_]\w*(\([\w\s,.]*\))?\s*(=[^\0\n\r]*)?", text, re.ASCII):
        raise ConfigError(f"macro `{short(text)}`: expected NAME or NAME=VALUE, on one line")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError(f"macro `{short(text)}`: is not UTF-8") from None
    return text


def _choice(key: str, value: object, choices: tuple[str, ...]) -> str:
    text = _string(key, value)
    if text not in choices:
        raise ConfigError(f"`{key}`: expected one of {', '.join(choices)}, got {_shown(value)}")
    return text


def number(key: str, value: object) -> float:
    """A number in the range of its option. Raises ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"`{key}`: expected a number, got {_shown(value)}")
    least, most = RANGES[key]
    if isinstance(value, float) and not isfinite(value):
        raise ConfigError(f"`{key}`: expected a finite number, got {_shown(value)}")
    if value < least:
        raise ConfigError(f"`{key}`: expected at least {least:g}, got {_shown(value)}")
    if value > most:
        raise ConfigError(f"`{key}`: expected at most {most:g}, got {_shown(value)}")
    return float(value)


def _boolean(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"`{key}`: expected true or false, got {_shown(value)}")


_SHOWN = 60
"""Characters of a wrong value that a message repeats."""


def _shown(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    quoted = repr(value) if isinstance(value, str) else value
    return f"{names.get(type(value), type(value).__name__)} ({short(quoted)})"


def short(value: object) -> str:
    """A value as messages quote it."""
    try:
        text = repr(value) if not isinstance(value, str) else value
    except ValueError:  # Python writes no integer of more than some thousand digits
        text = "a very large number"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def arch(text: str) -> str:
    """`sm_90`, `90` or `compute_90a` -> `sm_90`. Raises ConfigError."""
    match = re.fullmatch(r"(?:sm_|compute_)?([0-9]{2,3})[af]?", text)
    if match is None:
        raise ConfigError(f"architecture `{short(text)}`: expected one such as sm_90")
    from smemlint.banks.arch import ARCHITECTURES

    known = [each.name for each in ARCHITECTURES]
    if f"sm_{match[1]}" not in known:
        raise ConfigError(f"architecture `{text}`: is not known; known are {', '.join(known)}")
    return f"sm_{match[1]}"


def _blocks(value: object) -> dict[str, Block]:
    if not isinstance(value, dict):
        raise ConfigError(f"`blocks`: expected a table of kernel = [x, y, z], got {_shown(value)}")
    result: dict[str, Block] = {}
    for kernel, shape in value.items():
        if isinstance(shape, str):
            result[kernel] = parse_block(shape)
        elif isinstance(shape, int) and not isinstance(shape, bool):
            result[kernel] = check_block([shape], shape)
        elif (
            isinstance(shape, list)
            and 1 <= len(shape) <= 3
            and all(isinstance(n, int) and not isinstance(n, bool) for n in shape)
        ):
            result[kernel] = check_block(shape, shape)
        else:
            raise ConfigError(f"`blocks.{kernel}`: expected one to three numbers, got {_shown(shape)}")
    return result


KEYS = (
    "select", "ignore", "min-ways", "block", "blocks", "arch", "define", "include", "std",
    "compile-commands", "level",
    "fail-on", "fail-on-unseen", "exit-zero", "statistics", "show-unresolved", "output-format",
)  # fmt: skip
HANDS = (
    "output", "fix", "diff", "unsafe-fixes", "verify", "jobs", "j", "timeout", "config", "stdin-filename",
)  # fmt: skip
"""Options of the command line alone: they write, start programs, or take more of the machine."""


def from_table(table: Mapping[str, Any], folder: Path) -> Settings:
    """Settings of one parsed table; relative paths are taken from `folder`. Raises ConfigError."""
    values: dict[str, Any] = {}
    blocks: dict[str, Block] = {}
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(_unknown(key))
        field = key.replace("-", "_")
        if key in ("select", "ignore"):
            values[field] = _strings(key, value)
        elif key == "define":
            values[field] = tuple(define(v) for v in _strings(key, value))
        elif key == "include":
            values[field] = tuple(str(folder / v) for v in _strings(key, value))
        elif key in ("fail-on-unseen", "exit-zero", "statistics", "show-unresolved"):
            values[field] = _boolean(key, value)
        elif key in ("level", "fail-on"):
            values[field] = _choice(key, value, SEVERITIES)
        elif key == "output-format":
            values[field] = _choice(key, value, FORMATS)
        elif key == "min-ways":
            values[field] = number(key, value)
        elif key == "arch":
            values[field] = arch(_string(key, value))
        elif key == "compile-commands":
            values[field] = str(folder / _string(key, value))
        elif key == "std":
            values[field] = _string(key, value)
        elif key == "block":
            blocks.update(parse_named_block(v) for v in _strings(key, value))
        else:
            blocks.update(_blocks(value))
    if blocks:
        values["blocks"] = blocks
    return Settings(**values)


def _unknown(key: str) -> str:
    dashed = key.replace("_", "-")
    if dashed in HANDS:
        return f"`{key}` is said on the command line only: a file of the project writes and starts nothing"
    import difflib

    near = difflib.get_close_matches(dashed[:_SHOWN], KEYS, n=1, cutoff=0.0)
    return f"unknown key `{short(key)}`; the nearest one is `{near[0]}`"


def _table_of(path: Path) -> Mapping[str, Any] | None:
    """The table of one file, None for a pyproject.toml that does not mention smemlint. Raises ConfigError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

    try:
        text = read_regular(path, MAX_BYTES).decode("utf-8")
        if _DOTTED.search(text):
            raise ConfigError(f"a key has more than {_DOTS} parts", str(path))
        data: dict[str, Any] = tomllib.loads(text)
    except UnreadableError as error:
        raise ConfigError(error.message, str(path)) from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of thousands of digits
        raise ConfigError(str(error), str(path)) from None
    except RecursionError:
        raise ConfigError("is nested too deeply", str(path)) from None
    if path.name != "pyproject.toml":
        return data
    tool = data.get("tool", {})
    table = tool.get("smemlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"`tool.smemlint`: expected a table, got {_shown(table)}", str(path))
    return cast("dict[str, Any] | None", table)


_DOTS = 32
_DOTTED = pattern(rf"""(?<![\w"'.-])(?:(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_DOTS}}}""")
"""The time that reading a key takes grows with the square of its parts."""


def load(path: Path) -> Settings:
    """Settings of one configuration file. Raises ConfigError that names the file."""
    table = _table_of(path) or {}
    try:
        settings = from_table(table, path.parent)
        for key in ("select", "ignore"):
            if unknown := unknown_selectors(getattr(settings, key) or ()):
                raise ConfigError(f"`{key}`: no rule is called `{short(unknown[0])}`")
    except ConfigError as error:
        raise ConfigError(error.message, str(path)) from None
    return settings


@cache
def closest(folder: Path) -> Settings:
    """Settings of the nearest configuration at or above `folder` (absolute), no further up than `top`.

    Raises ConfigError.
    """
    end = top(folder)
    for here in _upwards(folder):
        for name in ("smemlint.toml", "pyproject.toml"):
            path = here / name
            if not os.path.lexists(path):
                continue
            if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(end)):
                raise ConfigError("is a link that leads out of the project", str(path))
            found = _found(path, _stamp(path))
            if isinstance(found, ConfigError):
                raise found
            if found is not None:
                return found
        if here == end:
            break
    return Settings()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


@cache
def _found(path: Path, stamp: tuple[int, int]) -> Settings | ConfigError | None:
    """What a file says; None for a pyproject.toml that does not mention smemlint. Read once, also when it
    is broken, however many files lie below it."""
    try:
        return None if _table_of(path) is None else load(path)
    except ConfigError as error:
        return error


def top(folder: Path) -> Path:
    """The last folder in which a configuration of `folder` is looked for: the repository's root.

    Where there is no repository: the last one before the user's home, the root of the file system, and
    folders that all may write to (`/tmp`), since what lies there may be anybody's.
    """
    for here in _upwards(folder):
        if here != folder and _is_shared(here):
            break
        if os.path.lexists(here / ".git"):
            return here
    home = Path(os.path.expanduser("~"))  # noqa: PTH111  Path.expanduser fails where there is no home
    last = folder
    for here in islice(_upwards(folder), 1, None):
        if here == home or here in home.parents or here.parent == here or _is_shared(here):
            break
        last = here
    return last


def _upwards(folder: Path) -> Iterator[Path]:
    """The folder and those above it, so many that a folder nested without end costs no more than others."""
    return islice(chain((folder,), folder.parents), MAX_LEVELS)


def _is_shared(folder: Path) -> bool:
    """Whether anybody may make files there: the sticky bit of `/tmp`."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def unknown_selectors(selectors: Iterable[str]) -> list[str]:
    """Selectors that mean no rule at all."""
    from smemlint.rules import RULES, matches

    return [s for s in selectors if not any(matches(rule, s) for rule in RULES)]


class Configurations:
    """The settings of each file: what the command line says, over the configuration that is closest to it.

    said: what the command line says. broken: configurations that cannot be followed, by their path, with the
    number of files that are not analysed for that.
    """

    def __init__(self, said: Settings, chosen: str | None = None) -> None:
        """chosen: the one file that the command line names. Raises ConfigError for that one."""
        self.said = said
        self._chosen = load(Path(chosen)) if chosen is not None else None
        self.broken: dict[str, tuple[ConfigError, int]] = {}

    def of(self, path: str) -> Settings | None:
        """The settings of a file; None where its configuration is broken."""
        try:
            return self._of(path)
        except ConfigError as error:
            _, lost = self.broken.get(error.path, (error, 0))
            self.broken[error.path] = (error, lost + 1)
            return None

    def shown(self, path: str) -> Settings:
        """The same for what is only shown, a folder too; the command line alone where it is broken."""
        try:
            return self._of(path)
        except ConfigError as error:
            self.broken.setdefault(error.path, (error, 0))
            return self.said.over(DEFAULTS)

    def _of(self, path: str) -> Settings:
        near = self._chosen
        if near is None:
            folder = Path(os.path.abspath(path))  # noqa: PTH100  `a/..` is nothing to look into
            near = closest(folder if os.path.isdir(folder) else folder.parent)  # noqa: PTH112  it never raises
        return self.said.over(near).over(DEFAULTS)
