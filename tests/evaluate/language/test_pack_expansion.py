"""Packs: folds, elements that are handed on, and templates that peel them off one by one.

An access at `t * k` costs k ways for powers of two up to 32, so the ways say which elements there were.
"""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import infer, started_kernels
from smemlint.score import score_all
from smemlint.source import source_from_bytes

HEAD = """
template <int... S> struct Stages {
  static __device__ float right(const float *s) { return (s[threadIdx.x * S] + ...); }
  static __device__ float left(const float *s) { return (0.f + ... + s[threadIdx.x * S]); }
  static __device__ int product() { return (S * ...); }
  static __device__ bool both() { return ((S > 1) && ...); }
  static __device__ bool any(const float *s) { return ((s[S] > 1) || ...); }
};
template <int... S> struct Sum;
template <> struct Sum<> { static __device__ float run(const float *s) { return 0; } };
template <int A, int... R> struct Sum<A, R...> {
  static __device__ float run(const float *s) { return s[threadIdx.x * A] + Sum<R...>::run(s); } };
template <int... Is> struct Seq {};
template <typename F, int... Is> __device__ void each(Seq<Is...>, F f) { (f(Is), ...); }
template <int... Is> __device__ float all(const float *s, Seq<Is...>) { return Sum<Is...>::run(s); }
template <typename... Ts> struct Bytes;
template <> struct Bytes<> { static constexpr int n = 0; };
template <typename H, typename... T> struct Bytes<H, T...> {
  static constexpr int n = sizeof(H) + Bytes<T...>::n; };
template <typename... T> __device__ int total(T... x) { return (x + ...); }
template <typename... T> __device__ int less(T... x) { return (x - ...); }
template <typename... T> __device__ int types(T... x) { return sizeof...(T); }
template <typename... T> __device__ int values(T... x) { return sizeof...(x); }
template <typename... T> __device__ void halve(int h, T *...p) {
  ((p[threadIdx.x * h] = p[threadIdx.x]), ...); }
template <typename... T> __device__ void step(T &...x) { ((x += 1), ...); }
template <int... S> struct Length { static constexpr int n = sizeof...(S); };
template <int N> struct Extent { int n = N; };
template <int N> __device__ int width(int by, Extent<N> e) { return N * by; }
template <int N> __device__ int width(int by, const int (&e)[N]) { return width(by, Extent<N>{}); }
template <typename... S> __device__ int width(int by, S... e) { return width(by, Extent<sizeof...(S)>{}); }
"""


def ways(body: str) -> list[float | None]:
    """Of each access, least first."""
    text = f"{HEAD}__global__ void k(float *out) {{ __shared__ float s[1024]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)), as_written=True)
    assert all(t.grade is Grade.EXACT for t in trace.traces)
    found = [(c.wavefronts or 0) for c in score_all(trace)]
    return sorted(found)


def _ways_of_masked(factor: int) -> int:
    """Of 32 lanes at `t * factor & 63`."""
    words = {t * factor & 63 for t in range(32)}
    return max(sum(w % 32 == bank for w in words) for bank in range(32))


@pytest.mark.parametrize(
    ("body", "total"),
    [
        ("out[0] = Stages<1, 4, 8>::right(s);", 1 + 4 + 8),
        ("out[0] = Stages<2, 16>::left(s);", 2 + 16),
        ("out[0] = s[threadIdx.x * Stages<2, 4>::product()];", 8),
        ("out[0] = s[threadIdx.x * (Stages<2, 1>::both() ? 8 : 4)];", 4),
        ("out[0] = s[threadIdx.x * (Stages<2, 3>::both() ? 8 : 4)];", 8),
        ("out[0] = Sum<1, 2, 4>::run(s);", 1 + 2 + 4),
        ("out[0] = Sum<>::run(s) + s[threadIdx.x];", 1),
        ("each(Seq<2, 8>{}, [&](int k) { s[threadIdx.x * k] = 1; });", 2 + 8),
        ("out[0] = all(s, Seq<8, 16>{});", 8 + 16),
        ("out[0] = s[threadIdx.x * Bytes<float, int>::n];", 8),
        ("out[0] = s[threadIdx.x * total(1, 2, 1)];", 4),
        ("out[0] = s[threadIdx.x * less(9, 4, 3)];", 8),  # 9 - (4 - 3)
        ("out[0] = s[threadIdx.x * types(1, 2, 3, 4)];", 4),
        ("out[0] = s[threadIdx.x * types(1, 2)] + s[threadIdx.x * types(1, 2, 3, 4)];", 2 + 4),
        ("out[0] = s[threadIdx.x * values(1.f, 2)];", 2),
        ("out[0] = s[threadIdx.x * Length<7, 7, 7, 7>::n];", 4),
        ("out[0] = s[threadIdx.x * width(2, 5, 5)];", 4),  # of several that fit, those without a pack
        ("int e[8] = {}; out[0] = s[threadIdx.x * width(2, e)];", 16),
        (
            f"out[0] = Stages<{', '.join(map(str, range(40)))}>::any(out) ? s[0] : s[1];",
            1 + 1,
        ),  # not 2^40 terms
    ],
)
def test_each_element_is_used_in_its_turn(body: str, total: int) -> None:
    assert sum(w or 0 for w in ways(body)) == total


