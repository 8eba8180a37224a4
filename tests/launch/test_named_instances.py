"""Instances that macros, aliases, traits and partial specialisations name."""

from __future__ import annotations

from pathlib import Path

import pytest
from instances import KERNEL, launches, spelled

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def test_types_that_a_macro_of_an_unknown_header_chooses_are_tried_the_usual_ones_first() -> None:
    text = (
        '#include "unknown_dispatch.h"\n'
        + KERNEL
        + """
    void run(int type, float *p) {
        UNKNOWN_DISPATCH_TYPES(type, value_t, "run", sum<value_t><<<1, 64>>>((value_t *)p, (value_t *)p, 1);
                                                     sum<value_t><<<1, 96>>>((value_t *)p, (value_t *)p, 1););
    }"""
    )
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = [
        (x.block[0], spelled(x.template["T"]))
        for x in infer(module.kernels()[-1], module, started_kernels(module))
    ]
    assert found == [
        (64, "float"),
        (64, "__half"),
        (96, "float"),
        (96, "__half"),
        (64, "__nv_bfloat16"),
        (64, "double"),
        (96, "__nv_bfloat16"),
        (96, "double"),
    ]


def test_an_object_that_is_made_to_be_called_starts_what_its_call_operator_starts() -> None:
    text = """
    template <class T, int R> __global__ void turn(T *p) { __shared__ T s[R]; s[threadIdx.x % R] = p[0]; }
    template <class T, int R> struct launch_turn {
        bool operator()(T *p) {
            dim3 block(R + 32);
            if (4 * R > block.x) block.x = 4 * R;
            void *arguments = {&p};
            return cudaLaunchCooperativeKernel((void *)turn<T, R>, dim3(1), block, &arguments, 0, 0) == 0;
        }
    };
    template <class T, int R> struct Infer {
        T *p;
        bool run(int batch) { return batch == 4 ? launch_turn<T, R>()(p) : launch_turn<T, 2 * R>()(p); }
    };
    void run(int batch) { Infer<float, 32> infer; infer.run(batch); }
    """
    assert launches(text) == {(128, "float", 32), (256, "float", 64)}


def test_instances_that_macros_make_are_named() -> None:
    text = """
    template <class T> __global__ void copy(T *p) { __shared__ T s[256]; s[threadIdx.x] = p[0]; }
    template <class T, int N> void run(T *p) { copy<T><<<1, N>>>(p); }
    template <class T> struct Filter { void go(T *p) { copy<T><<<1, 96>>>(p); } };
    #define DECLARE(T) template void run<T, 128>(T *);
    #define CLASS(T) template class Filter<T>;
    #define FOR_ALL(MACRO) MACRO(float) MACRO(double)
    FOR_ALL(DECLARE)
    CLASS(short)
    """
    assert launches(text) == {(128, "float"), (128, "double"), (96, "short")}


def test_a_macro_may_stand_for_several_template_arguments() -> None:
    text = """
    #define SMALL float, 64
    #define LARGE double, 256
    template <class T> __global__ void copy(T *p) { __shared__ T s[256]; s[threadIdx.x] = p[0]; }
    template <class T, int N> void run(T *p) { copy<T><<<1, N / 2>>>(p); }
    template <class T, int N> struct Solver { T *p; void solve(); };
    template <class T, int N> void Solver<T, N>::solve() { copy<T><<<1, N>>>(p); }
    template class Solver<SMALL>;
    template class Solver<LARGE>;
    template void run<LARGE>(double *);
    """
    assert launches(text) == {(64, "float"), (256, "double"), (128, "double")}


INHERITED = """
template <int m, int k>
__global__ void core(float *p) {{ __shared__ float s[256]; s[threadIdx.x * m] = p[k]; }}
{classes}
template <int o> void Run<o, true>::go(float *p) {{ core<mode, kind><<<1, 64>>>(p); }}
template class Run<5, true>;
template class Run<19, true>;
"""


@pytest.mark.parametrize(
    "classes",
    [
        """template <int o> struct Base { static constexpr int mode = o & 15; enum { kind = o & 240 }; };
        template <int o, bool on> struct Run : Base<o> {
            using Base<o>::mode; using Base<o>::kind; void go(float *p); };
        template <int o> struct Run<o, true> : Base<o> {
            using Base<o>::mode; using Base<o>::kind; void go(float *p); };""",
        """template <int o, bool on> struct Run;
        template <int o> struct Run<o, false> {
            static constexpr int mode = o & 15; static const int kind = o & 240; };
        template <int o> struct Run<o, true> : Run<o, false> {
            using Run<o, false>::mode; using Run<o, false>::kind; void go(float *p); };""",
    ],
)
def test_constants_of_a_base_that_using_brings_in_name_instances(classes: str) -> None:
    """5 is 5 and 0, 19 is 3 and 16."""
    assert launches(INHERITED.format(classes=classes)) == {(64, 5, 0), (64, 3, 16)}


