"""Which function a call means, where the library has one of its name."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.evaluate.language.overloads import bind
from smemlint.evaluate.machine.machine import Machine
from smemlint.evaluate.values.number import Int
from smemlint.frontend import load
from smemlint.ir import Launch, RecordRef, Scalar
from smemlint.ir.types import INT, LONG
from smemlint.score import score_all
from smemlint.source import source_from_bytes

ROOT = """
inline __device__ float4 sqrtf(float4 v) {
    return make_float4(sqrtf(v.x), sqrtf(v.y), sqrtf(v.z), sqrtf(v.w));
}
"""


def test_a_function_of_vectors_that_calls_the_librarys_of_numbers_does_not_call_itself() -> None:
    source = (
        ROOT
        + """
    __global__ void far(const float4 *in, float4 *out) {
        __shared__ float4 s[64];
        s[threadIdx.x] = sqrtf(in[threadIdx.x]);
        __syncthreads();
        out[threadIdx.x] = sqrtf(s[threadIdx.x ^ 1]);
    }
    """
    )
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    assert not trace.notes
    assert [(t.site.op, t.grade) for t in trace.traces] == [("store", Grade.EXACT), ("load", Grade.EXACT)]


def test_a_function_that_takes_another_as_template_argument_is_followed() -> None:
    source = """
    __device__ float most(float v) { return v; }
    template <float (*REDUCE)(float)> __device__ float block(float v, float rest) {
        __shared__ float part[32];
        part[threadIdx.x % 32] = REDUCE(v);
        __syncthreads();
        return REDUCE(threadIdx.x < 2 ? part[threadIdx.x] : rest);
    }
    template <float (*REDUCE)(float)> __device__ float block(float v) { return block<REDUCE>(v, 0.0f); }
    __global__ void k(float *p) { *p = block<most>(p[threadIdx.x]); }
    """
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((64, 1, 1)))
    assert [(t.site.op, t.grade) for t in trace.traces] == [("store", Grade.EXACT), ("load", Grade.EXACT)]


DECLARED_ALONE = """
namespace mem {
enum class Policy { all, global };
template <int BYTES, Policy P = Policy::all> __device__ void fetch(void *to, const void *from);
template <int BYTES> __device__ void put(void *to, const void *from);
template <> __device__ void fetch<4>(void *to, const void *from) {
    int *d = reinterpret_cast<int *>(to);
    asm volatile("ld.global.ca.u32 {%0}, [%1];" : "=r"(*d) : "l"(from));
}
template <> __device__ void put<8>(void *to, const void *) { *reinterpret_cast<double *>(to) = 0; }
template <> __device__ void put<4>(void *to, const void *from) {
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(at), "r"(*reinterpret_cast<const int *>(from)));
}
}
template <int V> __global__ void k(int *data, int n) {
    __shared__ int s[1024];
    int held[V], one = 1;
    for (int i = 0; i < V; i++) {
        if (i * 128 + threadIdx.x < n) mem::fetch<sizeof(int)>(held + i, data + i * 128 + threadIdx.x);
        else held[i] = 0;
    }
    __syncthreads();
    for (int i = 0; i < V; i++) mem::put<sizeof(int)>(s + held[i], &one);
}
"""


def test_a_template_that_is_declared_alone_is_its_specialisations() -> None:
    """What is loaded through inline PTX, or is 0 in lanes that load nothing, is no known index."""
    (module,) = load(source_from_bytes("k.cu", DECLARED_ALONE.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((128, 1, 1), template={"V": 3}))
    assert not trace.notes
    (put,) = trace.traces
    assert (put.site.op, put.grade) == ("store", Grade.BOUND)


def test_the_specialisation_with_the_written_arguments_is_called() -> None:
    text = DECLARED_ALONE.replace("put<sizeof(int)>(s + held[i]", "put<8>(s + 2 * i")
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((128, 1, 1), template={"V": 3})).traces
    assert {(t.site.op, t.site.width, t.grade) for t in traces} == {("store", 8, Grade.EXACT)}


def test_a_template_without_the_specialisation_that_is_called_is_not_known() -> None:
    text = DECLARED_ALONE.replace("put<sizeof(int)>", "put<16>")
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((128, 1, 1), template={"V": 3}))
    assert not trace.traces
    assert trace.notes[0].code == "unknown-function"


def test_what_an_argument_would_tell_has_no_default() -> None:
    source = """
    struct Wide { double a, b; };
    struct Hash { typedef Wide result; };
    template <typename V> __global__ void k(const V *in) { __shared__ V s[32]; s[threadIdx.x] = in[0]; }
    template <typename F, typename V = typename F::result> void host(const V *in, int n) {
        k<V><<<1, n>>>(in);
    }
    template <typename F, typename V = typename F::result> void bare(int n, const V *in = nullptr) {
        k<V><<<1, n>>>(in);
    }
    """
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    machine = Machine(module, (1, 1, 1), host=True)
    of = {f.name: f for f in module.functions.values()}
    names = {f.name: [p.id for p in f.template] for f in of.values()}
    alone = bind(machine, of["host"], [RecordRef("Hash")], ())
    assert alone is not None and list(alone) == names["host"][:1]
    told = bind(machine, of["bare"], [RecordRef("Hash")], (Int(1),))
    assert told is not None and list(told) == names["bare"]


WRAPPED = """
#include <cmath>
#include <type_traits>
namespace mine {
template <class T> __device__ auto abs(T x)
    -> std::enable_if_t<std::is_same_v<float, T> || std::is_same_v<int, T>, T> { return LIBRARY(x); }
template <class T> __device__ auto abs(T x)
    -> std::enable_if_t<!std::is_same_v<float, T> && !std::is_same_v<int, T>, T> { return x < T(0) ? -x : x; }
}
template <class T> __global__ void k(T *p) { __shared__ T s[256]; s[threadIdx.x * mine::abs(T(-4))] = *p; }
"""


@pytest.mark.parametrize("library", ["std::abs", "::abs"])
@pytest.mark.parametrize("element", [INT, LONG])
def test_a_namesake_of_the_library_that_calls_it_by_its_full_name_does_not_call_itself(
    library: str, element: Scalar
) -> None:
    text = WRAPPED.replace("LIBRARY", library)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    trace = evaluate(module, kernel, Launch((32, 1, 1), template={"T": element}))
    assert not trace.notes
    assert [(c.ways, c.grade) for c in score_all(trace)] == [(4, Grade.EXACT)]


def test_the_type_of_a_parameter_chooses_an_overload_through_a_template() -> None:
    """Both calls name the type by `decltype`; each reads with the stride of its own overload."""
    source = """
