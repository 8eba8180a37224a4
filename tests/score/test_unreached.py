"""Accesses that no launch reaches are listed, each with its cause, and none of them twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from smemlint.rules import Severity

from smemlint.api import Job, View, analyse_file, check
from smemlint.diagnose.model import FileReport
from smemlint.running import schedule
from smemlint.running.schedule import Ends

REDUCE = """\
template <int THREADS> __global__ void reduce(float *out) {
    __shared__ float s[THREADS];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    if (THREADS >= 512 && threadIdx.x < 256)
        s[threadIdx.x] += s[threadIdx.x + 256];
    out[0] = s[0];
}
"""
START = "void start(float *p) { reduce<128><<<1, 128>>>(p); }\n"
BLOCK_SUM = """\
template <bool SHARE> __device__ float blockSum(float v) {
    __shared__ float part[32];
    part[threadIdx.x / 32] = v;
    if constexpr (SHARE)
        part[0] = v;
    return v;
}
"""
SUM = """\
__global__ void sum(float *p) { p[0] = blockSum<false>(p[1]); }
void go(float *p) { sum<<<1, 64>>>(p); }
"""


def report(text: str) -> FileReport:
    return analyse_file(Job("k.cu", text=text))


def unreached(text: str) -> list[tuple[str, int, str, str]]:
    """(kernel, line, operation, reason) of each access that only the text shows."""
    return [
        (k.name, a.line, a.op, f"{a.reason[0]}: {a.reason[1]}" if a.reason else "")
        for k in report(text).kernels
        for a in k.accesses
        if not a.reached
    ]


def test_code_that_the_launch_switches_off_is_listed() -> None:
    why = "not-reached: no known launch of `reduce` reaches this line"
    assert unreached(REDUCE + START) == [
        ("reduce", 6, "load", why),
        ("reduce", 6, "store", why),
        ("reduce", 6, "load", why),
    ]


def test_what_one_launch_reaches_is_not_listed() -> None:
    assert unreached(REDUCE + START + START.replace("start", "other").replace("128", "512")) == []


def test_what_another_configuration_reaches_is_not_listed() -> None:
    text = """\
__global__ void k(float *p) {
    __shared__ float s[64];
    int t = threadIdx.x;
#if __CUDA_ARCH__ >= 1000
    bool wide = true;
#else
    bool wide = false;
#endif
    if (wide) s[t] = 1;
    else s[t] = p[t];
#if __CUDA_ARCH__ >= 1000
    s[t + 32] = 2;
#endif
    p[t] = s[t];
}
void go(float *p) { k<<<1, 32>>>(p); }
"""
    found = report(text)
    assert {k.configuration for k in found.kernels} > {""}
    assert unreached(text) == []


def test_without_a_launch_that_is_said() -> None:
    text = REDUCE.replace("template <int THREADS> ", "#define THREADS 128\n")
    assert {reason for *_, reason in unreached(text)} == {
        "not-reached: no launch of `reduce` is known, and no block shape that was tried reaches this line"
    }


def test_a_branch_of_a_device_function_goes_to_the_kernel_that_calls_it() -> None:
    assert unreached(BLOCK_SUM + SUM) == [
        ("sum", 5, "store", "not-reached: no known launch of `sum` reaches this line")
    ]


def test_a_device_function_that_nothing_calls_is_an_entry_of_its_own() -> None:
    (entry,) = report(BLOCK_SUM).kernels
    assert (entry.name, entry.device, entry.launch.assumed, entry.notes) == ("blockSum", True, False, ())
    assert [(a.line, a.reason) for a in entry.accesses] == [
        (3, ("not-reached", "no kernel of this file calls `blockSum`")),
        (5, ("not-reached", "no kernel of this file calls `blockSum`")),
    ]


def test_so_is_one_that_only_such_functions_call() -> None:
    middle = "__device__ float middle(float v) { return blockSum<true>(v); }\n"
    kernel = "__global__ void k(float *p) { p[0] = 0; }\nvoid go(float *p) { k<<<1, 32>>>(p); }\n"
    assert {(k, reason) for k, *_, reason in unreached(BLOCK_SUM + middle + kernel)} == {
        ("blockSum", "not-reached: no kernel of this file calls `blockSum`")
    }


def test_a_method_that_a_kernel_uses_belongs_to_it() -> None:
    text = """\
struct Scan {
    float *out;
    __device__ Scan(float *p) : out(p) {}
    __device__ void run(int n) { __shared__ float s[32]; s[threadIdx.x] = 1; if (n > 4) s[0] = 2;
        if (n > 4) s[1] = 3;
        out[0] = s[0]; }
};
__global__ void k(float *p) { Scan scan(p); scan.run(2); }
void go(float *p) { k<<<1, 32>>>(p); }
"""
    assert [(k, line) for k, line, *_ in unreached(text)] == [("k", 5)]


def test_what_a_call_does_with_a_reference_is_not_listed_again() -> None:
    text = """\
