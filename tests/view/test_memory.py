"""Shared memory lies where nvcc puts it: every kernel of the fixtures, and the cases one by one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from smemlint.banks import architecture
from smemlint.look import LayoutAnswer, layout
from smemlint.running.jobs import Job, Options
from smemlint.view.memory import KernelMemory, residency

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
MEASURED: dict[str, dict[str, int]] = json.loads((FIXTURES / "shared_bytes.json").read_text())["kernels"]


def laid_out(text: str, path: str = "k.cu") -> dict[str, KernelMemory]:
    answer = layout((Job(path, Options(), text), ""))
    assert isinstance(answer, LayoutAnswer) and not answer.problems
    return {k.kernel: k for k in answer.kernels}


def mangled(name: str) -> str:
    """The plain name in a mangled one."""
    found = list(re.finditer(r"\d+", name))
    sized = [name[m.end() : m.end() + int(m[0])] for m in found if int(m[0]) < len(name) - m.end()]
    return next(text for text in sized if re.fullmatch(r"[A-Za-z_]\w*", text))


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.cu")), ids=lambda p: p.stem)
def test_the_static_bytes_of_a_kernel_are_those_of_nvcc(path: Path) -> None:
    answer = layout((Job(str(path), Options()), ""))
    told: dict[str, set[int | None]] = {}
    for kernel in answer.kernels:
        told.setdefault(kernel.kernel.split("<")[0], set()).add(kernel.static)
    measured: dict[str, set[int]] = {}
    for name, size in MEASURED[path.name].items():
        measured.setdefault(mangled(name), set()).add(size)
    wrong = {
        n: (sizes, told.get(n)) for n, sizes in measured.items() if sizes - {0} != told.get(n, {0}) - {0}
    }
    assert wrong == {}


def test_an_array_begins_at_a_multiple_of_its_alignment() -> None:
    text = (
        "__global__ void k(int *p) { __shared__ char a[3]; __shared__ int b[5];\n"
        "a[threadIdx.x % 3] = p[0]; b[threadIdx.x % 5] = p[1]; __syncthreads();\n"
        "p[threadIdx.x] = a[p[2]] + b[p[3]]; }\n"
    )
    pieces = laid_out(text)["k"].pieces
    assert [(p.array.name if p.array else "", p.start, p.bytes) for p in pieces] == [
        ("a", 0, 3),
        ("", 3, 1),
        ("b", 4, 20),
    ]
    assert laid_out(text)["k"].padding == 1


def test_dynamic_memory_begins_behind_the_static_arrays_at_a_multiple_of_16() -> None:
    text = """__global__ void k(float *p) { __shared__ float a[5]; extern __shared__ float d[];
    a[threadIdx.x % 5] = p[0]; d[threadIdx.x] = p[1]; __syncthreads(); p[threadIdx.x] = a[p[2] > 0] + d[0]; }
    void start(float *p) { k<<<1, 64, 64 * sizeof(float)>>>(p); }"""
    kernel = laid_out(text)["k"]
    assert [(p.array.name, p.start, p.bytes) for p in kernel.pieces if p.array] == [
        ("a", 0, 20),
        ("d", 32, 256),
    ]
    assert (kernel.static, kernel.dynamic, kernel.total) == (32, 256, 288)


def test_an_array_that_nothing_reads_takes_no_room() -> None:
    text = "__global__ void k() { __shared__ int a[64], b[64]; a[threadIdx.x] = 1; b[0] = a[1]; }"
    kernel = laid_out(text)["k"]
    assert [a.name for a in kernel.vanished] == ["b"] and kernel.static == 256


def test_a_size_that_is_not_known_is_not_guessed() -> None:
    text = """struct Unknown; __global__ void k(float *p) { __shared__ Other a[4]; __shared__ float b[8];
    b[threadIdx.x % 8] = p[0]; __syncthreads(); p[1] = b[0] + a[threadIdx.x % 4].x; }"""
    for kernel in laid_out(text).values():
        assert kernel.static is None and kernel.total is None and kernel.resident == ()


def test_resident_blocks_follow_threads_and_bytes() -> None:
    found = {r.arch: r.blocks for r in residency(256, 100 * 1024)}
    assert (found["sm_75"], found["sm_80"], found["sm_90"]) == (0, 1, 2)
    assert found["sm_90"] == architecture("sm_90").resident_blocks(256, 100 * 1024)


SEGMENTS = Path(__file__).resolve().parents[2] / "benchmarks" / "silicon"
ADDRESSES = json.loads((SEGMENTS / "segments.json").read_text())["files"]
RESERVED = 1024
"""Bytes that sm_90 keeps for the system at the start of each block."""


@pytest.mark.parametrize(
    ("file", "told"), [(file, each) for file, kernels in ADDRESSES.items() for each in kernels]
)
def test_arrays_lie_where_a_gpu_told_their_addresses(file: str, told: dict[str, object]) -> None:
    path = SEGMENTS / "segments" / file
    (kernel,) = [k for k in layout((Job(str(path), Options()), "")).kernels if k.kernel == told["kernel"]]
    starts = {p.array.name: p.start for p in kernel.pieces if p.array is not None}
    body = path.read_text().split(f"void {told['kernel']}(")[1].split("END")[0]
    asked = re.findall(r"HOLD\((\w+),|__cvta_generic_to_shared\(&(\w+)", body)
    names = [first or second for first, second in asked]
    addresses = told["addresses"]
    assert isinstance(addresses, list) and len(names) == len(addresses) == len(starts)
    assert [starts[name] for name in names] == [address - RESERVED for address in addresses]
    assert kernel.dynamic == told["dynamic"]


SHRUNK = [
    ("float m[3]", "m[0] = in[0]", "m[0]", 8),
    ("float m[3]", "m[2] = in[0]", "m[2]", 8),
    ("float m[3]", "m[0] = in[0]; m[2] = in[1]", "m[0] + m[2]", 12),
    ("float m[3]", "m[0] = in[0]; m[1] = in[1]; m[2] = in[2]", "m[0] + m[1] + m[2]", 16),
    ("float m[64]", "m[5] = in[0]; m[40] = in[1]", "m[5] + m[40]", 12),
    ("float m[8]", "m[0] = in[0]; m[1] = in[1]", "m[0]", 8),
    ("float m[4][4]", "m[1][2] = in[0]", "m[1][2]", 8),
    ("float m[8]", "m[n] = in[0]; m[1] = 1", "m[1]", 36),
]
"""Declaration, what is written, what is read, and the bytes of the kernel in a cubin of nvcc 13.0 (sm_90)."""


@pytest.mark.parametrize(("declared", "written", "used", "size"), SHRUNK)
def test_an_array_of_which_single_elements_are_named_shrinks_to_them(
    declared: str, written: str, used: str, size: int
) -> None:
    text = (
        "__global__ void k(const float *in, float *out, int n) {\n"
        f"__shared__ float pad[1];\n__shared__ {declared};\n"
        f"if (threadIdx.x == 0) {{ pad[0] = in[9]; {written}; }}\n"
        f"__syncthreads();\nout[threadIdx.x] = pad[0] + ({used}); }}\n"
    )
    memory = laid_out(text)["k"]
    assert memory.static == size
    (piece,) = [p for p in memory.pieces if p.array is not None and p.array.name == "m"]
    assert piece.start == 4 and (piece.left is None) is ("[n]" in written or size == 16)
