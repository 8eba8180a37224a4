"""Objects that are made in an expression, and casts to references."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch, Literal, Scalar
from smemlint.source import source_from_bytes

RECORDS = """
template <class T> struct Sum {
    struct Storage { T part[32]; T total; };
    Storage &storage;
    __device__ Sum(Storage &s) : storage(s) {}
    __device__ T of(T v) { storage.part[threadIdx.x] = v; return storage.total; }
};
"""


def accesses(kernel_text: str) -> list[tuple[str, int, int]]:
    """(operation, byte of lane 1, byte of lane 2) of each access, T = float and N = 16."""
    (module,) = load(source_from_bytes("k.cu", (RECORDS + kernel_text).encode()))
    (kernel,) = module.kernels()
    known = {"T": Scalar("float", 4, "float"), "N": Literal(16)}
    bound = {p.name: known[p.name] for p in kernel.template}
    trace = evaluate(module, kernel, Launch((32, 1, 1), template=bound))  # type: ignore[arg-type]
    assert not trace.notes and all(t.grade is Grade.EXACT for t in trace.traces)
    return [(t.site.op, int(t.offsets[0, 1]), int(t.offsets[0, 2])) for t in trace.traces]


@pytest.mark.parametrize(
    "use",
    [
        "out[0] = S(storage).of(out[1]);",
        "S made = S(storage); out[0] = made.of(out[1]);",
        "S first(storage); out[0] = S(first).of(out[1]);",
        "out[0] = Sum<T>(storage).of(out[1]);",
    ],
)
def test_what_a_constructor_takes_by_reference_is_not_loaded(use: str) -> None:
    text = f"""template <class T> __global__ void k(T *out) {{
        using S = Sum<T>;
        __shared__ typename S::Storage storage;
        {use}
    }}"""
    assert accesses(text) == [("store", 4, 8), ("load", 128, 128)]


@pytest.mark.parametrize("length", ["16", "N"])
@pytest.mark.parametrize(
    "use",
    [
        "auto &row = reinterpret_cast<float (&)[{n}]>(s[threadIdx.x * 16]); row[3] = 1;",
        "reinterpret_cast<float (&)[{n}]>(s[threadIdx.x * 16])[3] = 1;",
        "((float (&)[{n}])s[threadIdx.x * 16])[3] = 1;",
    ],
)
def test_a_cast_to_an_array_names_what_lies_there(use: str, length: str) -> None:
    head = "template <int N> " if length == "N" else ""
    text = f"{head}__global__ void k() {{ __shared__ float s[512]; {use.format(n=length)} s[0] = s[5]; }}"
    assert accesses(text)[:1] == [("store", 64 + 12, 128 + 12)]
