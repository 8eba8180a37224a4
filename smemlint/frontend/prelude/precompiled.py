"""The text that stands in for the CUDA toolkit and the standard library, precompiled once a machine.

The prelude costs clang 60 ms to parse and 2 ms to load as a precompiled header, so it is compiled into
the user's cache folder, under a name that changes with the prelude, the library and the language
standard.
"""

# Paths are strings here, spelled as clang spells them.
# ruff: noqa: PTH105

from __future__ import annotations

import atexit
import hashlib
import os
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from clang.cindex import Index, TranslationUnit

from smemlint.system.folders import cache_folders, is_ours
from smemlint.system.stopping import held_back
from smemlint.toolkit.host import RUNTIME, C
from smemlint.toolkit.libraries import LIBRARIES
from smemlint.toolkit.mathematics import MATHEMATICS
from smemlint.toolkit.model import POINTEE, PROMOTED, SAME, SECOND, TEXEL, Function
from smemlint.toolkit.table import DEVICE

LIBRARY = "18.1.1"

BASE_ARGUMENTS = (
    "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib", "-nostdinc",
    "-nostdinc++", "-nobuiltininc", "-ferror-limit=0", "-fshow-overloads=best", "-fno-spell-checking", "-w",
    "-fgpu-rdc", "-fcxx-exceptions", "-fbracket-depth=256", "-ftemplate-depth=256",
    "-fconstexpr-steps=100000", "-fconstexpr-depth=128", "-fno-delayed-template-parsing",
)  # fmt: skip
"""Never the toolkit's headers nor the system's; bounded in every recursion that clang lets one bound."""

PLACEMENT = "".join(
    f"inline __host__ __device__ void *operator {new}(unsigned long, void *p) noexcept {{ return p; }}\n"
    f"void *operator {new}(unsigned long, const std::nothrow_t &) noexcept;\n"
    for new in ("new", "new[]")
)
"""Read with each file: where they are precompiled, clang ends at a `delete` of C++20."""

TU_RECORD = 0x01
TU_INCOMPLETE = 0x02
TU_SKIP_BODIES = 0x40
TU_KEEP_GOING = 0x200


@lru_cache(maxsize=1)
def prelude_text() -> str:
    """The types as they are written beside this module, each part followed by the functions that use them."""

    def part(name: str) -> str:
        return Path(__file__).with_name(f"prelude_{name}.cuh").read_text("utf-8")

    c = (*MATHEMATICS, *C)
    parts = (
        *(part("language"), part("runtime"), part("std"), part("device"), declarations(DEVICE), part("cuda")),
        *(part("c"), declarations(c), also_in_std(c), part("libraries"), part("host")),
        *(declarations(RUNTIME), declarations(LIBRARIES)),
    )
    return "".join(parts)


@lru_cache(maxsize=1)
def _typedefs() -> dict[str, str]:
    return {
        name.strip(): match[1]
        for match in re.finditer(r"^typedef (\w[\w ]*) (\w+(?:, \w+)*);", prelude_text(), re.MULTILINE)
        if not match[1].startswith("struct")
        for name in match[2].split(",")
    }


def library_typedef(name: str) -> str | None:
    """What a typedef of the toolkit stands for (`cuFloatComplex`: `float2`), which clang does not list."""
    return _typedefs().get(name)


@lru_cache(maxsize=1)
def clang_index() -> Index:
    """One index a process; declarations of the precompiled header are not listed at top level."""
    index: Index = Index.create(excludeDecls=True)  # type: ignore[no-untyped-call]
    atexit.register(clang_index.cache_clear)
    return index


@lru_cache(maxsize=4)
def prelude_arguments(std: str) -> tuple[str, ...]:
    """Arguments that load the prelude for a language standard, compiled first when needed; none when there is
    no folder to keep it in: the prelude must then be read as text."""
    text = prelude_text()
    key = hashlib.sha256("\0".join((text, std, LIBRARY, *BASE_ARGUMENTS)).encode()).hexdigest()[:20]
    for folder in cache_folders():
        if not is_ours(folder):
            continue
        header = folder / f"prelude-{key}.pch"
        try:
            if not header.exists():
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                with held_back():  # or half of it would stay behind
                    _compile(text, std, header)
        except OSError:
            continue
        return ("-Xclang", "-include-pch", "-Xclang", str(header), "-Xclang", "-fno-validate-pch")
    return ()


def forget_prelude(std: str) -> None:
    """Remove the compiled prelude of a standard (it may be damaged); the next use compiles it anew."""
    arguments = prelude_arguments(std)
    prelude_arguments.cache_clear()
    if arguments:
        Path(arguments[3]).unlink(missing_ok=True)


def _compile(text: str, std: str, header: Path) -> None:
    """Write the precompiled header under a name of its own and move it into place, so that processes may
    race."""
    source = header.with_suffix(".cuh")
    arguments = [*BASE_ARGUMENTS, f"-std={std}", "-Xclang", "-fno-pch-timestamp"]
    unit: TranslationUnit = clang_index().parse(  # type: ignore[no-untyped-call]
        str(source), args=arguments, unsaved_files=[(str(source), text)], options=TU_INCOMPLETE
    )
    _check(unit)
    import tempfile

    handle, name = tempfile.mkstemp(suffix=".pch", dir=header.parent)
    os.close(handle)
    try:
        unit.save(name)  # type: ignore[no-untyped-call]
        os.replace(name, header)
    except Exception as error:
        Path(name).unlink(missing_ok=True)
        raise OSError(f"cannot write {header}") from error


def _check(unit: TranslationUnit) -> None:
    for diagnostic in unit.diagnostics:
        if diagnostic.severity >= diagnostic.Error:
            raise AssertionError(f"the prelude does not parse: {diagnostic}")


_FORMS = {
    SAME: "template <class T, class... A> T {0}(T, A...);",
    SECOND: "template <class T, class... A> T {0}(unsigned int, T, A...);",
    POINTEE: (
        "template <class T, class... A> T {0}(T*, A...);"
        " template <class T, class... A> T {0}(const T*, A...);"
        " template <class T, class... A> T {0}(volatile T*, A...);"
    ),
    PROMOTED: (
        "template <class T> auto {0}(T v) -> decltype(T(v));"
        " template <class T, class U> auto {0}(T v, U w) -> decltype(v + w);"
        " template <class T, class U, class V> auto {0}(T v, U w, V x) -> decltype(v + w + x);"
    ),
    TEXEL: (
        "template <class T, class... A> T {0}(unsigned long long, A...);"
        " template <class T, int D, cudaTextureReadMode M, class... A> T {0}(texture<T, D, M>, A...);"
        " template <class... A> void {0}(A...);"
    ),
}
_OTHER = "template <class... A> {1} {0}(A...);"


def declarations(functions: Iterable[Function]) -> str:
    """One line for each function that the table declares."""
    return "".join(
        _FORMS.get(f.result, _OTHER).format(f.name, f.result) + "\n" for f in functions if f.declared
    )


def also_in_std(functions: Iterable[Function]) -> str:
    """The same functions in namespace std."""
    return "namespace std {\n" + "".join(f"using ::{f.name};\n" for f in functions if f.declared) + "}\n"
