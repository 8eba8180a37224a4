"""Accesses that are written where a macro, or a lambda that returns a reference, is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fix.test_suggest import of_text

TEXT = """@MACRO@
__global__ void k(float *o, const float *a) {
  __shared__ float t[32][32];
  int x = threadIdx.x, y = threadIdx.y;
  @LAMBDA@
  AT(y, x) = a[y * 32 + x];
  __syncthreads();
  @MORE@
  o[y * 32 + x] = AT(x, y);
}
int main() { k<<<1, dim3(32, 32)>>>(nullptr, nullptr); }
"""
MACRO = "#define AT(r, c) t[r][c]"
LAMBDAS = [
    "auto AT = [&](int r, int c) -> float & { return t[r][c]; };",
    "const auto AT = [&](int r, int c) -> auto & { return t[r][c]; };",
]


def unsafe(tmp_path: Path, macro: str = "", lambda_: str = "", more: str = "") -> str:
    text = TEXT.replace("@MACRO@", macro).replace("@LAMBDA@", lambda_).replace("@MORE@", more)
    fix = of_text(tmp_path, text.encode())[0]["t"]
    assert fix.edits is not None, fix.refused
    assert fix.safe == (not fix.unsafe_because)
    return fix.unsafe_because


def test_a_macro_whose_every_use_was_seen_to_run_leaves_a_fix_safe(tmp_path: Path) -> None:
    assert unsafe(tmp_path, MACRO) == ""


@pytest.mark.parametrize("lambda_", LAMBDAS)
def test_so_does_a_lambda_that_returns_a_reference(tmp_path: Path, lambda_: str) -> None:
    assert unsafe(tmp_path, lambda_=lambda_) == ""


@pytest.mark.parametrize("texts", [(MACRO, ""), *(("", each) for each in LAMBDAS)])
@pytest.mark.parametrize("more", ["if (false) AT(0, y) = 1;", "if constexpr (false) o[0] = AT(0, y);"])
def test_a_use_that_no_launch_runs_makes_it_unsafe(tmp_path: Path, texts: tuple[str, str], more: str) -> None:
    assert unsafe(tmp_path, *texts, more).startswith("no launch that was seen runs the use of `t`")


@pytest.mark.parametrize(
    ("macro", "lambda_"),
    [
        ("#define AT(r, c) t[(r) < 0 ? int(t[0][c]) : (r)][c]", ""),
        ("", "auto AT = [&](int r, int c) -> float & { if (r < 0) return t[0][c]; return t[r][c]; };"),
        ("", "auto AT = [&](int r, int c) -> float & { return r < 0 ? t[0][c] : t[r][c]; };"),
    ],
)
def test_a_text_that_chooses_is_not_seen_to_run_as_a_whole(tmp_path: Path, macro: str, lambda_: str) -> None:
    assert unsafe(tmp_path, macro, lambda_).startswith("no launch that was seen runs the use of `t`")


def test_a_name_that_stands_in_another_macro_is_not_followed(tmp_path: Path) -> None:
    said = unsafe(tmp_path, f"{MACRO}\n#define FIRST(c) AT(0, c)")
    assert said.startswith("no launch that was seen runs the use of `t`")


def test_a_lambda_that_nothing_calls_makes_it_unsafe(tmp_path: Path) -> None:
    idle = "auto other = [&](int r) -> float & { return t[r][0]; };"
    assert unsafe(tmp_path, MACRO, idle).startswith("no launch that was seen runs the use of `t`")
