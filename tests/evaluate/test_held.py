"""What a thread holds in local variables."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def held(body: str, bounds: str = "", **template: int) -> tuple[int, int]:
    """Bytes, and the blocks that the launch bounds ask for."""
    names = ", ".join(f"int {name}" for name in template)
    before = f"template <{names}> " if names else ""
    text = f"{before}__global__ void {bounds} k(float *out, int n) {{ __shared__ float s[64]; {body} "
    text += "out[0] = s[threadIdx.x]; }"
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    found = evaluate(module, module.kernels()[0], Launch((64, 1, 1), template=template))
    return found.held, found.blocks_asked


@pytest.mark.parametrize(
    ("body", "size"),
    [
        ("float sum[8][8] = {}; float a[4];", 4 * 68),
        ("float4 v[2]; double d = 1;", 40),
        ("int i = n, j = 2; int *p = &i;", 0),
        ("for (int i = 0; i < 4; i++) { float part[8]; part[i] = out[i]; out[i] = part[i]; }", 32),
        ("float table[4096];", 0),
        ("float unknown[8]; (void)unknown; static __shared__ float t[99]; t[0] = 1;", 32),
    ],
)
def test_arrays_records_and_floating_point_numbers_count_once(body: str, size: int) -> None:
    assert held(body)[0] == size


def test_sizes_follow_template_arguments() -> None:
    assert held("const int per = A / B; float sum[per * 2];", A=32, B=4) == (64, 0)


def test_the_blocks_of_launch_bounds() -> None:
    assert held("", "__launch_bounds__(64)")[1] == 0
    assert held("", "__launch_bounds__(64, 2)")[1] == 2
    assert held("", "__launch_bounds__(64, A)", A=3)[1] == 3
