"""`?:`, `&&` and `||`: what a side sets, where it is not known whether it runs."""

from __future__ import annotations

import pytest
from costs import scored

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def cost(body: str) -> tuple[Grade, float, float]:
    """Grade and wavefronts, least and most, of the one access of s in a kernel of one warp."""
    text = (
        "__device__ bool set(int &x, int v) { x = v; return true; }\n"
        "struct Set { int v; __device__ Set(int *p) { *p = 8; v = 1; } };\n"
        "__global__ void k(int *in, int n) {\n"
        f"__shared__ int s[4096]; int t = threadIdx.x, x = 1;\n{body}\ns[t * x] = n; }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict.grade, conflict.wavefronts_low, conflict.wavefronts


@pytest.mark.parametrize(
    "body",
    [
        "bool b = in[0] > 3 && set(x, 8);",
        "bool b = in[0] > 3 || set(x, 8);",
        "bool b = n > 3 && (x = 8);",
        "int y = in[0] > 3 ? (x = 8) : 0;",
        "int y = in[0] > 3 ? 0 : (x = 8);",
        "int y = in[0] > 3 ? set(x, 8) : set(x, 1);",
        "int y = in[0] > 3 ? Set(&x).v : 0;",
    ],
)
def test_a_side_that_may_run_may_have_set(body: str) -> None:
    assert cost(body) == (Grade.BOUND, 1, 8)


@pytest.mark.parametrize(
    ("body", "wavefronts"),
    [
        ("bool b = in[0] > 3 && set(x, 1);", 1),
        ("int y = in[0] > 3 ? (x = 8) : (x = 8);", 8),
        ("bool b = t >= 0 && set(x, 8);", 8),
        ("bool b = (in[0] > 3 && set(x, 4)) | set(x, 2);", 2),
    ],
)
def test_a_side_that_leaves_the_same_is_exact(body: str, wavefronts: int) -> None:
    assert cost(body) == (Grade.EXACT, wavefronts, wavefronts)


def test_unknown_code_may_set_a_number_that_it_is_given_the_address_of() -> None:
    grade, _, _ = cost("frexpf(in[0], &x);")
    assert grade is not Grade.EXACT


def test_a_pointer_to_one_array_or_another_costs_what_either_of_them_does() -> None:
    text = """\
__global__ void k(int *in) {
    __shared__ int a[1024], b[1024];
    int *p = in[0] ? a + threadIdx.x * 32 : b + threadIdx.x;
    *p = 1;
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (conflict.ways_low, conflict.ways) == (1, 32)


def test_a_run_time_number_beside_another_condition_leaves_a_pointer_open() -> None:
    text = """\
__global__ void k(int n) {
    __shared__ int a[1024], b[1024];
    int *p = (threadIdx.x >= 3 && n > 4) ? a + 32 : b;
    p[0] = 1;
}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert all(t.grade is not Grade.ASSUMED and not t.assumptions for t in traces)


@pytest.mark.parametrize("other", ["threadIdx.y", "3u", "(n, 1u)"])
def test_the_operand_that_is_not_taken_has_a_say_in_the_type(other: str) -> None:
    """(unsigned)-32 / 3 is even, -32 / 3 is -10."""
    assert (2**32 - 32) // 3 % 4 == 2
    grade, low, high = cost(f"int u = -32; x = (u == -32 ? u : {other}) / 3 == 1431655754u ? 4 : 1;")
    assert (grade, low, high) == (Grade.EXACT, 4, 4)


def test_a_size_in_a_condition_on_lanes_does_not_choose_a_number() -> None:
    """`n > 4` holds or not: lane 0 stands in the row of the others, or 16 rows of one bank apart."""
    (store,) = scored("s[threadIdx.x == 0 && n > 4 ? 32 : 0] = 1;", block=(32, 1, 1))
    assert (store.ways_low, store.ways) == (1, 2)


def test_lanes_that_a_run_time_value_keeps_out_of_a_branch_do_not_leave_in_it() -> None:
    """Who is in the first branch is open, so who is behind the return is open as well."""
    body = (
        "int x = ((int *)in)[0] & 96; if ((32 | (int)threadIdx.x) > x) { if (((int *)in)[1] & 96) return; }"
        "s[threadIdx.x < 4 ? threadIdx.x * 32 : threadIdx.x] = 1;"
    )
    (store,) = scored(body, block=(32, 1, 1))
    assert (store.ways_low, store.ways) == (1, 4)


@pytest.mark.parametrize("pointer", ["auto *", "auto", "int *"])
def test_a_pointer_of_a_deduced_type_in_a_template_leads_to_elements(pointer: str) -> None:
    text = f"""template <typename T> struct Trait {{ static constexpr int kVec = 16 / sizeof(T); }};
    template <typename T> __global__ void k(int n) {{
    __shared__ int s[1024];
    {pointer} p = s + Trait<T>::kVec;
    p[threadIdx.x * 2] = 1;
    }}
    void host(int n) {{ k<float><<<1, 32>>>(n); }}"""
    (module,) = load(source_from_bytes("kernel.cu", text.encode()))
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1), template={"T": FLOAT})))
    assert (store.site.width, store.ways, store.grade.value) == (4, 2, "exact")


