"""What only the launch decides is not known to the compiler: it joins nothing by it.

The widths are those of the machine code of these kernels (nvcc 13.0, sm_90, -O3).
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch.host import started_kernels
from smemlint.score import score_all
from smemlint.source import source_from_bytes

TOLD = """\
__device__ int pick(int n) { if (n > 3) return 5; return 1; }
__device__ void fix(int n, int &d) { if (n < 3) return; d = 2; }
__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x, d = 1;
"""


def read(body: str, reads: str, n: int) -> list[tuple[int, Grade]]:
    """Wavefronts and grade of each load of s in a kernel of one warp that is started with n."""
    text = f"{TOLD}{body}\nout[t] = {reads}; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    kernel = next(f for f in module.kernels() if f.name == "k")
    traces = evaluate(module, kernel, Launch((32, 1, 1), arguments={"n": n}))
    return [(int(c.wavefronts), c.grade) for c in score_all(traces)]


@pytest.mark.parametrize(
    ("body", "n"),
    [
        pytest.param("if (n > 3) d = 2;", 0, id="an if that is not taken"),
        pytest.param("if (n > 3) d = 1; else d = 2;", 4, id="one that is"),
        pytest.param("if (t < n) d = 1; else d = 2;", 32, id="one that all lanes take"),
        pytest.param("switch (n) { case 0: d = 3; break; case 1: d = 2; break; }", 5, id="a switch"),
        pytest.param("while (n-- > 0) d++;", 0, id="a loop that does not run"),
        pytest.param("d = 0; for (int i = 0; i < n; i++) d++;", 1, id="one that runs once"),
        pytest.param(
            "d = 0; for (int i = 0; i < 8; i++) { if (i >= n) break; d++; }", 1, id="one that is left"
        ),
        pytest.param("d = pick(n);", 0, id="an early return"),
        pytest.param("fix(n, d);", 0, id="an early return of a function that sets a reference"),
        pytest.param("auto f = [&](int i) { if (i > 3) d = 2; else d = 1; }; f(n);", 0, id="a lambda"),
        pytest.param("d = n > 3 ? 2 : 1;", 0, id="a conditional operator"),
    ],
)
def test_neighbours_at_a_distance_that_the_launch_decides_are_read_one_by_one(body: str, n: int) -> None:
    assert read(body, "s[t * 4] + s[t * 4 + d]", n) == [(4, Grade.EXACT)] * 2


@pytest.mark.parametrize("body", ["if (n) d = 32;", "d = n ? 32 : 1;"])
def test_an_address_that_the_launch_makes_equal_is_read_again(body: str) -> None:
    assert read(body, "s[t * d] + s[t]", 0) == [(1, Grade.EXACT)] * 2


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "d = 0; if (n > 3) { d = 64; for (int i = 0; i < 3; i++) d += 4; }", id="of the other way"
        ),
        pytest.param("d = 0; for (int i = 0; i < n; i++) d ^= 512;", id="of the steps of a loop"),
        pytest.param("d = n > 3 ? 8 : 0;", id="of the other operand"),
    ],
)
def test_what_all_ways_are_aligned_to_is_known(body: str) -> None:
    assert [w for w, _ in read(body, "s[t * 4 + d] + s[t * 4 + d + 1]", 0)] == [4, 0]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("if (n > 3) { int &r = d; r += 31; }", id="a reference"),
        pytest.param("if (n > 3) { int &r = d; int &q = r; q += 31; }", id="one to a reference"),
        pytest.param("int v[2] = {1, 5}; if (n > 3) { int &r = v[0]; r = 32; } d = v[0];", id="an element"),
        pytest.param("switch (n) { case 4: { int &r = d; r *= 32; break; } }", id="a case"),
    ],
)
def test_what_a_way_that_is_not_taken_sets_through_a_reference_stays_as_it_was(body: str) -> None:
    assert read(body, "s[t * d]", 0) == [(1, Grade.EXACT)]


def test_a_result_of_an_unknown_alignment_is_a_range() -> None:
    first, _ = read("d = pick(n) + 1;", "s[t * 4 + d] + s[t * 4 + d + 1]", 4)
    assert first[1] is Grade.BOUND


def test_a_pointer_to_one_of_two_arrays_is_no_other_name_of_one() -> None:
    body = "__shared__ float other[1024]; float *p = s; if (n > 3) p = other;"
    assert read(body, "p[t * 4] + s[t * 4]", 0) == [(4, Grade.EXACT)] * 2


def test_what_is_decided_when_it_is_compiled_is_known() -> None:
    assert [w for w, _ in read("const int m = 0; if (m > 3) d = 2;", "s[t * 4] + s[t * 4 + d]", 0)] == [4, 0]


def test_in_a_loop_the_decision_may_be_taken_before_it() -> None:
    """nvcc makes a loop for each way (`mode2` of the measured shapes): there the distance is known."""
    text = """__global__ void k(const float *in, float *out, int n) {
    __shared__ float s[1024];
    int t = threadIdx.x;
    for (int r = 0; r < 32; r++) s[n == 1 ? t * 32 + r : r * 32 + t] = in[r * 32 + t]; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 1}))
    (conflict,) = score_all(traces)
    assert (conflict.grade, conflict.ways_low, conflict.ways) == (Grade.BOUND, 8, 32)