def test_a_base_of_a_header_names_instances_too(tmp_path: Path) -> None:
    """Of a header only what is asked for is read."""
    (tmp_path / "run.h").write_text(
        "template <int o, bool on> struct Run;\n"
        "template <int o> struct Run<o, false> { static constexpr int mode = o & 15, kind = o & 240; };\n"
        "template <int o> struct Run<o, true> : Run<o, false> {\n"
        "    using Run<o, false>::mode; using Run<o, false>::kind; void go(float *p); };\n"
    )
    text = INHERITED.format(classes='#include "run.h"')
    (module, *_) = load(source_from_bytes(str(tmp_path / "a.cu"), text.encode()))
    found = infer(module.kernels()[-1], module, started_kernels(module))
    assert {(x.template["m"], x.template["k"]) for x in found} == {(5, 0), (3, 16)}


@pytest.mark.parametrize(
    "export",
    [
        "MADE_BY_CMAKE_EXPORT",
        "EMPTY",
        '__attribute__((visibility("default")))',
        '[[gnu::visibility("default")]]',
    ],
)
def test_a_class_with_an_attribute_is_instantiated_and_its_methods_launch(export: str) -> None:
    text = f"""
    #include "made_by_cmake_export.h"
    #define EMPTY
    template <class T> __global__ void copy(T *p) {{ __shared__ T s[256]; s[threadIdx.x] = p[0]; }}
    template <class T, int N> class {export} Filter : public Base<T> {{ public: void go(T *p); int n; }};
    class {export} Plain {{ public: void go(int *p); int n; }};
    template <class T, int N> void Filter<T, N>::go(T *p) {{ copy<T><<<1, N>>>(p); }}
    void Plain::go(int *p) {{ copy<<<1, 64>>>(p); }}
    template class {export} Filter<float, 96>;
    template class {export} Filter<double, 128>;
    """
    assert launches(text) == {(96, "float"), (128, "double"), (64, "int")}


@pytest.mark.parametrize("call", ["in.data<T>()", "in.template mutable_data_ptr<T>()"])
def test_what_a_buffer_of_a_type_gives_points_to_that_type(call: str) -> None:
    text = f"""
    class Buffer {{ template <class T> const T *data() const; template <class T> T *data();
        template <class T> T *mutable_data_ptr(); }};
    template <class T> __global__ void copy(const T *p) {{ __shared__ T s[256]; s[threadIdx.x] = p[0]; }}
    template <class T> void run(Buffer &in) {{ copy<<<1, 128>>>({call}); }}
    template void run<double>(Buffer &);
    """
    assert launches(text) == {(128, "double")}


def test_a_specialisation_for_some_values_is_instantiated_by_the_name_of_its_template() -> None:
    text = """
    typedef enum { on_host, on_device } Space;
    typedef enum { doubles, floats } Numbers;
    template <int N> struct NumberOf;
    template <> struct NumberOf<doubles> { typedef double Type; };
    template <> struct NumberOf<floats> { typedef float Type; };
    template <Space S, Numbers N> struct Config { typedef typename NumberOf<N>::Type Value; };
    template <int Mode> struct ConfigOf { typedef Config<(Space)(Mode % 2), (Numbers)(Mode / 2)> Type; };
    template <class T> __global__ void fill(T *p) { __shared__ T s[256]; s[threadIdx.x] = p[0]; }
    template <class C> class Solver;
    template <Numbers N> class Solver<Config<on_host, N>> {
        typedef Config<on_host, N> Own; typedef typename Own::Value Value; void solve(Value *p);
    };
    template <Numbers N> class Solver<Config<on_device, N>> {
        typedef Config<on_device, N> Own; typedef typename Own::Value Value; void solve(Value *p);
    };
    template <Numbers N> void Solver<Config<on_host, N>>::solve(Value *p) {}
    template <Numbers N> void Solver<Config<on_device, N>>::solve(Value *p) { fill<Value><<<1, 128>>>(p); }
    #define MODES(MACRO) MACRO(0) MACRO(1) MACRO(2) MACRO(3)
    #define MAKE(Mode) template class Solver<ConfigOf<Mode>::Type>;
    MODES(MAKE)
    """
    assert launches(text) == {(128, "double"), (128, "float")}


