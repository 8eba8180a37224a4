# ruff: noqa: E501 - a kernel on one line is easier to compare with what becomes of it
from pathlib import Path

from lowered import function, kernel, lines, module

from smemlint.frontend import load
from smemlint.ir import Call, LaunchStmt, Name, Scalar
from smemlint.ir.show import show, show_type
from smemlint.ir.walk import walk
from smemlint.source import read_source, source_from_bytes


def launches(text: str, name: str = "main") -> list[LaunchStmt]:
    from dataclasses import fields, is_dataclass

    found: list[LaunchStmt] = []

    def walk(node: object) -> None:
        if isinstance(node, LaunchStmt):
            found.append(node)
        if isinstance(node, tuple):
            for item in node:
                walk(item)
        elif is_dataclass(node):
            for item in fields(node):
                walk(getattr(node, item.name))

    walk(function(text, name).body)
    return found


KERNEL = "template <int N> __global__ void k(float *p, int n) { __shared__ float s[N]; s[n] = p[n]; }\n"


def test_a_launch_has_grid_block_and_dynamic_bytes() -> None:
    (found,) = launches(
        KERNEL + "int main() { float *p; dim3 b(32, 8); k<64><<<100, b, 4 * sizeof(float)>>>(p, 7); }"
    )
    assert show(found) == "k<64><<<dim3(100), b, 4 * sizeof(float)>>>(p, 7);"
    assert isinstance(found.kernel, Name) and found.kernel.id == function(KERNEL, "k").id


def test_a_launch_without_dynamic_bytes_has_none() -> None:
    (found,) = launches(KERNEL + "int main() { float *p; k<64><<<1, 2>>>(p, 7); }")
    assert found.dynamic is None and len(found.arguments) == 2


def test_a_launch_inside_a_template_keeps_its_dependent_arguments() -> None:
    text = KERNEL + "template <int M, typename T> void run(T *p) { k<M * 2><<<1, M, M * sizeof(T)>>>(p, M); }"
    (found,) = launches(text, "run")
    assert show(found) == "k<M * 2><<<dim3(1), dim3(M), M * sizeof(T)>>>(p, M);"
    assert isinstance(found.kernel, Name) and found.kernel.id


def test_a_launch_through_a_function_pointer_names_the_variable() -> None:
    (found,) = launches(KERNEL + "int main() { float *p; auto f = k<8>; f<<<1, 32>>>(p, 7); }")
    assert show(found.kernel) == "f"


def test_a_launch_in_an_error_checking_macro_is_found() -> None:
    text = (
        "#define CHECK(x) do { x; } while (0)\n"
        + KERNEL
        + "int main() { float *p; CHECK((k<8><<<1, 32>>>(p, 7))); }"
    )
    assert [show(found.block) for found in launches(text)] == ["dim3(32)"]


def test_a_launch_in_a_macro_s_body_makes_its_host_function_matter() -> None:
    text = (
        KERNEL
        + "#define RUN(n) k<n><<<1, n>>>(p, n)\nvoid go(float *p) { RUN(16); }\nint main() { go(nullptr); }"
    )
    assert show(launches(text, "go")[0]) == "k<16><<<dim3(1), dim3(16), ?>>>(p, 16);"
    assert any(f.name == "main" for f in module(text).functions.values())


def test_cuda_launch_kernel_is_a_launch() -> None:
    text = (
        KERNEL
        + """int main() { float *p; int n = 3; void *args[] = {&p, &n};
    cudaLaunchKernel((void *)k<8>, dim3(4), dim3(32, 2), args, 64, 0); }"""
    )
    (found,) = launches(text)
    assert [show(found.grid), show(found.block), show(found.dynamic)] == ["dim3(4)", "dim3(32, 2)", "64"]
    assert show(found.kernel) == "k<8>"


