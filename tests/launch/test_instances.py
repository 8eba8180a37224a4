"""Which instances of a kernel template host code starts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from instances import KERNEL, launches, spelled

from smemlint.evaluate import evaluate
from smemlint.evaluate.types.spelling import type_name
from smemlint.frontend import load
from smemlint.launch import Started, infer, started_kernels
from smemlint.launch.source.starters import launching_functions
from smemlint.launch.ways import instances_told
from smemlint.score import score_all
from smemlint.source import source_from_bytes


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


def test_members_that_an_allocator_is_given_as_void_pointers_have_the_type_that_they_are_declared_with() -> (
    None
):
    host = """
template <class A, class B> struct Store {
  A *a; B *b;
  void make(int n) { cudaMalloc((void **)&a, n); cudaMalloc((void **)&b, 2 * n); }
  void run() { go(a, b); }
};
int main(int n, char **) { Store<double, unsigned short> s; s.make(n); s.run(); }
"""
    kernel = """
template <class A, class B>
__global__ void k(A *a, B *b) { __shared__ B s[64]; s[threadIdx.x] = b[0]; a[0] = s[1]; }
template <class A, class B> void go(A *a, B *b) { k<<<1, 64>>>(a, b); }
"""
    (module, *_) = load(source_from_bytes("/t/a.cu", (kernel + host).encode()))
    found = [launch for f in module.kernels() for launch in infer(f, module, started_kernels(module))]
    assert [{n: type_name(t) for n, t in x.template.items()} for x in found] == [
        {"A": "double", "B": "unsigned short"}
    ]


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


def test_instances_of_a_class_start_their_kernels_beside_a_call_of_one_of_them() -> None:
    text = (
        KERNEL
        + """
    template <typename T> class Sums { public: void run(T *in, int n); T *out; };
    template <typename T> void Sums<T>::run(T *in, int n) { sum<<<n / 128, 128>>>(in, out, n); }
    template class Sums<int>;
    template class Sums<float>;
    template class Sums<double>;
    void user(Sums<float> &s, float *in) { s.run(in, 1024); }
    """
    )
    assert launches(text) == {(128, "int"), (128, "float"), (128, "double")}


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


def test_a_cast_to_a_type_that_is_not_known_does_not_leave_the_one_before_it() -> None:
    text = (
        KERNEL
        + """
    template <typename T> struct Space { using value_t = T; };
    template <typename T> class Runner {
        using value_t = typename Space<T>::value_t;
        char *bytes;
     public:
        void run(value_t *out) { sum<<<1, 64>>>((value_t *)bytes, out, 1); }
    };
    """
    )
    assert launches(text) == {(64, "float", "?")}
    assert launches(text + "void go(Runner<double> &r, double *p) { r.run(p); }") == {(64, "double")}


MEMBERS = """
template <typename T, int N> __global__ void wide(T *p) { __shared__ T s[4096]; s[threadIdx.x * N] = p[0]; }
template <typename T> class Runner {
    typedef Runner Me;
    template <int N> void start(T *p) { wide<T, N><<<1, N * 8>>>(p); }
 public:
    void run(T *p, int i) {
        typedef void (Me::*Start)(T *p);
        Start table[] = {&Me::start<4>, &Me::start<8>, nullptr};
        (this->*table[i])(p);
    }
};
"""


@pytest.mark.parametrize(
    ("types", "used"),
    [
        (("float",), "template class Runner<float>;"),
        (("short",), "void go(Runner<short> &r, short *p, int i) { r.run(p, i); }"),
        (("short", "float"), "template class Runner<float>; void go(Runner<short> &, short *) {}"),
    ],
)
def test_a_table_of_pointers_to_member_templates_starts_each_of_them(
    types: tuple[str, ...], used: str
) -> None:
    assert launches(MEMBERS + used) == {(8 * n, t, n) for n in (4, 8) for t in types}


def test_a_known_index_into_a_table_of_pointers_to_members_starts_that_one_alone() -> None:
    assert launches(MEMBERS + "void go(Runner<short> &r, short *p) { r.run(p, 1); }") == {(64, "short", 8)}


def test_a_member_template_is_that_of_the_specialisation_that_is_written() -> None:
    text = """
    template <int N, typename T> __global__ void wide(T *p) { __shared__ T s[4096]; s[threadIdx.x * N] = *p; }
    template <int N> struct Way {};
    template <> struct Way<1> { template <typename T> static void go(T *p) { wide<1><<<1, 32>>>(p); } };
    template <> struct Way<2> { template <typename T> static void go(T *p) { wide<2><<<1, 64>>>(p); } };
    template <typename T> void choose(T *p) { Way<2>::go(p); }
    void start(float *p) { choose(p); }
    """
    assert {found for found in launches(text) if found[-1] != "?"} == {(64, 2, "float")}


def test_a_pointer_to_a_method_is_followed_to_what_it_starts() -> None:
    text = """
    template <typename T, int N> __global__ void wide(T *p) { __shared__ T s[4096]; s[threadIdx.x] = p[N]; }
    template <typename T> class Runner {
        typedef void (Runner::*Start)(T *p);
        template <int N, int W> void start(T *p) { wide<T, N * 10 + W><<<1, W * 8>>>(p); }
        template <int N> void choose(T *p) {
            Start start = nullptr;
            switch (width) {
                case 4: start = &Runner::start<N, 4>; break;
                case 8: start = &Runner::start<N, 8>; break;
            }
            (this->*start)(p);
        }
        void plain(T *p) { wide<T, 77><<<1, 96>>>(p); }
        int width;
     public:
        void run(T *p, int i) {
            Start all[] = {&Runner::choose<1>, &Runner::choose<2>, &Runner::plain};
            Start one = all[i];
            (this->*one)(p);
        }
    };
    template class Runner<short>;
    """
    assert launches(text) == {
        (32, "short", 14), (64, "short", 18), (32, "short", 24), (64, "short", 28), (96, "short", 77)
    }  # fmt: skip


@pytest.mark.parametrize("given", ["tensor.floats()", "floats_of(tensor)"])
def test_a_type_is_deduced_from_what_a_function_of_another_source_returns(given: str) -> None:
    text = (
        KERNEL
        + f"""
    class Tensor {{ public: float *floats() const; double *doubles() const; void *data; }};
    float *floats_of(const Tensor &tensor);
    struct Runner {{ template <typename T> static void start(T *in, T *out); }};
    template <typename T> void Runner::start(T *in, T *out) {{ sum<<<1, 96>>>(in, out, 3); }}
    void run(const Tensor &tensor, bool wide) {{
        if (wide) Runner::start(tensor.doubles(), tensor.doubles());
        else Runner::start({given}, {given});
    }}
    """
    )
    assert launches(text) == {(96, "float"), (96, "double")}


def test_instances_that_no_steps_were_left_for_are_tried_in_the_shape_of_the_others() -> None:
    text = """
    template <int N> __global__ void wide(float *p, int n) { __shared__ float s[4096]; s[n] = p[N]; }
    struct Runner {
        template <int N> void run(const int *sizes, float *p) {
            int n = 0;
            for (int i = 0; i < 30; ++i) for (int k = 0; k < 30; ++k)
                if (k > 31) n = 0; else n = n * 3 + (sizes[i] >> k);
            wide<N><<<1, 96>>>(p, n);
        }
        void start(int way, const int *sizes, float *p) {
            switch (way) { CASES }
        }
    };
    """
    cases = " ".join(f"case {n}: run<{n}>(sizes, p); break;" for n in range(1, 25))
    found = launches(text.replace("CASES", cases))
    assert {n for _, n, *_ in found} == set(range(1, 25)) and {block for block, *_ in found} == {96}
    assert (96, 1) in found and (96, 24, "?") in found


def test_a_template_that_runs_by_itself_is_no_instance_beside_one_that_is_told() -> None:
    text = """
    template <class T, int N = 1> __global__ void turn(const T *in, T *out) {
        __shared__ T s[64];
        s[threadIdx.x] = in[threadIdx.x * N];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    }
    template <class T> void go(const T *in, T *out) { turn<<<1, 64>>>(in, out); }
    """

    def told(more: str) -> tuple[Started, ...]:
        (module, *_) = load(source_from_bytes("/t/a.cu", (text + more).encode()))
        return started_kernels(module)

    alone, double = told(""), told("template void go<double>(const double *, double *);")
    assert len(alone) == len(double) == 1 and "T" not in alone[0].template
    assert instances_told(alone) == alone
    assert instances_told((*alone, *double)) == double
    other = replace(alone[0], place=replace(alone[0].place, offset=0))
    assert instances_told((other, *double)) == (other, *double)
