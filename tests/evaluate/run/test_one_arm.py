"""Arms of an `if` that read elements of different arrays and are one load for all lanes, as in the machine
code of nvcc 13.0 (sm_90); which lane asks for which word is worked out here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """__global__ void k(const float *in, float *o) {{ __shared__ float a[1024], b[1024];
int t = threadIdx.x; float v = 0, u = 0; a[t] = in[t]; b[t] = in[t + 99]; __syncthreads();
{}
o[t] = v * in[t] + u; }}"""


def loads(body: str) -> list[int]:
    """Wavefronts of each load of one warp in the body."""
    (module,) = load(source_from_bytes("k.cu", KERNEL.format(body).encode()))
    costs = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return sorted(c.wavefronts for c in costs if c.site.op == "load" and c.wavefronts)


def wavefronts(words: list[int]) -> int:
    """Passes over the banks for one word of each lane. `b` lies 1024 words behind `a`."""
    return max(len({w for w in words if w % 32 == bank}) for bank in range(32))


B = 1024
LANES = range(32)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("if (t & 1) v = a[t]; else v = b[t + 1];", [lambda t: t if t & 1 else B + t + 1]),
        ("if (t & 1) v = a[2 * t]; else v = b[31 - t];", [lambda t: 2 * t if t & 1 else B + 31 - t]),
        (
            "v = in[t]; if (t & 1) { v += a[t]; } else { v += b[3 * t]; }",
            [lambda t: t if t & 1 else B + 3 * t],
        ),
        (
            "if (t < 16) o[t + 64] = a[t]; else o[t + 64] = b[t - 16];",
            [lambda t: t if t < 16 else B + t - 16],
        ),
        (
            "if (t & 1) { v = a[t]; u = b[t]; } else { u = b[3 * t]; v = a[2 * t]; }",
            [lambda t: t if t & 1 else 2 * t, lambda t: B + t if t & 1 else B + 3 * t],
        ),
        (
            "if (t < 16) v = a[t]; else if (t < 24) v = b[t - 16]; else v = a[2 * t];",
            [lambda t: t if t < 16 else B + t - 16 if t < 24 else 2 * t],
        ),
    ],
)
def test_arms_that_read_other_arrays_are_one_load(body: str, words: list[Callable[[int], int]]) -> None:
    assert loads(body) == sorted(wavefronts([*map(word, LANES)]) for word in words)


@pytest.mark.parametrize(
    "body",
    [
        "if (t & 1) v = a[t] * a[t + 1]; else v = b[3 * t] * b[t];",
        "if (t & 1) v = a[t] * in[t]; else v = b[3 * t] + in[t];",
    ],
)
def test_arms_that_compute_otherwise_load_for_themselves(body: str) -> None:
    assert len(loads(body)) == body.count("a[") + body.count("b[")