def test_callers_of_launching_functions_are_lowered_too() -> None:
    text = (
        KERNEL
        + "void run(int b) { k<8><<<1, b>>>(nullptr, 1); } void other() {} int main() { other(); run(128); }"
    )
    assert {f.name for f in module(text).functions.values()} == {"k", "run", "main", "other"}


def test_host_code_without_launches_is_left_alone() -> None:
    assert {f.name for f in module(KERNEL + "void unrelated() { int x = 1; }").functions.values()} == {"k"}


def test_a_resolved_template_call_has_all_its_arguments() -> None:
    text = """template <typename T, int N = 4> __device__ T load(T *p) { return p[N]; }
    __global__ void k(float *p) { __shared__ float s[8]; s[0] = load(p); }"""
    (call,) = (e for e in walk(function(text, "k").body) if isinstance(e, Call))
    assert show(call) == "load<float, 4>(p)"
    assert isinstance(call.callee, Name) and isinstance(call.callee.arguments[0], Scalar)


def test_default_arguments_are_filled_in() -> None:
    text = """__device__ void put(float *p, int i = 3, float v = 2.0f) { p[i] = v; }
    __global__ void k() { __shared__ float s[8]; put(s); put(s, 1); }"""
    assert lines(text)[1:] == ["put(s, 3, 2.0f);", "put(s, 1, 2.0f);"]


def test_an_overloaded_call_takes_the_overload_that_clang_chose() -> None:
    text = """__device__ void put(float *p) { p[0] = 0; } __device__ void put(int *p) { p[0] = 1; }
    __global__ void k() { __shared__ int s[8]; put(s); }"""
    (call,) = (e for e in walk(function(text, "k").body) if isinstance(e, Call))
    chosen = module(text).functions[call.callee.id]  # type: ignore[union-attr]
    assert show_type(chosen.parameters[0].type) == "int*"


def test_an_unresolved_overload_is_listed_by_name() -> None:
    text = """__device__ void put(float *p) { p[0] = 0; } __device__ void put(int *p) { p[0] = 1; }
    template <typename T> __global__ void k() { __shared__ T s[8]; put(s); }"""
    (call,) = (e for e in walk(function(text, "k").body) if isinstance(e, Call))
    assert call.callee.id == "" and len(module(text).overloads["put"]) == 2  # type: ignore[union-attr]


def test_a_dependent_call_with_one_candidate_names_it() -> None:
    text = """template <typename T> __device__ void put(T *p) { p[0] = 0; }
    template <typename T> __global__ void k() { __shared__ T s[8]; put<T>(s); }"""
    (call,) = (e for e in walk(function(text, "k").body) if isinstance(e, Call))
    assert call.callee.id in module(text).functions and show(call) == "put<T>(s)"  # type: ignore[union-attr]


def test_a_conversion_of_a_helper_class_is_a_call_and_a_cast() -> None:
    text = """template <typename T> struct Shared { __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; } };
    __global__ void k(int n) { float *s = Shared<float>(); s[n] = 0; }"""
    assert lines(text)[0] == "float* s = (float*)Shared<float>().operator conversion();"
    found = module(text)
    (conversion,) = found.records["Shared"].methods["operator conversion"]
    assert show(found.functions[conversion].body).split("\n")[1].strip() == "extern __shared__ int raw[];"


def test_a_dependent_conversion_at_a_declaration_is_a_call_too() -> None:
    text = """template <typename T> struct Shared { __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; } };
    template <typename T> __global__ void k(int n) { T *s = Shared<T>(); s[n] = 0; }"""
    assert lines(text)[0] == "T* s = (T*)Shared<T>().operator conversion();"


def test_method_calls_keep_object_and_template_arguments() -> None:
    text = """struct S { template <int N> __device__ int at(int i) { return i * N; } };
    template <typename T> __global__ void k(T t, S s, float *p) { __shared__ float q[9]; q[s.at<4>(1)] = t.template at<8>(2); }"""
    assert lines(text)[1] == "q[s.at<4>(1)] = t.at<8>(2);"


