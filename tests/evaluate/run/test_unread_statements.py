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
