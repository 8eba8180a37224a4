"""A kernel whose code no macro changes is evaluated once for all configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.frontend import load
from smemlint.ir import Module
from smemlint.running import instances
from smemlint.running.same_code import alike, changed, reached
from smemlint.source import read_source

CALLED = """
struct Row { int pitch;
  __device__ int at(int y) const { return y * pitch; } };
__device__ int column(int x) {
#ifdef WIDE
    return x * 2;
#else
    return x;
#endif
}
__device__ int through(int x) { return column(x); }
"""
ALIKE = """
__global__ void alike(float *p) {
    __shared__ float s[1024];
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[threadIdx.x * 2 % 1024];
}
"""
CHANGED = """
__global__ void changed(float *p) {
    __shared__ float s[1024];
    s[threadIdx.x] = p[threadIdx.x];
#ifdef WIDE
    __shared__ float more[1024];
    more[threadIdx.x * 2 % 1024] = s[threadIdx.x];
#endif
}
"""
CALLER = """
__global__ void caller(float *p) {
    __shared__ float s[1024];
    s[through(threadIdx.x)] = p[threadIdx.x];
}
"""
HOST = """
void host(float *p) { alike<<<1, 256>>>(p); changed<<<1, 256>>>(p); caller<<<1, 256>>>(p); }
"""


def modules(folder: Path, text: str) -> list[Module]:
    path = folder / "a.cu"
    path.write_text(text)
    return list(load(read_source(str(path))))


def evaluations(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that are evaluated, one for each evaluation."""
    seen: list[str] = []
    real = instances.evaluate

    def evaluate(module, kernel, *arguments, **keywords):  # type: ignore[no-untyped-def]
        seen.append(kernel.name)
        return real(module, kernel, *arguments, **keywords)

    monkeypatch.setattr(instances, "evaluate", evaluate)
    path = folder / "a.cu"
    path.write_text(text)
    analyse_file(Job(str(path)))
    return seen


def test_only_what_the_macros_change_is_evaluated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = evaluations(tmp_path, CALLED + ALIKE + CHANGED + CALLER + HOST, monkeypatch)
    assert {name: seen.count(name) > 1 for name in set(seen)} == {
        "alike": False, "changed": True, "caller": True,
    }  # fmt: skip


def test_each_configuration_has_its_record(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(CALLED + ALIKE + CHANGED + CALLER + HOST)
    found = [(k.name, k.configuration, len(k.accesses)) for k in analyse_file(Job(str(path))).kernels]
    assert {(name, n) for name, configuration, n in found if configuration and name == "alike"} == {
        ("alike", 2)
    }


def test_a_shared_array_outside_of_functions_has_its_place_by_all_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = "__shared__ float s[1024];\n" + ALIKE.replace("    __shared__ float s[1024];\n", "")
    seen = evaluations(tmp_path, outside + CHANGED.replace("float s[", "float t[") + HOST, monkeypatch)
    assert seen.count("alike") > 1


def test_what_a_macro_changes_is_found_through_calls(tmp_path: Path) -> None:
    first, second, *_ = modules(tmp_path, CALLED + ALIKE + CHANGED + CALLER)
    names = changed(first, second)
    assert "column" in names
    assert not alike(first.functions, second.functions)
    kernels = {k.name: k for k in first.kernels()}
    assert names.isdisjoint(reached(first, kernels["alike"]))
    assert "column" in reached(first, kernels["caller"])
