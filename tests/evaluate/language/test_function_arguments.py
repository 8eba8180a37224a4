"""Functions that template parameters are given: the call runs what was given, and its accesses are seen."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import infer, started_kernels
from smemlint.score import score_all
from smemlint.source import source_from_bytes

HEAD = """
typedef float (*Read)(const float *s, int i);
template <int N> __device__ float strided(const float *s, int i) { return s[N * i]; }
__device__ float by_two(const float *s, int i) { return s[2 * i]; }
__device__ float by_four(const float *s, int i) { return s[4 * i]; }
template <Read READ> __device__ float read(const float *s) { return READ(s, threadIdx.x); }
template <Read READ> __device__ float through(const float *s) { return read<READ>(s); }
template <Read READ = by_four> __device__ float usual(const float *s) { return READ(s, threadIdx.x); }
template <Read READ> struct Reader { __device__ float get(const float *s) { return READ(s, threadIdx.x); } };
template <Read READ> struct Chosen { static constexpr int N = 1; };
template <> struct Chosen<by_four> { static constexpr int N = 8; };
#define COUNT (WARP / (2 * PER))
#define WARP 32
#define PER 4
template <int N, Read READ> __device__ float counted(const float *s) { return s[N * threadIdx.x]; }
#define KERNEL(NAME, N, READ) __device__ float NAME(const float *s) { return counted<N, READ>(s); }
KERNEL(from_macro, COUNT, by_two)
"""


def wavefronts(text: str) -> list[int]:
    """Of each load of the one kernel in a file, under each of its launches."""
    (module,) = load(source_from_bytes("k.cu", f"{HEAD}{text}".encode()))
    kernel = module.kernels()[0]
    launches = infer(kernel, module, started_kernels(module))
    traces = [evaluate(module, kernel, launch) for launch in launches]
    assert all(t.grade is Grade.EXACT for trace in traces for t in trace.traces)
    return [c.wavefronts or 0 for trace in traces for c in score_all(trace)]


def of(expression: str) -> list[int]:
    """Of each load that an expression makes of an array `s` in one warp."""
    return wavefronts(f"""
__global__ void k(float *o) {{ __shared__ float s[1024]; o[threadIdx.x] = {expression}; }}
void go(float *o) {{ k<<<1, 32>>>(o); }}""")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("read<by_two>(s)", 2),
        ("read<&by_four>(s)", 4),
        ("read<strided<8>>(s)", 8),
        ("through<by_four>(s)", 4),
        ("usual(s)", 4),
        ("Reader<by_two>().get(s)", 2),
        ("s[Chosen<by_four>::N * threadIdx.x]", 8),
        ("s[Chosen<by_two>::N * threadIdx.x]", 1),
    ],
)
def test_the_function_that_a_template_is_given_is_the_one_that_runs(expression: str, expected: int) -> None:
    assert of(expression) == [expected]


def test_macros_in_the_arguments_of_a_macro_are_expanded_beside_a_function() -> None:
    assert of("from_macro(s)") == [4]


def test_a_kernel_is_launched_with_a_function() -> None:
    found = wavefronts("""
template <Read READ> __global__ void k(float *o) { __shared__ float s[1024]; o[0] = READ(s, threadIdx.x); }
void go(float *o) { k<by_two><<<1, 32>>>(o); k<&by_four><<<1, 32>>>(o); }""")
    assert sorted(found) == [2, 4]


def test_an_enumerator_of_a_nested_class_that_is_defined_outside_is_an_argument() -> None:
    text = """struct Helper { struct Policy; struct Never; };
    struct Helper::Policy { enum { SIZE = 256 }; };
    struct Block {
        template <int N, typename T> static __device__ void put(T *s) { s[threadIdx.x * (N / 128)] = 1; }
    };
    __global__ void k(float *out) {
        __shared__ float s[256];
        Block::put<Helper::Policy::SIZE>(s);
        out[threadIdx.x] = s[0]; }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1)))
    (store,) = [t for t in trace.traces if t.site.op == "store"]
    assert store.grade is Grade.EXACT and store.offsets[0][:3].tolist() == [0, 8, 16]
    assert not trace.notes


@pytest.mark.parametrize(
    "body",
    [
        "Put p = [](float *q, int i) { q[2 * i] = 0; }; p(s, t);",
        "void (*p)(float *, int) = [](float *q, int i) { q[2 * i] = 0; }; p(s, t);",
        "auto p = +[](float *q, int i) { q[2 * i] = 0; }; p(s, t);",
        "run([](float *q, int i) { q[2 * i] = 0; }, s);",
        "auto f = [](float *q, int i) { q[2 * i] = 0; }; Put p = f; p(s, t);",
        "Put all[] = {[](float *q, int i) { q[2 * i] = 0; }}; all[0](s, t);",
    ],
)
def test_a_lambda_that_becomes_a_pointer_to_a_function_is_that_function(body: str) -> None:
    text = f"""
using Put = void (*)(float *, int);
__device__ void run(Put p, float *s) {{ p(s, threadIdx.x); }}
__global__ void k() {{ __shared__ float s[64]; int t = threadIdx.x; {body} }}
int main() {{ k<<<1, 32>>>(); }}"""
    assert wavefronts(text) == [2]
