"""Pointers that nobody is seen to make: host code may find them null, or not."""

from __future__ import annotations

from smemlint.api import Job, analyse_file

KERNEL = """
#include <vector>
struct Part {
    void *data;
    std::vector<size_t> shape;
    bool filled() const { return !(data == nullptr && shape.size() == 1 && shape[0] == 0); }
};
struct Tensor { Part rows, columns; int *bias; };
__global__ void k(float *p) {
    extern __shared__ float s[];
    s[threadIdx.x * 2] = p[0];
}
"""


def blocks(host: str) -> set[int]:
    found = analyse_file(Job("a.cu", text=KERNEL + host)).kernels
    assert all(k.launch.origin.startswith("a.cu:") and not k.launch.assumed for k in found)
    return {k.launch.block[0] for k in found}


def test_a_check_of_pointers_that_nobody_made_does_not_end_the_program() -> None:
    """Both parts were taken to be filled, so that the check failed and nothing behind it was seen."""
    host = """
    void run(const Tensor &t, float *p) {
        const bool rows = t.rows.filled(), columns = t.columns.filled();
        if (!(!rows || !columns)) throw 1;
        if (!rows && !columns) return;
        k<<<1, 96, 8192>>>(p);
    }
    """
    assert blocks(host) == {96}


def test_a_number_that_hangs_on_a_pointer_has_two_ways() -> None:
    for question in ("t.bias ? 64 : 128", "t.bias == nullptr ? 64 : 128", "!t.bias ? 64 : 128"):
        host = f"void run(const Tensor &t, float *p) {{ int n = {question}; k<<<1, n, 8192>>>(p); }}"
        assert blocks(host) == {64, 128}


def test_a_pointer_is_null_or_not_throughout() -> None:
    host = """
    void run(const Tensor &t, float *p) {
        int n = t.bias ? 2 : 3;
        k<<<1, t.bias ? n * 32 : n * 64, 8192>>>(p);
    }
    """
    assert blocks(host) == {64, 192}


def test_a_pointer_that_is_seen_to_be_made_is_not_null() -> None:
    host = "void run(float *p) { int x; int *q = &x; k<<<1, q ? 64 : 128, 8192>>>(p); }"
    assert blocks(host) == {64}


def test_an_allocated_pointer_is_not_null() -> None:
    for made in ("cudaMalloc(&q, 4)", "if (cudaMallocManaged((void **)&q, 4) != cudaSuccess) return"):
        host = f"void run(float *p) {{ int *q; {made}; k<<<1, q == nullptr ? 64 : 128, 8192>>>(p); }}"
        assert blocks(host) == {128}