__device__ void swap(float &x, float &y) { float t = x; x = y; y = t; }
__global__ void k(float *p) {
    __shared__ float s[64];
    s[threadIdx.x] = p[threadIdx.x];
    swap(
        s[threadIdx.x],
        s[threadIdx.x + 32]);
    if (blockDim.x > 32)
        swap(s[0],
            s[1]);
}
void go(float *p) { k<<<1, 32>>>(p); }
"""
    assert [line for _, line, *_ in unreached(text)] == [9, 10]


@pytest.mark.parametrize(
    "larger",
    [
        "Larger larger;",
        "auto larger = [](const float &a, const float &b) { return a > b ? a : b; };",
    ],
    ids=["functor", "lambda"],
)
def test_what_an_object_that_is_called_does_with_a_reference_is_not_listed_again(larger: str) -> None:
    text = f"""
struct Larger {{
    __device__ float operator()(const float &a, const float &b) const {{ return a > b ? a : b; }}
}};
__global__ void k(float *out, int n) {{
    {larger}
    __shared__ float s[64];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[n] = larger(s[threadIdx.x], s[threadIdx.x ^ 1]);
}}
void go(float *p, int n) {{ k<<<1, 64>>>(p, n); }}
"""
    assert unreached(text) == []


def test_a_kernel_that_was_stopped_gives_its_own_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "WORK", 4)
    monkeypatch.setattr(schedule, "SHARE", 4)
    found = unreached(REDUCE + START)
    assert {reason.split(":")[0] for *_, reason in found} == {"budget"}


def test_a_place_of_which_a_note_tells_more_keeps_that_reason() -> None:
    text = """\
__global__ void k(float *p) {
    typedef cub::WarpReduce<float> Warp;
    __shared__ typename Warp::TempStorage storage[4];
    p[threadIdx.x] = Warp(storage[threadIdx.x / 32]).Sum(p[threadIdx.x]);
}
void go(float *p) { k<<<1, 128>>>(p); }
"""
    ((_, line, _, reason),) = unreached(text)
    assert (line, reason.split(":")[0]) == (4, "library-storage")


def test_no_finding_comes_of_it() -> None:
    text = """\
extern __shared__ float dynamic[];
__global__ void k(float *p) {
    __shared__ float t[32][33];
    t[threadIdx.y][threadIdx.x] = *p;
    dynamic[threadIdx.x] = t[threadIdx.x][threadIdx.y];
    if (blockDim.x > 32) {
        reinterpret_cast<float4 *>(dynamic)[threadIdx.x] = make_float4(0, 0, 0, 0);
        *reinterpret_cast<float4 *>(&t[threadIdx.y][4 * threadIdx.x]) = make_float4(0, 0, 0, 0);
        t[0][32 * threadIdx.x] = 1;
    }
}
void go(float *p) { k<<<1, dim3(32, 8), 128>>>(p); }
"""
    assert [line for _, line, *_ in unreached(text)] == [7, 8, 9]
    found = check([Job("k.cu", text=text)], View(level=Severity.NOTE)).diagnostics
    assert [(d.code, d.place.line) for d in found] == [("SMEM901", 7), ("SMEM901", 8), ("SMEM901", 9)]


def test_functions_of_other_files_are_left_to_them(tmp_path: Path) -> None:
    (tmp_path / "sum.cuh").write_text(BLOCK_SUM)
    path = tmp_path / "k.cu"
    path.write_text('#include "sum.cuh"\n' + SUM)
    (kernel,) = analyse_file(Job(str(path))).kernels
    assert [(a.line, a.reached) for a in kernel.accesses] == [(3, True)]


def test_each_kernel_is_listed_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ends, "of", lambda began, seconds: Ends(began, began, began - 1, began))
    found = unreached(REDUCE + START)
    assert [(line, reason.split(":")[0]) for _, line, _, reason in found] == [
        (line, "time") for line in (3, 6, 6, 6, 7)
    ]


OBJECTS = """\
template <typename T> struct Sum {
    %s
    __device__ Sum operator+(const Sum &o) const { Sum r; r.v = v + o.v; r.n = n + o.n; return r; }
};
template <typename T> __global__ void k(T *out) {
    __shared__ Sum<T> all[32];
    Sum<T> w;
    all[threadIdx.x] = w;
    __syncthreads();
    w = w +
        all[3];
    w = all[4]
        + w;
    out[0] = w.v + all[0].n;
}
__global__ void plain(float *out) {
    __shared__ Sum<float> all[32];
    Sum<float> w;
    all[threadIdx.x] = w;
    w = w +
        all[3];
    out[0] = w.v + all[0].n;
}
void go(float *p) { k<<<1, 32>>>(p); plain<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize("members", ["T v; int n;", "T v = 0; int n = 0;"])
def test_objects_that_an_operator_is_given_are_read_in_it(members: str) -> None:
    """Clang lets no class with initialisers of members be shared; nvcc does."""
    assert unreached(OBJECTS % members) == []
    assert report(OBJECTS % members).unparsed == ()


def test_an_array_of_a_type_that_no_file_declares_is_accessed_all_the_same() -> None:
    text = """
    __device__ void bins(U32 *p)
    {
        __shared__ volatile U32 total[64];
        total[threadIdx.x] = 0;
        if (total[threadIdx.x + 1] > 3) p[0] = total[2];
    }
    """
    report = analyse_file(Job("/t/bins.inl", text=text))
    told = [(a.op, a.expression, a.reason[0] if a.reason else "") for k in report.kernels for a in k.accesses]
    assert told == [
        ("store", "total[threadIdx.x]", "not-reached"),
        ("load", "total[threadIdx.x + 1]", "not-reached"),
        ("load", "total[2]", "not-reached"),
    ]
