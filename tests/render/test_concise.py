from __future__ import annotations

from made import diagnostic, report

from smemlint.render import render


def test_each_finding_is_one_line() -> None:
    assert render("concise", report([diagnostic()])).splitlines() == [
        "src/transpose.cu:10:25: warning[SMEM101] 32-way bank conflict: lanes 0..31 meet in bank 0; "
        "32 wavefronts, 1 would do",
        "1 finding in 1 of 1 file; 2 accesses, 2 resolved; 0 unparsed",
    ]