def test_a_method_that_depends_keeps_its_arguments_without_the_word_template() -> None:
    text = """template <int N> struct S { template <int M> __device__ int at(int i) { return i * N * M; } };
    template <int N, int M> __global__ void k(S<N> s) { __shared__ float q[9]; int i = 1; i = s.at<M>(i - 2); q[i] = 0; }"""
    assert lines(text)[2] == "i = s.at<M>(i - 2);"


def test_static_methods_are_static_members() -> None:
    text = """template <int N> struct S { static __device__ int at(int i) { return i * N; } };
    __global__ void k() { __shared__ float q[9]; q[S<4>::at(1)] = 0; }"""
    assert lines(text)[1] == "q[S<4>::at(1)] = 0;"


def test_constructors_keep_their_initialisers() -> None:
    text = """struct V { float *p; int ld; __device__ V(float *q, int l) : p(q + 1), ld(l) {} };
    __global__ void k() { __shared__ float q[9]; V v(q, 3); v.p[0] = 1; }"""
    assert lines(text)[1:] == ["V v = V(q, 3);", "v.p[0] = 1;"]
    assert [(n, show(e)) for n, e in function(text, "V").initialisers] == [("p", "q + 1"), ("ld", "l")]


def test_cooperative_groups_keep_their_types() -> None:
    before = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"
    body = kernel(
        "auto b = cg::this_thread_block(); auto t = cg::tiled_partition<32>(b); n = t.thread_rank(); b.sync();",
        before=before,
    )
    assert body[0].startswith("cooperative_groups::thread_block b = ")
    assert body[1].startswith("cooperative_groups::thread_block_tile<32")
    assert body[2:] == ["n = t.thread_rank();", "b.sync();"]


def test_an_explicit_specialisation_is_listed_under_its_template() -> None:
    text = """template <int N> __device__ int f() { return N; } template <> __device__ int f<3>() { return 33; }
    __global__ void k(int *p) { __shared__ int s[4]; s[f<3>()] = f<2>(); }"""
    found = module(text)
    ((template, (special,)),) = found.specialisations.items()
    assert found.functions[template].specialises is None
    assert show(found.functions[special].body).split()[2] == "33;"
    assert [show(a) for a in found.functions[special].specialises or ()] == ["3"]  # type: ignore[arg-type]


def test_explicit_instantiations_are_read_from_the_text() -> None:
    text = "template <int N, typename T> __global__ void k(T *p) { __shared__ T s[N]; s[0] = p[0]; }\n"
    found = module(
        text
        + "template __global__ void k<32, float>(float *);\ntemplate __global__ void k<64, double>(double *);"
    )
    assert [
        [a.value if hasattr(a, "value") else a.name for a in args] for _, args in found.explicit_instances
    ] == [
        [32, "float"],
        [64, "double"],
    ]


def test_cuda_launch_kernel_is_given_an_array_of_what_leads_to_the_arguments() -> None:
    text = (
        KERNEL
        + """int main() { float *p; int n = 3; void *args[] = {&p, (void *)&n};
    cudaLaunchKernel((const void *)&k<8>, 1, 32, args, 0, 0); }"""
    )
    (launch,) = launches(text)
    assert launch.array is not None and (show(launch.array), launch.arguments) == ("args", ())


def test_cuda_launch_kernel_ex_takes_its_shape_from_the_configuration() -> None:
    text = (
        KERNEL
        + """int main() { float *p; cudaLaunchConfig_t c = {}; c.gridDim = 4; c.blockDim = dim3(64, 2);
    cudaLaunchKernelEx(&c, k<8>, p, 7); }"""
    )
    (found,) = launches(text)
    assert [show(e) for e in (found.kernel, found.grid, found.block) if e] == [
        "k<8>",
        "c.gridDim",
        "c.blockDim",
    ]
    assert [show(a) for a in found.arguments] == ["p", "7"]