def test_an_enumerator_among_template_arguments_is_no_type_of_its_name() -> None:
    text = """enum class Mode { Plain, Skewed };
    template <Mode M, int LD> struct View {
    int *p;
    __device__ int &at(int r) { return p[r * (LD + (M == Mode::Skewed))]; }
    };
    using Skewed = View<Mode::Plain, 32>;
    template <int N> __global__ void k() {
    __shared__ int s[2048];
    View<Mode::Skewed, N> v{s};
    v.at(threadIdx.x) = 1;
    }
    void host() { k<32><<<1, 32>>>(); }"""
    (module,) = load(source_from_bytes("kernel.cu", text.encode()))
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1), template={"N": 32})))
    assert (store.ways, store.grade.value) == (1, "exact")


CHOICES = [
    pytest.param("v = t < 8 ? s[t * 32] : t < 16 ? s[t * 8 + 1] : s[t];", id="one behind the other"),
    pytest.param(
        "if (t < 8) v = s[t * 32]; else if (t < 16) { if (t & 1) v = s[t * 16]; else v = s[t * 8 + 1]; }"
        " else { v = s[t * 31]; }",
        id="a ladder",
    ),
    pytest.param("v = t & 4 ? s[t / 2] : q[t * 2];", id="two arrays"),
]


def _word(body: str, t: int) -> int:
    """Which word of shared memory a lane reads: q lies behind the 1,024 words of s."""
    if "q[" in body:
        return t // 2 if t & 4 else 1024 + t * 2
    if body.startswith("if"):
        return t * 32 if t < 8 else (t * 16 if t & 1 else t * 8 + 1) if t < 16 else t * 31
    return t * 32 if t < 8 else t * 8 + 1 if t < 16 else t


@pytest.mark.parametrize("body", CHOICES)
def test_a_choice_of_elements_loads_once(body: str) -> None:
    """nvcc 13.0 makes one LDS of each (`-arch=sm_90 -O3`); a ladder was measured on an H100: 8 ways."""
    text = "__global__ void k(float *out, const float *in) { __shared__ float s[1024], q[128];"
    text += "s[threadIdx.x] = in[0]; q[threadIdx.x] = in[1]; __syncthreads(); int t = threadIdx.x;"
    text += f"float v; {body} out[t] = v; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    loads = [c for c in found if c.site.op == "load" and c.wavefronts]
    words = {_word(body, t) for t in range(32)}
    ways = max(sum(w % 32 == bank for w in words) for bank in range(32))
    assert [(c.grade, c.ideal, c.wavefronts) for c in loads] == [(Grade.EXACT, 1, ways)]
