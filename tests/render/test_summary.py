"""The last line."""

from __future__ import annotations

from smemlint.diagnose.model import Summary
from smemlint.render.summary import summary_line


def test_findings_in_headers_are_not_told_as_of_the_named_files() -> None:
    assert summary_line(Summary(files=3, files_with_findings=2, findings=4)).startswith(
        "4 findings in 2 of 3 files;"
    )
    assert summary_line(Summary(files=1, files_with_findings=2, findings=4)).startswith(
        "4 findings in 2 files;"
    )
