"""Branches that only blocks at the edge of the grid take."""

from __future__ import annotations

from smemlint.api import Job, analyse_file
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes


def costs(body: str) -> list[Conflict]:
    """The costs of a kernel of one warp, in the order of the text; n is unknown, i the thread's number."""
    text = (
        "__global__ void k(float *g, int n) {\n"
        "  __shared__ float s[32][32]; int t = threadIdx.x;\n"
        "  int i = blockIdx.x * blockDim.x + t;\n"
        f"  {body}\n}}"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return list(score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1)))))


def test_what_the_edge_stores_instead_is_an_access_of_its_own() -> None:
    inside, edge = costs("if (i < n) s[0][t] = g[i];\n else s[0][t] = 0;")
    assert (inside.ways, inside.grade) == (1, Grade.EXACT)
    assert (edge.ways_low, edge.ways, edge.grade) == (1, 1, Grade.EXACT)


def test_how_many_lanes_the_edge_has_is_not_known() -> None:
    (edge,) = costs("if (i >= n) { s[t][0] = 0; return; }")
    assert (edge.ways_low, edge.ways, edge.grade) == (1, 32, Grade.BOUND)


def test_a_guard_may_be_kept_in_a_variable() -> None:
    inside, edge = costs("bool in = i < n;\n if (in) s[0][t] = g[i];\n else s[0][t] = 0;")
    assert (inside.ways, edge.ways) == (1, 1)


def test_the_edge_leaves_nothing_behind() -> None:
    _, after = costs("int c = t; if (i >= n) { c = 32 * t; s[0][t] = 0; }\n s[0][c] = 1;")
    assert (after.ways_low, after.ways, after.grade) == (1, 1, Grade.EXACT)


def test_lanes_that_return_at_the_edge_go_on_in_the_middle() -> None:
    _, after = costs("if (i >= n) { s[0][t] = 0; return; }\n s[t][0] = 1;")
    assert (after.ways_low, after.ways) == (32, 32)


def test_a_function_that_both_run_is_known_by_the_middle_of_the_grid() -> None:
    (store,) = costs(
        "auto put = [&](float x) { s[t][0] = x; };\n if (i < n) { put(g[i]); } else { put(0); }",
    )
    assert (store.ways_low, store.ways, store.grade) == (32, 32, Grade.EXACT)


def test_a_guard_in_a_loop_is_looked_at_in_its_first_iterations_only() -> None:
    edge = costs("for (int j = 0; j < 1000; j++) if (i >= n) s[0][t] = j;")[0]
    assert 0 < edge.executions < 1000


def test_the_other_way_of_a_guard_may_ask_again_whether_it_is_the_edge() -> None:
    inside, edge = costs("if (i + 32 < n) s[0][t] = g[i];\n else if (i + 32 >= n) s[t][0] = 0;")
    assert (inside.ways, inside.grade) == (1, Grade.EXACT)
    assert (edge.ways_low, edge.ways, edge.grade) == (1, 32, Grade.BOUND)


def test_what_is_made_of_a_rest_is_asked_at_the_edge_too() -> None:
    text = """__global__ void k(float *p, int n) {
        __shared__ float s[32][32];
        int end = min(n, (int)blockIdx.x * 32 + 32);
        int count = end - blockIdx.x * 32;
        if (count == 32) p[threadIdx.x] = s[0][threadIdx.x];
        else p[threadIdx.x] = s[threadIdx.x][0];
    }
    void go(float *p, int n) { k<<<n, 32>>>(p, n); }"""
    inside, edge = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (inside.ways, inside.grade) == (1, "exact")
    assert edge.grade == "bound" and edge.reason is not None and edge.reason[0] == "edge-of-grid"


def test_the_last_block_of_a_known_grid_has_accesses_of_its_own() -> None:
    # 100000 elements are 97 blocks of 1024 and 672 threads more: the last block stores the zeros
    text = """__global__ void k(float *g, int n) {
        __shared__ float s[1024];
        unsigned i = blockIdx.x * 1024 + threadIdx.x;
        if (i < n) s[threadIdx.x] = g[i];
        else s[threadIdx.x] = 0;
        __syncthreads();
        g[i] = s[threadIdx.x ^ 1];
    }
    int main() { float *g; k<<<(100000 + 1023) / 1024, 1024>>>(g, 100000); }"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [(a.ways_low, a.ways) for a in kernel.accesses] == [(1, 1)] * 3
