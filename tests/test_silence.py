"""What was not looked at is said: no kernel with shared memory is passed over in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Capture, run

UNKNOWN = """\
template <class T> struct Shared { __device__ T *get(); };
template <> struct Shared<float> { __device__ float *get() { extern __shared__ float s[]; return s; } };
template <class T> __global__ void k(T *p) { T *s = Shared<T>().get(); s[threadIdx.x * 32] = p[0]; }
void go(double *p) { k<<<1, 32, 9000>>>(p); }
"""
LIBRARY = """\
#include <cub/cub.cuh>
__global__ void total(int *p) {
    typedef cub::BlockReduce<int, 128> Reduce;
    __shared__ typename Reduce::TempStorage storage;
    int all = Reduce(storage).Sum(p[threadIdx.x]);
    if (threadIdx.x == 0) p[0] = all;
}
void go(int *p) { total<<<1, 128>>>(p); }
"""
PLAIN = "__global__ void k(float *p) { p[threadIdx.x] = 0; }\nvoid go(float *p) { k<<<1, 32>>>(p); }\n"
HIP = '#include "hip/hip_runtime.h"\n__global__ void k(float *p) { __shared__ float s[32]; s[0] = *p; }\n'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_kernel_that_is_given_shared_memory_and_shows_no_access_is_listed(
    here: Path, capsys: Capture
) -> None:
    (here / "k.cu").write_text(UNKNOWN, encoding="utf-8")
    status, out, _ = run(capsys, "k.cu")
    assert status == 0
    assert out.startswith(
        "note[SMEM907] unseen-kernel: no shared-memory access of `k` was seen\n --> k.cu:3:"
    )
    assert out.endswith(
        "0 findings in 0 of 1 file\n0 accesses, 0 resolved; 0 unparsed\n"
        "1 kernel not analysed (no access found)\n"
    )


IN_PART = """\
extern __shared__ float all[];
__device__ void put(int i) { all[i] = 1; }
__global__ void k(float *p) {
#if MAGIC(3)
    __shared__ float s[32];
    s[threadIdx.x] = p[0];
#endif
    CALL
}
void go(float *p) { k<<<1, 32>>>(p); }
"""


@pytest.mark.parametrize(("call", "listed"), [("*p = 1;", True), ("put(threadIdx.x * 2);", False)])
def test_a_kernel_is_listed_whose_shared_memory_is_not_parsed(
    here: Path, capsys: Capture, call: str, listed: bool
) -> None:
    (here / "k.cu").write_text(IN_PART.replace("CALL", call), encoding="utf-8")
    status, out, _ = run(capsys, "inspect", "k.cu")
    assert status == 0
    assert ("not analysed: `k`" in out and "it needs `MAGIC(3)`" in out) is listed
    assert "2 unparsed" in out


def test_unseen_kernels_gate_where_that_is_asked_for(here: Path, capsys: Capture) -> None:
    (here / "k.cu").write_text(UNKNOWN, encoding="utf-8")
    assert run(capsys, "k.cu", "--fail-on-unseen")[0] == 1
    assert run(capsys, "k.cu", "--fail-on-unseen", "--select", "SMEM1")[0] == 1
    assert run(capsys, "k.cu", "--fail-on-unseen", "--ignore", "SMEM907")[0] == 0


def test_headers_that_are_not_there_are_named_in_the_last_line(here: Path, capsys: Capture) -> None:
    lacking = (
        '#include "kernels.cuh"\n#include <lib/launch.h>\n#include <vector>\n#include <cuda_runtime.h>\n'
    )
    (here / "a.cu").write_text(lacking + "int main() { run_all(3); }\n", encoding="utf-8")
    (here / "b.cu").write_text('#include "kernels.cuh"\nint more() { return 3; }\n', encoding="utf-8")
    status, out, _ = run(capsys, "a.cu", "b.cu")
    assert status == 0 and "2 headers not read (kernels.cuh, lib/launch.h)" in out
    _, out, _ = run(capsys, "a.cu", "b.cu", "--output-format", "json")
    assert json.loads(out)["summary"]["missing_headers"] == {"kernels.cuh": 2, "lib/launch.h": 1}
    (here / "kernels.cuh").write_text("inline void run_all(int) {}\n", encoding="utf-8")
    assert "1 header not read (lib/launch.h)" in run(capsys, "a.cu", "b.cu")[1]


def test_storage_of_a_library_is_named_as_the_reason(here: Path, capsys: Capture) -> None:
    (here / "k.cu").write_text(LIBRARY, encoding="utf-8")
    _, out, _ = run(capsys, "k.cu", "--output-format", "json")
    data = json.loads(out)
    assert [(k["name"], k["reason"]) for k in data["not_analysed"]] == [("total", "library-storage")]
    assert data["summary"]["unseen_reasons"] == {"library-storage": 1}


@pytest.mark.parametrize(
    "sort",
    [
        "typedef cub::WarpMergeSort<int, 4, 16> Of; __shared__ Of::TempStorage t[8]; "
        "Of(t[w]).Sort(v, Less());",
        "typedef cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE> Of; __shared__ Of::TempStorage t[4]; "
        "Of(t[threadIdx.x / 32]).Load(p, v);",
        "typedef cub::BlockShuffle<int, 128> Of; __shared__ union { Of::TempStorage t; int n; } u; "
        "Of(u.t).Down(v, v);",
    ],
)
def test_an_element_of_a_librarys_storage_has_the_librarys_reason(
    here: Path, capsys: Capture, sort: str
) -> None:
    body = f"int v[4], w = threadIdx.x / 16; {sort} p[0] = v[0];"
    text = f"__global__ void k(int *p) {{ {body} }}\nvoid go(int *p) {{ k<<<1, 128>>>(p); }}\n"
    (here / "k.cu").write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "inspect", "k.cu", "--output-format", "json")
    reasons = [a["reason"] for k in json.loads(out)["kernels"] for a in k["accesses"]]
    assert len(reasons) == 1 and "which uses shared memory in its own way" in str(reasons)


@pytest.mark.parametrize(
    "body", ["SHARED_TILE(float, t, 32, 33); LOAD_TILE(t, p);", "lib::SharedArray<float, 64> s; s(0) = p[0];"]
)
def test_macros_and_classes_that_are_named_after_shared_memory_and_not_read_are_listed(
    here: Path, capsys: Capture, body: str
) -> None:
    kernel = f'#include "lib.h"\n__global__ void k(float *p) {{ {body} }}\n'
    text = kernel + "void go(float *p) { k<<<1, 32>>>(p); }\n"
    (here / "k.cu").write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "k.cu")
    assert out.endswith("1 kernel not analysed (no access found)\n1 header not read (lib.h)\n")


@pytest.mark.parametrize(
    ("body", "listed"),
    [
        ("lib::Tile<float, 64> s; s.load(p); __syncthreads(); p[threadIdx.x] = s[threadIdx.x * 2];", True),
        ("lib::Tile<float, 64> s; s.load(p); p[threadIdx.x] = s[threadIdx.x * 2];", False),
        ("float v = p[0]; __syncthreads(); p[threadIdx.x] = v;", False),
        ("cuda::std::complex<float> v; __syncthreads(); p[threadIdx.x] = v.real();", False),
    ],
)
def test_threads_that_wait_for_each_other_around_an_unknown_object_are_listed(
    here: Path, capsys: Capture, body: str, listed: bool
) -> None:
    kernel = f'#include "lib.h"\n__global__ void k(float *p) {{ {body} }}\n'
    (here / "k.cu").write_text(kernel + "void go(float *p) { k<<<1, 32>>>(p); }\n", encoding="utf-8")
    _, out, _ = run(capsys, "k.cu")
    assert ("1 kernel not analysed (no access found)" in out) == listed


def test_a_kernel_without_shared_memory_is_clean(here: Path, capsys: Capture) -> None:
    (here / "k.cu").write_text(PLAIN, encoding="utf-8")
    status, out, _ = run(capsys, "k.cu", "--fail-on-unseen")
    assert (status, out) == (0, "0 findings in 0 of 1 file; 0 accesses, 0 resolved; 0 unparsed\n")


def test_ranges_are_counted_beside_what_has_one_number(here: Path, capsys: Capture) -> None:
    text = (
        "__global__ void k(float *p, int *i) { __shared__ float s[1024]; s[threadIdx.x] = *p;"
        " __syncthreads(); *p = s[i[threadIdx.x] & 1023]; }\n"
        "void go(float *p, int *i) { k<<<1, 32>>>(p, i); }\n"
    )
    (here / "k.cu").write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "k.cu")
    assert "2 accesses, 1 resolved, 1 range; 0 unparsed" in out


def test_shapes_that_are_assumed_and_differ_make_a_range(here: Path, capsys: Capture) -> None:
    text = (
        "#include <cstdlib>\n__global__ void k(float *p) { __shared__ float s[32][65];"
        " s[threadIdx.x][threadIdx.y] = *p; }\n"
        "int main(int c, char **v) { k<<<1, dim3(atoi(v[1]), atoi(v[2]))>>>(0); }\n"
    )
    (here / "k.cu").write_text(text, encoding="utf-8")
    _, out, _ = run(capsys, "k.cu", "--output-format", "json")
    summary = json.loads(out)["summary"]
    assert (summary["accesses"], summary["resolved"], summary["ranges"]) == (1, 0, 1)


def test_a_hip_source_that_is_named_is_an_error(here: Path, capsys: Capture) -> None:
    (here / "k.cu").write_text(HIP, encoding="utf-8")
    status, _out, err = run(capsys, "k.cu")
    assert status == 2
    assert "k.cu:1:1: a HIP source: the banks of AMD's shared memory are not NVIDIA's" in err


def test_a_hip_source_in_a_folder_is_passed_over_with_a_word(here: Path, capsys: Capture) -> None:
    (here / "a.cu").write_text(PLAIN, encoding="utf-8")
    (here / "b.hip").write_text(HIP, encoding="utf-8")
    status, out, err = run(capsys, ".")
    assert status == 0
    assert err.startswith("skipped: b.hip: a HIP source")
    assert out.endswith("0 unparsed; 1 file skipped (HIP)\n")


def test_many_hip_sources_are_a_few_lines_and_a_count(here: Path, capsys: Capture) -> None:
    for name in "abcde":
        (here / f"{name}.hip").write_text(HIP, encoding="utf-8")
    (here / "k.cu").write_text(PLAIN, encoding="utf-8")
    status, out, err = run(capsys, ".")
    assert status == 0 and out.endswith("5 files skipped (HIP)\n")
    lines = err.splitlines()
    assert [line.split(":")[1].strip() for line in lines] == [
        "a.hip",
        "b.hip",
        "c.hip",
        "2 more HIP sources; `--output-format json` lists all of them",
    ]
    found = json.loads(run(capsys, ".", "--output-format", "json")[1])
    assert [each["path"] for each in found["skipped"]] == [f"{name}.hip" for name in "abcde"]


def test_a_kernel_that_is_started_and_defined_nowhere_is_listed(here: Path, capsys: Capture) -> None:
    text = (
        '#include "gone.cuh"\n'
        "void go(float *p) { ns::gone<float, 4><<<4, 64, 1024>>>(p); other<<<1, 32>>>(p); }\n"
    )
    (here / "a.cu").write_text(text)
    status, out, _ = run(capsys, "check", "a.cu")
    assert status == 0
    assert out.count("unseen-kernel") == 2 and "`ns::gone`" in out and "`other`" in out
    assert "2 kernels not analysed (not defined here)" in out


def test_a_kernel_that_another_file_of_the_run_defines_is_not_missing(here: Path, capsys: Capture) -> None:
    (here / "a.cu").write_text("__global__ void k(float *);\nvoid go(float *p) { k<<<1, 32>>>(p); }\n")
    (here / "b.cu").write_text("__global__ void k(float *p) { p[threadIdx.x] = 0; }\n")
    assert "unseen-kernel" in run(capsys, "check", "a.cu")[1]
    assert "unseen-kernel" not in run(capsys, "check", "a.cu", "b.cu")[1]


def test_a_pointer_to_a_kernel_is_no_kernel_that_is_missing(here: Path, capsys: Capture) -> None:
    text = "void go(void (*k)(float *), float *p) { k<<<1, 32>>>(p); auto l = k; l<<<1, 32>>>(p); }\n"
    (here / "a.cu").write_text(text)
    assert "unseen-kernel" not in run(capsys, "check", "a.cu")[1]


def test_a_kernel_that_nothing_starts_conflicts_where_every_usual_shape_does(
    here: Path, capsys: Capture
) -> None:
    (here / "a.cu").write_text(
        "__global__ void some(float *p) {\n"
        "    __shared__ float s[4096];\n"
        "    int t = threadIdx.x;\n"
        "    s[t] = p[t];\n"
        "    __syncthreads();\n"
        "    p[t] = s[(t * 32 + t / 32) % blockDim.x];\n"
        "}\n"
        "__global__ void every(float *p) {\n"
        "    __shared__ float s[9000];\n"
        "    s[threadIdx.x * 8] = p[0];\n"
        "}\n"
    )
    _, out, _ = run(capsys, "check", "a.cu")
    assert out.count("warning[") == 1
    assert "warning[SMEM102] power-of-two-stride: 8-way bank conflict\n  --> a.cu:10:" in out
    assert "note[SMEM101] column-access: 8-way" in run(capsys, "check", "a.cu", "--level", "note")[1]


@pytest.mark.parametrize(
    "text",
    [
        'R"(\n__global__ void k(float *p) { __shared__ float s[64]; s[threadIdx.x * 2] = *p; }\n)"',
        '"__global__ void k(float *p) {\\n"\n  "  __shared__ float s[64];\\n"\n  "  s[0] = *p; }\\n"',
        'head + "__global__ void " + k + "(float *p) { __shared__ float s[" + n + "]; s[0] = *p; }"',
    ],
)
def test_a_kernel_in_a_string_is_listed(here: Path, capsys: Capture, text: str) -> None:
    (here / "k.cu").write_text(f"const char *text = {text};\n{PLAIN}", encoding="utf-8")
    status, out, _ = run(capsys, "check", "--fail-on-unseen", "k.cu")
    assert status == 1
    assert "no shared-memory access of `k` was seen" in out
    assert "1 kernel not analysed (compiled at run time)" in out


def test_a_message_that_names_the_words_is_no_kernel(here: Path, capsys: Capture) -> None:
    message = 'const char *text = "a __global__ function() { may use } __shared__ memory";\n'
    (here / "k.cu").write_text(message + PLAIN, encoding="utf-8")
    status, out, _ = run(capsys, "check", "--fail-on-unseen", "k.cu")
    assert status == 0, out


HANDS_ON = """
__device__ float helper(float *all, float v);
__device__ __forceinline__ float total(float v) { __shared__ float all[32]; return helper(all, v); }
"""


def test_a_function_that_no_kernel_calls_and_that_hands_on_what_it_declares_is_listed(
    here: Path, capsys: Capture
) -> None:
    (here / "total.cuh").write_text(HANDS_ON, encoding="utf-8")
    status, out, _ = run(capsys, "check", "--fail-on-unseen", "total.cuh")
    assert status == 1
    assert "no shared-memory access of `total` was seen" in out
    assert "it declares `all`; no kernel of this file calls it" in out


def test_a_function_that_no_kernel_calls_is_listed_beside_kernels_of_its_own_file(
    here: Path, capsys: Capture
) -> None:
    (here / "k.cu").write_text(HANDS_ON + PLAIN, encoding="utf-8")
    status, out, _ = run(capsys, "check", "--fail-on-unseen", "k.cu")
    assert status == 1
    assert "it declares `all`; no kernel of this file calls it" in out


def test_a_function_that_another_file_of_the_run_reaches_is_not(here: Path, capsys: Capture) -> None:
    (here / "total.cuh").write_text(HANDS_ON, encoding="utf-8")
    source = """
    #include "total.cuh"
    __device__ float helper(float *all, float v) { all[threadIdx.x] = v; __syncthreads(); return all[0]; }
    __global__ void k(float *p) { p[0] = total(p[threadIdx.x]); }
    void go(float *p) { k<<<1, 32>>>(p); }
    """
    (here / "k.cu").write_text(source, encoding="utf-8")
    status, out, _ = run(capsys, "check", "--fail-on-unseen", ".")
    assert status == 0, out


def test_a_kernel_for_cuda_and_hip_is_looked_at(here: Path, capsys: Capture) -> None:
    kernel = (
        "template <class F> __global__ void each(F f) { extern __shared__ float s[]; f(s); }\n"
        "__global__ void k(float *p) { __shared__ float s[1024]; s[threadIdx.x * 32] = p[0]; p[1] = s[0]; }\n"
        "void go(float *p) { k<<<1, 32>>>(p); }\n"
    )
    (here / "k.cu").write_text(f"#if defined(LIB_USE_CUDA_OR_HIP_LANG)\n{kernel}#endif\n", encoding="utf-8")
    status, out, _ = run(capsys, "k.cu")
    assert status == 1 and " 32-way" in out
    assert "no shared-memory access of `each` was seen" in out
