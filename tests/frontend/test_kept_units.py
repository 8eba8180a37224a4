"""What starts the kernels of several files is parsed and lowered once, and told as if it were read anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smemlint import frontend
from smemlint.frontend import Known, ParseOptions, kept_units, parse
from smemlint.frontend.kept_units import KeptUnits
from smemlint.ir import Module
from smemlint.running.jobs import Options
from smemlint.running.others import reader
from smemlint.source import read_source
from smemlint.system.observed import collecting

CALLER = """
#include "sizes.cuh"
void first_wrapper(int);
void second_wrapper(int);
void third_wrapper(int);
__global__ void own(Unknown u) { __shared__ int s[4]; s[0] = 1; }
void both() { first_wrapper(SIZE); second_wrapper(SIZE); }
void one() { third_wrapper(7); }
"""


@pytest.fixture(autouse=True)
def parses(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The files that clang parses, each time it does."""
    kept = KeptUnits()
    monkeypatch.setattr(parse, "KEPT", kept)
    monkeypatch.setattr(frontend, "KEPT", kept)
    seen: list[str] = []
    real = parse._Attempt.parse

    def counted(attempt: parse._Attempt, healed: str, how: int = 0) -> object:
        seen.append(attempt.main)
        return real(attempt, healed, how)

    monkeypatch.setattr(parse._Attempt, "parse", counted)
    yield seen


@pytest.fixture
def caller(tmp_path: Path) -> Path:
    (tmp_path / "sizes.cuh").write_text("#define SIZE 32\n")
    path = tmp_path / "caller.cu"
    path.write_text(CALLER)
    return path


def callers_of(name: str, path: Path, known: Known | None = None) -> Module:
    options = ParseOptions(project_root=str(path.parent))
    module = frontend.load_callers(read_source(path), options, frozenset({name}), known, whole=frozenset())
    assert module is not None
    return module


def names(module: Module) -> set[str]:
    return {f.name for f in module.functions.values()}


def test_a_second_file_takes_over_what_the_first_had_parsed(caller: Path, parses: list[str]) -> None:
    assert names(callers_of("first_wrapper", caller)) == {"own", "both"}
    rounds = len(parses)
    assert rounds > 1  # `Unknown` is healed
    assert names(callers_of("third_wrapper", caller)) == {"own", "one"}
    assert len(parses) == rounds


def test_what_leads_to_the_same_functions_is_lowered_once(caller: Path) -> None:
    first = callers_of("first_wrapper", caller)
    assert callers_of("third_wrapper", caller).functions.keys() != first.functions.keys()
    assert callers_of("second_wrapper", caller).functions is first.functions


def test_kernels_whose_bodies_are_asked_for_are_lowered_again(caller: Path) -> None:
    bare = callers_of("first_wrapper", caller)
    options = ParseOptions(project_root=str(caller.parent))
    files = frozenset({str(caller)})
    whole = frontend.load_callers(read_source(caller), options, frozenset({"first_wrapper"}), whole=files)
    assert whole is not None
    sizes = [len(next(k for k in m.kernels()).body.body) for m in (bare, whole)]  # type: ignore[attr-defined]
    assert sizes == [0, 2]


@pytest.mark.parametrize("changed", ["caller.cu", "sizes.cuh", "added.cuh"])
def test_changed_files_are_parsed_again(caller: Path, parses: list[str], changed: str) -> None:
    if changed == "added.cuh":  # looked for in vain at first
        caller.write_text('#include "added.cuh"\n' + CALLER)
    callers_of("first_wrapper", caller)
    rounds = len(parses)
    (caller.parent / changed).write_text(
        CALLER + "void more() { first_wrapper(1); }"
        if changed == "caller.cu"
        else "#define SIZE 64\n#define OTHER 1\n"
    )
    callers_of("first_wrapper", caller)
    assert len(parses) > rounds


def test_what_a_unit_cost_counts_each_time(caller: Path, parses: list[str]) -> None:
    left = []
    for name in ("first_wrapper", "third_wrapper"):
        known = Known()
        callers_of(name, caller, known)
        left.append(known.left)
    assert left[0] == left[1] < Known().left


def test_where_too_little_may_be_read_nothing_is_taken_over(caller: Path, parses: list[str]) -> None:
    callers_of("first_wrapper", caller)
    rounds = len(parses)
    known = Known(left=len(CALLER))
    callers_of("third_wrapper", caller, known)
    assert len(parses) == rounds + 1 and known.left <= 0


def test_the_facts_behind_a_unit_are_told_again(caller: Path) -> None:
    told = []
    for name in ("first_wrapper", "third_wrapper"):
        with collecting() as facts:
            callers_of(name, caller)
        told.append(facts)
    assert told[0] == told[1]


def test_the_longest_unused_units_go(
    caller: Path, parses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_units, "MOST_TEXT", 30)
    callers_of("first_wrapper", caller)
    rounds = len(parses)
    other = caller.with_name("other.cu")
    other.write_text(CALLER)
    callers_of("first_wrapper", other)
    callers_of("first_wrapper", caller)
    assert parses[rounds:].count(str(caller)) == rounds


def test_what_the_file_that_asks_lacks_makes_no_other_unit(
    caller: Path, tmp_path: Path, parses: list[str]
) -> None:
    """Two files lack different names, which the caller's text holds too: it is parsed for the first alone."""
    asking = {"first": "Unknown u;", "second": "int n = SIZE;"}
    for name, lacking in asking.items():
        kernel = f"__global__ void {name}() {{ {lacking} }}"
        text = f"{kernel} void {name}_wrapper(int n) {{ {name}<<<1, n>>>(); }}"
        (tmp_path / f"{name}.cu").write_text(text)
    told = []
    for name in asking:
        main, known = tmp_path / f"{name}.cu", Known()
        frontend.load(read_source(main), ParseOptions(), known)
        assert known.names.root.children
        parses.clear()
        read = reader(Options(), known, float("inf"), str(main), frozenset())
        module = read(str(caller), frozenset({f"{name}_wrapper"}))
        assert module is not None
        told.append((names(module), len(parses)))
    assert [found for found, _ in told] == [{"both", "own"}] * 2
    assert told[0][1] > 0 and told[1][1] == 0
