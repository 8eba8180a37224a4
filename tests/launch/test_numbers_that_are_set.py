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
    "a function of another file": """extern int n; void configure(); int n = 2;
        void go() { configure(); k<<<1, 32>>>(n); }""",
    "a function of another file, below": """extern int n; void configure(); int n = 2;
        void begin() { n = 3; configure(); } void go() { begin(); k<<<1, 32>>>(n); }""",
    "a function of another file, behind main": """extern int n; void configure(const char *); int n = 2;
        int main() { configure("n"); k<<<1, 32>>>(n); }""",
    "a method of another file": """struct C { void read(); }; extern int n; int n = 2;
        void go() { C c; c.read(); k<<<1, 32>>>(n); }""",
    "a method of another file, without an object": """struct C { static void read(); }; extern int n;
        int n = 2; void go() { C::read(); k<<<1, 32>>>(n); }""",
    "a function of another file, in an object": """struct C { int n = 2; }; extern C c; void configure();
        C c; void go() { configure(); k<<<1, 32>>>(c.n); }""",
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
        "int v = 1; v = 4; put(&n, v);",
        "int v = 1; v = 4; std::swap(n, v);",
        "std::vector<int> v{1}, w{4}; std::swap(v, w); n = v[0];",
        "int v = 1; v = 4; same(n) = v;",
        "Held *p = (Held *)malloc(sizeof(Held)); p->a = 4; cudaMalloc(&p->at, 9); n = p->a;",
        "int *p = &n; int *q = p; *q = 4;",
        "int *p = &n, **q = &p; **q = 4;",
        "std::vector<int *> v; v.push_back(&n); *v[0] = 4;",
        "std::function<void()> f; f = [&] { n = 4; }; f();",
        "std::function<void(int *, int)> f = put; f(&n, 4);",
        "auto f = put; f(&n, 4);",
        "std::pair<int, int> p{1, 2}; std::get<0>(p) = 4; n = p.first;",
        "Writer w{n}; w.set(4);",
        "{ Adding a(n); }",
        "Copied a; Copied b = a; n = b.n;",
        "Twice t; t.more(); n = t.n;",
        "auto f = set_all; f(4); n = all;",
        "Two t; int Two::*p = &Two::b; t.*p = 4; n = t.b;",
    ],
)
def test_a_number_that_is_set_through_another_name_is_what_it_is_set_to(sets: str) -> None:
    head = """#include <functional>
        #include <utility>
        #include <vector>
        template <class F> void call(F f) { f(4); }
        static void put(int *p, int v) { *p = v; }
        static int &same(int &x) { return x; }
        static int all = 1; static void set_all(int v) { all = v; }
        struct Writer { int &n; void set(int v) const { n = v; } };
        struct Adding { int &n; Adding(int &x) : n(x) { n *= 2; } ~Adding() { n += 2; } };
        struct Copied { int n; Copied() : n(2) {} Copied(const Copied &o) : n(o.n * 2) {} };
        struct Once { int n = 2; void more() { n += 1; } };
        struct Twice : Once { void more() { Once::more(); Once::more(); } };
        struct Two { int a = 1, b = 2; };
        struct Held { int a; float *at; };
        """
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
        "void configure(); static int n = 4; void go() { configure(); k<<<1, 32>>>(n); }",
        "void configure(); extern const int n; const int n = 4; void go() { configure(); k<<<1, 32>>>(n); }",
        'extern int n; int n = 4; void go() { cudaDeviceSynchronize(); printf("%d", n); k<<<1, 32>>>(n); }',
        "extern int n; void configure(); int n; void go() { configure(); n = 4; k<<<1, 32>>>(n); }",
    ],
)
def test_a_number_that_nothing_else_sets_is_known(host: str) -> None:
    assert widths(host) == [4]


@pytest.mark.parametrize(
    "sets",
    [
        "Unknown u; u.read(&n);",
        "std::atomic<int> a{2}; a.fetch_add(2); n = a.load();",
        "int i = get(); while (i-- > 0) n += 1;",
        "int i = get(); do n *= 2; while (i >>= 1);",
        "const char *s = text(); while (*s++) n++;",
    ],
)
def test_a_number_that_is_set_in_a_way_that_is_not_followed_is_not_known(sets: str) -> None:
    head = """#include <atomic>
        #include <functional>
        #include <map>
        #include <tuple>
        #include "unknown.h"
        int get(); const char *text();
        """
    assert widths(f"{head}void go() {{ int n = 1; {sets} k<<<1, 32>>>(n); }}") == [None]


def test_each_label_of_a_range_of_cases_is_one() -> None:
    host = """int of(int x) { switch (x) {
        case 1 ... 3: return 4; case 'a' ... 'c': return 5; default: return 6; } }
        int main() { k<<<1, 32>>>(of(2)); k<<<1, 64>>>(of('c')); k<<<1, 96>>>(of(4)); }"""
    assert widths(host) == [4, 5, 6]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("32 - __builtin_clz(200)", 8),
        ("__builtin_ctz(40) + __builtin_ffs(40)", 7),
        ("__builtin_popcountll(0xF0000000Full) + __builtin_clzl(1)", 71),
        ("std::bit_ceil(100u)", 128),
        ("std::bit_floor(100u) + std::bit_width(100u)", 71),
        ("std::popcount(0xF0u)", 4),
    ],
)
def test_what_compilers_know_of_bits_is_computed(number: str, value: int) -> None:
    assert widths(f"#include <bit>\nint main() {{ k<<<1, 32>>>({number}); }}") == [value]
