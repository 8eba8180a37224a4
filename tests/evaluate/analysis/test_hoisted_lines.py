"""Lines of loads in front of a loop, as in the line tables of nvcc 13.0 for sm_90, -O3 -lineinfo."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

AT = 4
"""The line on which the statements given begin."""


ALONE = "float *__restrict__ o"


def lines(statements: str, out: str = ALONE) -> list[int]:
    """Lines of the loads of a kernel, counted from the first of its statements."""
    source = f"""// k
    __global__ void k(const float *__restrict__ in, {out}, int n) {{ __shared__ float v, w[32];
    int t = threadIdx.x; if (t == 0) v = n; w[t] = n; __syncthreads();
{statements}
    }}
    void start(float *p, int n) {{ k<<<1, 32>>>(p, p, n); }}"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((32, 1, 1)))
    return [t.site.line - AT for t in trace.traces if t.site.op == "load"]


@pytest.mark.parametrize("what", ["v", "w[3]", "w[t]", "w[t + 1]"])
def test_a_load_before_a_loop_is_counted_on_the_condition(what: str) -> None:
    assert lines(f"for (int p = t; p < n; p += 32)\n  o[p] =\n    in[p] * {what};") == [0]


def test_in_front_of_a_loop_that_surely_runs_it_is_counted_on_the_statement_before() -> None:
    fill = "float x[8];\nfor (int p = 0; p < 8; p++) x[p] = in[p * 32 + t];\nint z = n * 7;\n"
    assert lines(f"{fill}for (int p = 0; p < 8; p++)\n  o[p * 32 + t] =\n    x[p] * v + z;") == [2]


def test_reading_the_block_index_moves_as_well_and_keeps_its_line() -> None:
    body = "{\n  float x = in[blockIdx.x * n + p];\n  o[p] =\n    x * v; }"
    assert lines(f"for (int p = t; p < n; p += 32) {body}") == [1]


@pytest.mark.parametrize(
    ("statements", "out", "line"),
    [
        ("for (int p = t; p < n; p += 32)\n  w[p & 31] =\n    in[p] * w[3];", ALONE, 2),
        ("for (int p = t; p < n; p += 32)\n  o[p] =\n    in[p] * w[threadIdx.y];", ALONE, 2),
        ("#pragma unroll\nfor (int p = 0; p < 8; p++)\n  o[p] =\n    in[p] * v;", ALONE, 3),
    ],
)
def test_other_loads_keep_their_lines(statements: str, out: str, line: int) -> None:
    assert lines(statements, out) == [line]


@pytest.mark.parametrize("what", ["v", "w[3]", "w[t]", "w[t + 1]"])
def test_what_a_kernel_is_given_to_write_to_is_no_shared_memory(what: str) -> None:
    assert lines(f"for (int p = t; p < n; p += 32)\n  o[p] =\n    in[p] * {what};", "float *o") == [0]


@pytest.mark.parametrize("what", ["v", "w[t]", "w[i]", "w[i + 1]"])
def test_a_load_before_an_inner_loop_is_counted_on_the_condition_of_that(what: str) -> None:
    inner = f" for (int j = 0; j < n; j++)\n a +=\n in[j] *\n {what};"
    assert lines(
        f"for (int i = t; i < n; i += 32) {{\n float a = 0;\n{inner}\n o[i] = a; }}", "float *o"
    ) == [2]


@pytest.mark.parametrize(("what", "line"), [("w[t]", 0), ("w[j]", 5)])
def test_a_load_in_an_inner_loop_of_known_length_moves_before_both_or_stays(what: str, line: int) -> None:
    inner = f" for (int j = 0; j < 8; j++)\n a +=\n in[j] *\n {what};"
    told = lines(f"for (int i = t; i < n; i += 32) {{\n float a = 0;\n{inner}\n o[i] = a; }}", "float *o")
    assert set(told) == {line}


def test_a_pointer_that_walks_on_from_what_a_kernel_is_given_points_to_no_shared_memory() -> None:
    walk = "float *q = o;\nfor (int p = t; p < n; p += 32, q += 32)\n  q[0] =\n    in[p] * v;"
    assert lines(walk, "float *o") == [1]
