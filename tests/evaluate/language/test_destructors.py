"""What destructors do: they run at the end of a scope, and where lanes leave it early."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

HEAD = """
struct Guard {
  int &c;
  __device__ Guard(int &x) : c(x) { ++c; }
  __device__ ~Guard() { c -= 3; }
  __device__ int twice() const { return 2 * c; }
};
struct Two { Guard a, b; int &c; __device__ Two(int &x) : a(x), b(x), c(x) {} __device__ ~Two() { c *= 2; } };
struct Pair { Guard g; int n; };
struct More : Guard { __device__ More(int &x) : Guard(x) {} __device__ ~More() { c *= 2; } };
struct Moved { int n = 4; __device__ Moved() {} __device__ Moved(Moved &&o) : n(o.n) { o.n = 9; } };
template <typename T> struct Held { int off; };
template <typename T> struct Shown : Held<T> { __device__ int at(int i) { return i + Held<T>::off; } };
__device__ Guard made(int &c) { return Guard(c); }
__device__ int taken(Guard g) { g.c += 10; return g.c; }
__device__ int early(int &c) { Guard g(c); if (c > 4) return c * 2; c += 20; return c; }
"""

NUMBERS = {
    "int c = 5; { Guard g(c); c *= 2; } s[c] = 1;": 9,
    "int c = 5; { Guard g(c); Guard h(c); } s[c] = 1;": 1,
    "int c = 9; for (int i = 0; i < 3; i++) { Guard g(c); if (i == 1) continue; c += 4; } s[c] = 1;": 11,
    "int c = 9; for (int i = 0; i < 9; i++) { Guard g(c); if (i == 2) break; } s[c] = 1;": 3,
    "int c = 5; int r = early(c); s[c + r] = 1;": 15,
    "int c = 2; int r = early(c); s[c + r] = 1;": 43,
    # temporaries end with the expression that they stand in, or with what a reference to them keeps
    "int c = 5; Guard{c}; s[c] = 1;": 3,
    "int c = 5; int r = Guard(c).twice(); s[c + r] = 1;": 15,
    "int c = 5; int r = made(c).twice(); s[c + r] = 1;": 15,
    "int c = 5; Guard g = made(c); s[c] = 1;": 6,
    "int c = 5; (Guard(c), c *= 2); s[c] = 1;": 9,
    "int c = 5; const Guard &g = Guard(c); s[c] = 1;": 6,
    "int c = 5; { const Guard &g = made(c); c *= 2; } s[c] = 1;": 9,
    "int c = 5; if (made(c).twice() > 3) s[c] = 1;": 3,
    "int c = 9; for (int i = 0; made(c).twice() > 8; i++) c++; s[c] = 1;": 1,
    "int c = 9; while (made(c).c > 4) c++; s[c] = 1;": 1,
    "int c = 9; int r = Pair{Guard(c), 4}.n; s[c + r] = 1;": 11,
    "int c = 5; int r = taken(Guard(c)); s[c + r] = 1;": 29,
    # members and bases end after their object, the last one first, and so do the elements of an array
    "int c = 5; { Two t(c); } s[c] = 1;": 8,
    "int c = 5; { More d(c); } s[c] = 1;": 9,
    "int c = 5; { Guard g[2] = {Guard(c), Guard(c)}; } s[c] = 1;": 1,
    "Moved a; Moved b(static_cast<Moved &&>(a)); s[a.n * 4 + b.n] = 1;": 40,
    "Shown<int> v; v.off = 7; s[v.at(2)] = 1;": 9,
    # what an `if` or a `switch` declares
    "int c = 5; if (Guard g(c); c > 3) c *= 2; s[c] = 1;": 9,
    "int c = 5; switch (Guard g(c); g.c & 3) { case 2: c *= 3; break; default: c = 1; } s[c] = 1;": 15,
    "int c = 5; switch (int x = c * 2; x) { case 10: c += x; break; default: c = 1; } s[c] = 1;": 15,
    # and a loop, in each iteration
    "int c = 5, r = 0; while (int x = c > 2 ? c-- : 0) r += x; s[r] = 1;": 12,
    "int c = 5, r = 0; for (int i = 0; int x = c - i; i++) { if (x == 4) continue; r += x; } s[r] = 1;": 11,
}


@pytest.mark.parametrize(("body", "number"), NUMBERS.items())
def test_a_destructor_runs_where_its_variable_ends(body: str, number: int) -> None:
    text = f"{HEAD}__global__ void k() {{ __shared__ int s[64]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert set(trace.offsets.ravel().tolist()) == {4 * number}


def test_what_a_destructor_accesses_is_seen() -> None:
    text = (
        "struct Flush { int *p; __device__ ~Flush() { p[threadIdx.x * 2] = 1; } };"
        "__global__ void k() { __shared__ int s[64]; Flush f{s}; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.offsets.tolist() == [[8 * i for i in range(32)]]


def test_lanes_that_may_leave_a_scope_are_with_those_that_do() -> None:
    """For an even n all lanes store together, for an odd one lane 40 goes on."""
    text = (
        "struct Flush { int *p; __device__ ~Flush() { *p = 1; } };"
        "__global__ void k(int n) { __shared__ int s[64]; for (int i = 0; i < 4; i++) {"
        " Flush f{s}; if (((n & 1) == 0 ? 2 : threadIdx.x) != 40) break; } }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((64, 1, 1))).traces
    assert trace.maybe is not None
    assert (trace.offsets[1] >= 0).sum() == 32