def test_a_parameter_keeps_its_default() -> None:
    text = """__device__ void put(float *p, int i = 3);
    __device__ void put(float *p, int i) { p[i] = 0; } __global__ void k() { __shared__ float s[8]; put(s); }"""
    defaults = [p.init for p in function(text, "put").parameters]
    assert defaults[0] is None and defaults[1] is not None and show(defaults[1]) == "3"


def test_a_dependent_value_in_a_functional_cast_is_a_cast() -> None:
    text = "template <typename T> __global__ void k(T *p, int n) { __shared__ T s[4]; s[int(p[0])] = p[n]; }"
    assert lines(text)[1] == "s[(int)p[0]] = p[n];"


def test_methods_that_nothing_names_are_left_out() -> None:
    text = """struct S { int v; __device__ int used() { return v; } __device__ int unused() { return 2; } };
    __global__ void k(S s) { __shared__ int q[4]; q[s.used()] = 0; }"""
    found = module(text)
    assert {f.name for f in found.functions.values()} == {"k", "used"}
    assert set(found.records["S"].methods) == {"used", "unused"}


def test_included_files_are_lowered_as_far_as_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "a.cuh").write_text(
        "__device__ int used(int i) { return i; }\n__global__ void other(int *p) { __shared__ int o[4]; o[0] = p[0]; }\n"
    )
    main = tmp_path / "a.cu"
    main.write_text(
        '#include "a.cuh"\n__global__ void k(int *p) { __shared__ int s[4]; s[used(1)] = p[0]; }\n'
    )
    (found, *_) = load(read_source(main))
    assert {f.name for f in found.functions.values()} == {"k", "used"}
    assert found.unparsed == ()
    assert [name.rpartition("/")[2] for name in found.files] == ["a.cu", "a.cuh"]


def test_a_call_without_the_word_template_covers_its_arguments() -> None:
    text = """
    template <int N, int M> struct Sums {
        template <int C, int D> static __device__ void add(float *s, int t) { s[t * M] = C; }
        template <int C> static __device__ void one(float *s) { s[threadIdx.x] = C; }
    };
    template <int N> __global__ void k(float *p) {
        __shared__ float smem[4096];
        Sums<N, 2>::add<8, N>(smem, threadIdx.x);
        Sums<N, 2>::one<N>(smem);
        p[0] = smem[0];
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    assert module.unparsed == ()
    (kernel,) = module.kernels()
    calls = [n for n in walk(kernel.body) if isinstance(n, Call)]
    assert [[a.place is not None for a in c.arguments] for c in calls] == [[True, True], [True]]


def test_a_macro_is_what_it_is_where_a_template_uses_it() -> None:
    text = "template <int W> __device__ void fill(float *s, int t) { s[t * W] = W; }\n" + "".join(
        f"""#undef WIDE
        #define WIDE {n}
        template <class T> __global__ void k{n}(T *p) {{
            __shared__ T s[512];
            fill<WIDE>((float *)s, threadIdx.x);
        }}
        """
        for n in (4, 2)
    )
    assert [line for n in (4, 2) for line in lines(text, f"k{n}")[1:]] == [
        "fill<4>((float*)s, threadIdx.x);",
        "fill<2>((float*)s, threadIdx.x);",
    ]


def test_methods_of_one_instance_of_a_class_template_stand_beside_those_of_all() -> None:
    text = """
    template <class T> struct Step { static __device__ int of(int t) { return t; } __device__ T *get() const; };
    template <> __device__ inline int Step<double>::of(int t) { return t * 4; }
    template <> __device__ inline float *Step<float>::get() const { extern __shared__ float f[]; return f; }
    __global__ void k(int *p) { p[0] = Step<double>::of(1); }"""
    record = module(text).records["Step"]
    functions = module(text).functions
    found = {name: [functions[id].specialises for id in ids] for name, ids in record.methods.items()}
    assert {name: [s and show_type(s[0]) for s in each] for name, each in found.items()} == {  # type: ignore[arg-type]
        "of": [None, "double"],
        "get": ["float"],
    }
