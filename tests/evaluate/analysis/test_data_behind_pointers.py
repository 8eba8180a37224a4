"""Data in registers is passed over, also where shared memory is reached through a pointer."""

from __future__ import annotations

from smemlint.evaluate.analysis.address_slice import slicer
from smemlint.frontend import load
from smemlint.ir import Loop
from smemlint.ir.walk import walk
from smemlint.source import source_from_bytes

NETWORK = """
template <typename T> struct SharedMemory;
template <> struct SharedMemory<float> {
    __device__ float *get() { extern __shared__ float s_float[]; return s_float; }
};
template <typename T> __device__ T at(T *s, int i) { return s[i + (i >> 5)]; }
#define ORDER(a, b) { bool swap = up ^ (x[a] < x[b]); T kept = x[a]; if (swap) { x[a] = x[b]; x[b] = kept; } }
template <typename T> __global__ void sort(T *in, int n) {
    SharedMemory<T> memory;
    T *s = memory.get();
    T x[4];
    int t = threadIdx.x;
    for (int inc = n; inc > 0; inc >>= 2) {
        bool up = (t & inc) == 0;
        for (int i = 0; i < 4; i++) x[i] = max(at(s, t + i * inc), at(s, t));
        for (int i = 0; i < 2; i++) ORDER(i, i + 2)
        for (int i = 0; i < 4; i++) s[t * 4 + i * inc] = x[i];
        @
    }
}
void run(float *p) { sort<<<1, 128, 4096>>>(p, 64); }
"""


def loops_passed_over(text: str) -> int:
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    (kernel,) = module.kernels()
    found = slicer(module)(kernel, frozenset(), frozenset()).skippable
    return sum(isinstance(n, Loop) and id(n) in found for n in walk(kernel.body))


def test_a_sorting_network_in_registers_is_passed_over() -> None:
    assert loops_passed_over(NETWORK.replace("@", "")) == 1


def test_data_that_becomes_an_index_is_not() -> None:
    assert loops_passed_over(NETWORK.replace("@", "t += int(x[0]);")) == 0


def test_data_that_a_pointer_may_lead_to_is_not() -> None:
    assert loops_passed_over(NETWORK.replace("@", "T *local = x; s = local;")) == 0
