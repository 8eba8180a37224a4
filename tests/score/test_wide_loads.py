"""Wide loads of which nobody knows the lanes."""

from __future__ import annotations

import random

from smemlint.api import Job, analyse_file
from smemlint.banks import wavefronts


def test_wide_loads_of_any_lanes_are_exact_where_one_wavefront_serves_all() -> None:
    """Whichever lanes take part: a load of one address, or of one by pairs of lanes, is one wavefront."""
    rng = random.Random(8)
    for _ in range(200):
        lanes = [lane for lane in range(32) if rng.random() < rng.random()] or [7]
        for at in (lambda lane: 40, lambda lane: lane // 2 * 8):
            cost = wavefronts("load", 8, [at(lane) if lane in lanes else None for lane in range(32)])
            assert (cost.wavefronts, cost.ideal) == (1, 1)
    text = """
    __global__ void k(double *p, const int *n) {
        __shared__ double s[32];
        int t = threadIdx.x;
        s[t] = p[t];
        __syncthreads();
        if (n[t] > 3) p[t] = s[5];
        if (n[t] > 4) p[t] += s[t / 2];
        if (n[t] > 5) p[t] += s[t];
    }
    void run(double *p, int *n) { k<<<1, 32>>>(p, n); }
    """
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert {(a.expression, a.grade) for a in kernel.accesses if a.op == "load"} == {
        ("s[5]", "exact"), ("s[t / 2]", "exact"), ("s[t]", "bound"),
    }  # fmt: skip


def test_four_words_of_one_address_are_exact_whichever_lanes_load_them() -> None:
    """Two wavefronts serve more than 16 lanes, and then the bytes ask for two as well."""
    rng = random.Random(9)
    for _ in range(200):
        lanes = [lane for lane in range(32) if rng.random() < rng.random()] or [7]
        cost = wavefronts("load", 16, [48 if lane in lanes else None for lane in range(32)])
        assert cost.wavefronts == cost.ideal == -(-len(lanes) // 16)
    text = """
    __global__ void k(float4 *p, const int *n) {
        __shared__ float4 s[32];
        int t = threadIdx.x;
        s[t] = p[t];
        __syncthreads();
        if (n[t] > 3) p[t] = s[5];
        if (n[t] > 5) p[t] = s[t];
    }
    void run(float4 *p, int *n) { k<<<1, 32>>>(p, n); }
    """
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert {(a.expression, a.grade, a.ways) for a in kernel.accesses if a.op == "load"} == {
        ("s[5]", "exact", 1.0), ("s[t]", "bound", 4.0),
    }  # fmt: skip


def test_a_turn_that_loads_one_address_is_counted_so_beside_turns_that_data_spread() -> None:
    one = wavefronts("load", 16, [0] * 32)
    spread = wavefronts("load", 16, [128 * (lane % 8) for lane in range(32)])
    assert (one.wavefronts, one.ideal, spread.wavefronts) == (2, 2, 32)
    text = """
    __global__ void k(float4 *p, const int *n) {
        __shared__ float4 s[64];
        int t = threadIdx.x, at = 3;
        s[t] = p[t];
        __syncthreads();
        for (int i = 0; i < 4; i++) {
            p[t] = s[at];
            at = n[t] & 63;
        }
    }
    void run(float4 *p, int *n) { k<<<1, 32>>>(p, n); }
    """
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    (load,) = [a for a in kernel.accesses if a.op == "load"]
    assert load.grade == "bound" and load.wavefronts == one.wavefronts + 3 * spread.wavefronts