template <class T> struct Tag {};
template <class F> __device__ void each(Tag<int> &, F f) { f(threadIdx.x * 2); }
template <class F> __device__ void each(Tag<float> &, F f) { f(threadIdx.x * 8); }
template <class A, class F> __device__ void on(F f) {
    typename std::remove_reference<A>::type a;
    each(a, f);
}
template <class T> __device__ void read(Tag<T> &tag, const float *s, float *out) {
    on<decltype(tag)>([&](int i) { out[i] = s[i]; });
}
__global__ void k(float *out) {
    __shared__ float s[1024];
    Tag<float> first;
    Tag<int> second;
    read(first, s, out);
    read(second, s, out);
}
"""
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    (conflict,) = score_all(evaluate(module, kernel, Launch((32, 1, 1))))
    assert (conflict.wavefronts, conflict.ideal) == (2 + 8, 2)


SWITCHED = """
#include <type_traits>
template <typename T, std::enable_if_t<sizeof(T) == 4, int> = 0> __device__ int a(int i) { return i; }
template <typename T, std::enable_if_t<sizeof(T) == 8, int> = 0> __device__ int a(int i) { return i * 2; }
template <typename T> __device__ std::enable_if_t<sizeof(T) == 4, int> b(int i) { return i; }
template <typename T> __device__ typename std::enable_if<sizeof(T) == 8, int>::type b(int i) { return i * 2; }
template <typename T, typename = std::enable_if_t<std::is_integral<T>::value>>
__device__ int c(T i) { return i; }
template <typename T> __device__ std::enable_if_t<!std::is_integral<T>::value, int> c(T i) { return i * 2; }
template <int N, std::enable_if_t<(N > 4), int> = 0> __device__ int d(int i) { return i; }
template <int N, std::enable_if_t<(N <= 4), int> = 0> __device__ int d(int i) { return i * 2; }
template <typename T> __global__ void k(T *out) {
    __shared__ T s[1024];
    int t = threadIdx.x;
    out[0] = s[%s];
}
void go(%s *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize(
    ("index", "type", "lane"),
    [
        ("a<T>(t)", "float", 1),
        ("a<T>(t)", "double", 2),
        ("a<double>(t)", "float", 2),
        ("b<T>(t)", "float", 1),
        ("b<T>(t)", "double", 2),
        ("c(t)", "float", 1),
        ("c((T)t)", "float", 2),
        ("d<8>(t)", "float", 1),
        ("d<4>(t)", "float", 2),
    ],
)
def test_a_function_that_a_condition_takes_out_is_not_called(index: str, type: str, lane: int) -> None:
    (module,) = load(source_from_bytes("k.cu", (SWITCHED % (index, type)).encode()))
    (kernel,) = module.kernels()
    of = Scalar(type, 4 if type == "float" else 8, "float")
    trace = evaluate(module, kernel, Launch((32, 1, 1), template={kernel.template[0].name: of}))
    (load_,) = trace.traces
    assert (load_.grade, int(load_.offsets[0, 1])) == (Grade.EXACT, lane * of.size)


BY_MACRO = """
namespace math {
#define WRAP(name)                                                                                      \\
    template <class T> inline __device__ float name(T a) { return ::name(static_cast<float>(a)); }      \\
    inline __device__ double name(double a) { return ::name(a); }
WRAP(floor)
}
__global__ void k(float *p) {
    __shared__ float s[64];
    s[(int)math::floor(threadIdx.x * 2.0f)] = *p;
}
"""


def test_a_wrapper_of_a_function_of_the_library_in_a_macro_does_not_call_itself() -> None:
    (module,) = load(source_from_bytes("k.cu", BY_MACRO.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert not trace.notes
    assert [cost.ways for cost in score_all(trace)] == [2]


def test_a_member_template_is_that_of_the_specialisation_that_is_named() -> None:
    source = """
    template <int N> struct Row {
        template <typename F> static __device__ int at(F f) { return f + N; }
        template <typename F> __device__ int twice(F f) { return at(f) + this->at(f); }
    };
    template <> struct Row<7> { template <typename F> static __device__ int at(F f) { return f * 32; } };
    template <typename F> __global__ void k(F *p) {
        __shared__ F s[4096];
        F t = threadIdx.x;
        s[Row<7>::at(t)] = t;
        s[Row<7>::at(t) + 1] = s[Row<3>::at(t)] + s[Row<0>().twice(t)];
        p[t] = s[t];
    }
    template __global__ void k<int>(int *);
    """
    (module,) = load(source_from_bytes("k.cu", source.encode()))
    (kernel,) = module.kernels()
    scores = score_all(evaluate(module, kernel, Launch((64, 1, 1), template={"F": INT})))
    told = sorted((c.site.op, c.ways) for c in scores)
    assert told == [("load", 1), ("load", 1), ("load", 2), ("store", 32), ("store", 32)]


SCOPES = """
__device__ int at(int r, int c, int pitch = 33) { return r * pitch + c; }
__device__ int at(int r) { return r; }
struct Rows { __device__ int at(int r, int c) const { return r * 32 + c; } };
struct Pairs { __device__ int at(int r, int c) const { return r * 2 + c; }
  template <class T> __device__ T own(T r) const { return at(r, 0); } };
struct Wide : Pairs { template <class T> __device__ T base(T r) const { return this->own(r) * 2; } };
"""


@pytest.mark.parametrize(
    ("index", "by"),
    [("at(t, 1)", 33), ("Rows{}.at(t, 1)", 32), ("Pairs{}.own(t)", 2), ("Wide{}.base(t)", 4)],
)
@pytest.mark.parametrize("template", ["", "template <class T> "])
def test_a_call_by_name_means_no_method_of_another_class(index: str, by: int, template: str) -> None:
    type_ = "T" if template else "int"
    text = f"""{SCOPES}{template}__global__ void k({type_} *out) {{ __shared__ {type_} s[2048];
    {type_} t = threadIdx.x; s[{index}] = 1; }} int main() {{ k<<<1, 32>>>((int *)0); }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    bindings = {p.name: INT for p in module.kernels()[0].template}
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1), template=bindings))
    (row,) = trace.traces[0].offsets.tolist()
    assert trace.traces[0].grade is Grade.EXACT
    assert [x - row[0] for x in row] == [4 * by * t for t in range(32)]


TWO_OF_A_TYPE = """
template <class... T> __device__ int pick(T...) { return 32; }
template <class T> __device__ int pick(T) { return 1; }
template <class T, class... R> __device__ int pick(T, T, R...) { return 8; }
template <class T> __device__ int use(T x) { return %s; }
__global__ void k(float *p) {
    __shared__ float s[1024];
    s[threadIdx.x * use(3)] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x];
}
void go(float *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize(
    ("call", "ways"), [("pick(x)", 1), ("pick(x, x)", 8), ("pick(x, 'c')", 32), ("pick(x, x, 'c')", 8)]
)
def test_values_of_two_types_do_not_fit_one_parameter(call: str, ways: int) -> None:
    (module,) = load(source_from_bytes("k.cu", (TWO_OF_A_TYPE % call).encode()))
    scored = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert [c.wavefronts for c in scored if c.site.op == "store"] == [ways]
