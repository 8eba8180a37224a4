"""What the user asked for: `[tool.smemlint]`, `smemlint.toml`, the command line; the closest wins.

In: paths of configuration files, parsed arguments. Out: Settings. Knows nothing of the stages.

A file of the project says how its code is read and which findings count. It has no hands: what writes a file,
starts a program or takes more of the machine is said on the command line alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any

from smemlint.records import record

Block = tuple[int, int, int]
SEVERITIES = ("note", "warning", "error")
FORMATS = ("full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "html")
MAX_THREADS = 1024
MAX_DEPTH = 64
"""Threads of a block in z: CUDA's limit."""
MAX_BYTES = 1024 * 1024
"""Of a configuration file."""
MAX_LEVELS = 100
"""Folders in which the configuration of a file is looked for."""
RANGES: Mapping[str, tuple[float, float]] = {
    "min-ways": (1, 1024),
    "min-share": (0, 100),
    "top": (1, 1_000_000),
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
class Glob:
    """A pattern as in .gitignore, for paths below a folder (absolute)."""

    folder: str
    text: str


@record(frozen=True, slots=True)
class PerFile:
    """What holds for files that one of the patterns means."""

    files: tuple[Glob, ...]
    settings: Settings


@record(frozen=True, slots=True)
class PerKernel:
    """What holds for kernels of these names (with `*` and `?`)."""

    kernels: tuple[str, ...]
    ignore: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class Reading:
    """How code is read. blocks: kernel name -> block shape, '' for all kernels."""

    blocks: Mapping[str, Block] | None = None
    arch: str | None = None
    define: tuple[str, ...] | None = None
    include: tuple[str, ...] | None = None
    std: str | None = None
    compile_commands: str | None = None


@record(frozen=True, slots=True)
class Choice:
    """Which findings count. baseline: path of the file that accepts some."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    min_ways: float | None = None
    min_share: float | None = None
    level: str | None = None
    baseline: str | None = None


@record(frozen=True, slots=True)
class Gate:
    """What makes exit status 1."""

    fail_on: str | None = None
    fail_on_unseen: bool | None = None
    exit_zero: bool | None = None


@record(frozen=True, slots=True)
class Display:
    """How findings are shown, and where. docs_url: where the pages of docs/ are served."""

    sort: str | None = None
    statistics: bool | None = None
    show_unresolved: bool | None = None
    output_format: str | None = None
    output: tuple[str, ...] | None = None
    docs_url: str | None = None


@record(frozen=True, slots=True)
class Settings:
    """Every option; None where the user has not said anything.

    exclude, per_file, per_kernel: those of all layers, the closest last. extend: a path.
    """

    reading: Reading = Reading()
    choice: Choice = Choice()
    gate: Gate = Gate()
    display: Display = Display()
    jobs: int | None = None
    timeout: float | None = None
    exclude: tuple[Glob, ...] | None = None
    extend: str | None = None
    per_file: tuple[PerFile, ...] | None = None
    per_kernel: tuple[PerKernel, ...] | None = None

    @classmethod
    def of(cls, **options: Any) -> Settings:
        """The settings with these options, by their names alone. Raises TypeError for a name that is none."""
        own = {f.name: options.pop(f.name) for f in fields(cls) if f.name in options and f.name not in GROUPS}
        parts = {
            name: group(**{f.name: options.pop(f.name) for f in fields(group) if f.name in options})
            for name, group in GROUPS.items()
        }
        if options:
            raise TypeError(f"unknown option {next(iter(options))!r}")
        return cls(**parts, **own)

    def options(self) -> dict[str, Any]:
        """Every option by its name alone."""
        parts = [getattr(self, name) for name in GROUPS]
        whole = {f.name: getattr(part, f.name) for part in parts for f in fields(part)}
        return {**whole, **{f.name: getattr(self, f.name) for f in fields(self) if f.name not in GROUPS}}

    def said(self) -> dict[str, Any]:
        """The options of which the user has said anything."""
        return {name: value for name, value in self.options().items() if value is not None}

    def over(self, base: Settings) -> Settings:
        """These settings, with `base` where they say nothing. Block shapes are joined kernel by kernel."""
        below, said = base.said(), self.said()
        if "blocks" in said and "blocks" in below:
            said["blocks"] = {**below["blocks"], **said["blocks"]}
        for name in ("exclude", "per_file", "per_kernel"):
            if name in said and name in below:
                said[name] = below[name] + said[name]
        return Settings.of(**{**below, **said})


GROUPS: Mapping[str, type[Any]] = {"reading": Reading, "choice": Choice, "gate": Gate, "display": Display}
"""The parts of Settings."""


TIMEOUT = 600.0
"""Seconds of computing that a file may take: a guard against what no count sees. It lies far behind what the
counts allow on an ordinary machine, so that a slow one tells the same."""
DEFAULTS = Settings.of(
    select=(),
    ignore=(),
    min_ways=2.0,
    min_share=0.0,
    sort="",
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
    timeout=TIMEOUT,
    exclude=(),
    baseline="",
    per_file=(),
    per_kernel=(),
    docs_url="",
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
    raise ConfigError(f"`{key}`: expected a list of strings, got {shown(value)}")


def _string(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"`{key}`: expected a string, got {shown(value)}")
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
        raise ConfigError(f"`{key}`: expected one of {', '.join(choices)}, got {shown(value)}")
    return text


def number(key: str, value: object) -> float:
    """A number in the range of its option. Raises ConfigError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"`{key}`: expected a number, got {shown(value)}")
    least, most = RANGES[key]
    if isinstance(value, float) and not isfinite(value):
        raise ConfigError(f"`{key}`: expected a finite number, got {shown(value)}")
    if value < least:
        raise ConfigError(f"`{key}`: expected at least {least:g}, got {shown(value)}")
    if value > most:
        raise ConfigError(f"`{key}`: expected at most {most:g}, got {shown(value)}")
    return float(value)


