"""The bank engine against the project's own probe: `benchmarks/silicon/bank_probe.py`."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from smemlint.banks import OPERATIONS, wavefronts
from smemlint.banks.request import WIDTHS

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "silicon"
DATA: dict[str, Any] = json.loads(gzip.decompress((FOLDER / "measured.json.gz").read_bytes()))


@pytest.fixture(scope="module")
def probe() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bank_probe", FOLDER / "bank_probe.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(DATA["ops"]))
def test_every_pattern_costs_what_the_gpu_counted(probe: ModuleType, name: str) -> None:
    ((_, _, count, wrong),) = probe.grade({"ops": {name: DATA["ops"][name]}})
    assert count >= 400 and wrong == []


def test_the_plain_rule_agrees_on_every_ninth_pattern() -> None:
    for name, each in DATA["ops"].items():
        for pattern in [] if each["op"] == "cas loop" else each["patterns"][::9]:
            offsets = [None if o < 0 else o for o in pattern[1]]
            cost = wavefronts(each["op"], each["width"], offsets, matrices=each["matrices"])
            assert [cost.wavefronts, cost.ideal] == pattern[2:], (name, pattern[0])


def test_every_operation_was_measured_at_every_width_that_it_has_on_hopper() -> None:
    asked = {(each["op"], each["width"]) for each in DATA["ops"].values()}
    wanted = {(op, width) for op in OPERATIONS for width in WIDTHS[op]}
    no_instruction = {("atomic", 2), ("atomic", 16), ("cas", 2), ("cas", 16)}
    assert asked - {("cas loop", 4)} == wanted - no_instruction
    masked = [e for e in DATA["ops"].values() if any(o < 0 for p in e["patterns"] for o in p[1])]
    assert {e["op"] for e in masked} == {e["op"] for e in DATA["ops"].values()} - {"ldmatrix", "stmatrix"}


def test_the_data_is_of_the_patterns_that_the_probe_asks_for(probe: ModuleType) -> None:
    for number, each in enumerate(probe.INSTRUCTIONS):
        asked = probe.asked(each, number)
        held = DATA["ops"][each.name]["patterns"]
        assert [p[0] for p in held] == [name for name, _ in asked]
        strides = {name: list(offsets) for name, offsets in asked if re.fullmatch(r"stride\d+", name)}
        assert len(strides) == 65
        assert {p[0]: p[1] for p in held if p[0] in strides} == strides


def test_each_copy_has_a_line_of_its_own(probe: ModuleType) -> None:
    text, first = probe.source()
    lines = text.splitlines()
    for name, at in first.items():
        copies = lines[at - 1 : at - 1 + probe.COPIES]
        assert copies == [f"{name}({n})" for n in range(probe.COPIES)]
    assert len(probe.table()) % 4 == 0


def test_one_command_grades_and_tells_what_is_wrong(tmp_path: Path) -> None:
    small = {**DATA, "ops": {"LD4": {**DATA["ops"]["LD4"], "patterns": DATA["ops"]["LD4"]["patterns"][:40]}}}
    call = [sys.executable, str(FOLDER / "bank_probe.py"), "--grade", str(tmp_path / "a.json.gz")]
    for change, status in ((0, 0), (1, 1)):
        small["ops"]["LD4"]["patterns"][3][2] += change
        (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(small).encode()))
        done = subprocess.run(call, capture_output=True, text=True, timeout=120)
        assert done.returncode == status
        assert f"{40 - change} of 40 patterns cost what smemlint says" in done.stdout
    assert "stride3: counted 2 / 1, told 1 / 1" in done.stdout
