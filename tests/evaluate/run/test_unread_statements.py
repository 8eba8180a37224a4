"""Statements that are not read are told in a sentence."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file


def test_a_range_that_nobody_knows_is_told_in_words() -> None:
    text = """
    template <class R> __global__ void k(float *o, R r) {
        __shared__ float s[64];
        for (auto x : r) o[0] += x;
        s[threadIdx.x] = 1;
        o[1] = s[0];
    }
    template <class R> void go(float *o, R r) { k<<<1, 32>>>(o, r); }
    """
    notes = {n.text for k in analyse_file(Job("/t/k.cu", text=text)).kernels for n in k.notes}
    assert notes == {"a statement that is not followed: range-based for"}


def test_what_unknown_functions_give_is_gone_through() -> None:
    """A header that is missing declares the strides: the body stands, and its lanes are not known."""
    text = """
    #include "tensorflow/core/util/gpu_kernel_helper.h"
    template <class T> __global__ void k(int n, const T *in, T *out) {
        __shared__ T s[512];
        for (int i : GpuGridRangeX(n)) s[threadIdx.x * 2] = in[i];
        for (auto i : lib::GpuGridRangeX<int>(n)) s[i * 2] += in[i];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x * 2];
    }
    void go(int n, const float *in, float *out) {
        for (const auto &stream : lib::streams(n)) k<float><<<8, 256>>>(n, in, out);
    }
    """
    report = analyse_file(Job("/t/k.cu", text=text))
    told = [
        (a.line, a.op, a.grade, a.ways_low, a.ways, k.launch.block)
        for k in report.kernels
        for a in k.accesses
    ]
    assert told == [
        (5, "store", "bound", 1.0, 2.0, (256, 1, 1)),
        (6, "load", "bound", 1.0, 16.0, (256, 1, 1)),
        (6, "store", "bound", 1.0, 16.0, (256, 1, 1)),
        (8, "load", "exact", 2.0, 2.0, (256, 1, 1)),
    ]
    assert not report.unparsed


@pytest.mark.parametrize(
    "loop",
    [
        "for (const auto &q : lib::all)",
        "for (lib::Q q : {lib::first, lib::last})",
        "auto some = {lib::first, lib::last}; for (const auto q : some)",
        "const auto &some = lib::get(3); for (auto q : some)",
        "lib::List<float> some; for (const auto &q : some)",
        "lib::Lists some; for (auto &q : some.all())",
        "for (std::pair<int, lib::Q> q : lib::pairs<int>(3))",
    ],
)
@pytest.mark.parametrize("arguments", ["<<<8, 64>>>(out)", "<<<q.blocks, 64>>>(q.data())"])
def test_launches_in_a_loop_over_what_is_unknown_are_seen(loop: str, arguments: str) -> None:
    text = f"""
    #include "lib/missing.h"
    __global__ void k(float *out) {{
        __shared__ float s[256];
        s[threadIdx.x * 2] = 1;
        out[threadIdx.x] = s[0];
    }}
    void go(float *out) {{ {loop} k{arguments}; }}
    """
    kernels = analyse_file(Job("/t/k.cu", text=text)).kernels
    assert {(k.launch.block, k.launch.origin[:4]) for k in kernels} == {((64, 1, 1), "k.cu")}


def test_an_element_of_what_is_unknown_is_given_to_a_kernel() -> None:
    text = """
    #include "lib/missing.h"
    __global__ void k(float *out) { __shared__ float s[64]; s[threadIdx.x * 2 % 64] = out[0]; }
    void go() { for (auto q : lib::pointers()) k<<<8, 32>>>(q); }
    """
    (kernel,) = analyse_file(Job("/t/k.cu", text=text)).kernels
    assert kernel.launch.block == (32, 1, 1)