def _url(key: str, value: object) -> str:
    text = _string(key, value)
    if not re.fullmatch(r"https?://[!-~]+", text):
        raise ConfigError(f"`{key}`: expected an address that begins with https://, got {shown(value)}")
    return text.rstrip("/")


def _boolean(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"`{key}`: expected true or false, got {shown(value)}")


_SHOWN = 60
"""Characters of a wrong value that a message repeats."""


def shown(value: object) -> str:
    """The kind of a wrong value and the value, as messages tell it."""
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


def standard(text: str) -> str:
    """`c++17`, `gnu++20` as it is. Raises ConfigError."""
    if not re.fullmatch(r"(?:c|gnu)\+\+[0-9][0-9a-z]", text, re.IGNORECASE):
        raise ConfigError(f"C++ standard `{short(text)}`: expected one such as c++17")
    return text


def _blocks(value: object) -> dict[str, Block]:
    if not isinstance(value, dict):
        raise ConfigError(f"`blocks`: expected a table of kernel = [x, y, z], got {shown(value)}")
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
            raise ConfigError(f"`blocks.{kernel}`: expected one to three numbers, got {shown(shape)}")
    return result


KEYS = (
    "select", "ignore", "min-ways", "min-share", "sort", "block", "blocks", "arch", "define", "include",
    "std", "compile-commands", "level",
    "exclude", "extend", "baseline", "per-file", "per-kernel", "docs-url",
    "fail-on", "fail-on-unseen", "exit-zero", "statistics", "show-unresolved", "output-format",
)  # fmt: skip
HANDS = (
    "top", "write-baseline", "diff-base", "add-ignore", "budget", "write-budget", "output", "shard", "fix",
    "diff", "unsafe-fixes", "verify", "jobs", "j", "timeout", "config", "stdin-filename",
)  # fmt: skip
"""Options of the command line alone: they write, start programs, or take more of the machine."""


def from_table(table: Mapping[str, Any], folder: Path) -> Settings:
    """Settings of one parsed table; relative paths are taken from `folder`. Raises ConfigError."""
    values: dict[str, Any] = {}
    blocks: dict[str, Block] = {}
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(_unknown(key))
        if key == "block":
            blocks.update(parse_named_block(v) for v in _strings(key, value))
        elif key == "blocks":
            blocks.update(_blocks(value))
        elif key == "per-kernel":
            sections = [_per_kernel(x) for x in _tables(key, value)]
            values["per_kernel"] = tuple(section for section, _ in sections)
            blocks.update(pair for _, shapes in sections for pair in shapes.items())
        else:
            values[key.replace("-", "_")] = _value(key, value, folder)
    if blocks:
        values["blocks"] = blocks
    return Settings.of(**values)


def settings_from(options: Mapping[str, Any], folder: Path) -> Settings:
    """Settings of keyword arguments: keys of the configuration with `_` for `-`, tuples for lists.

    Raises TypeError for a name that is none, ConfigError for a value that cannot be used.
    """
    table = {}
    for name, value in options.items():
        key = name.replace("_", "-")
        if key not in KEYS:
            raise TypeError(f"unknown option {name!r}")
        if isinstance(value, Mapping):
            value = {k: list(v) if isinstance(v, tuple) else v for k, v in value.items()}
        table[key] = list(value) if isinstance(value, tuple) else value
    settings = from_table(table, folder)
    if unknown := unknown_selectors((*(settings.choice.select or ()), *(settings.choice.ignore or ()))):
        raise ConfigError(f"no rule is called `{short(unknown[0])}`")
    return settings


