"""CUDA text run on the processor: every thread of a block a thread, blocks one after the other.

A small header stands in for the CUDA one, launches and dynamic arrays are rewritten by regular expressions,
and g++ compiles the rest as it is. Slow and plain, it shares nothing with the product: what an edited kernel
computes can be held against what it computed before.
"""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="g++ is not installed")

_HEADER = r"""
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <vector>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static
using std::size_t;
struct dim3 { unsigned x, y, z; dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(8) float2 { float x, y; };
inline float4 make_float4(float a, float b, float c, float d) { return {a, b, c, d}; }
static thread_local dim3 threadIdx;
static dim3 blockIdx, blockDim, gridDim;
static pthread_barrier_t emulated_barrier;
alignas(128) static unsigned char emulated_pool[1 << 17];
static size_t emulated_bytes;
template <typename T> T *emulated_dynamic() { return reinterpret_cast<T *>(emulated_pool); }
inline void __syncthreads() { pthread_barrier_wait(&emulated_barrier); }
template <typename F> struct Emulated { F *body; dim3 at; };
template <typename F> void *emulated_thread(void *given)
{
    Emulated<F> *one = static_cast<Emulated<F> *>(given);
    threadIdx = one->at;
    (*one->body)();
    return nullptr;
}
template <typename F> void emulated_launch(F body, dim3 grid, dim3 block, size_t bytes = 0)
{
    unsigned count = block.x * block.y * block.z;
    gridDim = grid, blockDim = block, emulated_bytes = bytes;
    std::memset(emulated_pool, 0x5a, sizeof(emulated_pool));
    pthread_barrier_init(&emulated_barrier, nullptr, count);
    for (unsigned b = 0; b < grid.x * grid.y * grid.z; ++b) {
        blockIdx = dim3(b % grid.x, b / grid.x % grid.y, b / (grid.x * grid.y));
        std::vector<pthread_t> threads(count);
        std::vector<Emulated<F>> given(count);
        for (unsigned t = 0; t < count; ++t) {
            given[t] = {&body, dim3(t % block.x, t / block.x % block.y, t / (block.x * block.y))};
            pthread_create(&threads[t], nullptr, emulated_thread<F>, &given[t]);
        }
        for (pthread_t one : threads) pthread_join(one, nullptr);
        for (size_t i = bytes; i < sizeof(emulated_pool); ++i)
            if (emulated_pool[i] != 0x5a) std::printf("dynamic byte %zu of %zu was written\n", i, bytes);
    }
    pthread_barrier_destroy(&emulated_barrier);
}
"""

_MAIN = r"""
static float emulated_in[1 << 16], emulated_out[1 << 16];
int main()
{
    for (int i = 0; i < 1 << 16; ++i) emulated_in[i] = static_cast<float>(i * 7919 % 65521);
    start(emulated_out, emulated_in);
    for (int i = 0; i < 1 << 16; ++i)
        if (emulated_out[i] != 0) std::printf("%d %a\n", i, emulated_out[i]);
}
"""

_FLAGS = ("-std=c++17", "-O0", "-w", "-fpermissive", "-pthread")
_DYNAMIC = re.compile(r"extern\s+__shared__\s+((?:unsigned )?\w+)\s+(\w+)\s*\[\s*\]\s*;")
_LAUNCH = re.compile(r"([\w:]+(?:\s*<[^;<>]*>)?)\s*<<<(.*?)>>>\s*\(([^;]*)\)\s*;", re.DOTALL)


@cache
def _header() -> Path:
    """The header, which the compiler has read before."""
    folder = Path(tempfile.mkdtemp(prefix="smemlint-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    header = folder / "emulated.h"
    header.write_text(_HEADER, encoding="utf-8")
    subprocess.run([COMPILER or "g++", *_FLAGS, "-x", "c++-header", str(header)], timeout=120, check=True)
    return header


def run(text: str, folder: Path) -> str:
    """What `void start(float *out, const float *in)` of a CUDA text leaves in `out`, as text.

    Raises: AssertionError with the compiler's words where it does not compile.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    text = _DYNAMIC.sub(r"\1 *\2 = emulated_dynamic<\1>();", text)
    text = _LAUNCH.sub(r"emulated_launch([=] { \1(\3); }, \2);", text)
    source, binary = folder / "emulated.cpp", folder / "emulated"
    source.write_text(f"#line 1\n{text}\n{_MAIN}", encoding="utf-8", errors="surrogateescape")
    call = [COMPILER or "g++", *_FLAGS, "-include", str(_header()), "-o", str(binary), str(source)]
    built = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr[:2000]
    done = subprocess.run([str(binary)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"ended with {done.returncode}"
    return done.stdout
