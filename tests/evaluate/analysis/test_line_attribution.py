"""On which line an access is counted: smemlint, and nvcc, against the marks in a source."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

SOURCE = """\
#include <cuda_fp16.h>
#define F4(x) (reinterpret_cast<float4 *>(&(x))[0])
#define STORE(x, v) (x) = (v)
#define OUTER(x) x
struct Pair { float x, y; };
struct View {
  float *p; int pitch;
  __device__ float &operator()(int r, int c) { return p[r * pitch + c]; }
  __device__ int at(int i, int j) const { return i ^ j; }
  __device__ float get(int i) const {
    return p
      [i]; // get:load
  }
};
#define KERNEL(name) extern "C" __global__ void name(float *g, int n, int a, int b)
#define SHARED __shared__ float s[1024]; __shared__ float q[1024]; int t = threadIdx.x;

KERNEL(scalars) {
  SHARED
  s[t
    + n] // store
    =
    g[a
      + t];
  __syncthreads();
  q[
    t // store
  ] = s[
    t ^
    a // load
  ];
  __syncthreads();
  g[t] = q
    [t ^ 1]; // load
}
KERNEL(halves) {
  SHARED
  __half *h = (__half *)s, *w = (__half *)g;
  h[t
    + n]
    =
    w[a
      + t]; // store
  h[t +
    1024] =
    h[
      t ^ n]; // store load
  __syncthreads();
  w[t] = h[t ^ 1]; // load
}
KERNEL(members) {
  SHARED
  Pair *p = (Pair *)s;
  p[t] // store
    .x = 1;
  p[t ^ n] // store
    .y = 2;
  __syncthreads();
  g[t] = p[
    t ^ a] // load
    .y;
}
KERNEL(compound) {
  SHARED
  s[
    t ^ a] // load store
    +=
    g[
     b];
  __syncthreads();
  *(q +
    t) // store
    = *
     (s + t
      + b); // load
  __syncthreads();
  q[
   n + t]++; // load store
  __syncthreads();
  g[t] = q[5]; // load
}
KERNEL(copies) {
  SHARED
  Pair *p = (Pair *)s, *r = (Pair *)g;
  p[t ^
    a] =
    r[
     t]; // store
  __syncthreads();
  p[t
    ^ 5] = // store
    Pair{
     g[7],
     g[8]};
  __syncthreads();
  Pair v = p[
    t ^ b]; // load
  g[t] = v.x * v.y;
}
KERNEL(vectors) {
  SHARED
  reinterpret_cast<float4 *>(
    &s[4 * t])[0] =
    reinterpret_cast<float4 *>(
      &g[4 * t]
    )[0]; // store
  __syncthreads();
  F4(
    g[4 * t]) =
    F4( // load
      s[4 * (t ^ 1)]
    );
}
KERNEL(vectors_with_calls) {
  SHARED
  View v{g, n};
  F4(s[4 * v.at(t, a)]) = // store
    F4(g[4 * t]);
  __syncthreads();
  g[t] = s[t ^ a]; // load
}
KERNEL(macros) {
  SHARED
  STORE( // store
    s[t],
    g[a]);
  __syncthreads();
  OUTER( // load store
    STORE(
      q[t ^ b],
      s[t ^ 1])
  );
  __syncthreads();
  g[t] = q[
    OUTER(t)
    ^ 1]; // load
}
KERNEL(calls) {
  SHARED
  View v{s,
    n};
  v(t, // store
    3)
    =
    g[2];
  __syncthreads();
  g[t] = v.get(
    t ^ a);
  g[t + n] =
    v // load
    (t,
     5);
  g[t + a] = s[
    max(t,
      a)
      + 1]; // load
}
KERNEL(headers) {
  SHARED
  s[t] = g[t]; // store
  __syncthreads();
  float x = 0;
  for (int i = (int)
         s[t ^ a]; // load
       i < (int)
         s[t ^ b]; // load
       i +=
         s[i]) { // load
    x += g[i];
  }
  g[t] = fmaf(
    x,
    s[t
      ^ n], // load
    x);
}
KERNEL(assembly) {
  SHARED
  unsigned p;
  asm("{ .reg .u64 u; cvta.to.shared.u64 u, %1; cvt.u32.u64 %0, u; }" : "=r"(p) : "l"(&s[t ^ a]));
  float x;
  asm volatile(
    "ld.shared.f32 %0, [%1];"
    : "=f"(x)
    : "r"((unsigned)
      p) // load
  );
  asm volatile("st.shared.f32 [%0], %1;"
    :
    : "r"(p),
      "f"(x) // store
    : "memory");
  asm volatile("st.shared.f32 [%0 + %2], %1;"
    :
    : "r"(p),
      "f"(x), // store
      "n"(64)
    : "memory");
  g[t] = x;
}
"""

Lines = dict[str, set[tuple[str, int]]]


def marked() -> Lines:
    """Kernel -> (op, line) of every mark; a mark `name:op` belongs to all kernels that call `name`."""
    found: Lines = defaultdict(set)
    kernel, everywhere = "", {}
    for number, text in enumerate(SOURCE.splitlines(), 1):
        if text.startswith("KERNEL("):
            kernel = text[7 : text.index(")")]
        if "// " not in text:
            continue
        for mark in text.split("// ")[1].split():
            name, _, op = mark.rpartition(":")
            if name:
                everywhere[name] = (op, number)
            else:
                found[kernel].add((mark, number))
    found["calls"].add(everywhere["get"])
    return found


KERNELS = tuple(marked())


def launch() -> Launch:
    return Launch((64, 1, 1))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    path = tmp_path_factory.mktemp("lines") / "kernels.cu"
    (module,) = load(source_from_bytes(str(path), SOURCE.encode()))
    return {
        kernel.name: {(trace.site.op, trace.site.line) for trace in evaluate(module, kernel, launch()).traces}
        for kernel in module.kernels()
    }


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_access_is_counted_where_its_address_ends(told: Lines, kernel: str) -> None:
    assert told[kernel] == marked()[kernel]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_compiler_counts_it_there_too(compiled: Lines, kernel: str) -> None:
    assert compiled[kernel] == marked()[kernel]


# the compiler's line tables


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    folder: Path = tmp_path_factory.mktemp("lines")
    (folder / "kernels.cu").write_text(SOURCE)
    command = (nvcc, "-arch=sm_90", "-cubin", "-O3", "-lineinfo", "-w", "-o", "kernels.cubin", "kernels.cu")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"nvcc cannot compile for sm_90: {done.stderr[-200:]}")
    return shared_lines((folder / "kernels.cubin").read_bytes())


def shared_lines(cubin: bytes, *, first: bool = False) -> Lines:
    """Kernel -> (op, line) of its shared loads and stores.

    first: of several rows at one address take the first, as the profiler does: the call, when an inlined
    function is entered.
    """
    sections = _sections(cubin)
    rows = _line_rows(sections)
    found: Lines = {}
    for name, code in sections.items():
        if not name.startswith(".text."):
            continue
        kernel = name.removeprefix(".text.")
        found[kernel] = set()
        for offset in range(0, len(code), 16):
            opcode = struct.unpack_from("<Q", code, offset)[0] & 0xFFF
            if opcode in (0x984, 0x388, 0x988):
                last = max(a for a, _ in rows[kernel] if a <= offset)
                here = [number for a, number in rows[kernel] if a == last]
                line = here[0] if first else max(here)
                found[kernel].add(("load" if opcode == 0x984 else "store", line))
    return found


def _sections(elf: bytes) -> dict[str, bytes]:
    table = struct.unpack_from("<Q", elf, 40)[0]
    count, names = struct.unpack_from("<HH", elf, 60)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + 64 * i) for i in range(count)]
    start = headers[names][4]
    return {
        elf[start + h[0] : elf.index(b"\0", start + h[0])].decode(): elf[h[4] : h[4] + h[5]] for h in headers
    }


def _line_rows(sections: dict[str, bytes]) -> dict[str, list[tuple[int, int]]]:
    """Kernel -> (address, line) rows of the DWARF 2 line program."""
    data = sections[".debug_line"]
    owners = _owners(sections)
    length, _, header, least, _, base, span, opcodes = struct.unpack_from("<IHIBBbBB", data, 0)
    operands = data[15 : 15 + opcodes - 1]
    at, end = 10 + header, 4 + length
    rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
    kernel, address, line = "", 0, 1

    def number(*, signed: bool = False) -> int:
        nonlocal at
        value, shift = 0, 0
        while True:
            byte: int = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    while at < end:
        code = data[at]
        at += 1
        if code >= opcodes:
            address += (code - opcodes) // span * least
            line += base + (code - opcodes) % span
            rows[kernel].append((address, line))
        elif code == 0:
            size = number()
            if data[at] == 2:
                kernel, address, line = owners[at + 1], 0, 1
            at += size
        elif code == 1:
            rows[kernel].append((address, line))
        elif code == 2:
            address += number() * least
        elif code == 3:
            line += number(signed=True)
        elif code == 8:
            address += (255 - opcodes) // span * least
        elif code == 9:
            address += struct.unpack_from("<H", data, at)[0]
            at += 2
        else:
            for _ in range(operands[code - 1]):
                number()
    return rows


def _owners(sections: dict[str, bytes]) -> dict[int, str]:
    """Kernels by where the line program sets its address to theirs."""
    owners = {}
    names, symbols, relocations = (sections[s] for s in (".strtab", ".symtab", ".rela.debug_line"))
    for offset, info, _ in struct.iter_unpack("<QQQ", relocations):
        name = struct.unpack_from("<I", symbols, 24 * (info >> 32))[0]
        owners[offset] = names[name : names.index(b"\0", name)].decode().removeprefix(".text.")
    return owners


def test_the_first_statement_of_an_inlined_function_is_counted_at_the_call() -> None:
    """As Nsight Compute counts `reduceUnrolledWarp` of fixtures/reduce.cu; the line table has both lines."""
    source = """\
