"""Operands of inline assembly without a comma between them are read, as nvcc reads them."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.frontend.text.nvcc_only import with_commas
from smemlint.ir import Asm
from smemlint.ir.walk import walk
from smemlint.source import source_from_bytes

STORE = """
__global__ void k(unsigned a, int4 v) {{
  asm volatile("st.shared.v4.b32 [%0], {{%1, %2, %3, %4}};"
               : : "r"(a + 16){between}"r"(v.x), "r"(v.y), "r"(v.z){between}"r"(v.w) : "memory");
}}
"""


@pytest.mark.parametrize("between", [",", " ", "\n      "])
def test_operands_may_stand_apart_without_a_comma(between: str) -> None:
    (module, *_) = load(source_from_bytes("/t/a.cu", STORE.format(between=between).encode()))
    (found,) = [n for f in module.functions.values() for n in walk(f.body) if isinstance(n, Asm)]
    assert (len(found.outputs), len(found.inputs)) == (0, 5)
    assert found.constraints == ("r",) * 5


@pytest.mark.parametrize(
    "text",
    [
        'asm("a" : "=r"(x), "+r"(y) : "r"(f(a) ), "n"(sizeof (int)) : "memory");',
        'asm("mov" " %0, %1;" : "=r"(x) : "r"(s("a") "b"));',
        'printf(NAME(x) "r"(y)); asm("nop;");',
        'asm volatile ("" ::: "memory"); log(at(1) "r" (2));',
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert with_commas(text.encode()) == text.encode()


def test_outputs_and_macros_too() -> None:
    text = b'#define MOVE(x, y) asm("mov.b64 {%0, %1}, %2;" : "=r"(x) \\\n  "=r"(y) : "l"(p));'
    assert with_commas(text) == text.replace(b"(x) \\", b"(x),\\")
