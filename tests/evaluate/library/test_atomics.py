"""Atomics cost what the compiler makes of them."""

from __future__ import annotations

import pytest
from costs import told

from smemlint.api import analyse_file
from smemlint.running.jobs import Job, Options


@pytest.mark.parametrize(
    ("call", "op", "ways"),
    [
        ("atomicAdd(&s[0], n);", "increment", 1.0),
        ("out[threadIdx.x] = atomicAdd(&s[n & 3], 1);", "increment", 1.0),
        ("int *p = s + (n & 3); atomicSub(p, out[threadIdx.x]);", "increment", 1.0),
        ("atomicMax(&s[blockIdx.x & 3], out[threadIdx.x]);", "increment", 1.0),
        ("atomicAdd_block(&s[threadIdx.x / 8], 1);", "increment", 1.0),
        ("atomicAdd(&s[threadIdx.x / 32], n);", "atomic", 32.0),
        ("atomicAdd(&s[threadIdx.y], n);", "atomic", 32.0),
        ("int w = threadIdx.x / 64; atomicAdd(&s[w], n);", "atomic", 32.0),
        ("atomicSub(&s[threadIdx.x / 8], 1);", "atomic", 8.0),
        ("out[threadIdx.x] = atomicMax(&s[0], n);", "atomic", 32.0),
        ("atomicExch(&s[0], n);", "atomic", 32.0),
        ("atomicInc((unsigned *)&s[0], 7u);", "atomic", 32.0),
        ("atomicCAS(&s[0], 1, n);", "cas", 32.0),
    ],
)
def test_integer_atomics(call: str, op: str, ways: float) -> None:
    assert told(call) == [(op, 4, ways)]


def test_a_device_function_passes_the_address_on() -> None:
    free = "auto add = [&](int i) { atomicAdd(&s[i], n); };"
    assert told(f"{free} add(3);") == [("increment", 4, 1.0)]


@pytest.mark.parametrize("element", ["float", "__half2", "__nv_bfloat162"])
def test_atomics_without_an_instruction_are_a_loop_that_a_profiler_finds_clean(element: str) -> None:
    found = told("atomicAdd(&s[0], s[1]);", shared=f"{element} s[64]")
    assert ("cas loop load", 4, 1.0) in found and ("cas loop", 4, 1.0) in found


def test_a_loop_on_many_words_of_one_bank_loads_them_all() -> None:
    found = told("atomicAdd(&s[threadIdx.x * 32], 1.0f);", shared="float s[2048]")
    assert sorted(found) == [("cas loop", 4, 1.0), ("cas loop load", 4, 16.5)]


@pytest.mark.parametrize("element", ["double", "unsigned long long"])
def test_eight_byte_atomics_are_a_loop_too(element: str) -> None:
    loop = [("cas loop", 8, 1.0), ("cas loop load", 8, 1.0)]
    assert sorted(told("atomicAdd(&s[threadIdx.x], 1);", shared=f"{element} s[64]")) == loop
    assert sorted(told("atomicAdd(&s[0], 1);", shared=f"{element} s[64]")) == loop


def test_eight_byte_exchange_and_compare_and_swap_have_instructions() -> None:
    assert told("atomicCAS(&s[threadIdx.x], 1ull, 2ull);", shared="unsigned long long s[64]")[0][:2] == (
        "cas",
        8,
    )
    assert told("atomicExch(&s[threadIdx.x], 1ull);", shared="unsigned long long s[64]")[0][:2] == (
        "atomic",
        8,
    )


def test_an_atomic_ref_is_an_atomic_on_what_it_refers_to() -> None:
    body = "cuda::atomic_ref<int, cuda::thread_scope_block> r(s[threadIdx.x / 8]); r.fetch_add(1);"
    assert told(body) == [("atomic", 4, 8.0)]


def test_operators_of_an_atomic_object_are_atomics() -> None:
    shared = "cuda::atomic<int, cuda::thread_scope_block> count"
    assert told("count++; count.fetch_add(2);", shared=shared) == [("increment", 4, 1.0)] * 2
    assert told("out[0] = count.load();", shared=shared) == [("load", 4, 1.0)]


def test_an_overload_for_another_type_calls_the_library_and_not_itself() -> None:
    text = """
struct half_t { unsigned short bits; __device__ operator float() const; };
__device__ void atomicAdd(float *p, half_t v) { atomicAdd(p, (float)v); }
__device__ void atomicMax(float *p, float v) { atomicMax((int *)p, __float_as_int(v)); }
__global__ void k(const half_t *in, float x) {
    __shared__ float s[64];
    atomicAdd(&s[threadIdx.x], in[threadIdx.x]);
    atomicMax(&s[threadIdx.x * 2], x);
}
"""
    report = analyse_file(Job("k.cu", Options(blocks={"": (32, 1, 1)}, suggest=False), text))
    [kernel] = report.kernels
    # the loop of compare-and-swaps that a float in shared memory is added with
    found = sorted((a.op, (a.wavefronts or 0) / (a.ideal or 1)) for a in kernel.accesses)
    assert found == [("atomic", 2), ("cas loop", 1), ("cas loop load", 1)]
    assert not kernel.notes
