"""Which instances of a kernel template host code starts."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade
from smemlint.evaluate.types.spelling import type_name
from smemlint.frontend import load
from smemlint.ir import RecordRef, Scalar
from smemlint.launch import infer, started_kernels
from smemlint.launch.source.starters import launching_functions
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """
#include <cstdint>
template <typename T> __global__ void sum(const T *in, T *out, int n) {
    __shared__ T part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}
"""


def launches(text: str) -> set[tuple[object, ...]]:
    """(block x, template arguments as text ..., or '?' behind it when assumed) of the last kernel."""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    kernel = module.kernels()[-1]
    return {
        (x.block[0], *(spelled(v) for v in x.template.values()), *(["?"] if x.assumed else []))
        for x in infer(kernel, module, started_kernels(module))
    }


def spelled(value: object) -> object:
    if isinstance(value, RecordRef):
        return f"{value.name}<{', '.join(str(getattr(a, 'value', a)) for a in value.arguments)}>"
    return value.name if isinstance(value, Scalar) else value


def test_arguments_are_deduced_through_host_templates_from_memory_of_an_unknown_allocator() -> None:
    text = (
        KERNEL
        + """
    template <typename T> void upload_and_sum(int n, T *host) {
        T *in, *out;
        cudaMalloc((void **)&in, n * sizeof(T));
        cudaMalloc((void **)&out, n * sizeof(T));
        sum<<<n / 128, 128>>>(in, out, n);
    }
    template <typename T> void measure(int n) {
        T *host = (T *)pool_allocate(64, n * sizeof(T));
        upload_and_sum(n, host);
    }
    int main(int argc, char **argv) {
        int n = atoi(argv[1]);
        measure<float>(n);
        measure<double>(n);
    }
    """
    )
    assert launches(text) == {(128, "float"), (128, "double")}


def test_integers_of_fixed_width_are_types_in_the_arguments_of_host_templates() -> None:
    text = (
        KERNEL
        + """
    template <typename T, uint32_t threads> void one(uint64_t n) {
        T *in, *out;
        sum<T><<<1, threads>>>(in, out, n);
    }
    template <uint32_t threads> void all(uint64_t n) { one<uint32_t, threads>(n); one<int16_t, threads>(n); }
    int main() { all<64>(1000); }
    """
    )
    assert launches(text) == {(64, "unsigned int"), (64, "short")}


def test_a_host_template_that_nothing_calls_starts_the_usual_instance_as_assumed() -> None:
    text = KERNEL + "template <typename T> void run(T *a) { sum<T><<<1, 64>>>(a, a, 1); }"
    assert launches(text) == {(64, "float", "?")}


def test_an_instance_that_is_written_out_is_taken_where_the_launch_leaves_it_open() -> None:
    text = (
        KERNEL
        + """
    template __global__ void sum<double>(const double *, double *, int);
    template <typename T> void run(T *a) { sum<T><<<1, 64>>>(a, a, 1); }
    """
    )
    assert launches(text) == {(64, "double")}


def test_a_macro_gives_template_arguments_in_a_host_template() -> None:
    text = """
    template <typename T, int threads> __global__ void scale(T *a) {
        __shared__ T part[threads];
        part[threadIdx.x] = a[threadIdx.x];
        a[0] = part[threadIdx.x];
    }
    #define START(threads, type) scale<type, threads><<<1, threads>>>(a)
    #define BOTH(type) START(64, type); \\
        START(128, type)
    template <typename T> void run(T *a) { BOTH(T); START(256, T); }
    int main() { float *a; run(a); }
    """
    assert launches(text) == {(64, "float", 64), (128, "float", 128), (256, "float", 256)}


def test_an_enumerator_is_named_through_its_enum_in_a_macro() -> None:
    text = """
    enum class Memory { shared, global };
    enum class Other { global, shared };
    template <typename T, Memory where> __global__ void count(T *a) {
        __shared__ T part[64];
        part[threadIdx.x] = a[0];
        a[1] = part[0];
    }
    #define COUNT(where) count<T, where><<<1, 64>>>(a)
    template <typename T> void run(T *a) { COUNT(Memory::shared); COUNT(Memory::global); }
    int main() { int *a; run(a); }
    """
    assert launches(text) == {(64, "int", 0), (64, "int", 1)}


def test_true_is_one_in_the_arguments_of_a_traits_class() -> None:
    text = """
    template <int threads, bool even> struct Traits { static constexpr int size = threads; };
    template <typename Traits> __global__ void scan(float *a) {
        __shared__ float part[Traits::size];
        part[threadIdx.x] = a[0];
        a[1] = part[0];
    }
    int main() { float *a; scan<Traits<128, true>><<<1, 128>>>(a); }
    """
    assert launches(text) == {(128, "Traits<128, 1>")}


def test_one_number_for_a_grid_leaves_its_other_extents_at_one() -> None:
    text = KERNEL + "int main() { dim3 grid = 1024 / 64; sum<int><<<grid, 64>>>(nullptr, nullptr, 1); }"
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (launch,) = infer(module.kernels()[0], module, started_kernels(module))
    assert launch.grid == (16, 1, 1)


SCALE = """
template <typename T, bool even, int threads> __global__ void scale(T *a) {
    __shared__ T part[threads];
    part[threadIdx.x] = a[threadIdx.x];
    a[0] = part[threadIdx.x ^ 1];
}
"""


def test_switches_over_types_and_truth_give_constants_to_a_lambda() -> None:
    text = (
        SCALE
        + """
    #define IF_EVEN(condition, name, ...) \\
        [&] { if (condition) { constexpr static bool name = true; return __VA_ARGS__(); } \\
              else { constexpr static bool name = false; return __VA_ARGS__(); } }()
    #define OF_KIND(kind, name, ...) \\
        [&] { if (kind == 0) { using name = float; return __VA_ARGS__(); } \\
              else { using name = double; return __VA_ARGS__(); } }()
    void start(void *p, int kind, bool even) {
        OF_KIND(kind, scalar_t, [&] {
            IF_EVEN(even, even_length, [&] { scale<scalar_t, even_length, 64><<<1, 64>>>((scalar_t *)p); });
        });
    }
    """
    )
    assert launches(text) == {(64, t, e, 64) for t in ("float", "double") for e in (0, 1)}


def test_a_lambda_has_template_parameters_of_its_own() -> None:
    text = (
        SCALE
        + """
    void start(float *a, bool even) {
        auto go = [&]<bool e, int n>() { scale<float, e, n><<<1, n>>>(a); };
        if (even) go.operator()<true, 32>();
        else go.template operator()<false, 96>();
    }
    """
    )
    assert launches(text) == {(32, "float", 1, 32), (96, "float", 0, 96)}


def test_a_launcher_that_is_instantiated_explicitly_starts_each_instance() -> None:
    text = (
        KERNEL
        + """
    template <typename T> void start(T *p) { sum<T><<<1, 64>>>(p, p, 1); }
    template void start<float>(float *);
    template void start<double>(double *);
    """
    )
    assert launches(text) == {(64, "float"), (64, "double")}


@pytest.mark.parametrize("opening, closing", [("", ""), ("namespace a { namespace b {", "} }")])
def test_every_explicit_instance_of_a_launcher_counts_in_a_namespace_too(opening: str, closing: str) -> None:
    text = (
        opening
        + KERNEL.replace("#include <cstdint>", "")
        + """
    template <typename T> void start(const T *in, T *out, int n) { sum<<<n, 64>>>(in, out, n); }
    template void start<float>(const float *, float *, int);
    template void start<double>(const double *, double *, int);
    template void start(const int *, int *, int);
    """
        + closing
    )
    assert launches(text) == {(64, "float"), (64, "double"), (64, "int")}


def test_an_instance_of_a_place_that_nothing_else_tells_of_is_tried_beside_known_ones() -> None:
    """`start<double>` is code by itself; what the template starts is not known to run, and not to be idle."""
    text = (
        KERNEL
        + """
    template <typename T> void start(T *p) { sum<T><<<1, 64>>>(p, p, 1); }
    template <> void start<double>(double *p) { sum<double><<<1, 32>>>(p, p, 1); }
    """
    )
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = [k for k in module.kernels() if k.name == "sum"]
    found = infer(kernel, module, started_kernels(module))
    assert [(x.block[0], spelled(x.template["T"]), x.assumed, x.filled) for x in found] == [
        (32, "double", False, False),
        (64, "float", True, True),
    ]


def test_an_explicit_specialisation_between_instances_is_one_of_its_own() -> None:
    text = (
        "namespace a {"
        + KERNEL.replace("#include <cstdint>", "")
        + """
    template <typename T> void start(const T *in, T *out, int n) { sum<T><<<n, 64>>>(in, out, n); }
    template <> void start<char>(const char *in, char *out, int n) { sum<char><<<n, 128>>>(in, out, n); }
    template void start<float>(const float *, float *, int);
    void all(char *c) { start<char>(c, c, 1); }
    }
    """
    )
    assert launches(text) == {(64, "float"), (128, "char")}


OVERLOADS = """
__global__ void scale(double *out, int n) { __shared__ double s[32]; s[threadIdx.x % 32] = 1; out[n] = s[0]; }
template <int N> __global__ void norm(double *out, const double *in) {
    __shared__ double s[N]; s[threadIdx.x % N] = in[0]; out[0] = s[0];
}
__global__ void scale(float *out, int n) { __shared__ float s[32]; s[threadIdx.x % 32] = 1; out[n] = s[0]; }
"""


def test_each_instance_of_a_launcher_starts_the_overload_that_takes_its_arguments() -> None:
    text = (
        OVERLOADS
        + """
    template <typename T> void start(T *out, int n) { scale<<<n, 8 * sizeof(T)>>>(out, n); }
    template void start(float *, int);
    template void start(double *, int);
    """
    )
    assert launches(text) == {(32,)}
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    first = next(k for k in module.kernels() if k.name == "scale")
    assert [x.block[0] for x in infer(first, module, started_kernels(module))] == [64]


def test_overloaded_kernel_templates_with_explicit_arguments_are_told_apart_by_what_they_are_given() -> None:
    text = (
        OVERLOADS
        + """
    template <int N> __global__ void norm(float *out, const float *in) {
        __shared__ float s[N]; s[threadIdx.x % N] = in[0]; out[0] = s[0];
    }
    template <typename T> void start(T *out, const T *in, int n) {
        dim3 block(n / 4);
        norm<16><<<1, 8 * sizeof(T)>>>(out, in);
    }
    void both(float *f, double *d, int n) { start(f, f, n); start(d, d, n); }
    """
    )
    assert launches(text) == {(32, 16)}
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    first = next(k for k in module.kernels() if k.name == "norm")
    assert {x.block[0] for x in infer(first, module, started_kernels(module))} == {64}


def test_an_argument_whose_type_nobody_knows_leaves_the_overloads_open() -> None:
    text = (
        OVERLOADS
        + """
    template <typename T> void start(T &holder, int n) { scale<<<n, 128>>>(holder.somewhere(), n); }
    void go(library::Holder &h) { start(h, 3); }
    """
    )
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = [
        (x.block[0], x.assumed)
        for k in module.kernels()
        if k.name == "scale"
        for x in infer(k, module, started_kernels(module))
    ]
    assert found == [(128, True), (128, True)]


def test_classes_that_are_handed_on_have_their_default_arguments() -> None:
    text = """
    template <typename Arg, typename Res = Arg> struct add {
        __device__ Res operator()(const Arg &x, const Arg &y) const { return x + y; }
    };
    template <typename T, int W = sizeof(T)> struct Step { static const int value = 1; };
    template <typename T> struct Step<T, 8> { static const int value = 2; };
    template <int NT, typename Op, typename S, typename T> __global__ void reduce(Op op, S, T *p) {
        __shared__ T s[4 * NT];
        s[threadIdx.x * S::value] = p[0];
    }
    template <typename T> void launch(T *p) { reduce<64><<<1, 64>>>(add<T>(), Step<T>(), p); }
    void run(float *a, double *b) { launch(a); launch(b); }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    names = {tuple(type_name(x.template[n]) for n in ("Op", "S")) for x in found}  # type: ignore[arg-type]
    assert names == {("add<float, float>", "Step<float, 4>"), ("add<double, double>", "Step<double, 8>")}
    costs = [c.ways for x in found for c in score_all(evaluate(module, kernel, x))]
    assert costs == [1, 2]


