"""Launches that other files of a project tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smemlint.api import analyse_file
from smemlint.launch import linking
from smemlint.launch.model import Started
from smemlint.running.jobs import Job, Options

SCAN = """
#define THREADS 256
__global__ void scan_kernel(unsigned *out, const unsigned *in, unsigned size) {
    __shared__ unsigned s[2 * THREADS];
    unsigned pos = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    s[pos] = 0;
    s[pos + size] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[pos + size];
}
extern "C" void scan(unsigned *out, const unsigned *in, unsigned batch, unsigned length) {
    scan_kernel<<<batch, THREADS>>>(out, in, length);
}
"""
MAIN = """
extern "C" void scan(unsigned *, const unsigned *, unsigned, unsigned);
int main(int argc, char **argv) {
    unsigned *in = 0, *out = 0;
    scan(out, in, 64, 1024);
    return 0;
}
"""
HEADER = """
__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[TILE][TILE];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def write(folder: Path, **files: str) -> Path:
    (folder / "Makefile").write_text("all:\n")
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    return folder


def launches(path: Path) -> list[tuple[str, tuple[int, int, int], bool, str]]:
    report = analyse_file(Job(str(path), Options(suggest=False)))
    assert not report.problems
    return [(k.name, k.launch.block, k.launch.assumed, k.launch.origin) for k in report.kernels]


def test_a_wrapper_gets_its_arguments_from_the_file_that_calls_it(tmp_path: Path) -> None:
    folder = write(tmp_path, scan_dot_cu=SCAN, main_dot_cpp=MAIN)
    [kernel] = analyse_file(Job(str(folder / "scan.cu"), Options(suggest=False))).kernels
    assert kernel.launch.block == (256, 1, 1) and kernel.launch.grid == (64, 1, 1)
    assert kernel.launch.origin.startswith("scan.cu:")
    assert {a.grade for a in kernel.accesses} == {"exact"}


WIDTH = """#include "width.h"
int width = 64;
__global__ void k(int *p) { __shared__ int s[352]; s[threadIdx.x] = 1; __syncthreads(); *p = s[threadIdx.x]; }
"""
SETTING = {
    "called where it starts": ("configure(); ", "void configure() { width = 352; } int main() { run(0); }"),
    "called before": ("", "void configure() { width = 352; } int main() { configure(); run(0); }"),
    "by the caller": ("", "int main() { width = 352; run(0); }"),
}


@pytest.mark.parametrize("by", SETTING)
def test_a_number_that_a_header_shares_is_what_another_file_sets_it_to(tmp_path: Path, by: str) -> None:
    before, main = SETTING[by]
    folder = write(
        tmp_path,
        width_dot_h="extern int width; void configure(); void run(int *);\n",
        run_dot_cu=f"{WIDTH}void run(int *p) {{ {before}k<<<1, width>>>(p); }}\n",
        main_dot_cu=f'#include "width.h"\n{main}\n',
    )
    assert launches(folder / "run.cu") == [("k", (352, 1, 1), False, "run.cu:4")]


@pytest.mark.parametrize(
    ("main", "known"),
    [
        ("static struct Begin { Begin() { width = 352; } } begin; int main() { run(0); }", False),
        ("void choose(int n) { width = n; } int main(int n, char **) { choose(n); run(0); }", False),
        ("int twice() { return width * 2; } int main() { run(0); }", True),
    ],
)
def test_a_number_that_a_header_shares_and_another_file_sets(tmp_path: Path, main: str, known: bool) -> None:
    folder = write(
        tmp_path,
        width_dot_h="extern int width; void run(int *);\n",
        run_dot_cu=f"{WIDTH}void run(int *p) {{ k<<<1, width>>>(p); }}\n",
        main_dot_cu=f'#include "width.h"\n{main}\n',
    )
    report = analyse_file(Job(str(folder / "run.cu"), Options(suggest=False)))
    assert all(k.launch.assumed is not known for k in report.kernels)


