"""docs/folklore.md: each row is what smemlint says and what silicon counted; its pictures are drawn anew."""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any

import pytest
from smemlint.rules.words import ways_text

from smemlint.api import Job, Options, analyse_file
from smemlint.cli import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "folklore.md").read_text(encoding="utf-8")
MEASURED: dict[str, Any] = json.loads((ROOT / "fixtures" / "measured.json").read_text())["fixtures"]
FIXTURE = re.compile(
    r"^\| (.+?) \| `(\w+)` \((\w+\.cu):(\d+) (\w+)\) \| (\S+)-way \| (\S+)-way \| (.+) \|$", re.M
)
PROBE = re.compile(r"^\| (.+?) \| `(\w+)` (\w+) \| (\d+) / (\d+) \| (\d+) / (\d+) \| (.+) \|$", re.M)
ADDRESS = re.compile(
    r"^\| (.+?) \| `(\w+)` \((\w+\.cu)\) \| ((?:\w+ \d+(?:, )?)+) \| ((?:\w+ \d+(?:, )?)+) \| (.+) \|$", re.M
)
SEGMENTS = ROOT / "benchmarks" / "silicon"
RESERVED = 1024
PICTURES = {
    "padding.svg": ["banks", "float t[32][32]", "t[threadIdx.x][3]", "--block", "32"],
    "strides.svg": ["sweep", "float s[4096]", "s[threadIdx.x * n]", "--over", "n=1..64", "--block", "32"],
}


@cache
def accesses(file: str) -> list[tuple[str, tuple[int, int, int], Any]]:
    report = analyse_file(Job(str(ROOT / "fixtures" / file), Options(suggest=False)))
    return [(k.name, k.launch.block, a) for k in report.kernels for a in k.accesses]


@cache
def probed() -> dict[str, dict[str, Any]]:
    with gzip.open(ROOT / "tests" / "banks" / "h100-bank-probe.json.gz") as file:
        ops = json.load(file)["ops"]
    return {op: {p[0]: p for p in data["patterns"]} | {"width": data["width"]} for op, data in ops.items()}


def rows(pattern: re.Pattern[str]) -> list[tuple[str, ...]]:
    return [match.groups() for match in pattern.finditer(PAGE)]


@pytest.mark.parametrize("row", rows(FIXTURE), ids=lambda row: f"{row[1]}:{row[3]}")
def test_a_claim_with_a_fixture_is_told_and_measured_as_the_page_says(row: tuple[str, ...]) -> None:
    _, kernel, file, line, op, told, counted, _ = row
    launches = [x for x in MEASURED[file] if re.search(rf"\b{kernel}\b", x["kernel"])]
    found = [x for launch in launches for x in launch["lines"] if x[1:3] == [int(line), op]]
    assert found and {ways_text(x[5] / x[6]) for x in found} == {counted}
    mine = [a for name, _, a in accesses(file) if name == kernel and a.line == int(line)]
    by_kernel = [a for a in mine if a.op in (op, "increment", "cas", "cas loop") or a.op == op]
    waves, ideal = sum(a.wavefronts or 0 for a in by_kernel), sum(a.ideal or 0 for a in by_kernel)
    assert ideal and ways_text(waves / ideal) == told


@pytest.mark.parametrize("row", rows(PROBE), ids=lambda row: f"{row[1]}-{row[2]}")
def test_a_claim_with_a_probe_is_counted_and_told_as_the_page_says(row: tuple[str, ...]) -> None:
    from smemlint.banks import wavefronts

    _, op, pattern, told, told_ideal, counted, counted_ideal, _ = row
    measured = probed()[op][pattern]
    assert measured[2:4] == [int(counted), int(counted_ideal)]
    kinds = {"LD": "load", "ST": "store", "ATOM": "atomic", "RED": "increment", "CAS": "cas"}
    kind = next(kinds[k] for k in sorted(kinds, key=len, reverse=True) if op.startswith(k))
    cost = wavefronts(kind, probed()[op]["width"], [None if o < 0 else o for o in measured[1]])
    assert (cost.wavefronts, cost.ideal) == (int(told), int(told_ideal))


@pytest.mark.parametrize("row", rows(ADDRESS), ids=lambda row: f"{row[2]}-{row[1]}")
def test_a_claim_with_an_address_is_told_by_both_as_the_page_says(row: tuple[str, ...]) -> None:
    from smemlint.look import layout

    _, kernel, file, told, counted, _ = row
    answer = layout((Job(str(SEGMENTS / "segments" / file), Options()), ""))
    (memory,) = [k for k in answer.kernels if k.kernel == kernel]
    starts = {p.array.name: p.start for p in memory.pieces if p.array is not None}
    said = [name_at.split(" ") for name_at in told.split(", ")]
    assert {name: int(at) for name, at in said} == starts
    measured = json.loads((SEGMENTS / "segments.json").read_text())["files"][file]
    (addresses,) = [each["addresses"] for each in measured if each["kernel"] == kernel]
    assert [int(at.split(" ")[1]) for at in counted.split(", ")] == [a - RESERVED for a in addresses]


def test_the_page_has_its_rows() -> None:
    assert len(rows(FIXTURE)) >= 12 and len(rows(PROBE)) >= 10
    tables = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| stride")]
    heads = [line for line in tables if line.startswith("| claim |")]
    read = sum(len(rows(pattern)) for pattern in (FIXTURE, PROBE, ADDRESS))
    assert len(tables) - len(heads) == read and len(rows(ADDRESS)) == 6, "a row that no test reads"


def test_the_strides_are_those_that_were_measured() -> None:
    found = dict(re.findall(r"^(\d+)-way: stride ([\d, ]+)$", PAGE, re.M))
    measured: dict[str, list[int]] = {}
    for stride in range(1, 65):
        pattern = probed()["LD4"][f"stride{stride}"]
        assert pattern[2] == gcd(stride, 32)
        measured.setdefault(str(pattern[2] // pattern[3]), []).append(stride)
    assert {ways: [int(n) for n in text.split(", ")] for ways, text in found.items()} == measured


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_a_picture_is_what_the_program_draws(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert main([*PICTURES[name], "-o", str(path)]) == 0
    kept = ROOT / "docs" / "pictures" / name
    command = " ".join(f"'{word}'" if "[" in word else word for word in PICTURES[name])
    assert kept.read_text() == path.read_text(), f"draw it again: smemlint {command} -o docs/pictures/{name}"
    assert f"pictures/{name}" in PAGE
