"""A file of which nothing would be lowered is told so by its text: neither healed nor lowered."""

from __future__ import annotations

from pathlib import Path

import pytest

import smemlint.frontend as frontend
from smemlint.frontend import ParseOptions, load
from smemlint.ir import Module
from smemlint.source import read_source

HOST = """
#include "lib/config.h"
#include "absent.h"
#ifdef WITH_EXTRAS
#include "lib/extras.h"
#endif
template <typename T> void apply(unknown::Table<T> &table, Handle h) { table.fill(h, [=] { h.run(); }); }
template class unknown::Set<int>;  // nothing is lowered of an explicit instantiation of a class
"""


def laid_out(folder: Path, **texts: str) -> Path:
    (folder / "lib").mkdir()
    (folder / ".git").mkdir()
    for name, text in texts.items():
        (folder / "lib" / f"{name}.h").write_text(text)
    main = folder / "main.cu"
    main.write_text(texts.get("main", HOST))
    return main


def read(main: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> tuple[tuple[Module, ...], bool]:
    """The modules, and whether the file was parsed for what it holds."""
    parsed: list[str] = []
    original = frontend.parse_unit

    def noted(*arguments: object, **given: object) -> object:
        parsed.append("parsed")
        return original(*arguments, **given)  # type: ignore[arg-type]

    monkeypatch.setattr(frontend, "parse_unit", noted)
    return load(read_source(str(main)), ParseOptions(**options)), bool(parsed)  # type: ignore[arg-type]


def test_host_code_is_not_read_for_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = laid_out(tmp_path, config='#pragma once\n#include "lost.h"\n', extras="int extra;\n")
    (module,), parsed = read(main, monkeypatch)
    assert not parsed
    assert (module.functions, module.records, module.globals, module.kernels()) == ({}, {}, {}, ())

    monkeypatch.setattr(frontend, "_without_kernels", lambda *_: None)
    (whole,), parsed = read(main, monkeypatch)
    assert parsed
    assert module.missing_includes == whole.missing_includes == ("lost.h", "absent.h")
    assert module.files == whole.files
    assert (module.configuration, module.refused) == (whole.configuration, whole.refused)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("config", "template <int N> __global__ void twice(float *x) { x[threadIdx.x] *= N; }"),
        ("config", "#define TILE(T, name) __shared__ T name[32]"),
        ("config", "template <typename K> void run(K k, int n) { k<<<n, 128>>>(); }"),
        ("config", "inline void run(void *k) { cudaLaunchKernel(k, dim3(1), dim3(64), nullptr, 0, 0); }"),
        ("extras", "__global__ void zero(float *x) { x[threadIdx.x] = 0; }"),
        ("main", '#include "lib/config.h"\n template void twice<3>(float *);'),
        ("main", "#define HEADER <lib/config.h>\n#include HEADER\n"),
        ("main", '#ifdef USE_CUDA\n#include "lib/config.h"\n#endif\n'),
    ],
)
def test_whatever_may_lead_to_a_kernel_is_read(
    where: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = {"extras": "", "config": "__global__ void k() {}" if where == "main" else "", where: text}
    _, parsed = read(laid_out(tmp_path, **others), monkeypatch)
    assert parsed


def test_a_comment_instantiates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = laid_out(tmp_path, config="// the template parameter (T) is a number\n", extras="")
    assert read(main, monkeypatch)[1] is False


def test_a_macro_of_the_user_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = laid_out(tmp_path, main="KERNEL void k(float *x) { *x = 0; }", config="", extras="")
    modules, parsed = read(main, monkeypatch, defines=("KERNEL=__global__",))
    assert parsed
    assert read(main, monkeypatch)[1] is False
    assert modules[0].path == str(main)