def test_without_the_caller_the_arguments_stay_unknown(tmp_path: Path) -> None:
    folder = write(tmp_path, scan_dot_cu=SCAN)
    [kernel] = analyse_file(Job(str(folder / "scan.cu"), Options(suggest=False))).kernels
    assert kernel.launch.block == (256, 1, 1) and kernel.launch.grid[0] is None


def test_a_header_is_read_through_the_file_that_starts_its_kernel(tmp_path: Path) -> None:
    main = '#define TILE 16\n#include "kernel.cuh"\n'
    main += "int main() { transpose<<<1, dim3(TILE, TILE)>>>(0, 0); }\n"
    folder = write(tmp_path, kernel_dot_cuh=HEADER, main_dot_cu=main)
    assert launches(folder / "kernel.cuh") == [("transpose", (16, 16, 1), False, "main.cu:3")]


def test_a_kernel_declared_in_the_file_that_starts_it(tmp_path: Path) -> None:
    kernel = "__global__ void fill(int *p) { __shared__ int s[64]; s[threadIdx.x] = 1; *p = s[0]; }\n"
    main = "__global__ void fill(int *p);\nint main() { fill<<<1, 64>>>(0); }\n"
    folder = write(tmp_path, fill_dot_cu=kernel, main_dot_cu=main)
    assert launches(folder / "fill.cu") == [("fill", (64, 1, 1), False, "main.cu:2")]


def test_another_program_in_the_folder_says_nothing(tmp_path: Path) -> None:
    other = SCAN + "int main() { scan(0, 0, 8, 512); }\n"
    folder = write(tmp_path, scan_dot_cu=SCAN, other_dot_cu=other)
    [kernel] = analyse_file(Job(str(folder / "scan.cu"), Options(suggest=False))).kernels
    assert kernel.launch.grid[0] is None