TRAITS = """
#include <library/tensor.hpp>
enum DeviceType { CPU, GPU };
enum DataType { Char, Float, Double };
template <DataType t> struct Traits {};
template <> struct Traits<Char> { typedef char type; };
template <> struct Traits<Float> { typedef float type; };
template <> struct Traits<Double> { typedef double type; };
template <typename T> __global__ void sum(T *out, const T *in, int n) {
    extern __shared__ char raw[];
    T *s = (T *)raw;
    s[threadIdx.x * 2] = in[threadIdx.x];
}
"""


OF_TRAITS = """
template <DataType type> struct Sum<GPU, type> {
    int operator()(Op &op, Tensor &out, const Tensor &in) {
        typedef typename Traits<type>::type real;
        sum<<<1, 256, 512 * sizeof(real)>>>((real *)out.memory(), (const real *)in.memory(), in.size());
        return 0;
    }
};
"""


@pytest.mark.parametrize(
    "code",
    [OF_TRAITS, "template <DeviceType, DataType> struct Sum;" + OF_TRAITS, "namespace a {" + OF_TRAITS + "}"],
)
def test_types_of_a_trait_are_tried_where_it_is_not_known_which_is_meant(code: str) -> None:
    """Also in a specialisation of a template that stands in the file that includes this one."""
    (module, *_) = load(source_from_bytes("/t/a.cu", (TRAITS + code).encode()))
    (kernel,) = (k for k in module.kernels() if k.name == "sum")
    found = infer(kernel, module, started_kernels(module))
    names = [getattr(x.template["T"], "name", None) for x in found]
    assert (names, {x.assumed for x in found}) == (["float", "double", "char"], {True})


def test_a_pool_that_is_cast_to_a_type_nobody_knows_has_no_width() -> None:
    text = """
    template <class A> __global__ void k(float *out) {
        extern __shared__ char raw[];
        typename A::type *s = (typename A::type *)raw;
        s[threadIdx.x * 2] = out[threadIdx.x];
    }
    template <class A> void go(float *out) { k<A><<<1, 32, 1024>>>(out); }
    #include <library/thing.hpp>
    void run(float *out) { go<library::Thing>(out); }
    """
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    for launch in infer(kernel, module, started_kernels(module)):
        (store,) = score_all(evaluate(module, kernel, launch))
        assert (store.ways, store.grade) == (None, Grade.UNRESOLVED)


COUNTED = """
template <int CTA, int SIZE, bool COUNT> __global__ void count(int *p) {
    __shared__ int s[CTA * SIZE];
    s[threadIdx.x * SIZE] = p[COUNT];
}
template <int PER_ROW, int CTA, int SIZE, bool COUNT> __global__ void count(int *p) {
    __shared__ int s[CTA * SIZE * PER_ROW];
    s[threadIdx.x * SIZE * PER_ROW] = p[COUNT];
}
"""


@pytest.mark.parametrize(("arguments", "ways"), [("CTA, 2, true", 2), ("4, CTA, 2, true", 8)])
def test_of_templates_of_one_name_the_one_with_as_many_parameters_is_meant(arguments: str, ways: int) -> None:
    text = COUNTED + "template <class T> struct Layer { enum { CTA = 64 };"
    text += f" void go(T *p) {{ count<{arguments}><<<1, CTA>>>(p); }} }}; template struct Layer<int>;"
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    started = started_kernels(module)
    (name,) = {s.kernel.id for s in started}
    kernel = module.functions[name]
    (launch,) = infer(kernel, module, started)
    (store,) = score_all(evaluate(module, kernel, launch))
    assert (store.ways, launch.assumed) == (ways, False)


def test_an_instance_that_nobody_starts_has_halves_for_the_operands_of_a_tensor_core() -> None:
    text = """
    #include <mma.h>
    using namespace nvcuda;
    template <typename T, typename S> __global__ void k(const T *a, S *out) {
        __shared__ T sa[16 * 16];
        wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> fa;
        wmma::fragment<wmma::accumulator, 16, 16, 16, S> fc;
        sa[threadIdx.x] = a[threadIdx.x];
        wmma::load_matrix_sync(fa, sa, 16);
    }
    """
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    first = infer(kernel, module, ())[0]
    assert {name: getattr(t, "name", None) for name, t in first.template.items()} == {
        "T": "__half",
        "S": "float",
    }
    assert all(c.ways is not None for c in score_all(evaluate(module, kernel, first)))


