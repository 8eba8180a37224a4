"""Unions without a name in shared memory: their declaration is read, or it is listed as unparsed."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file

BODY = "__shared__ union { int a[64]; float b[64]; }; b[threadIdx.x] = 3;"


def unparsed(text: str) -> list[int]:
    report = analyse_file(Job("k.cu", text=text))
    return [u.place.line for u in report.unparsed]


def test_a_union_in_a_function_that_clang_drops_is_listed() -> None:
    """It was not said: the class is declared nowhere, and nothing of the function reached the tree."""
    go = "template <int B>\ntemplate <class T>\nvoid R<B>::go(T n) {"
    assert unparsed(f"{go}\n  launch(3, [n] __device__() mutable {{\n    {BODY}\n  }});\n}}") == [5]


@pytest.mark.parametrize(
    "text",
    [
        f"__global__ void k() {{ {BODY} }} void go() {{ k<<<1, 64>>>(); }}",
        f"template <class T> __global__ void k(T x) {{ {BODY} }} void go() {{ k<<<1, 64>>>(1); }}",
        f"template <class T> void go(T n) {{ launch(3, [n] __device__() mutable {{ {BODY} }}); }}",
        f"#define BODY {BODY}\n__global__ void k() {{ BODY }} void go() {{ k<<<1, 64>>>(); }}",
    ],
)
def test_a_union_that_is_read_is_not(text: str) -> None:
    assert unparsed(text) == []
