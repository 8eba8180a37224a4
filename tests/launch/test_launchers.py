"""Functions of a library that was not read, which are given a kernel to start; braces around a shape."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file

KERNEL = """
template <int N, class T> __global__ void sum(int n, const T *in, T *out) {
    __shared__ T s[N];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 2 % N];
}
"""


def launches(host: str) -> set[tuple[tuple[int, ...], str, str]]:
    """Block, type and origin of each launch."""
    report = analyse_file(Job("k.cu", text=KERNEL + host))
    return {(tuple(k.launch.block), dict(k.template_arguments)["T"], k.launch.origin) for k in report.kernels}


@pytest.mark.parametrize(
    "call",
    [
        "gpu::LaunchKernel(sum<256, float>, grid, block, 0, stream, n, in, out)",
        "launch(&sum<256, float>, grid, block, n, in, out)",
        "Launcher::run(stream, sum<256, float>, dim3(n), dim3(256), 0, stream, n, in, out)",
    ],
)
def test_a_kernel_and_two_dim3_make_a_launch(call: str) -> None:
    host = "#include <gpu/launch.hpp>\nvoid go(int n, const float *in, float *out, cudaStream_t stream) {"
    host += f" dim3 block(256), grid(n); {call}; }}\n"
    assert launches(host) == {((256, 1, 1), "float", "k.cu:9")}


def test_the_instances_of_a_template_that_starts_it_are_all_told() -> None:
    host = "#include <gpu/launch.hpp>\ntemplate <class T> void go(int n, const T *in, T *out) {\n"
    host += " constexpr lib::Int size = 128; dim3 block, grid; block.x = size; grid.x = n;\n"
    host += " gpu::LaunchKernel(sum<size, T>, grid, block, 0, 0, n, in, out); }\n"
    host += "template void go(int, const float *, float *);\n"
    host += "template void go(int, const double *, double *);\n"
    assert launches(host) == {((128, 1, 1), t, "k.cu:11") for t in ("float", "double")}


def test_what_is_no_kernel_starts_none() -> None:
    host = "#include <lib.hpp>\nvoid f(int); void go(int n) { lib::call(f, dim3(1), dim3(64), n); }\n"
    assert all(origin != "k.cu:9" for _, _, origin in launches(host))


@pytest.mark.parametrize("library", ["absl", "std"])
def test_a_launcher_may_take_the_bits_of_a_kernel_s_address(library: str) -> None:
    host = "template <typename... Ts, typename... As>"
    host += " void start(void (*f)(Ts...), dim3 g, dim3 b, As... as) {\n"
    host += f" auto at = {library}::bit_cast<const void *>(f); void *given[3];\n"
    host += " cudaLaunchKernel(at, g, b, given, 0, 0); }\n"
    host += "void go(int n, const float *in, float *out) { start(sum<256, float>, n, 128, n, in, out); }\n"
    assert launches(host) == {((128, 1, 1), "float", "k.cu:10")}


@pytest.mark.parametrize(
    ("shape", "block"),
    [
        ("{3, 3}, {16, 4}", (16, 4, 1)),
        ("grid, {32, 2 * 2, 2}, 0, stream", (32, 4, 2)),
        ("{1}, /* threads, */ {64}", (64, 1, 1)),
        ("(1, 2), (32, 8)", (8, 1, 1)),  # the comma operator
        ("dim3{1, 2}, dim3{32, 8}", (32, 8, 1)),
    ],
)
def test_braces_around_a_shape_are_read(shape: str, block: tuple[int, ...]) -> None:
    host = "void go(int n, dim3 grid, cudaStream_t stream, const float *in, float *out) {"
    found = launches(f"{host} sum<256><<<{shape}>>>(n, in, out); }}\n")
    assert found == {(block, "float", "k.cu:8")}


def test_what_stands_behind_braces_keeps_its_place() -> None:
    host = "template <int N, class T> __global__ void sum(int n, const T *in, T *out);\n"
    host += "void go(float *p) { sum<256><<<1, {8, 4}>>>(1, p, p); }"
    report = analyse_file(Job("k.cu", text=host + KERNEL))
    told = {a.expression for k in report.kernels for a in k.accesses}
    assert told == {"s[threadIdx.x]", "s[threadIdx.x * 2 % N]"}


RAW = "void raw(const void *f, dim3 grid, dim3 block, void **given, unsigned bytes);\n"
NODES = """struct Nodes {
    void raw(void *f, dim3 grid, dim3 block, dim3 cluster, unsigned bytes, void **given);
    template <class F, class... As> void node(F f, dim3 grid, dim3 block, dim3 cluster, As &&...as) {
        void *given[] = {(void *)&as...};
        raw(reinterpret_cast<void *>(f), grid, block, cluster, 0, given);
    }
    template <class F, class... As> void add(F *f, dim3 grid, dim3 block, As &&...as) {
        node(f, grid, block, {}, as...);
    }
};
"""
HEAD = "int n, const float *in, float *out"


@pytest.mark.parametrize(
    ("declared", "host"),
    [
        pytest.param(
            RAW, f"void go({HEAD}) {{ raw((const void *)sum<256, float>, n, 128, 0, 0); }}", id="by cast"
        ),
        pytest.param(
            RAW,
            f"void go({HEAD}) {{ auto k = sum<256, float>; raw((void *)k, dim3(n), dim3(128), 0, 0); }}",
            id="in a variable",
        ),
        pytest.param(
            NODES,
            f"void go(Nodes &x, {HEAD}) {{ auto k = sum<256, float>; x.add(k, n, {{128, 1}}, n, in, out); }}",
            id="through methods",
        ),
    ],
)
def test_a_kernel_s_address_and_two_dim3_that_go_where_nothing_is_read_make_a_launch(
    declared: str, host: str
) -> None:
    found = launches(declared + host)
    assert {(block, type_) for block, type_, _ in found} == {((128, 1, 1), "float")}
    assert all(origin.startswith("k.cu:") for _, _, origin in found)


def test_a_function_with_a_body_is_followed_instead() -> None:
    host = "void raw(const void *f, dim3 g, dim3 b) { cudaLaunchKernel(f, g, b.x * 2, 0, 0, 0); }\n"
    host += f"void go({HEAD}) {{ raw((const void *)sum<256, float>, dim3(n), dim3(64)); }}\n"
    assert launches(host) == {((128, 1, 1), "float", "k.cu:8")}


TAGS = """namespace lib { template <class T> struct tag { using type = T; }; }
template <class F> void each(int d, F &&f) { if (d) f(lib::tag<float>{}); else f(lib::tag<double>{}); }
template <class F> void sizes(int d, F &&f) {
    if (d < 64) f(std::integral_constant<int, 64>()); else f(std::integral_constant<int, 128>());
}
"""


@pytest.mark.parametrize("type_", ["typename decltype(x)::type", "typename std::decay_t<decltype(x)>::type"])
def test_generic_lambdas_are_given_types_and_numbers_by_tags(type_: str) -> None:
    host = f"{TAGS}void go(int d, int n, const void *in, void *out) {{ each(d, [&](auto x) {{\n"
    host += f"using T = {type_}; sizes(n, [&](auto size) {{\n"
    host += "sum<size(), T><<<n, size()>>>(n, (const T *)in, (T *)out); }); }); }\n"
    assert {(b[0], t) for b, t, _ in launches(host)} == {
        (b, t) for b in (64, 128) for t in ("float", "double")
    }


@pytest.mark.parametrize("shape", ["size", "size()", "decltype(size){}"])
def test_a_tag_may_be_a_shape(shape: str) -> None:
    host = f"{TAGS}void go({HEAD}) {{ sizes(n, [&](auto size) {{\n"
    host += f"sum<256, float><<<n, {shape}>>>(n, in, out); }}); }}\n"
    assert {b[0] for b, _, _ in launches(host)} == {64, 128}


@pytest.mark.parametrize(
    "starts",
    [
        "((n == Ns && (sum<Ns, float><<<1, Ns>>>(n, in, out), true)) || ...);",
        "(void)((n == Ns ? (sum<Ns, float><<<1, Ns>>>(n, in, out), 0) : 1) + ...);",
        "((sum<Ns, float><<<1, Ns>>>(n, in, out)), ...);",
    ],
)
def test_a_launch_in_a_fold_is_one_for_each_element(starts: str) -> None:
    host = f"template <int... Ns> void all({HEAD}) {{\n{starts} }}\n"
    host += f"void go({HEAD}) {{ all<64, 96, 128>(n, in, out); }}\n"
    assert {b[0] for b, _, _ in launches(host)} == {64, 96, 128}


@pytest.mark.parametrize(
    "starts",
    [
        "n > 8 && (sum<256, float><<<1, n > 16 ? 64 : 96>>>(n, in, out), true);",
        "n > 8 ? sum<256, float><<<1, 64>>>(n, in, out) : sum<256, float><<<1, 96>>>(n, in, out);",
        "if (n > 8 && start(n > 16 ? 64 : 96, in, out)) return;",
    ],
)
def test_a_launch_in_an_operand_is_found(starts: str) -> None:
    host = "bool start(int t, const float *in, float *out) {"
    host += " return (sum<256, float><<<1, t>>>(9, in, out), true); }\n"
    assert {b[0] for b, _, _ in launches(f"{host}void go({HEAD}) {{ {starts} }}\n")} >= {64, 96}


def test_an_operand_that_is_never_reached_starts_nothing() -> None:
    host = f"template <bool B> void any({HEAD}) {{ B && (sum<256, float><<<1, 64>>>(n, in, out), true);\n"
    host += f" sum<256, float><<<1, 96>>>(n, in, out); }}\nvoid go({HEAD}) {{ any<false>(n, in, out); }}\n"
    assert {b[0] for b, _, _ in launches(host)} == {96}


@pytest.mark.parametrize("shape", ["4, 96, 0, 0", "dim3(4), 96", "{4, 1}, {32, 3}"])
def test_a_launch_configuration_in_braces_tells_the_block(shape: str) -> None:
    host = f"void go({HEAD}) {{ cudaLaunchConfig_t c{{{shape}}};\n"
    host += "cudaLaunchKernelEx(&c, sum<256, float>, n, in, out); }\n"
    ((block, _, _),) = launches(host)
    assert block[0] * block[1] * block[2] == 96


def test_the_member_of_an_expression_s_type_may_stand_among_template_arguments() -> None:
    host = TAGS.replace("lib::", "").replace("namespace lib", "inline namespace lib")
    host += "void go(int d, int n, const void *in, void *out) { each(d, [&](auto x) {\n"
    host += "sum<64, typename decltype(x)::type><<<n, 64>>>(n, 0, 0); }); }\n"
    assert {(b[0], t) for b, t, _ in launches(host)} == {(64, "float"), (64, "double")}


GETTERS = [
    pytest.param("Queue &queue(int);", "auto &q = queue(0); q.go(n, in, out);", id="by reference"),
    pytest.param("Queue &queue(int);", "queue(0).go(n, in, out);", id="at once"),
    pytest.param("Queue *queue(int);", "queue(0)->go(n, in, out);", id="by pointer"),
    pytest.param(
        "struct Manager { static Manager &instance(); Queue &queue(int); };",
        "Manager::instance().queue(0).go(n, in, out);",
        id="a singleton",
    ),
    pytest.param(
        "struct Manager { std::shared_ptr<Queue> queue; }; Manager &manager();",
        "manager().queue->go(n, in, out);",
        id="a smart pointer",
    ),
]


@pytest.mark.parametrize(("declared", "body"), GETTERS)
def test_methods_of_objects_that_come_from_elsewhere_are_followed(declared: str, body: str) -> None:
    """What is known of such an object is its class: what the method is given is what counts."""
    host = "struct Queue { int threads; template <class T> void go(int n, const T *in, T *out) {"
    host += " sum<256, T><<<n, 128>>>(n, in, out); } };\n"
    host += f"{declared}\nvoid run({HEAD}) {{ {body} }}\n"
    assert launches(host) == {((128, 1, 1), "float", "k.cu:8")}


def test_a_member_of_an_object_that_comes_from_elsewhere_is_not_known() -> None:
    host = f"struct Queue {{ int threads = 64; void go({HEAD}) {{\n"
    host += "sum<256, float><<<n, threads>>>(n, in, out); } void set(int n) { threads = n; } };\n"
    host += f"Queue &queue(); void run({HEAD}) {{ queue().go(n, in, out); }}\n"
    assert len(launches(host)) > 1
