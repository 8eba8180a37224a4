"""Kernels of more instances than are looked at one by one: none is left out without a word."""

from __future__ import annotations

import importlib

import pytest

from smemlint.api import Job, analyse_file
from smemlint.running import instances, schedule

infer = importlib.import_module("smemlint.launch.infer")

KERNEL = """
template <int N> __global__ void k(float *o) {
    __shared__ float s[4096];
    for (int i = 0; i < ROUNDS; ++i) s[threadIdx.x * (N == 77 ? 32 : 1)] = N + i;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
"""


def text(rounds: int) -> str:
    cases = " ".join(f"case {n}: k<{n}><<<1, 32>>>(o); break;" for n in range(10, 90))
    host = f"void run(float *o, int n) {{ switch (n) {{ {cases} }} }}"
    return KERNEL.replace("ROUNDS", str(rounds)) + host


def test_each_of_many_cheap_instances_is_looked_at() -> None:
    report = analyse_file(Job("/t/k.cu", text=text(1)))
    (conflicted,) = [k for k in report.kernels if dict(k.template_arguments)["N"] == "77"]
    assert len(report.kernels) == 80
    assert max(a.ways or 0 for a in conflicted.accesses) == 32


def test_of_many_dear_instances_those_that_are_left_out_are_told() -> None:
    report = analyse_file(Job("/t/k.cu", text=text(200)))
    left = [k for k in report.kernels if any(n.code == "budget" for n in k.notes)]
    looked_at = [k for k in report.kernels if k.accesses]
    assert len(looked_at) + len(left) == 80
    assert len(looked_at) >= schedule.MANY
    assert left


def test_what_is_left_out_of_very_many_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (infer, schedule, instances):
        monkeypatch.setattr(module, "MAX_LAUNCHES", 50)
    report = analyse_file(Job("/t/k.cu", text=text(1)))
    notes = [n.text for k in report.kernels for n in k.notes if n.code == "budget"]
    assert notes == ["further launches were left out after 50 of this kernel"]
    assert sum(bool(k.accesses) for k in report.kernels) == 50
