"""A declaration and an access that a user types, as a program that the front end reads like any other."""

from __future__ import annotations

import re

from smemlint.patterns import pattern
from smemlint.records import record

PATH = "typed.cu"
"""What the program is called."""
_NAME = pattern(r"[A-Za-z_]\w*")
_MEMBER = pattern(r"(?:\.|->|::)\s*[A-Za-z_]\w*|[A-Za-z_]\w*\s*::")
_ASSIGNED = pattern(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--")
_KNOWN = frozenset(
    [
        "threadIdx",
        "blockIdx",
        "blockDim",
        "gridDim",
        "warpSize",
        "x",
        "y",
        "z",
        "w",
        "auto",
        "bool",
        "char",
        "signed",
        "unsigned",
        "short",
        "int",
        "long",
        "float",
        "double",
        "half",
        "__half",
        "half2",
        "__half2",
        "__nv_bfloat16",
        "const",
        "volatile",
        "sizeof",
        "reinterpret_cast",
        "static_cast",
        "const_cast",
        "alignas",
        "true",
        "false",
        "struct",
        "union",
        "typename",
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "size_t",
        "std",
    ]
)
_VECTOR = pattern(r"u?(?:char|short|int|long|longlong)[1-4]|(?:float|double)[1-4]|min|max|__\w+|atomic\w+")


class TypedError(Exception):
    """What was typed is no declaration or no access. The message is for the user."""


@record(frozen=True, slots=True)
class Typed:
    """text: the program. line: of the access. names: what was taken to be a run-time number."""

    text: str
    line: int
    names: tuple[str, ...]


def program(declaration: str, access: str, constant: str = "", value: int = 0) -> Typed:
    """The program for `float t[32][33]` and `t[threadIdx.x][k]`.

    A name that the declaration does not declare is an `int` that the kernel is given, one with a subscript a
    pointer to some. An access that assigns
    (`t[i] = 0`) is a statement, any other is read. constant, value: a name that the program defines, where it
    is used. Raises: TypedError.
    """
    declaration = " ".join(declaration.split()).rstrip("; ")
    access = " ".join(access.split()).rstrip("; ")
    declaration = re.sub(
        r"^(?:extern\s+)?__shared__\s+", lambda m: "extern " if "extern" in m[0] else "", declaration
    )
    for what, text in (("declaration", declaration), ("access", access)):
        if not text:
            raise TypedError(f"the {what} is empty")
        if any(c in text for c in ";{}#\\") or "//" in text or "/*" in text:
            raise TypedError(f"the {what} `{text}` is more than one {what}")
    declared = _NAME.search(declaration.split("[", 1)[0].split()[-1] if declaration else "")
    if declared is None or declared[0] in _KNOWN:
        raise TypedError(f"`{declaration}` declares no variable; expected such as `float t[32][33]`")
    if declared[0] not in _NAME.findall(access):
        raise TypedError(f"`{access}` does not name `{declared[0]}`")
    used = dict.fromkeys(_NAME.findall(_MEMBER.sub("", f"{declaration.split('[', 1)[-1]} {access}")))
    constant = constant if constant in used else ""
    known = {declared[0], constant, *_KNOWN}
    names = tuple(n for n in used if n not in known and not _VECTOR.fullmatch(n))
    storage = "extern __shared__" if declaration.startswith("extern ") else "__shared__"
    declaration = declaration.removeprefix("extern ")
    statement = (
        f"{access};" if _ASSIGNED.search(access) or access.startswith("atomic") else f"keep({access});"
    )
    lines = [
        f"#define {constant} {value}" if constant else "",
        "template <class T> __device__ void keep(T value);",
        f"__global__ void typed({', '.join(_parameter(n, access) for n in names)}) {{",
        f"{storage} {declaration};",
        statement,
        "}",
    ]
    return Typed("\n".join(lines) + "\n", 5, names)


def _parameter(name: str, access: str) -> str:
    pointed = re.search(rf"\b{re.escape(name)}\s*\[", access)
    return f"const int *{name}" if pointed else f"int {name}"
