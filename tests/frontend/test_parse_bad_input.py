"""What would make a compiler hang or die is bounded."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lowered import declared

from smemlint.frontend.parse import parse_unit
from smemlint.frontend.project.options import ParseOptions
from smemlint.source import read_source

TEXTS = {
    "empty": "",
    "unbalanced braces": "__global__ void k() { if (1) { {{ ",
    "unbalanced ends": "}}}} __global__ void k() {} )))",
    "endless template recursion": "template <int N> struct R { static const int v = R<N + 1>::v; };\n"
    "int x = R<0>::v;\n",
    "wide template recursion": "template <int N> struct R { R<N - 1> a; R<N - 2> b; };\nR<100000> r;\n",
    "endless constexpr": "constexpr int f() { int s = 0; for (long i = 0; i < 1000000000; i++) s += i;\n"
    "return s; }\n__shared__ int a[f()];\n",
    "endless constexpr recursion": "constexpr int f(int n) { return f(n + 1); }\nint a[f(0)];\n",
    "self inclusion": '#include "self.cu"\nint x;\n',
    "garbage": "@@@ ### $$$ \\ ` \x01\x02 'unclosed \"unclosed",
    "unclosed comment": "/* __shared__ int x;",
    "unclosed raw string": 'const char* s = R"(',
    "directives": "#if\n#elif\n#else\n#else\n#endif\n#endif\n#define\n#include\n#if (\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_bad_text_gives_a_unit_in_bounded_time(name: str, tmp_path: Path) -> None:
    path = tmp_path / "self.cu"
    path.write_text(TEXTS[name])
    start = time.process_time()
    unit = parse_unit(read_source(path), ParseOptions(project_root=str(tmp_path)))
    assert unit.path == str(path)
    assert time.process_time() - start < 5


def test_an_include_cycle_ends(tmp_path: Path) -> None:
    (tmp_path / "a.cuh").write_text('#include "b.cuh"\nint a;\n')
    (tmp_path / "b.cuh").write_text('#include "a.cuh"\nint b;\n')
    unit = parse_unit(read_source(tmp_path / "a.cuh"), ParseOptions(project_root=str(tmp_path)))
    assert {Path(file).name for file in unit.files} == {"a.cuh", "b.cuh"}


def test_an_included_file_that_must_not_reach_clang_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "deep.h").write_text("int x = " + "- " * 10_000 + "1;")
    (tmp_path / "data.h").write_bytes(b"\0\1\2")
    (tmp_path / "a.cu").write_text('#include "deep.h"\n#include "data.h"\nint a;\n')
    unit = parse_unit(read_source(tmp_path / "a.cu"), ParseOptions(project_root=str(tmp_path)))
    assert [c.spelling for c in declared(unit)] == ["a"]
