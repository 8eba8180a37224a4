"""Statements that are not read are told in a sentence."""

from __future__ import annotations

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
