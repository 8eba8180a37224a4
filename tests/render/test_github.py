from __future__ import annotations

from made import diagnostic, report
from smemlint.rules import Severity

from smemlint.diagnose.model import Problem
from smemlint.render import render


def test_a_warning_becomes_an_annotation_with_its_range() -> None:
    first = render("github", report([diagnostic()])).splitlines()[0]
    assert first == (
        "::warning file=src/transpose.cu,line=10,endLine=10,col=25,endColumn=55,title=SMEM101 column-access::"
        "32-way bank conflict: lanes 0..31 meet in bank 0; 32 wavefronts, 1 would do"
        "%0Alaunch: block (32, 8) from transpose.cu:108"
    )


def test_notes_are_notices_and_special_characters_are_escaped() -> None:
    odd = diagnostic(severity=Severity.NOTE, title="100%\nsure", here="", notes=())
    assert render("github", report([odd])).startswith("::notice ")
    assert "::100%25%0Asure\n" in render("github", report([odd]))


def test_a_failed_file_is_an_error() -> None:
    text = render("github", report(problems=[Problem("a,b.cu", "cannot be read")]))
    assert text.startswith("::error file=a%2Cb.cu,line=1::cannot be read\n")
