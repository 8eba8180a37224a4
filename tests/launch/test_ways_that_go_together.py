"""Choices that one number of host code makes: only those that go together are launches."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

PICK = """
int pick(int n) { if (n > 512) return 512; if (n > 256) return 256; if (n > 128) return 128; return 64; }
int fits(int n) { return n >= 1024 ? 512 : n >= 256 ? 128 : 32; }
"""
TOGETHER = {
    "a function called twice": (
        "void run(float *p, int n) { one<<<n, pick(n), 4 * pick(n)>>>(p, pick(n)); }",
        {(n, n) for n in (64, 128, 256, 512)},
    ),
    "a table and a condition by one number": (
        "void run(float *p, bool wide, int w) { static const Fn t[2][2] = {{of<1>, of<2>}, {of<3>, of<4>}};"
        " t[wide][w]<<<1, wide ? 128 : 64>>>(p); }",
        {(64, 1), (64, 2), (128, 3), (128, 4)},
    ),
    "a table and a table": (
        "const Fn kernels[3] = {of<1>, of<2>, of<4>}; const int threads[3] = {64, 128, 256};"
        " void run(float *p, int w) { kernels[w]<<<1, threads[w]>>>(p); }",
        {(64, 1), (128, 2), (256, 4)},
    ),
    "a table of threads that two numbers index": (
        "const int threads[4] = {32, 64, 96, 128};"
        " void run(float *p, int i, int j) { of<1><<<1, threads[i + j]>>>(p); }",
        {(32, 1), (64, 1), (96, 1), (128, 1)},
    ),
    "two switches": (
        "void run(float *p, int mode) { int t = 256;"
        " switch (mode) { case 1: t = 64; break; case 2: t = 128; }"
        " switch (mode) { case 1: of<1><<<1, t>>>(p); break; case 2: of<2><<<1, t>>>(p); break;"
        " default: of<8><<<1, t>>>(p); } }",
        {(64, 1), (128, 2), (256, 8)},
    ),
    "a function and conditions of its caller": (
        "void run(float *p, int n) { const int t = fits(n); if (n >= 1024) of<1><<<1, t>>>(p);"
        " else if (n >= 256) of<2><<<1, t>>>(p); else of<3><<<1, t>>>(p); }",
        {(512, 1), (128, 2), (32, 3)},
    ),
    "a condition that others settle": (
        "void run(float *p, int n) { int t = 64; if (n > 512) t = 128; bool two = n > 256;"
        " if (two) of<2><<<1, t>>>(p); else of<1><<<1, t>>>(p); }",
        {(64, 1), (64, 2), (128, 2)},
    ),
}
"""Host code, and which blocks go with which instance or argument."""


@pytest.mark.parametrize("way", TOGETHER)
def test_what_one_number_chooses_goes_together(way: str) -> None:
    host, pairs = TOGETHER[way]
    kernels = """
    template <int W> __global__ void of(float *p) { __shared__ float s[4096]; s[threadIdx.x * W] = p[0]; }
    __global__ void one(float *p, int m) { extern __shared__ float s[]; s[threadIdx.x * m] = p[0]; }
    using Fn = void (*)(float *);
    """
    (module, *_) = load(source_from_bytes("/t/a.cu", (kernels + PICK + host).encode()))
    started = started_kernels(module)
    found = {
        (x.threads, x.template.get("W", x.arguments.get("m")))
        for k in module.kernels()
        if k.name in ("one", "of")
        for x in infer(k, module, started)
        if not x.assumed
    }
    assert found == pairs
