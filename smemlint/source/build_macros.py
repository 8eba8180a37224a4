"""What the project's own build files define by `-D`, for names that no file of it declares.

`-D_N_={HEAD_SIZE}` of a Python script that builds an extension, `-Ddfloat=double` of a makefile,
`target_compile_definitions(app PRIVATE TILE=32)`. The folder of a source is asked first, then those above
it up to the project's root; a name that the build files of one folder give several values has none.
"""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH100, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Mapping, Set

from smemlint.patterns import pattern
from smemlint.system.observed import names_in, remembered
from smemlint.system.reading import UnreadableError, read_regular

_BUILD_FILE = pattern(
    r"(?:GNU)?[Mm]akefile(?:\..*)?|.*\.(?:mk|mak|make|cmake|py|sh|bazel|bzl|build)|CMakeLists\.txt|build\.rs"
)
MOST_FILES = 60
"""Build files of one folder that are read, by name."""
MOST_BYTES = 1_000_000
_WORD = r"([A-Za-z_]\w*)"
_GIVEN = r"""\\?["']?(\$[({]\w+[)}]|\{\w+\}|[\w.]+)"""
_OPTION = pattern(rf"-D\s*{_WORD}=\s*{_GIVEN}")
_DEFINITIONS = pattern(r"(?:target_compile_definitions|add_compile_definitions)\s*\(([^()]*)\)")
_DEFINED = pattern(rf"(?<![-\w]){_WORD}=\s*{_GIVEN}")
_PAIR = pattern(rf"""\(\s*["']{_WORD}["']\s*,\s*(?:str\s*\(\s*)?["']?([\w.]+)["']?\s*\)?\s*\)""")
"""`define_macros=[("N", "32")]`."""
_ASSIGNED = pattern(rf"(?m)^[ \t]*{_WORD}[ \t]*[:?]?=[ \t]*[\"']?([\w.]+)[\"']?[ \t]*(?:#.*)?$")
_SET = pattern(rf"\bset\s*\(\s*{_WORD}\s+\"?([\w.]+)")
"""What gives a variable of a build file a value."""
_NUMBER = pattern(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_TYPE_NAMES = "float double half __half __nv_bfloat16 float2 float4 double2 int unsigned long short char bool"
_TYPES = frozenset(_TYPE_NAMES.split()) | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def build_macro(name: str, source: str, root: str) -> str | None:
    """What a macro stands for in the build of a source file; None where the build files do not tell, or not
    one thing."""
    folder = os.path.dirname(os.path.abspath(source))
    root = os.path.abspath(root)
    while folder == root or folder.startswith(os.path.join(root, "")):
        values = _macros_of(folder).get(name)
        if values is not None:
            return values[0] if len(values) == 1 else None
        folder = os.path.dirname(folder)
    return None


@remembered(maxsize=512)
def _macros_of(folder: str) -> dict[str, tuple[str, ...]]:
    """The values that the build files of a folder give to macros."""
    found: dict[str, dict[str, None]] = {}
    for file in [n for n in names_in(folder) if _BUILD_FILE.fullmatch(n)][:MOST_FILES]:
        try:
            data = read_regular(os.path.join(folder, file), MOST_BYTES)
        except UnreadableError:
            continue
        for name, value in _defined(data.decode("latin-1")):
            found.setdefault(name, {})[value] = None
    return {name: tuple(values) for name, values in found.items()}


def _defined(text: str) -> list[tuple[str, str]]:
    """Names and values that one build file defines, as far as a value is a number or a type."""
    given = _OPTION.findall(text) if "-D" in text else []
    for inside in _DEFINITIONS.findall(text):
        given += _DEFINED.findall(inside)
    if "define_macros" in text:
        given += _PAIR.findall(text)
    variables = _variables(text) if any(value[0] in "${" for _, value in given) else {}
    resolved = ((name, _value_of(value, variables)) for name, value in given)
    return [(name, value) for name, value in resolved if value is not None]


def _variables(text: str) -> dict[str, set[str]]:
    """The values that a build file gives to its own variables, read once: a hostile one may use many."""
    found: dict[str, set[str]] = {}
    for name, value in (*_ASSIGNED.findall(text), *_SET.findall(text)):
        found.setdefault(name, set()).add(value)
    return found


def _value_of(value: str, variables: Mapping[str, Set[str]]) -> str | None:
    """A number or the name of a type, perhaps by way of a variable of the file that has one value."""
    if value[0] in "${":
        values = variables.get(value.strip("${()}"), ())
        value = next(iter(values)) if len(values) == 1 else ""
    return value if _NUMBER.fullmatch(value) or value in _TYPES else None
