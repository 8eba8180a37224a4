"""An object is asked about once while it is remembered, and equal ones are not taken for each other."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.ir import Module, memo


def test_each_object_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST", 2)
    asked: list[list[int]] = []

    @memo.by_identity
    def length(node: list[int]) -> int:
        asked.append(node)
        return len(node)

    one, twin, other = [1], [1], [1, 2]
    assert [length(n) for n in (one, twin, one, twin)] == [1, 1, 1, 1]
    assert len(asked) == 2
    assert (length(other), length(twin), length(one)) == (2, 1, 1)
    assert asked[2:] == [other, one]


def test_what_is_forgotten_is_asked_again() -> None:
    asked: list[list[int]] = []

    @memo.by_identity
    def length(node: list[int]) -> int:
        asked.append(node)
        return len(node)

    one = [1]
    length(one)
    memo.forget()
    assert length(one) == 1 and asked == [one, one]


def test_a_file_that_is_done_leaves_nothing_of_its_program(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(float *out) { __shared__ float t[32]; t[threadIdx.x] = *out; }\n")
    alive = {id(m) for m in _modules()}
    assert analyse_file(Job(str(path))).kernels
    assert {id(m) for m in _modules()} <= alive


def _modules() -> list[Module]:
    gc.collect()
    return [o for o in gc.get_objects() if isinstance(o, Module)]