def test_folders_above_a_build_file_are_not_searched(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    folder = write(tmp_path / "one", scan_dot_cu=SCAN)
    (tmp_path / "main.cpp").write_text(MAIN)
    [kernel] = analyse_file(Job(str(folder / "scan.cu"), Options(suggest=False))).kernels
    assert kernel.launch.grid[0] is None


def test_a_kernel_of_the_same_name_in_another_file_is_another_kernel(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    body = "{ __shared__ float s[64]; s[threadIdx.x] = *p; }\n"
    (tmp_path / "a.cu").write_text(f"__global__ void k(float *p) {body}")
    other = f"template <class T> __global__ void k(T *p, int n) {body}"
    other += "template <class T> void go(T *p) { k<<<1, 64>>>(p, 3); }\nvoid all(int *p) { go(p); }\n"
    (tmp_path / "b.cu").write_text(other)
    (kernel,) = analyse_file(Job(str(tmp_path / "a.cu"))).kernels
    assert kernel.launch.assumed


SIZES = """
namespace fft {
struct Small { static const int length = 256; };
struct Large { static const int length = 512; };
template <class Plan> __global__ void transform(float2 *x) {
    __shared__ float2 s[Plan::length];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x * 2];
}
void call_transform(const dim3 &grid, const dim3 &block, float2 *x, int n) {
    switch (n) {
        case 256: transform<Small><<<grid, block>>>(x); break;
        case 512: transform<Large><<<grid, block>>>(x); break;
        default: break;
    }
}
}
"""
DECLARED = "namespace fft { void call_transform(const dim3 &grid, const dim3 &block, float2 *x, int n); }\n"


def blocks(folder: Path) -> set[tuple[int, bool]]:
    """(threads, whether they are assumed) of the launches of kernel.cu."""
    return {(block[0], assumed) for _, block, assumed, _ in launches(folder / "kernel.cu")}


def test_a_wrapper_of_a_namespace_is_given_its_block_by_another_file(tmp_path: Path) -> None:
    caller = """
    namespace fft {
    void forward(float2 *x, int n) { dim3 grid(4), block(n / 4); call_transform(grid, block, x, n); }
    }
    """
    folder = write(tmp_path, kernel_dot_cu=DECLARED + SIZES, user_dot_cpp=DECLARED + caller)
    assert blocks(folder) == {(64, False), (128, False)}


def test_a_wrapper_is_called_by_its_qualified_name_from_a_template(tmp_path: Path) -> None:
    caller = """
    template <typename T> void forward(T *x, int n) {
        dim3 block(n / 4, 1, 1);
        fft::call_transform(dim3(4), block, x, n);
    }
    void all(float2 *x, int n) { forward(x, n); }
    """
    folder = write(tmp_path, kernel_dot_cu=DECLARED + SIZES, user_dot_cpp=DECLARED + caller)
    assert blocks(folder) == {(64, False), (128, False)}


def test_a_block_in_a_member_of_a_configuration_is_what_its_constructor_sets(tmp_path: Path) -> None:
    caller = """
    namespace fft {
    class Plan {
      public:
        dim3 grid, block;
        int length;
        Plan(int n) { length = n; choose(); }
        void choose() { grid.x = 4; block.x = length / 4; block.y = 1; block.z = 1; }
    };
    void forward(float2 *x, Plan *plan) { call_transform(plan->grid, plan->block, x, plan->length); }
    void all(float2 *x, int n) { Plan plan(n); forward(x, &plan); }
    }
    """
    folder = write(tmp_path, kernel_dot_cu=DECLARED + SIZES, user_dot_cpp=DECLARED + caller)
    assert blocks(folder) == {(64, False), (128, False)}


def test_a_file_that_starts_a_kernel_through_headers_is_not_replaced_by_one_of_these(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        field_dot_hpp="class field { unsigned long long value; };\ntypedef field fr_t;\n",
        kernel_dot_cu="""
template <unsigned Z, typename fr_t> __global__ void reverse(fr_t *out, unsigned lg) {
    extern __shared__ unsigned long long s[];
    s[threadIdx.x * Z / 16] = lg;
}
""",
        ntt_dot_cuh="""
#include "kernel.cu"
class NTT {
public:
    static void base(fr_t *d, unsigned lg) {
        const unsigned Z = 256 / sizeof(fr_t);
        reverse<Z><<<(1 << lg) / Z, 64, 64 * sizeof(fr_t)>>>(d, lg);
    }
};
""",
        api_dot_cu="""
#include "field.hpp"
#include "ntt.cuh"
extern "C" void compute(fr_t *d, unsigned lg) { NTT::base(d, lg); }
""",
    )
    [kernel] = analyse_file(Job(str(folder / "api.cu"), Options(suggest=False))).kernels
    assert not kernel.launch.assumed
    assert dict(kernel.template_arguments) == {"Z": "32", "fr_t": "field"}
    assert [(a.wavefronts, a.ideal, a.grade) for a in kernel.accesses] == [(8, 4, "exact")]


SPEC = "struct Spec { void *kernel; int width; };\ntemplate <class T> Spec choose(int wide);\n"
CHOSEN = """
#include "spec.h"
template <class T, int W> __global__ void turn(T *p) {
    __shared__ T tile[W][W];
    tile[threadIdx.x % W][threadIdx.x / W] = p[threadIdx.x];
}
template <class T> Spec choose(int wide) {
    Spec s = {(void *)turn<T, 8>, 8};
    if (wide > 8) s = {(void *)turn<T, 16>, 16};
    return s;
}
template Spec choose<float>(int wide);
"""
CHOOSING = """
#include "spec.h"
void run(float *p, int wide) {
    Spec s = choose<float>(wide);
    void *args[] = {&p};
    cudaLaunchKernel(s.kernel, dim3(1), dim3(64), args, 0, 0);
}
"""


def test_a_kernel_that_a_record_carries_is_started_where_the_record_is_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path, spec_dot_h=SPEC, turn_dot_cu=CHOSEN, run_dot_cpp=CHOOSING)
    report = analyse_file(Job(str(folder / "turn.cu"), Options(suggest=False)))
    found = {
        dict(k.template_arguments)["W"]: (
            k.launch.block,
            k.launch.assumed,
            {a.wavefronts for a in k.accesses},
        )
        for k in report.kernels
    }
    # a warp writes 32 / W columns of W rows; rows lie W words apart: W * W / 32 rows share a bank
    assert found == {"8": ((64, 1, 1), False, {4}), "16": ((64, 1, 1), False, {16})}


SUM = """
__global__ void sum(float *out, const float *in) {
    extern __shared__ float part[];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}
"""
START = 'extern "C" void start(float *p, const dim3 threads) { sum<<<1, threads, 4096>>>(p, p); }\n'


def test_a_class_of_a_header_that_calls_a_wrapper_is_made_in_a_third_file(tmp_path: Path) -> None:
    header = """
    extern "C" void start(float *p, const dim3 threads);
    class Filter {
        unsigned width;
    public:
        Filter() : width(0) {}
        void set(unsigned n) { width = n; }
        void run(float *p) { const dim3 threads(width, width); start(p, threads); }
    };
    """
    main = '#include "filter.h"\nint main() { Filter f; f.set(8); f.run(0); }\n'
    folder = write(tmp_path, sum_dot_cu=SUM + START, filter_dot_h=header, main_dot_cpp=main)
    assert launches(folder / "sum.cu") == [("sum", (8, 8, 1), False, "sum.cu:8")]


def test_a_wrapper_of_a_wrapper_is_called_in_a_third_file(tmp_path: Path) -> None:
    middle = "void start(float *p, dim3 threads);\nvoid filter(float *p, int n) { start(p, dim3(n)); }\n"
    main = "void filter(float *p, int n);\nint main() { filter(0, 192); }\n"
    folder = write(
        tmp_path, sum_dot_cu=SUM + START.replace('extern "C" ', ""), middle_dot_cpp=middle, main_dot_cpp=main
    )
    assert launches(folder / "sum.cu") == [("sum", (192, 1, 1), False, "sum.cu:8")]


def test_a_caller_that_a_macro_of_the_build_switches_on_is_read_with_it(tmp_path: Path) -> None:
    main = "#ifdef USE_CUDA\nvoid start(float *p, const dim3 threads);\n"
    main += "int main() { start(0, dim3(160)); }\n#endif\n"
    folder = write(tmp_path, sum_dot_cu=SUM + START.replace('extern "C" ', ""), main_dot_cpp=main)
    assert launches(folder / "sum.cu") == [("sum", (160, 1, 1), False, "sum.cu:8")]


def test_a_launch_in_a_header_is_read_in_the_file_that_includes_it(tmp_path: Path) -> None:
    start = "inline void start(float *p) { sum<<<1, THREADS, 4096>>>(p, p); }\n"
    main = '#define THREADS 224\n#include "sum.cuh"\n#include "start.h"\nint ready() { return 1; }\n'
    folder = write(tmp_path, sum_dot_cuh=SUM, start_dot_h=start, main_dot_cu=main)
    assert launches(folder / "sum.cuh") == [("sum", (224, 1, 1), False, "start.h:1")]


def test_what_the_program_told_of_a_header_is_used_where_no_steps_are_left_for_its_includer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search through all files may have taken them."""
    text = """
    template <class T> __global__ void copy(T *p) { __shared__ T s[256]; s[threadIdx.x] = p[0]; }
    template <class T> void start(T *p) { copy<T><<<1, 96>>>(p); }
    """
    one = '#include "copy.cuh"\ntemplate void start<double>(double *);\n'
    folder = write(tmp_path, copy_dot_cuh=text, one_dot_cu=one)
    monkeypatch.setattr("smemlint.running.instances.program_around", lambda *_: ())
    found = analyse_file(Job(str(folder / "copy.cuh"), Options(suggest=False))).kernels
    assert [(k.template_arguments, k.launch.block, k.launch.assumed) for k in found] == [
        ((("T", "double"),), (96, 1, 1), False)
    ]


def test_what_a_file_says_of_its_launches_stays_where_the_steps_for_all_files_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
    template <class T> __global__ void copy(T *p, int n) {
        __shared__ T s[256];
        s[threadIdx.x * n] = p[0];
        p[0] = s[n];
    }
    template <class T> void start(T *p, int n) { copy<T><<<1, 96>>>(p, n); }
    template void start<double>(double *, int);
    """
    main = "template <class T> void start(T *, int);\nint main() { double *p = 0; start(p, 2); }\n"
    folder = write(tmp_path, copy_dot_cu=text, main_dot_cu=main)
    real = linking.started_kernels
    runs: list[int] = []

    def ending(*arguments: Any, **named: Any) -> tuple[Started, ...]:
        found = real(*arguments, **named)
        runs.append(len(found))
        if len(runs) == 1:
            return found
        return tuple(replace(s, likely=(), block=(None, None, None)) for s in found)

    monkeypatch.setattr(linking, "started_kernels", ending)
    found = analyse_file(Job(str(folder / "copy.cu"), Options(suggest=False))).kernels
    assert len(runs) > 1
    assert [(k.template_arguments, k.launch.block, k.launch.assumed) for k in found] == [
        ((("T", "double"),), (96, 1, 1), False)
    ]


def test_instances_that_fewer_files_told_stay_where_the_steps_for_more_files_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(
        tmp_path,
        expand_dot_cuh="""#pragma once
            template <class T> __global__ void expand(const T *in, T *out) {
                __shared__ T s[512];
                s[threadIdx.x * 2] = in[threadIdx.x];
                __syncthreads();
                out[threadIdx.x] = s[threadIdx.x];
            }
            template <class T> void step(const T *in, T *out) { expand<<<1, 256>>>(in, out); }
            """,
        search_dot_cu="""#include "expand.cuh"
            template <class T> struct Search { T *in, *out; void run(int levels); };
            template <class T> void Search<T>::run(int levels) { while (levels--) step(in, out); }
            template struct Search<double>;
            """,
        main_dot_cu="""template <class T> struct Search { T *in, *out; void run(int levels); };
            int main() { Search<double> s; s.run(9); }
            """,
    )
    real = linking.started_kernels
    runs: list[int] = []

    def ending(*arguments: Any, **named: Any) -> tuple[Started, ...]:
        found = real(*arguments, **named)
        runs.append(len(found))
        if len(runs) > 1:
            named["allowance"].steps = 0
        return found if len(runs) < 3 else tuple(replace(s, template={}) for s in found)

    monkeypatch.setattr(linking, "started_kernels", ending)
    found = analyse_file(Job(str(folder / "expand.cuh"), Options(suggest=False))).kernels
    assert len(runs) > 2
    assert [(k.template_arguments, k.launch.block) for k in found] == [((("T", "double"),), (256, 1, 1))]
    assert {(a.width, a.grade) for k in found for a in k.accesses} == {(8, "exact")}


def test_an_instance_that_no_caller_asks_for_is_kept(tmp_path: Path) -> None:
    text = """
    template <class T> __global__ void copy(T *p) {
        __shared__ T s[256];
        s[threadIdx.x] = p[0];
        p[0] = s[threadIdx.x];
    }
    template <class T> void start(T *p, int n) { copy<T><<<1, n>>>(p); }
    void run(float *p, int n) { start<float>(p, n); }
    void run(double *p, int n) { start<double>(p, n); }
    """
    main = "void run(float *, int);\nint main() { float *p = 0; run(p, 192); }\n"
    folder = write(tmp_path, copy_dot_cu=text, main_dot_cu=main)
    report = analyse_file(Job(str(folder / "copy.cu"), Options(suggest=False)))
    sure = {dict(k.template_arguments)["T"]: k.launch.block for k in report.kernels if not k.launch.assumed}
    tried = {dict(k.template_arguments)["T"] for k in report.kernels if k.launch.assumed}
    assert (sure, tried) == ({"float": (192, 1, 1)}, {"double"})


def test_a_file_that_stops_without_a_macro_of_the_build_is_read_with_it(tmp_path: Path) -> None:
    types = "#pragma once\n#if defined(USE_CUDA)\ntypedef double real;\n"
    types += "#elif defined(USE_HIP)\ntypedef float real;\n#else\n#error none of them\n#endif\n"
    text = '#include "types.h"\n__global__ void fill(real *p) {\n    __shared__ real s[64];\n'
    text += "    s[threadIdx.x] = p[0];\n}\nvoid run(real *p) { fill<<<1, 64>>>(p); }\n"
    folder = write(tmp_path, types_dot_h=types, fill_dot_cu=text)
    [kernel] = analyse_file(Job(str(folder / "fill.cu"), Options(suggest=False))).kernels
    assert [(a.width, a.grade) for a in kernel.accesses] == [(8, "exact")]


SHIFT = """
template <typename T> __global__ void shift(T *p, Int n) {
    __shared__ T s[64];
    s[threadIdx.x] = p[n];
    __syncthreads();
    *p = s[threadIdx.x];
}
template <typename T> void call_shift(T *p, Int n) { shift<<<1, 64>>>(p, n); }
"""
ASKING = "template void call_shift<double>(double *p, Int n);\n"


def instances(path: Path) -> list[tuple[tuple[tuple[str, str], ...], bool]]:
    report = analyse_file(Job(str(path), Options(suggest=False)))
    assert not report.problems
    return [(k.template_arguments, k.launch.assumed) for k in report.kernels if k.accesses]


def test_a_source_that_another_one_includes_is_read_there(tmp_path: Path) -> None:
    """The file beside it calls the wrapper in a template that nothing asks for."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "cuda"
    folder.mkdir()
    write(tmp_path, all_dot_cu='typedef int Int;\n#include "cuda/shift.cu"\n' + ASKING)
    (folder / "shift.cu").write_text(SHIFT)
    declared = "template <typename T> void call_shift(T *p, Int n);\n"
    calling = "template <typename T> void forward(T *p) { call_shift(p, 3); }\n"
    (folder / "shift.cpp").write_text(declared + calling)
    assert instances(folder / "shift.cu") == [((("T", "double"),), False)]


def test_a_source_that_another_one_includes_under_a_macro_of_the_build_is_read_there(tmp_path: Path) -> None:
    main = (
        'typedef int Int;\n#if ENABLE_GPU\n#include "shift.cu"\n'
        + ASKING
        + "#endif\nint cpu() { return 1; }\n"
    )
    folder = write(tmp_path, all_dot_cu=main, shift_dot_cu=SHIFT)
    assert instances(folder / "shift.cu") == [((("T", "double"),), False)]


def test_a_source_that_nothing_includes_is_read_by_itself(tmp_path: Path) -> None:
    write(tmp_path, all_dot_cu='#include "other/shift_all.cu"\n' + ASKING, shift_dot_cu=SHIFT)
    assert instances(tmp_path / "shift.cu") == [((("T", "float"),), True)]


def test_an_instance_that_is_asked_for_is_started_whoever_else_calls_the_function(tmp_path: Path) -> None:
    calling = "template <typename T> void forward(T *p) { call_shift(p, 3); }\n"
    write(tmp_path, shift_dot_cu="typedef int Int;\n" + SHIFT + calling + ASKING)
    assert instances(tmp_path / "shift.cu") == [((("T", "double"),), False)]


NORM = """
template <typename T> __global__ void norm_kernel(T *x) {
    __shared__ T s[128];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[127 - threadIdx.x];
}
template <typename T> void run(T *x, int n) { norm_kernel<T><<<n, 128>>>(x); }
"""


def test_a_header_of_a_like_name_beside_does_not_hide_the_source_that_includes_this_one(
    tmp_path: Path,
) -> None:
    write(tmp_path, main_dot_cu='#include "lib/norm.cuh"\nvoid both(double *x) { run<double>(x, 4); }\n')
    (tmp_path / "LICENSE").write_text("")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "norm.cuh").write_text(NORM)
    (tmp_path / "lib" / "scan.cuh").write_text("namespace scan { inline void run(int *x, int n) {} }\n")
    assert [(name, assumed) for name, _, assumed, _ in launches(tmp_path / "lib" / "norm.cuh")] == [
        ("norm_kernel", False)
    ]


def test_a_header_that_needs_what_stands_in_front_of_it_is_read_in_the_source_that_includes_it(
    tmp_path: Path,
) -> None:
    kernel = "__global__ void k(Word *p) { __shared__ Word s[64]; s[threadIdx.x] = p[threadIdx.x]; }\n"
    main = '#include "word.h"\n#include "part.cuh"\nvoid other() {}\n'
    write(
        tmp_path,
        part_dot_cuh=kernel,
        main_dot_cu=main,
        word_dot_h="struct alignas(8) Word { int limbs[2]; };\n",
    )
    (access,) = analyse_file(Job(str(tmp_path / "part.cuh"))).kernels[0].accesses
    assert access.width == 8 and access.wavefronts is not None


def test_callers_that_give_a_launch_its_shape_are_found_in_a_folder_of_several_hundred_files(
    tmp_path: Path,
) -> None:
    write(tmp_path, main_dot_cpp=MAIN, LICENSE="\n")
    (tmp_path / "kernels").mkdir()
    for i in range(400):
        (tmp_path / f"part{i}.h").write_text("\n")
    (tmp_path / "kernels" / "scan.cu").write_text(
        SCAN.replace("<<<batch, THREADS>>>", "<<<batch, length / 4>>>")
    )
    [kernel] = analyse_file(Job(str(tmp_path / "kernels" / "scan.cu"))).kernels
    assert kernel.launch.block[0] == 256 and {a.grade for a in kernel.accesses} == {"exact"}


def test_what_another_file_sets_through_a_function_of_this_one_is_launched(tmp_path: Path) -> None:
    kernel = "__global__ void k(float *p) { __shared__ float s[999]; s[threadIdx.x] = p[0]; }\n"
    here = (
        "int threads = 64; void configure(int n) { threads = n; } void go(float *p) { k<<<1, threads>>>(p); }"
    )
    main = "void configure(int); void go(float *); int main() { float *p = 0; go(p); configure(96); go(p); }"
    folder = write(tmp_path, here_dot_cu=kernel + here, main_dot_cpp=main)
    assert [(x[1][0], x[2]) for x in launches(folder / "here.cu")] == [(64, False), (96, False)]


DISPATCHED = """
#pragma once
template <class LOAD, int BLOCK> __global__ void norm(LOAD load, float *out) {
    __shared__ typename LOAD::type s[BLOCK];
    s[threadIdx.x] = load.at[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[BLOCK - 1 - threadIdx.x];
}
template <class LOAD> struct DispatchBlock {
    void operator()(LOAD load, float *out) { norm<LOAD, 128><<<1, 128>>>(load, out); }
};
template <class LOAD> void dispatch_block(LOAD load, float *out) { DispatchBlock<LOAD>()(load, out); }
template <class LOAD> void dispatch(LOAD load, float *out) { dispatch_block<LOAD>(load, out); }
"""
DISPATCHER = """
#include "norm.cuh"
template <class T> struct Direct { using type = T; const T *at; };
void run(const double *in, float *out) {
    Direct<double> load{in};
    dispatch<decltype(load)>(load, out);
}
"""


def test_an_object_that_is_made_to_be_called_is_called_where_it_is_made(tmp_path: Path) -> None:
    """Who uses the header calls `dispatch`: nobody else names the class whose operator starts the kernel."""
    folder = write(tmp_path, norm_dot_cuh=DISPATCHED, run_dot_cu=DISPATCHER)
    [kernel] = analyse_file(Job(str(folder / "norm.cuh"), Options(suggest=False))).kernels
    assert ("LOAD", "Direct<double>") in kernel.template_arguments
    assert [(a.width, a.grade) for a in kernel.accesses] == [(8, "exact"), (8, "exact")]


JOB_H = "struct Job { void (*kernel)(float *, int); int threads; };\nvoid run(const Job &job, int n);\n"
ROWS = """#include "job.h"
__global__ void rows(float *p, int n) { __shared__ float s[999]; s[threadIdx.x] = *p; p[n] = s[threadIdx.x]; }
void sum_rows(int n) { Job job = {rows, 192}; run(job, n); }
"""
RUN = '#include "job.h"\nvoid run(const Job &job, int n) { job.kernel<<<n, job.threads>>>(0, n); }\n'


def test_what_a_kernel_is_handed_to_within_an_object_is_read_where_it_is_defined(tmp_path: Path) -> None:
    folder = write(tmp_path, job_dot_h=JOB_H, rows_dot_cu=ROWS, run_dot_cu=RUN)
    assert launches(folder / "rows.cu") == [("rows", (192, 1, 1), False, "run.cu:2")]


def test_what_a_kernel_is_handed_to_is_read_before_files_that_hand_it_others(tmp_path: Path) -> None:
    others = {f"a{i}_dot_cu": ROWS.replace("rows", f"rows{i}") for i in range(9)}
    folder = write(tmp_path, job_dot_h=JOB_H, rows_dot_cu=ROWS, run_dot_cu=RUN, **others)
    assert launches(folder / "rows.cu") == [("rows", (192, 1, 1), False, "run.cu:2")]


def test_of_two_files_that_define_what_a_kernel_is_handed_to_neither_is_taken(tmp_path: Path) -> None:
    other = RUN.replace("job.threads", "2 * job.threads")
    folder = write(tmp_path, job_dot_h=JOB_H, rows_dot_cu=ROWS, run_dot_cu=RUN, other_dot_cu=other)
    assert all(assumed for _, _, assumed, _ in launches(folder / "rows.cu"))


def test_a_pointer_to_a_kernel_is_followed_into_the_file_that_starts_it(tmp_path: Path) -> None:
    declared = "void run(void (*kernel)(float *, int), int n);\n"
    rows = ROWS.replace('#include "job.h"', declared).replace(
        "Job job = {rows, 192}; run(job, n)", "run(&rows, n)"
    )
    run = "void run(void (*kernel)(float *, int), int n) { kernel<<<n, 96>>>(0, n); }\n"
    folder = write(tmp_path, rows_dot_cu=rows, run_dot_cu=run)
    assert launches(folder / "rows.cu") == [("rows", (96, 1, 1), False, "run.cu:1")]


SHAPED = """
__global__ void rows(float *p) { __shared__ float s[999]; s[threadIdx.x] = p[0]; p[1] = s[threadIdx.x]; }
"""


@pytest.mark.parametrize(
    ("declared", "used", "defined"),
    [
        (
            "void shape(int n, dim3 &b);",
            "dim3 b(16); shape(n, b);",
            "void shape(int n, dim3 &b) { b.x = 96; }",
        ),
        ("void shape(dim3 *b);", "dim3 b; shape(&b);", "void shape(dim3 *b) { *b = dim3(96); }"),
        ("void shape(int &t);", "int t = 16; shape(t); dim3 b(t);", "void shape(int &t) { t = 96; }"),
    ],
)
@pytest.mark.parametrize("included", [True, False])
def test_a_function_that_sets_a_shape_is_read_where_it_is_defined(
    tmp_path: Path, declared: str, used: str, defined: str, included: bool
) -> None:
    host = f"{declared}\nint main(int n, char **) {{ {used} rows<<<n, b>>>(0); }}\n"
    head = '#include "rows.cu"\n' if included else SHAPED
    folder = write(tmp_path, main_dot_cu=head + host, rows_dot_cu=SHAPED, shape_dot_cu=defined)
    asked = folder / ("rows.cu" if included else "main.cu")
    [(_, block, assumed, _)] = launches(asked)
    assert block == (96, 1, 1) and not assumed


def test_a_shape_that_two_files_may_set_is_not_known(tmp_path: Path) -> None:
    host = "void shape(dim3 &b);\nint main() { dim3 b(16); shape(b); rows<<<1, b>>>(0); }\n"
    files = {f"{c}_dot_cu": f"void shape(dim3 &b) {{ b.x = {n}; }}" for c, n in (("a", 96), ("b", 192))}
    folder = write(tmp_path, main_dot_cu=SHAPED + host, **files)
    assert all(assumed for _, _, assumed, _ in launches(folder / "main.cu"))