SOLVERS = """
template <int NT, int VT> __global__ void solve(float *p) {
    __shared__ float s[NT * VT * 2];
    s[threadIdx.x * VT] = p[0];
}
template <typename T> struct CpuSolver {
    T run(T *p, int n) { return sum(p, n); }
    T sum(T *p, int n) { T t = 0; for (int i = 0; i < n; i++) t += p[i]; return t; }
};
template <typename T> class GpuSolver {
public:
    T run(T *p, int n) { return start(p, n > 1000 ? 1 : 0); }
private:
    template <int NT, int VT> T launch(T *p);
    T start(T *p, int config) {
        switch (config) {
            case 0: { return launch<32, 1>(p); }
            case 1: { return launch<64, 2>(p); }
        }
        return 0;
    }
};
template <typename T> template <int NT, int VT> T GpuSolver<T>::launch(T *p) {
    solve<NT, VT><<<1, NT>>>(p);
    return 0;
}
float run(float *p, int n, bool gpu) {
    if (gpu) { GpuSolver<float> s; return s.run(p, n); }
    CpuSolver<float> s;
    return s.run(p, n);
}
"""


def test_a_member_template_with_numbers_is_called_on_this_object() -> None:
    assert launches(SOLVERS) == {(32, 32, 1), (64, 64, 2)}


def test_of_two_classes_with_a_method_of_one_name_only_one_starts_kernels() -> None:
    (module, *_) = load(source_from_bytes("/t/a.cu", SOLVERS.encode()))
    found = {(f.record, f.name) for f in launching_functions(module).values()}
    assert found == {("GpuSolver", "run"), ("GpuSolver", "start"), ("GpuSolver", "launch"), (None, "run")}


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