@pytest.mark.parametrize(
    "rows",
    [
        "int rows = b + 4 <= n ? 4 : n - b;",
        "int rest = n - b; int rows = rest > 4 ? 4 : rest;",
        "int rows = n - b; if (b + 4 <= n) rows = 4;",
        "int rows = min(4, n - b);",
    ],
)
def test_what_each_round_decides_is_known_in_none(rows: str) -> None:
    """Both inner loops stay loops in nvcc's machine code: the second reads what the first stored."""
    text = f"""__global__ void k(const float *in, float *out, int n) {{
    __shared__ float s[4];
    float x = 0;
    for (int b = 0; b < n; b += 4) {{
        {rows}
        for (int r = 0; r < rows; r++) s[r] = in[b + r];
        for (int r = 0; r < rows; r++) x += s[r];
        __syncthreads();
    }}
    out[threadIdx.x] = x; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((4, 1, 1), arguments={"n": 16}))
    found = [(c.grade, c.wavefronts > 0) for c in score_all(traces)]
    assert found == [(Grade.EXACT, True)] * 2


@pytest.mark.parametrize("test", ["p", "p != nullptr", "!(!p)"])
def test_a_launch_that_passes_no_address_takes_the_way_without(test: str) -> None:
    text = f"""__global__ void k(float *out, const float *p) {{
    __shared__ float s[1024];
    int step = 1;
    if ({test}) step = 32;
    out[0] = s[threadIdx.x * step]; }}
    void with(float *a) {{ k<<<1, 32>>>(a, a); }}
    void without(float *a) {{ k<<<1, 32>>>(a, nullptr); }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    kernel = module.kernels()[0]
    for arguments, wavefronts in (({}, 32), ({"p": 0}, 1)):
        (conflict,) = score_all(evaluate(module, kernel, Launch((32, 1, 1), arguments=arguments)))
        assert conflict.wavefronts == wavefronts
    assert {tuple(s.arguments.items()) for s in started_kernels(module)} == {(), (("p", 0),)}


@pytest.mark.parametrize(
    "choice", ["int y; if (mode) y = 1; else y = 2; x += y;", "int y = mode ? i + 1 : i + 2; x += y;"]
)
def test_a_loop_is_as_long_as_its_body_also_where_the_launch_chooses_in_it(choice: str) -> None:
    """A long body is not copied, so nothing joins from iteration to iteration."""
    text = f"""__global__ void k(float *g, int n, int mode) {{
    __shared__ float s[256];
    float v = 0, x = 0;
    for (int i = 0; i < n; i++) {{
        v += s[i];
        {choice}
    #pragma unroll
        for (int j = 0; j < 64; j++) g[j * 33 + i] *= x;
    }}
    g[0] = v; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"mode": 1}))
    assert [(t.joined, t.grade) for t in trace.traces] == [(None, Grade.EXACT)]


def test_what_every_way_in_a_loop_leaves_alone_is_known_as_before() -> None:
    """LDS.64 where the pointer was set before the loop that the launch lets run or not."""
    text = """
__global__ void k(float *o, const float *g, int rows) {
    __shared__ float s[512];
    for (int r = blockIdx.x; r < rows; r += gridDim.x) {
        float x = g[r], y = g[r + 1];
        if (blockDim.y > 1) {
            float *p = s;
            for (int half = blockDim.y / 2; half > 0; half /= 2) {
                if (threadIdx.y >= half) p[(threadIdx.y - half) * 32 + threadIdx.x] = x;
                __syncthreads();
                x += p[threadIdx.y * 32 + threadIdx.x];
                __syncthreads();
            }
            if (threadIdx.y != 0) { x += p[2 * threadIdx.x]; y += p[2 * threadIdx.x + 1]; }
        }
        o[r * 32 + threadIdx.x] = x + y;
    }
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 4, 1))).traces
    assert [(t.joined, t.grade) for t in traces][-2:] == [(8, Grade.EXACT)] * 2
