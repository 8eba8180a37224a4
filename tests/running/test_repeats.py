"""Numbers that launches pass and that are not looked at one by one, since others showed that they change
nothing."""

from __future__ import annotations

import importlib

import pytest

from smemlint.api import Job, analyse_file
from smemlint.ir import Launch
from smemlint.running import schedule

instances = importlib.import_module("smemlint.running.instances")

KERNEL = """
template <int A> __global__ void k(const int *lengths, float *o) {
    __shared__ float s[4096];
    float scale = lengths ? lengths[blockIdx.x] : 1;
    for (int i = 0; i < ROUNDS; ++i) s[threadIdx.x + i * 64] = o[i] * scale;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x] + A;
}
"""
STARTS = " ".join(f"k<{a}><<<1, 64>>>(nullptr, o); k<{a}><<<1, 64>>>(p, o);" for a in range(6))


@pytest.fixture
def nulls(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """The launches that were evaluated with a null pointer."""
    seen: list[Launch] = []
    evaluate = instances.evaluate

    def noted(module: object, kernel: object, launch: Launch, *more: object) -> object:
        if launch.arguments.get("lengths") == 0:
            seen.append(launch)
        return evaluate(module, kernel, launch, *more)

    monkeypatch.setattr(instances, "evaluate", noted)
    return seen


def analysed(rounds: str) -> None:
    text = KERNEL.replace("ROUNDS", rounds) + f"void f(const int *p, float *o) {{ {STARTS} }}"
    report = analyse_file(Job("/t/k.cu", text=text))
    assert all(a.grade == "exact" for k in report.kernels for a in k.accesses)


def test_a_pointer_that_changed_nothing_in_three_instances_is_not_looked_at_in_others(
    monkeypatch: pytest.MonkeyPatch, nulls: list[Launch]
) -> None:
    monkeypatch.setattr(schedule, "MANY_WORK", 1)
    analysed("9")
    assert len(nulls) == 3


def test_a_pointer_that_changes_something_is_looked_at_in_each(
    monkeypatch: pytest.MonkeyPatch, nulls: list[Launch]
) -> None:
    monkeypatch.setattr(schedule, "MANY_WORK", 1)
    analysed("(lengths ? 9 : 5)")
    assert len(nulls) == 6


def test_in_a_file_that_takes_little_it_is_looked_at_in_each(nulls: list[Launch]) -> None:
    analysed("9")
    assert len(nulls) == 6
