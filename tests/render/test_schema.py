"""JSON reports keep to the schema that tools are given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smemlint.cli import main

jsonschema = pytest.importorskip("jsonschema")
ROOT = Path(__file__).resolve().parent.parent.parent
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("names", [("reduce", "gemm"), ("nowhere",)])
def test_a_report_keeps_to_the_schema(names: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(ROOT / "fixtures" / f"{name}.cu") for name in names]
    main([*paths, "--level", "note", "--output-format", "json"])
    data = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)
    assert bool(data["diagnostics"]) is (names != ("nowhere",)) and bool(data["errors"]) is (
        names == ("nowhere",)
    )


def test_the_report_of_a_shard_keeps_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    main([str(ROOT / "fixtures" / "reduce.cu"), "--shard", "1/1", "--output-format", "json"])
    data = json.loads(capsys.readouterr().out)
    assert data["shard"]["of"] == 1
    jsonschema.validate(data, SCHEMA, cls=jsonschema.Draft202012Validator)


def test_the_schema_refuses_what_is_no_report() -> None:
    for data in ({}, {"version": 2}, []):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data, SCHEMA)
