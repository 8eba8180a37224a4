"""What `__launch_bounds__` says of a block that host code computes; which of many launches are looked at."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.diagnose.model import KernelReport

NORM = """
#define MIN(x, y) ((x) < (y) ? (x) : (y))
template <typename in_t, typename out_t, int mode>
__global__ __launch_bounds__(1024) void norm(const in_t *x, out_t *y, int dim) {
    __shared__ float sums[32];
    __shared__ float columns[2048];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < dim; i += blockDim.x) sum += (float) x[i];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) sums[warp] = sum;
    columns[threadIdx.x * 64 / blockDim.x] = sum;
    __syncthreads();
    y[threadIdx.x] = (out_t) (sums[lane] + columns[threadIdx.x] + mode);
}
"""
ONE = """
void go(const float *x, float *y, int rows, int dim) { norm<float, float, 0><<<rows, BLOCK>>>(x, y, dim); }
"""
LAUNCHERS = """
template <typename T> __global__ void scale(T *p, int n) {
    __shared__ T s[1024];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
template <typename T> void launcher(T *p, int n) { scale<T><<<1, 256>>>(p, n); }
template <> void launcher(double *p, int n) { scale<double><<<1, 64>>>(p, n); }
template void launcher<float>(float *p, int n);
template void launcher<double>(double *p, int n);
"""


def reports(text: str) -> tuple[KernelReport, ...]:
    return analyse_file(Job("k.cu", text=text)).kernels


def test_bounds_are_the_block_of_a_launch_that_says_nothing_else() -> None:
    instance = "template __global__ void norm<float, float, 0>(const float *, float *, int);"
    (kernel,) = reports(NORM.replace("__(1024)", "__(512)") + instance)
    assert kernel.launch.block == (512, 1, 1)
    assert {a.grade for a in kernel.accesses} == {"exact"}
    # as many as any block may have
    (kernel,) = reports(NORM + instance)
    assert kernel.launch.block == (1024, 1, 1)
    assert {a.grade for a in kernel.accesses} == {"assumed"}


HELPERS = {
    "a function": ("__device__ void turn(float *p) { BODY }", "turn(p)"),
    "a template": ("template <class T> __device__ void turn(T *p) { BODY }", "turn<float>(p)"),
    "a method": ("struct Tile { float *p; __device__ void turn() { BODY } };", "Tile{p}.turn()"),
    "a dependent method": (
        "struct Tile { float *p; __device__ void turn() { BODY } };\n"
        "template <class V> __device__ void go(V v) { v.turn(); }",
        "go(Tile{p})",
    ),
}
TURN = "__shared__ float s[2][32][33]; s[threadIdx.AXIS][threadIdx.x][0] = p[0]; p[1] = s[0][0][threadIdx.x];"


@pytest.mark.parametrize("name", HELPERS)
@pytest.mark.parametrize(("axis", "shape"), [("y", (32, 4, 1)), ("z", (32, 2, 2))])
def test_bounds_tell_no_block_of_a_kernel_that_calls_what_names_more_axes(
    name: str, axis: str, shape: tuple[int, int, int]
) -> None:
    helper, call = HELPERS[name]
    text = helper.replace("BODY", TURN.replace("AXIS", axis))
    text += f"\n__global__ void __launch_bounds__(128) k(float *p) {{ {call}; }}"
    told = reports(text)
    assert shape in [k.launch.block for k in told]
    assert not any(a.grade == "exact" and a.op == "store" for k in told for a in k.accesses)


def test_bounds_are_a_limit_where_host_code_computes_the_number_of_threads() -> None:
    for block in ("MIN(1024, (dim / 4 + 31) / 32 * 32)", "dim"):
        told = reports(NORM + ONE.replace("BLOCK", block))
        by_text = {a.expression: a for a in told[0].accesses}
        assert told[0].launch.block == (1024, 1, 1)
        assert by_text["sums[warp]"].any_block
        assert by_text["sums[warp]"].grade == "exact"
        depends = by_text["columns[threadIdx.x * 64 / blockDim.x]"]
        assert (depends.any_block, depends.grade) == (False, "assumed")


def test_of_many_instances_with_an_open_block_each_is_looked_at() -> None:
    modes = range(24)
    launches = "".join(f"if (mode == {i}) norm<float, float, {i}><<<rows, dim>>>(x, y, dim);" for i in modes)
    kernels = reports(
        f"{NORM}void go(const float *x, float *y, int rows, int dim, int mode) {{ {launches} }}\n"
    )
    assert {dict(k.template_arguments)["mode"] for k in kernels} == {str(i) for i in modes}


def test_an_instantiation_of_a_specialised_launcher_runs_the_specialisation() -> None:
    assert [(dict(k.template_arguments)["T"], k.launch.block) for k in reports(LAUNCHERS)] == [
        ("float", (256, 1, 1)),
        ("double", (64, 1, 1)),
    ]


TILE = """
template <class T, int M> __device__ void turn(const T *x, T *y, T tile[M][M], int n) {
    tile[threadIdx.x][threadIdx.y] = x[threadIdx.y * n + threadIdx.x];
    __syncthreads();
    y[threadIdx.y * n + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}
__global__ void __launch_bounds__(ALL) k(const float *x, float *y, int n) {
    __shared__ float s[SIDE][SIDE];
    turn<float, SIDE>(x, y, s, n);
}
"""


@pytest.mark.parametrize(("side", "ways"), [(8, 2), (16, 8), (32, 32)])
def test_a_block_of_bounded_size_that_leaves_an_array_is_not_meant(side: int, ways: int) -> None:
    (kernel,) = reports(TILE.replace("ALL", str(side * side)).replace("SIDE", str(side)))
    assert kernel.launch.block == (side, side, 1) and kernel.launch.assumed
    lanes = [(lane % side) * side + lane // side for lane in range(32)]
    banks = [len({word for word in lanes if word % 32 == bank}) for bank in range(32)]
    (store,) = (a for a in kernel.accesses if a.op == "store")
    assert store.ways == max(banks) == ways


def test_rows_that_are_as_large_as_bounds_tell_the_block() -> None:
    text = "__global__ void __launch_bounds__(256) k(float *p) { __shared__ float s[4][64];"
    (kernel,) = reports(text + " s[threadIdx.y][threadIdx.x] = p[0]; p[1] = s[0][threadIdx.x]; }")
    assert (kernel.launch.block, kernel.launch.origin) == ((64, 4, 1), "implied by s[4][64]")


def test_a_kernel_without_a_launch_whose_arrays_may_be_others_is_told() -> None:
    text = """
template <bool SPARE, typename T> __global__ void tile(const T *in, T *out, char *spare) {
    extern __shared__ char smem[];
    T *rows = reinterpret_cast<T *>(SPARE ? spare + blockIdx.x * 4096 : smem);
    rows[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = rows[threadIdx.x * 2];
}
"""
    report = analyse_file(Job("k.cu", text=text))
    assert not report.problems
    (kernel,) = report.kernels
    assert [(a.line, a.op) for a in kernel.accesses] == [(5, "store"), (7, "load")]