def _value(key: str, value: object, folder: Path) -> object:
    if key in ("select", "ignore"):
        return _strings(key, value)
    if key == "define":
        return tuple(define(v) for v in _strings(key, value))
    if key == "include":
        return tuple(str(folder / v) for v in _strings(key, value))
    if key == "exclude":
        return _globs(key, value, folder)
    if key in ("fail-on-unseen", "exit-zero", "statistics", "show-unresolved"):
        return _boolean(key, value)
    if key in ("level", "fail-on"):
        return _choice(key, value, SEVERITIES)
    if key == "output-format":
        return _choice(key, value, FORMATS)
    if key == "sort":
        return _choice(key, value, ("cost", "path"))
    if key in ("min-ways", "min-share"):
        return number(key, value)
    if key in ("arch", "std"):
        return (arch if key == "arch" else standard)(_string(key, value))
    if key in ("compile-commands", "baseline", "extend"):
        return str(folder / _string(key, value))
    if key == "docs-url":
        return _url(key, value)
    if key == "per-file":
        return tuple(_per_file(x, folder) for x in _tables(key, value))
    return _string(key, value)


WHOLE = ("exclude", "extend", "baseline", "docs-url", "per-file", "per-kernel", "exit-zero", "fail-on",
         "fail-on-unseen", "level", "min-share", "output-format", "show-unresolved", "sort",
         "statistics")  # fmt: skip
"""Keys that hold for a whole run, not for some of its files."""


def _per_file(table: Mapping[str, Any], folder: Path) -> PerFile:
    rest = {key: value for key, value in table.items() if key != "files"}
    if "files" not in table:
        raise ConfigError("`per-file`: `files` is missing, the patterns of the files that it is for")
    for key in rest:
        if key in WHOLE:
            raise ConfigError(f"`per-file`: `{key}` holds for the whole run")
    return PerFile(_globs("per-file.files", table["files"], folder), from_table(rest, folder))


def _per_kernel(table: Mapping[str, Any]) -> tuple[PerKernel, dict[str, Block]]:
    for key in table:
        if key not in ("kernels", "ignore", "block"):
            raise ConfigError(f"`per-kernel`: unknown key `{short(key)}`; it takes kernels, ignore and block")
    if "kernels" not in table:
        raise ConfigError("`per-kernel`: `kernels` is missing, the names of the kernels that it is for")
    names = _strings("per-kernel.kernels", table["kernels"])
    blocks: dict[str, Block] = {}
    if "block" in table:
        if wild := next((n for n in names if set(n) & set("*?[")), None):
            raise ConfigError(f"`per-kernel`: a block shape is for whole names, not for `{short(wild)}`")
        blocks = _blocks(dict.fromkeys(names, table["block"]))
    return PerKernel(names, _strings("per-kernel.ignore", table.get("ignore", []))), blocks


def _tables(key: str, value: object) -> list[Mapping[str, Any]]:
    if isinstance(value, list) and all(isinstance(v, dict) for v in value):
        return value
    raise ConfigError(f"`{key}`: expected tables, each as [[{key}]], got {shown(value)}")


def _globs(key: str, value: object, folder: Path) -> tuple[Glob, ...]:
    texts = _strings(key, value)
    for text in texts:
        if not text.strip() or "\n" in text:
            raise ConfigError(f"`{key}`: `{short(text)}` is no pattern")
    return tuple(Glob(os.path.abspath(folder), text) for text in texts)  # noqa: PTH100  links stay


def _unknown(key: str) -> str:
    dashed = key.replace("_", "-")
    if dashed in HANDS:
        return f"`{key}` is said on the command line only: a file of the project writes and starts nothing"
    import difflib

    near = difflib.get_close_matches(dashed[:_SHOWN], KEYS, n=1, cutoff=0.0)
    return f"unknown key `{short(key)}`; the nearest one is `{near[0]}`"


def unknown_selectors(selectors: Iterable[str]) -> list[str]:
    """Selectors that mean no rule at all."""
    from smemlint.rules import RULES, all_rules, matches

    left = [s for s in selectors if not any(matches(rule, s) for rule in RULES)]
    return [s for s in left if not any(matches(rule, s) for rule in all_rules())]
