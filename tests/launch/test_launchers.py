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
    return {(tuple(k.block), dict(k.template_arguments)["T"], k.origin) for k in report.kernels}


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
