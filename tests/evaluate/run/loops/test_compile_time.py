"""What the compiler knows of constant records and arrays."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

TABLES = """
struct Config { int pitch; int rows; };
constexpr Config configs[] = {{16, 4}, {33, 8}};
constexpr Config one = {16, 4};
__device__ Config changing = {16, 2};
"""


def widths(declared: str, bound: str) -> set[int | None]:
    """Bytes of the accesses that loads of neighbours in a loop are joined to."""
    text = f"""{TABLES} __global__ void k(float *out) {{
        __shared__ float s[512];
        {declared}
        float r = 0;
        for (int k = 0; k < {bound}; ++k) r += s[threadIdx.x * 16 + k];
        out[0] = r;
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    return {t.joined for t in evaluate(module, kernel, Launch((32, 1, 1))).traces}


@pytest.mark.parametrize(
    ("declared", "bound"),
    [
        ("", "one.rows"),
        ("", "configs[0].rows"),
        ("constexpr Config c = {16, 4};", "c.rows"),
        ("constexpr Config c = configs[0];", "c.rows"),
    ],
)
def test_a_loop_to_a_member_of_a_constant_is_unrolled(declared: str, bound: str) -> None:
    assert widths(declared, bound) == widths("", "4") == {16}


def test_a_loop_to_a_member_that_may_change_is_not() -> None:
    assert widths("", "4") == {16} != widths("", "changing.rows")


@pytest.mark.parametrize(
    "head",
    ["int u = 0; (1 << u) < 8; u++", "long u = 0; (1 << u) < 8; u++", "int u = 0; u * u < 9; u++"],
)
def test_a_condition_on_what_the_counter_makes_is_counted(head: str) -> None:
    """The step with `u` 0 loads both words at once, as with `u < 3` (LDS.64 in nvcc 13's machine code)."""

    def joined(head: str) -> list[int | None]:
        text = f"""__global__ void k(float *out) {{
            __shared__ float s[512];
            int t = threadIdx.x;
            for ({head}) {{
                __syncthreads();
                if (s[(t * 2) << u] > s[(t * 2 + 1) << u]) out[u] = 1;
            }}
        }}"""
        (module,) = load(source_from_bytes("k.cu", text.encode()))
        (kernel,) = module.kernels()
        return [t.joined for t in evaluate(module, kernel, Launch((32, 1, 1))).traces]

    assert joined(head) == joined("int u = 0; u < 3; u++") and 8 in joined(head)
