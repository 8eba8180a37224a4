from __future__ import annotations

import json

from made import diagnostic, report

from smemlint.diagnose.model import Problem
from smemlint.render import render


def test_json_is_versioned_and_complete() -> None:
    data = json.loads(render("json", report([diagnostic()], [Problem("x.cu", "cannot be read")])))
    assert data["version"] == 1
    assert data["tool"]["name"] == "smemlint"
    (found,) = data["diagnostics"]
    assert (found["code"], found["path"], found["line"], found["column"]) == (
        "SMEM101",
        "src/transpose.cu",
        10,
        25,
    )
    assert (found["worst_ways"], found["wavefronts"], found["ideal"], found["grade"]) == (
        32.0,
        256,
        8,
        "exact",
    )
    assert found["related"][0]["message"].startswith("row pitch 128 B")
    assert found["fix"] is None
    assert data["errors"] == [{"path": "x.cu", "message": "cannot be read", "line": 0, "column": 0}]
    assert data["summary"]["accesses"] == 2
