"""Configuration files: where they lie, what they extend, and what holds for each file of a run.

In: what the command line says, paths. Out: Settings, and the layers that they come from.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from smemlint.config import (
    DEFAULTS,
    MAX_BYTES,
    MAX_LEVELS,
    ConfigError,
    Glob,
    Settings,
    from_table,
    short,
    shown,
    unknown_selectors,
)
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.system.reading import UnreadableError, read_regular

MAX_EXTENDS = 8
"""Files that extend each other."""


@record(frozen=True, slots=True)
class Layer:
    """Settings and where they were said: the command line, a file, a section of it, nowhere (defaults)."""

    origin: str
    settings: Settings


def folded(layers: Sequence[Layer]) -> Settings:
    """All layers as one, the first one on top."""
    whole = Settings()
    for layer in reversed(layers):
        whole = layer.settings.over(whole)
    return whole


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
        raise ConfigError(f"`tool.smemlint`: expected a table, got {shown(table)}", str(path))
    return cast("dict[str, Any] | None", table)


_DOTS = 32
_DOTTED = pattern(rf"""(?<![\w"'.-])(?:(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{_DOTS}}}""")
"""The time that reading a key takes grows with the square of its parts."""


def load(path: Path) -> Settings:
    """Settings of one configuration file and of what it extends. Raises ConfigError that names the file."""
    return folded(layers(path))


def layers(path: Path) -> tuple[Layer, ...]:
    """The file and what it extends, the file first. Raises ConfigError."""
    found: list[Layer] = []
    seen: set[str] = set()
    while True:
        seen.add(os.path.realpath(path))
        found.append(Layer(str(path), _one(path)))
        extended = found[-1].settings.extend
        if extended is None:
            return tuple(found)
        base = Path(os.path.abspath(extended))  # noqa: PTH100
        if os.path.realpath(base) in seen or len(seen) > MAX_EXTENDS:
            raise ConfigError(f"`extend` leads back to {base.name} or too far", str(path))
        end = os.path.realpath(top(path.absolute().parent))
        if not Path(os.path.realpath(base)).is_relative_to(end):
            raise ConfigError("`extend` leads out of the repository", str(path))
        if not os.path.lexists(base):
            raise ConfigError(f"`extend`: there is no {short(str(base))}", str(path))
        path = base


def _one(path: Path) -> Settings:
    table = _table_of(path) or {}
    try:
        settings = from_table(table, path.parent)
        sections = [settings, *(s.settings for s in settings.per_file or ())]
        named = [("select", s.choice.select) for s in sections] + [
            ("ignore", s.choice.ignore) for s in sections
        ]
        named += [("per-kernel.ignore", k.ignore) for k in settings.per_kernel or ()]
        for key, names in named:
            if unknown := unknown_selectors(names or ()):
                raise ConfigError(f"`{key}`: no rule is called `{short(unknown[0])}`")
    except ConfigError as error:
        raise ConfigError(error.message, str(path)) from None
    return settings


def closest(folder: Path) -> Settings:
    """Settings of the nearest configuration at or above `folder` (absolute). Raises ConfigError."""
    return folded(closest_layers(folder))


@cache
def closest_layers(folder: Path) -> tuple[Layer, ...]:
    """Layers of the nearest configuration at or above `folder` (absolute), no further up than `top`.

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
    return ()


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


@cache
def _found(path: Path, stamp: tuple[int, int]) -> tuple[Layer, ...] | ConfigError | None:
    """What a file says; None for a pyproject.toml that does not mention smemlint. Read once, also when it
    is broken, however many files lie below it."""
    try:
        return None if _table_of(path) is None else layers(path)
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


class Configurations:
    """The settings of each file: what the command line says, over the configuration that is closest to it.

    said: what the command line says. broken: configurations that cannot be followed, by their path, with the
    number of files that are not analysed for that.
    """

    def __init__(self, said: Settings, chosen: str | None = None) -> None:
        """chosen: the one file that the command line names. Raises ConfigError for that one."""
        self.said = said
        self._chosen = layers(Path(chosen)) if chosen is not None else None
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
        return folded(self.layers(path))

    def layers(self, path: str) -> list[Layer]:
        """Where the settings of a path come from, what counts most first. Raises ConfigError."""
        place = Path(os.path.abspath(path))  # noqa: PTH100  `a/..` is nothing to look into
        is_folder = os.path.isdir(place)  # noqa: PTH112  it never raises
        near = self._chosen
        if near is None:
            near = closest_layers(place if is_folder else place.parent)
        sections = [] if is_folder else list(_sections(near, str(place)))
        return [Layer("the command line", self.said), *sections, *near, Layer("default", DEFAULTS)]


def _sections(near: Sequence[Layer], path: str) -> Iterator[Layer]:
    """The sections that are for a file; of a configuration the later ones count more."""
    for layer in near:
        numbered = list(enumerate(layer.settings.per_file or (), 1))
        for number, section in reversed(numbered):
            if matches(section.files, path):
                yield Layer(f"{layer.origin}, [[per-file]] {number}", section.settings)


def matches(globs: Sequence[Glob], path: str) -> bool:
    """Whether patterns as in .gitignore mean a file (absolute), or a folder above it."""
    from smemlint.source.gitignore import patterns, verdict

    for folder in dict.fromkeys(g.folder for g in globs):
        try:
            names = Path(path).relative_to(folder).parts
        except ValueError:
            continue
        found = patterns("\n".join(g.text for g in globs if g.folder == folder))
        if any(verdict(found, names[:n], n < len(names)) for n in range(1, len(names) + 1)):
            return True
    return False