@pytest.mark.parametrize(
    ("body", "total"),
    [
        ("for (int h = 8; h; h /= 2) { halve(h, s); __syncthreads(); }", 8 + 4 + 2 + 1 + 4),
        ("float v[32]; for (int h = 8; h > 1; h /= 2) { halve(h, v, s); __syncthreads(); }", 8 + 4 + 2 + 3),
        (
            "auto f = [&](int h, auto... p) { ((p[threadIdx.x * h] = h), ...); };"
            "float v[32]; for (int h = 8; h > 1; h /= 2) { f(h, v, s); __syncthreads(); }",
            8 + 4 + 2,
        ),
        # a float before the number that chooses the bank, and more iterations than are looked at one by one
        (
            "float z = 0; int y = 0; for (int i = 0; i < 300; i++)"
            " { step(z, y); s[threadIdx.x * y & 63] = z; __syncthreads(); }",
            sum(_ways_of_masked(y) for y in range(1, 301)),
        ),
    ],
)
def test_what_a_pack_leads_to_is_looked_at_in_each_iteration(body: str, total: int) -> None:
    assert sum(w or 0 for w in ways(body)) == total


def test_a_pack_that_is_not_known_leaves_an_access() -> None:
    text = HEAD + (
        "template <int... S> __global__ void k(float *out) { __shared__ float s[1024];"
        " out[0] = (s[threadIdx.x * S] + ...); }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (one,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert one.grade is not Grade.EXACT


@pytest.mark.parametrize(
    ("parameters", "body", "given", "total"),
    [
        ("int... S", "((out[S] = s[threadIdx.x * S]), ...);", "2, 16", 2 + 16),
        ("int... S", "out[0] = s[threadIdx.x * (S * ... * 1)];", "2, 4", 8),
        ("int First, int... S", "out[0] = s[threadIdx.x * First * sizeof...(S)];", "4, 7, 7", 8),
        (
            "class... T",
            "((out[sizeof(T)] = s[threadIdx.x * sizeof(T)]), ...);",
            "int, short, double",
            4 + 2 + 8,
        ),
    ],
)
def test_a_launch_tells_all_that_a_kernels_pack_stands_for(
    parameters: str, body: str, given: str, total: int
) -> None:
    text = (
        f"template <{parameters}> __global__ void k(float *out) {{ __shared__ float s[1024]; {body} }}"
        f" int main() {{ k<{given}><<<1, 32>>>(0); }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    (launch,) = infer(kernel, module, started_kernels(module))
    trace = evaluate(module, kernel, launch)
    assert {t.grade for t in trace.traces} == {Grade.EXACT}
    assert sum(c.wavefronts or 0 for c in score_all(trace)) == total


@pytest.mark.parametrize(
    ("body", "indices"),
    [
        ("auto f = [&](auto... xs) { ((s[xs] = 1), ...); }; f(4, 9);", [4, 9]),
        ("[&](auto... xs) { ((s[xs + 1] = 1), ...); }(4, 9, 2);", [5, 10, 3]),
        ("auto g = [&](int a, const auto &...xs) { s[(a + ... + xs)] = 1; }; g(3, 4, 5);", [12]),
        ("auto g = [&](int a, auto... xs) { s[a + sizeof...(xs)] = 1; }; g(3, 4, 5); g(6);", [5, 6]),
    ],
)
def test_a_lambda_takes_a_pack(body: str, indices: list[int]) -> None:
    text = f"__global__ void k() {{ __shared__ int s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    rows = [row for trace in traces for row in trace.offsets.tolist()]
    assert sorted(row[0] // 4 for row in rows) == sorted(indices)


@pytest.mark.parametrize(
    "call",
    ["put(p...);", "[&] { ALL(p[t * 2] = 1); }();", "[t](auto... q) { ALL(q[t * 2] = 1); }(p...);"],
)
def test_a_fold_that_a_macro_makes_is_one(call: str) -> None:
    """Its elements were lost, without a word."""
    text = f"""
    #define ALL(x) ((x), ...)
    template <class... P> __device__ void put(P... p) {{ int t = threadIdx.x; ALL(p[t * 2] = 1); }}
    template <class... P> __device__ void run(P... p) {{ int t = threadIdx.x; {call} }}
    __global__ void k() {{ __shared__ float a[64], b[64], c[64]; run(a, b, c); }}
    """
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    told = sorted((c.site.array.partition("@")[0], c.ways) for c in score_all(trace))
    assert told == [("a", 2), ("b", 2), ("c", 2)]
