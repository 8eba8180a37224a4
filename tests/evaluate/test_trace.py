"""From logged accesses to requests."""

from __future__ import annotations

import numpy as np

from smemlint.evaluate import evaluate
from smemlint.evaluate.kernel import bind_arguments
from smemlint.evaluate.machine.dispatch import run
from smemlint.evaluate.machine.machine import Event, Machine
from smemlint.evaluate.model import Grade, Trace
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes


def traced(body: str) -> list[Trace]:
    """Traces of a kernel of one block of 64 threads."""
    text = f"__global__ void k(const int *d, int *out) {{ int t = threadIdx.x; {body} }}"
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return list(evaluate(module, module.kernels()[0], Launch((64, 1, 1))).traces)


def test_values_that_lanes_read_one_after_the_other_are_one_term() -> None:
    (trace,) = traced("""
        __shared__ int s[256];
        for (int i = 0; i < 8; i++) out[64 * i + t] = s[d[64 * i + t] & 255];""")
    (term,) = trace.data
    assert term.coefficient.shape == trace.offsets.shape == (16, 32)
    assert (term.coefficient == 4).all()


def test_two_values_of_one_request_stay_two_terms() -> None:
    (trace,) = traced("""
        __shared__ int s[512];
        for (int i = 0; i < 8; i++) out[64 * i + t] = s[(d[64 * i + t] & 255) + (d[t + i] & 255)];""")
    assert len(trace.data) == 2
    assert all((term.coefficient == 4).all() for term in trace.data)


def test_an_access_that_wanders_through_an_array_has_one_row_for_each_visit() -> None:
    (trace,) = traced("""
        __shared__ int s[1024];
        #pragma unroll 1
        for (int i = 0; i < 4; i++) out[64 * i + t] = s[64 * (3 - i) + t];""")
    assert trace.visited.ranges == ((0, 2), (2, 2), (4, 2), (6, 2))
    assert trace.offsets[:, 0].tolist() == [768, 896, 512, 640, 256, 384, 0, 128]


def test_a_value_that_a_warp_reads_at_one_address_moves_its_lanes_together() -> None:
    for index in (
        "d[t / 32] + 2 * (t % 32)",
        "d[t >> 5] * 33 + 2 * (t & 31)",
        "(d[t / 32] & 7) + 2 * (t % 32)",
    ):
        (trace,) = traced(f"__shared__ int s[4096]; out[t] = s[{index}];")
        assert not trace.data and trace.grade is Grade.EXACT, index
        assert (trace.offsets - trace.offsets[:, :1] == 8 * np.arange(32)).all()
    (trace,) = traced("__shared__ float4 s[64]; float4 v = s[d[t / 32]]; out[t] = v.x + v.y + v.z + v.w;")
    assert not trace.data and (trace.offsets == trace.offsets[:, :1]).all()


def test_a_value_that_lanes_of_a_warp_need_not_share_stays_a_term() -> None:
    for index in (
        "d[t / 16] + t % 32",
        "d[d[t]] + t % 32",
        "(t % 32 < 16 ? d[t / 32] : d[t / 32 + 8]) + t % 32",
        "d[t / 32] * (t % 32)",
        "d[d[t / 32] + t % 2] + t % 32",
        "((d[t / 32] + t) & 15) + t % 32",
    ):
        (trace,) = traced(f"__shared__ int s[4096]; out[t] = s[{index}];")
        assert trace.data and trace.grade is Grade.BOUND, index


def test_half_a_word_that_a_warp_is_moved_by_is_not_left_out() -> None:
    (trace,) = traced("__shared__ short s[4096]; out[t] = s[d[t / 32] + t % 32];")
    assert trace.data


def test_a_choice_that_moves_each_warp_as_a_whole_is_left_out() -> None:
    (trace,) = traced("""
        __shared__ int s[4096];
        int side = blockIdx.x & 1;
        out[t] = s[(t < 32 ? side * 64 : 512 + side * 256) + 2 * (t % 32)];""")
    assert trace.grade is Grade.EXACT and trace.ways == 1 and trace.alignment == 256


def test_a_choice_that_parts_the_lanes_of_a_warp_has_its_ways() -> None:
    (trace,) = traced("""
        __shared__ int s[4096];
        int side = blockIdx.x & 1;
        out[t] = s[(t % 32 < 16 ? side * 64 : 512) + 2 * (t % 32)];""")
    assert trace.grade is Grade.BOUND and trace.ways == 2


def test_sites_with_the_same_addresses_share_them() -> None:
    load, store = traced("__shared__ float s[64]; s[63 - t] = 1; __syncthreads(); out[t] = s[63 - t];")
    assert load.site.op != store.site.op and load.offsets is store.offsets


def test_rounds_of_a_loop_log_their_addresses_once() -> None:
    text = """__global__ void k(int *out) { __shared__ int s[64]; int t = threadIdx.x;
        for (int i = 0; i < 8; i++) { s[63 - t] = i; __syncthreads(); out[i] = s[63 - t]; __syncthreads(); }
        }"""
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    m = Machine(module, (64, 1, 1))
    m.frame.function = kernel = module.kernels()[0]
    bind_arguments(m, kernel, Launch((64, 1, 1)))
    run(m, kernel.body)
    lanes = [e.offset.const for e in m.log if isinstance(e, Event)]
    assert len(lanes) == 16 and len({id(each) for each in lanes}) == 1
