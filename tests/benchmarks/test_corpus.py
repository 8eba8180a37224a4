"""What the corpus report counts."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = """\
__global__ void f(float *out) {
  __shared__ float tile[4][4], unused;
  // tile[0][0] in a comment
  tile[0][threadIdx.x] = 1.0f;
  float *p = &tile[1][0], *q = &(tile[1][0]);
  out[0] = other[0] + tile[1][threadIdx.x];
}
"""


def access(line: int, grade: str, reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "path": "k.cu",
        "line": line,
        "column": 3,
        "calls": [],
        "op": "load",
        "expression": "tile[0]",
        "grade": grade,
        "reason": reason,
        "wavefronts": None if reason else 4,
        "wavefronts_low": None if reason else 2,
        "ideal": None if reason else 1,
        **more,
    }


def test_only_subscripts_of_shared_names_count_as_textual_accesses(corpus: ModuleType) -> None:
    assert list(corpus.subscripts("__shared__ float tile[4][4];\n" + SOURCE)) == [5, 7]


def test_other_variables_of_the_name_are_no_textual_accesses(corpus: ModuleType) -> None:
    text = """__device__ void f(float tile[4], float *o) { o[0] =
      tile[1]; }
    __global__ void k(float *o) {
      __shared__ float tile[4],
                       other[5];
    #define T(i) tile[i]
      o[0] = tile[0] + T(
      1) + other[1];
    }
    void host(float *o) { std::vector<float> tile(4); o[0] =
      tile[1]; }
    """
    assert list(corpus.subscripts(text)) == [7, 8]


def test_a_local_array_in_another_branch_is_no_textual_access(corpus: ModuleType) -> None:
    text = """__global__ void k(float *o) {
    #if SHARED
      __shared__ float list[32];
      list[0] = 1;
    #else
      float list[1];
      list[0] = 1;
    #endif
      o[0] =
        list[0];
      return list[0];
    }
    """
    assert list(corpus.subscripts(text)) == [4, 10, 11]


def test_a_call_of_a_function_with_an_access_is_seen(corpus: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(
        "__device__ void put(float &x) { x = 1; }\n"
        "__global__ void k() { __shared__ float s[2];\n"
        "put(s[0]);\n}\n"
    )
    path = str(tmp_path / "k.cu")
    inside = access(1, "exact") | {"path": path, "calls": [{"path": path, "line": 3}]}
    data = {"kernels": [{"path": path, "line": 2, "accesses": [inside]}], "unparsed": []}
    (file,) = corpus.read("here", [tmp_path / "k.cu"], data).files
    assert (file.textual, file.unseen) == ([3], [])


def test_an_argument_on_a_line_of_its_own_is_seen_through_its_call(
    corpus: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "k.cu").write_text(
        "#define WIDE(x) *(float4 *)&(x)\n"
        "__global__ void k() { __shared__ float s[2];\n"
        "put<1>(1,\n"
        "s[0]);\n"
        "out = WIDE(\n"
        "s[1]); other(\n"
        "s[1]);\n}\n"
    )
    path = str(tmp_path / "k.cu")
    inside = access(1, "exact") | {"path": path, "calls": [{"path": path, "line": 3}]}
    wide = access(5, "exact") | {"path": path}
    data = {"kernels": [{"path": path, "line": 2, "accesses": [inside, wide]}], "unparsed": []}
    (file,) = corpus.read("here", [tmp_path / "k.cu"], data).files
    assert (file.textual, file.unseen) == ([4, 6, 7], [7])


def test_a_site_counts_once_with_its_least_sure_grade(corpus: ModuleType) -> None:
    report = {
        "kernels": [
            {"accesses": [access(4, "exact")]},
            {"accesses": [access(4, "unresolved", "data: index loaded from memory"), access(6, "bound")]},
        ]
    }
    assert [(s[0], s[3], s[4], s[6]) for s in corpus.sites(report)] == [
        ("k.cu:4", "unresolved", "data", None),
        ("k.cu:6", "bound", "", 2.0),
    ]


def test_only_files_with_shared_memory_or_launches_are_candidates(corpus: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(SOURCE)
    (tmp_path / "b.cu").write_text("int x;\n")
    (tmp_path / "c.txt").write_text(SOURCE)
    (tmp_path / "d.cu").write_text("void g() { f<<<1, 32>>>(); }\n")
    assert [p.name for p in corpus.candidates(tmp_path)] == ["a.cu", "d.cu"]


def test_lines_without_a_site_are_unseen(corpus: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(SOURCE)
    path = str(tmp_path / "k.cu")
    data = {
        "kernels": [{"path": path, "line": 1, "accesses": [access(4, "exact", path=path)]}],
        "unparsed": [],
    }
    result = corpus.read("here", [tmp_path / "k.cu"], data)
    assert result.files[0].textual == [4, 6]
    assert result.files[0].unseen == [6]


def test_a_file_that_fails_is_a_line_of_the_report(corpus: ModuleType) -> None:
    failed = corpus.FileResult("a.cu", problem="gave up after 60 s", textual=[4, 6], unseen=[4, 6])
    text = corpus.report(corpus.RepositoryResult("here", [failed]))
    assert "failed: 1" in text
    assert "with a site: 0 (0.0 %)" in text


def test_a_whole_folder_is_read_through_the_linter(
    corpus: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cu").write_text(
        """\
__global__ void f(float *out) {
  __shared__ float tile[32][32];
  tile[threadIdx.x][0] = 1.0f;
  __syncthreads();
  out[threadIdx.x] = tile[0][threadIdx.x];
}
void g(float *out) { f<<<1, 32>>>(out); }
"""
    )
    assert corpus.main([str(tmp_path), "--unseen", "--reasons", "none"]) == 0
    out = capsys.readouterr().out
    assert "sites: 2, resolved: 2 (100.0 %), conflicted: 1" in out
    assert "with a site: 2 (100.0 %)" in out
