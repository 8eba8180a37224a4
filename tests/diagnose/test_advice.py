"""A fix is offered to the accesses that it makes cheaper, and to no others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smemlint import api
from smemlint.cli import main
from smemlint.diagnose.advice import refused, unhelped
from smemlint.evaluate.model import SharedArray, Site
from smemlint.fix.model import SiteChange, Suggestion, TextEdit
from smemlint.ir import Place

SPLIT = """__global__ void k(float* o, const float* a) {
  extern __shared__ float sm[];
  float* p = sm;
  float* q = p + 32 * 32;
  int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) p[i * 32 + t] = a[i * 32 + t];
  q[2 * t] = a[t];
  __syncthreads();
  float s = q[t];
  for (int i = 0; i < 32; ++i) s += p[t * 32 + i];
  o[t] = s;
}
int main() { k<<<1, 32, (32 * 32 + 64) * sizeof(float)>>>(nullptr, nullptr); }
"""


def at(line: int) -> Place:
    return Place("a.cu", line, 1, line, 5, 10 * line, 10 * line + 4)


def change(line: int, before: int, after: int, op: str = "load") -> SiteChange:
    return SiteChange("k", Site(at(line), op, 4, "t", ""), before, after, 1)


def padded(*sites: SiteChange, code: str = "t[32][33]") -> Suggestion:
    array = SharedArray("t", "t", "float", (32, 32), 4, 4096, at(1), False, 4)
    edits = (TextEdit("a.cu", 10, 12, "33"),)
    return Suggestion(
        "padding", array, "pad the row", edits, None, True, sites, 128, (2, 2), "", code, (64, 2)
    )


def test_an_access_that_gets_cheaper_over_all_instances_has_the_fix() -> None:
    fix = padded(change(2, 32, 1), change(3, 1, 1), change(2, 1, 2))
    assert unhelped(fix, at(2)) == ""


@pytest.mark.parametrize(
    ("sites", "does"),
    [
        ((change(3, 8, 8),), "leaves its cost as it is"),
        ((change(3, 8, 4), change(3, 8, 1200, "store")), "makes its 16 wavefronts 1,204"),
        ((), "is not known to change it"),
    ],
    ids=["same", "worse", "elsewhere"],
)
def test_another_access_is_told_that_nothing_was_found_for_it(
    sites: tuple[SiteChange, ...], does: str
) -> None:
    fix = padded(change(2, 32, 1), *sites)
    told = refused(fix, unhelped(fix, at(3)))
    assert told.edits is None and not told.safe and told.before == told.after
    assert told.refused is not None and told.refused.code == "no-better-layout"
    assert told.refused.text == (
        f"no better layout was found for this access: `t[32][33]`, which helps others of `t`, {does}"
    )


def test_a_reason_without_a_layout_is_that_of_every_access() -> None:
    assert unhelped(padded(code=""), at(3)) == ""


def test_the_other_part_of_a_pool_is_not_counted_as_fixable(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(SPLIT)
    report = api.check([api.Job(str(path))])
    fixes = {d.place.line: d.fix for d in report.diagnostics}
    other, column = fixes[7], fixes[10]
    assert other is not None and column is not None
    assert column.edits is not None and "P_PITCH" in column.code and other.edits is None
    summary = report.summary
    assert (summary.findings, summary.fixable + summary.fixable_unsafe) == (2, 1)


@pytest.mark.parametrize("form", ["json", "sarif", "concise", "full"])
def test_every_format_offers_the_edit_once(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.cu"
    path.write_text(SPLIT)
    main(["check", "--output-format", form, "--no-cache", str(path)])
    out = capsys.readouterr().out
    if form == "json":
        fixes = [d["fix"] for d in json.loads(out)["diagnostics"]]
        assert [f["edits"] is not None for f in fixes] == [False, True]
        assert fixes[0]["refused"]["code"] == "no-better-layout"
    elif form == "sarif":
        (run,) = json.loads(out)["runs"]
        assert ["fixes" in r for r in run["results"]] == [False, True]
    else:
        marks = [line for line in out.splitlines() if "[*]" in line or "fix [" in line]
        assert len(marks) == 1


def test_accesses_that_a_fix_helps_and_does_not_are_two_findings(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(SPLIT.replace("q[2 * t] = a[t];", "q[2 * t] = a[t]; p[2 * t] = 1;"))
    report = api.check([api.Job(str(path))])
    groups = {(d.fix.edits is not None if d.fix else False): d.group for d in report.diagnostics}
    assert len(set(groups.values())) == len(groups) == 2


def test_a_fix_of_what_is_not_shown_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(
        SPLIT.replace("s += p[t * 32 + i];", "s += p[t * 32 + i];  // smemlint: ignore[SMEM101] known")
    )
    main(["check", "--fix", "--unsafe-fixes", "--no-cache", str(path)])
    assert "P_PITCH" not in path.read_text()