__device__ void last(volatile float *s, int t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
}
__global__ void k(float *out) {
  __shared__ float s[64];
  last(s, threadIdx.x);
  out[0] = s[0];
}
"""
    module = load(source_from_bytes("k.cu", source.encode()))[0]
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    lines = [(t.site.place.line, t.site.line, t.site.op) for t in trace.traces]
    assert lines == [
        (2, 7, "load"),
        (2, 7, "store"),
        (2, 7, "load"),
        (3, 3, "load"),
        (3, 3, "store"),
        (3, 3, "load"),
        (8, 8, "load"),
    ]


@pytest.mark.parametrize(
    ("condition", "line"),
    [("N >= 16", 9), ("a[t] < a[t + 16]", 4), ("t < 16", 4)],
    ids=["decided by a template argument", "loads first", "compares first"],
)
def test_a_first_statement_behind_a_condition_is_counted_at_the_call_where_nothing_runs_before_it(
    condition: str, line: int
) -> None:
    """As Nsight Compute counts a reduction by maximum: the condition at the call, the rest inside."""
    source = """\
template <int N>
__device__ void larger(volatile float *a, int t) {
  if (CONDITION) {
    a[t] = a[t + 16];
  }
}
__global__ void k(float *out) {
  __shared__ float s[64];
  larger<32>(s, threadIdx.x);
  out[0] = s[0];
}
""".replace("CONDITION", condition)
    module = load(source_from_bytes("k.cu", source.encode()))[0]
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert {t.site.line for t in trace.traces if t.site.place.line == 4} == {line}


INLINED = """\
__device__ void sum(float *a, float *b) {
  float left = *a;
  float right = *b;
  *a = right;
  *b = left + right;
}
__device__ void count(unsigned *bins, unsigned word) {
  bins[word & 31] += 3;
}
__device__ void both(unsigned *bins, unsigned word) {
  count(bins, word);
  count(bins, word >> 8);
}
__global__ void tree(float *out, const float *in) {
  __shared__ float s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  for (int i = 64; i >= 1; i >>= 1) {
    __syncthreads();
    if ((t & (2 * i - 1)) == 2 * i - 1) {
      sum(&s[t - i], &s[t]);
    }
  }
  __syncthreads();
  out[t] = s[t];
}
__global__ void nested(unsigned *out, const unsigned *in) {
  __shared__ unsigned bins[32];
  bins[threadIdx.x] = 0;
  __syncwarp();
  both(bins, in[threadIdx.x]);
  both(bins, in[threadIdx.x + 32]);
  __syncwarp();
  out[threadIdx.x] = bins[threadIdx.x];
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_nvcc_counts_a_part_of_inlined_accesses_at_the_calls_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(INLINED)
    cubin = tmp_path / "k.cubin"
    command = ["nvcc", "-arch=sm_90", "-cubin", "-O3", "-lineinfo", "-o", str(cubin), str(tmp_path / "k.cu")]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    compiled = shared_lines(cubin.read_bytes(), first=True)
    module = load(source_from_bytes("k.cu", INLINED.encode()))[0]
    at_calls = 0
    for kernel in module.kernels():
        trace = evaluate(module, kernel, Launch((128 if kernel.name == "tree" else 32, 1, 1)))
        own = {(t.site.op, t.site.line) for t in trace.traces}
        calls = {(t.site.op, p.compiled_line) for t in trace.traces for p in t.site.via}
        (found,) = (places for name, places in compiled.items() if kernel.name in name)
        assert found <= own | calls
        at_calls += len(found - own)
    assert at_calls > 2
