"""What the user asked for: `[tool.smemlint]`, `smemlint.toml`, the command line; the closest wins.

In: paths of configuration files, parsed arguments. Out: Settings. Knows nothing of the stages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from smemlint.records import record

Block = tuple[int, int, int]
SEVERITIES = ("note", "warning", "error")
FORMATS = ("full", "concise", "json", "sarif", "github")
MAX_THREADS = 1024


class ConfigError(Exception):
    """The user's configuration cannot be followed; the text says where and why."""


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
    if not 1 <= len(parts) <= 3 or not all(p.isdecimal() for p in parts):
        raise ConfigError(f"block shape `{text}`: expected one to three numbers, such as 32,8")
    return check_block([int(p) for p in parts], text)


def check_block(numbers: list[int], shown: object) -> Block:
    x, y, z = (*numbers, 1, 1)[:3]
    if min(x, y, z) < 1 or x * y * z > MAX_THREADS:
        raise ConfigError(f"block shape `{shown}`: a block has 1 to {MAX_THREADS} threads")
    return (x, y, z)


def parse_named_block(text: str) -> tuple[str, Block]:
    """`matmul=32,8` -> ("matmul", (32, 8, 1)); without a name it is for every kernel ('')."""
    name, equals, shape = text.rpartition("=")
    return (name.strip() if equals else "", parse_block(shape))


def _strings(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise ConfigError(f"`{key}`: expected a list of strings, got {_shown(value)}")


def _string(key: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise ConfigError(f"`{key}`: expected a string, got {_shown(value)}")


def _choice(key: str, value: object, choices: tuple[str, ...]) -> str:
    text = _string(key, value)
    if text not in choices:
        raise ConfigError(f"`{key}`: expected one of {', '.join(choices)}, got {_shown(value)}")
    return text


def _number(key: str, value: object, least: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"`{key}`: expected a number, got {_shown(value)}")
    if value < least:
        raise ConfigError(f"`{key}`: expected at least {least:g}, got {_shown(value)}")
    return float(value)


def _boolean(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ConfigError(f"`{key}`: expected true or false, got {_shown(value)}")


def _shown(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    return f"{names.get(type(value), type(value).__name__)} ({value!r})"


def arch(text: str) -> str:
    """`sm_90`, `90` or `compute_90a` -> `sm_90`. Raises ConfigError."""
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})[af]?", text)
    if match is None or not 50 <= int(match[1]) <= 130:
        raise ConfigError(f"architecture `{text}`: expected one such as sm_90")
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
    "fail-on", "exit-zero", "statistics", "show-unresolved", "output-format", "output", "jobs", "timeout",
)  # fmt: skip


def from_table(table: Mapping[str, Any], folder: Path) -> Settings:
    """Settings of one parsed table; relative paths are taken from `folder`. Raises ConfigError."""
    values: dict[str, Any] = {}
    blocks: dict[str, Block] = {}
    for key, value in table.items():
        if key not in KEYS:
            import difflib

            near = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1, cutoff=0.0)
            raise ConfigError(f"unknown key `{key}`; the nearest one is `{near[0]}`")
        field = key.replace("-", "_")
        if key in ("select", "ignore", "define", "output"):
            values[field] = _strings(key, value)
        elif key == "include":
            values[field] = tuple(str(folder / v) for v in _strings(key, value))
        elif key in ("exit-zero", "statistics", "show-unresolved"):
            values[field] = _boolean(key, value)
        elif key in ("level", "fail-on"):
            values[field] = _choice(key, value, SEVERITIES)
        elif key == "output-format":
            values[field] = _choice(key, value, FORMATS)
        elif key == "min-ways":
            values[field] = _number(key, value, 1)
        elif key == "timeout":
            values[field] = _number(key, value, 0.1)
        elif key == "jobs":
            values[field] = int(_number(key, value, 0))
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


def _table_of(path: Path) -> Mapping[str, Any] | None:
    """The table of one file, None for a pyproject.toml that does not mention smemlint. Raises ConfigError."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if path.name != "pyproject.toml":
        return data
    tool = data.get("tool", {})
    table = tool.get("smemlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{path}: `tool.smemlint`: expected a table, got {_shown(table)}")
    return cast("dict[str, Any] | None", table)


def load(path: Path) -> Settings:
    """Settings of one configuration file. Raises ConfigError that names the file."""
    table = _table_of(path)
    try:
        return from_table(table or {}, path.parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


@cache
def closest(folder: Path) -> Settings:
    """Settings of the nearest configuration at or above `folder` (absolute). Raises ConfigError."""
    for name in ("smemlint.toml", "pyproject.toml"):
        path = folder / name
        if path.is_file() and _table_of(path) is not None:
            return load(path)
    return closest(folder.parent) if folder.parent != folder else Settings()


def unknown_selectors(selectors: Iterable[str]) -> list[str]:
    """Selectors that mean no rule at all."""
    from smemlint.rules import RULES, matches

    return [s for s in selectors if not any(matches(rule, s) for rule in RULES)]
