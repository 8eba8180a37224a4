"""How a file is to be parsed, as far as the user has a say."""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH118

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from smemlint.frontend.project.compile_commands import commands_for
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source import project_root
from smemlint.source.blank import blank_literals
from smemlint.system.observed import exists

_FOREIGN_MARKS = ("cuda_runtime.h", "stdio.h", "vector", "cuda_runtime_api.h")
_MODERN = pattern(
    rb"\bconcept\s+\w+\s*=|\brequires\b|\bconsteval\b|\bconstinit\b"
    rb"|#[ \t]*include[ \t]*<(?:concepts|compare|ranges|span|bit|numbers)>"
)


@record(frozen=True, slots=True)
class ParseOptions:
    """include_dirs: searched first. defines: `NAME` or `NAME=VALUE`. undefines: names. std: `c++17` and
    the like, None: by the text. compile_commands: a compile_commands.json or the folder that holds it.
    project_root: where includes are looked up by path suffix (None: found from the file). arch:
    `__CUDA_ARCH__` / 10 of the first configuration. forced: files included before the first line.
    edited: (absolute path, text) of included files that are read as if they stood so on disk. whole: a
    file without kernels or shared memory of its own stands for those of the project files that it includes.
    """

    include_dirs: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str | None = None
    compile_commands: str | None = None
    project_root: str | None = None
    arch: int = 90
    undefines: tuple[str, ...] = ()
    forced: tuple[str, ...] = ()
    edited: tuple[tuple[str, bytes], ...] = ()
    whole: bool = False


def options_for(path: str, options: ParseOptions) -> ParseOptions:
    """The options of one file: the user's, then what its compile command says, then the project it stands
    in."""
    root = options.project_root or str(project_root(Path(path)))
    own = tuple(os.path.abspath(folder) for folder in options.include_dirs)
    command = commands_for(options.compile_commands, path) if options.compile_commands else None
    if command is not None:
        defined = {_macro_name(define) for define in (*options.defines, *options.undefines)}
        inside = tuple(folder for folder in command.include_dirs if _is_inside(folder, root))
        options = replace(
            options,
            defines=(*(d for d in command.defines if _macro_name(d) not in defined), *options.defines),
            undefines=(*(u for u in command.undefines if u not in defined), *options.undefines),
            std=options.std or command.std,
            forced=(*command.forced, *options.forced),
        )
        own = (*own, *inside)
    own = tuple(dict.fromkeys(folder for folder in own if not _is_foreign(folder)))
    return replace(options, include_dirs=own, project_root=root)


def is_modern(text: bytes) -> bool:
    """Whether a text needs C++20."""
    return bool(_MODERN.search(text) and _MODERN.search(blank_literals(text)))


def standard(options: ParseOptions, modern: bool) -> str:
    """The standard to parse by: at least C++17, which the prelude is written in. modern: what the text asks
    for where nobody says it."""
    wanted = (options.std or "").lower().replace("gnu++", "c++")
    if wanted in ("c++20", "c++2a", "c++23", "c++2b", "c++26"):
        return "c++20" if wanted in ("c++20", "c++2a") else "c++2b"
    return "c++20" if modern and not wanted else "c++17"


def configuration_text(options: ParseOptions, configuration: tuple[str, ...]) -> str:
    """Preprocessor lines for the user's macros and those of a configuration (`NAME=VALUE`, `NAME`, or
    `-NAME`: undefined)."""
    lines = []
    if options.arch != 90:
        lines += ["#undef __CUDA_ARCH__", f"#define __CUDA_ARCH__ {options.arch * 10}"]
    lines += [f"#undef {name}" for name in options.undefines]
    lines += _define_lines(options.defines)
    for item in configuration:
        lines += [f"#undef {item[1:]}"] if item.startswith("-") else _define_lines((item,))
    return "\n".join(lines) + "\n"


def _define_lines(defines: tuple[str, ...]) -> list[str]:
    lines = []
    for define in defines:
        name, equals, value = define.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*(\([\w\s,.]*\))?", name.strip()):
            continue
        text = value if equals else "1"
        lines += [f"#undef {_macro_name(name)}", f"#define {name.strip()} {text}".replace("\n", " ")]
    return lines


def _macro_name(define: str) -> str:
    return re.split(r"[=(]", define, maxsplit=1)[0].strip()


def _is_inside(folder: str, root: str) -> bool:
    return os.path.commonpath([os.path.abspath(folder), os.path.abspath(root)]) == os.path.abspath(root)


def _is_foreign(folder: str) -> bool:
    """The toolkit's and the system's folders, whose headers are never read: the prelude answers for them."""
    return any(exists(os.path.join(folder, mark)) for mark in _FOREIGN_MARKS)