@pytest.mark.parametrize(
    "call", ["run<2 * r + 1, T>()", "this->run<2 * r + 1, T>()", "run<(r > 0 ? 2 * r + 1 : 1), T>()"]
)
def test_a_method_that_a_macro_calls_has_its_template_arguments(call: str) -> None:
    text = """
    template <int W, typename T> __global__ void blur(T *p) {
        __shared__ T s[32 * W];
        s[threadIdx.x * W] = p[threadIdx.x];
    }
    struct Filter {
        float *in;
        double *wide;
        int radius, step;
        template <int W, typename T> void run() { blur<W, T><<<4, 32>>>((T *)in); }
        void start();
    };
    #define CASE(r, T) case r: CALL; break;
    #define ALL(n, T) case n: switch (radius) { CASE(1, T) CASE(2, T) } break;
    void Filter::start() {
        switch (step) { ALL(1, float) ALL(2, double) }
    }
    """.replace("CALL", call)
    assert launches(text) == {(32, w, t) for w in (3, 5) for t in ("float", "double")}


@pytest.mark.parametrize("method", ["operator()", "go"])
def test_a_method_of_a_partial_specialisation_for_a_type_without_a_body_launches_by_its_alias(
    method: str,
) -> None:
    text = f"""
    #include <complex>
    namespace device {{ struct Cpu; struct Gpu; }}
    template <typename T> struct RealOf {{ using type = T; }};
    template <> struct RealOf<std::complex<float>> {{ using type = float; }};
    template <> struct RealOf<std::complex<double>> {{ using type = double; }};
    template <typename Q> __global__ void copy(Q *p) {{ __shared__ Q s[512]; s[threadIdx.x] = p[0]; }}
    template <typename T, typename D> struct Op {{ void {method}(T *p, const int &n); }};
    template <typename T> struct Op<T, device::Gpu> {{
        using Real = typename RealOf<T>::type;
        void {method}(T *p, const int &n);
    }};
    template <typename T> void Op<T, device::Gpu>::{method}(T *p, const int &n) {{
        copy<Real><<<n, 128>>>((Real *)p);
    }}
    template struct Op<std::complex<float>, device::Gpu>;
    template struct Op<std::complex<double>, device::Gpu>;
    """
    assert launches(text) == {(128, "float"), (128, "double")}


COSTLY_SETUP = """
template <int K> __global__ void rows(float *o) {
    __shared__ float s[K * 64];
    s[K * threadIdx.x] = 1;
    o[threadIdx.x] = s[0];
}
template <int K> struct Wide { unsigned limbs[8]; };
template <int K> Wide<K> times(const Wide<K> &a, const Wide<K> &b) {
    Wide<K> r = {};
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) r.limbs[(i + j) % 8] += a.limbs[i] * b.limbs[j] + K;
    return r;
}
template <int K> Wide<K> root(int n) {
    Wide<K> w = {{3, 5, 7}};
    for (int i = 0; i < 38; i++) w = times<K>(w, w);
    for (int i = 0; i < 38; i++) w = times<K>(w, w);
    for (int i = 0; i < 38; i++) w = times<K>(w, w);
    return w;
}
template <int K> void start(float *p, unsigned n) { if (n) rows<K><<<1, 64>>>(p); }
"""


@pytest.mark.parametrize(
    ("code", "sure"),
    [
        # A template that nothing calls has no instance: the program has its steps first.
        ("template <int K> int check(int n) { Wide<K> w = root<K>(n); start<K>(0, w.limbs[0]); "
         "start<K>(0, w.limbs[1] + n); return 0; } "
         "template <int K> void bench(int n) { start<K>(0, n); } "
         "int main() { bench<2>(9); bench<8>(9); }", True),
        # Where all steps go on the way, what main names says which instances there are.
        ("template <int K> void bench(int n) { Wide<K> w = root<K>(n); start<K>(0, w.limbs[0]); } "
         "int main() { bench<2>(3); bench<8>(4); }", False),
        ("template <int K> void bench(int n) { Wide<K> w = root<K>(n); start<K>(0, w.limbs[0]); } "
         "template <int A, int B> void both() { bench<B>(3); bench<A>(4); } "
         "int main() { both<2, 8>(); }", False),
    ],
)  # fmt: skip
def test_instances_are_handed_down_where_setting_up_takes_all_steps(code: str, sure: bool) -> None:
    (module, *_) = load(source_from_bytes("/t/a.cu", (COSTLY_SETUP + code).encode()))
    kernel = next(f for f in module.kernels() if f.name == "rows")
    found = infer(kernel, module, started_kernels(module))
    assert sorted(str(x.template["K"]) for x in found) == ["2", "8"]
    assert {x.block for x in found} == {(64, 1, 1)}
    assert all((x.origin == "candidate") is not sure for x in found)
    by_instance = {str(x.template["K"]): score_all(evaluate(module, kernel, x)) for x in found}
    assert {k: max(s.ways or 0 for s in scores) for k, scores in by_instance.items()} == {"2": 2, "8": 8}
