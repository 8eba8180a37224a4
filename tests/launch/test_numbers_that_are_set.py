"""Numbers of a program that something else sets before a launch, or between two of them, are not known."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = "__global__ void k(int w) { __shared__ float s[4096]; s[threadIdx.x * w] = 0; }\n"


def widths(host: str) -> list[int | None]:
    """What the kernel is given at each launch; None where that is not known."""
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + host).encode()))
    (kernel,) = module.kernels()
    return [x.arguments.get("w") for x in infer(kernel, module, started_kernels(module))]


SET = {
    "another file": "extern int n; void go() { k<<<1, 32>>>(n); }",
    "another file, before main": "extern int n; int main() { k<<<1, 32>>>(n); }",
    "another file, in a class": "struct C { static int n; }; void go() { k<<<1, 32>>>(C::n); }",
    "a function": "int n = 2; void set(int x) { n = x; } void go() { k<<<1, 32>>>(n); }",
    "a function that is given it": """int n; void read(int &x) { x = 5; } void start() { read(n); }
        void go() { k<<<1, 32>>>(n); }""",
    "a function, as a truth": "bool on; void set(bool x) { on = x; } void go() { k<<<1, 32>>>(on); }",
    "a function, in a class": """struct C { static int n; }; int C::n = 2; void set(int x) { C::n = x; }
        void go() { k<<<1, 32>>>(C::n); }""",
    "a function, in the one object": """struct C { int n = 2; static C &get() { static C c; return c; } };
        void set(int x) { C::get().n = x; } void go() { k<<<1, 32>>>(C::get().n); }""",
    "a function, as a container": """#include <vector>
        std::vector<int> v; void fill(int x) { v.push_back(x); } void go() { k<<<1, 32>>>(v.size()); }""",
    "another file, as a container": """#include <vector>
        extern std::vector<int> v; void go() { k<<<1, 32>>>(v.size()); }""",
    "a method, in a global object": """struct C { int n = 2; void set(int x) { n = x; } }; C c;
        void start(int x) { c.set(x); } void go() { k<<<1, 32>>>(c.n); }""",
    "the call before": "int n = 1; void go() { k<<<1, 32>>>(n); n *= 2; }",
    "the call before, in a function": "void go() { static int n = 1; k<<<1, 32>>>(n); n++; }",
}


@pytest.mark.parametrize("by", SET)
def test_a_number_is_not_known_that_is_set_by(by: str) -> None:
    assert widths(SET[by]) == [None]


@pytest.mark.parametrize(
    "sets",
    [
        "int &r = n; r = 4;",
        "int &r = n; int &q = r; q = 4;",
        "auto f = [&n](int x) { n = x; }; f(4);",
        "auto f = [&] { n = 4; }; f();",
        "std::function<void(int)> f = [&](int x) { n = x; }; f(4);",
        "auto f = [&](int x) { n = x; }; call(f);",
        "int m[2] = {4, 1}; std::swap(m[0], m[1]); n = m[1];",
        "int old = std::exchange(n, 4);",
        "std::vector<int> v{2, 2}; for (auto &x : v) x *= 2; n = v[1];",
    ],
)
def test_a_number_that_is_set_through_another_name_is_what_it_is_set_to(sets: str) -> None:
    head = "#include <functional>\n#include <utility>\n#include <vector>\n"
    head += "template <class F> void call(F f) { f(4); }\n"
    assert widths(f"{head}void go() {{ int n = 1; {sets} k<<<1, 32>>>(n); }}") == [4]


@pytest.mark.parametrize(
    "host",
    [
        "int n = 4; void go() { k<<<1, 32>>>(n); }",
        "extern int n; int n = 4; void go() { k<<<1, 32>>>(n); }",
        "struct C { static int n; }; int C::n = 4; void go() { k<<<1, 32>>>(C::n); }",
        "void go() { static int n = 4; k<<<1, 32>>>(n); }",
        "int n = 4; void show(const int &x); void tell() { show(n); } void go() { k<<<1, 32>>>(n); }",
        "struct C { int n = 4, m = 0; }; C c; void set(int x) { c.m = x; } void go() { k<<<1, 32>>>(c.n); }",
        "void go() { static int n = 0; if (n == 0) n = 4; k<<<1, 32>>>(n); }",
    ],
)
def test_a_number_that_nothing_else_sets_is_known(host: str) -> None:
    assert widths(host) == [4]
