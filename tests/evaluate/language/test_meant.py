"""What overload resolution of C++ takes in a template, and what is said where that is not known."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

# Each case: declarations, and what calls give; the numbers are what g++ prints for the same text.
CASES: dict[str, tuple[str, dict[str, int]]] = {
    "enumerations": (
        "enum class Row { A = 3 }; enum class Flag : unsigned char { ON = 1 }; enum Old { OLD = 7 };"
        "__device__ int f(Row) { return 32; } __device__ int f(Flag) { return 2; }"
        "__device__ int f(unsigned char) { return 8; } __device__ int f(int) { return 4; }"
        "template <class T> __device__ int via(T x) { return f(x); }",
        {
            "via(Row::A)": 32,
            "via(Flag::ON)": 2,
            "via((unsigned char)1)": 8,
            "via(OLD)": 4,
            "via(OLD + 1)": 4,
            "via('c')": 4,
        },
    ),
    "specialisations for enumerations": (
        "enum class Row { A }; enum class Col { A };"
        "template <class E> struct Of { static constexpr int v = 1; };"
        "template <> struct Of<Row> { static constexpr int v = 8; };"
        "template <> struct Of<int> { static constexpr int v = 16; };"
        "template <class E> __device__ int of(E) { return Of<E>::v; }",
        {"of(Row::A)": 8, "of(Col::A)": 1, "of(3)": 16},
    ),
    "pointers": (
        "template <class T> __device__ int f(T) { return 1; }"
        "template <class T> __device__ int f(T *) { return 2; }"
        "template <class T> __device__ int f(const T *) { return 4; }"
        "__device__ int g(bool) { return 8; } __device__ int g(const char *) { return 2; }"
        "template <class T> __device__ int fs(T x) { return f(x); }"
        "template <class T> __device__ int gs(T x) { return g(x); }",
        {"fs(3)": 1, "fs((int *)0)": 2, "fs((const int *)0)": 4, 'gs("abc")': 2, "gs((int *)0)": 8},
    ),
    "two parameters": (
        "template <class T, class U> __device__ int f(T, U) { return 1; }"
        "template <class T> __device__ int f(T, T) { return 2; }"
        "template <class T> __device__ int f(T, int) { return 4; }"
        "template <class T, class U> __device__ int fs(T x, U y) { return f(x, y); }",
        {"fs(1.f, 2.f)": 2, "fs(1.f, 2)": 4, "fs(1.f, 2.0)": 1},
    ),
    "what is left out, and the rest": (
        "struct Wrap { int n; __device__ Wrap(int x) : n(x) {} }; struct Box { int n; };"
        "__device__ int f(int, int = 3) { return 2; } __device__ int f(double) { return 4; }"
        "__device__ int g(...) { return 8; } __device__ int g(Wrap) { return 2; }"
        "template <class T> __device__ auto h(T x) -> decltype(x.n, int()) { return 2; }"
        "__device__ int h(...) { return 16; }"
        "template <class T> __device__ int fs(T x) { return f(x); }"
        "template <class T> __device__ int gs(T x) { return g(x); }"
        "template <class T> __device__ int hs(T x) { return h(x); }",
        {"fs(1)": 2, "fs(1.0)": 4, "gs(1)": 2, "gs(Box{1})": 8, "hs(Box{1})": 2, "hs(1)": 16},
    ),
    "objects that may not change": (
        "struct P { __device__ int at() const { return 2; } __device__ int at() { return 8; } };"
        "template <class T> __device__ int read(const T &x) { return x.at(); }"
        "template <class T> __device__ int write(T &x) { return x.at(); }"
        "template <class T> __device__ int f(T &) { return 4; } template <class T> __device__ int f(T &&)"
        " { return 1; } template <class T> __device__ int left(T x) { return f(x); }"
        "template <class T> __device__ int right(T x) { return f(static_cast<T &&>(x)); }",
        {"read(p)": 2, "write(p)": 8, "left(3)": 4, "right(3)": 1},
    ),
    "operators": (
        "struct P { int n; }; enum class R { A };"
        "__device__ int operator+(P, P) { return 4; } __device__ int operator+(P, int) { return 8; }"
        "__device__ int operator+(R, R) { return 16; } __device__ int operator*(R, int) { return 2; }"
        "__device__ int operator*(const P &, int) { return 4; } __device__ int operator*(P &&, int)"
        " { return 8; } template <class T, class U> __device__ int add(T x, U y) { return x + y; }"
        "template <class T> __device__ int left(T x) { return x * 3; }"
        "template <class T> __device__ int right(T x) { return static_cast<T &&>(x) * 3; }",
        {
            "add(p, p)": 4,
            "add(p, 1)": 8,
            "add(R::A, R::A)": 16,
            "add(2, 2)": 4,
            "left(R::A)": 2,
            "left(p)": 4,
            "right(p)": 8,
            "right(3)": 9,
        },
    ),
    "lambdas": (
        "enum class Row { A }; __device__ int f(Row) { return 8; } __device__ int f(int) { return 2; }"
        "template <class T> __device__ int twice(T x) {"
        " auto one = [](auto y) { return f(y); }; return one(x) * 2 + one(3); }",
        {"twice(Row::A)": 18, "twice(4)": 6},
    ),
}


def told(head: str, index: str) -> list[tuple[Grade, list[int]]]:
    """The stores of a kernel that is no template."""
    text = f"""{head}
    __global__ void k(float *q) {{ __shared__ float s[4096]; const int t = threadIdx.x;
        {"P p;" if "struct P" in head else ""} s[t * {index}] = q[t]; __syncthreads(); q[t] = s[t]; }}
    void go(float *q) {{ k<<<1, 32>>>(q); }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((32, 1, 1))).traces
    return [(t.grade, t.offsets[0].tolist()) for t in traces if t.site.op == "store"]


@pytest.mark.parametrize("case", CASES)
def test_a_call_in_a_template_means_what_its_instance_says(case: str) -> None:
    head, calls = CASES[case]
    for call, by in calls.items():
        assert told(head, call) == [(Grade.EXACT, [4 * by * t for t in range(32)])], call


def test_of_instances_that_nothing_here_tells_apart_none_is_taken() -> None:
    head = """
    template <class T> __device__ int f(T &) { return 2; } template <class T> __device__ int f(const T &)
    { return 32; } template <class T> __device__ int via(T &x) { return f(x); }
    __device__ int both() { int a = 1; const int b = 2; return via(a) + via(b); }
    """
    assert [grade is Grade.EXACT for grade, _ in told(head, "both()")] == [False]


def test_each_instance_of_a_class_has_its_own() -> None:
    head = """
    template <class T> __device__ int width(T) { return sizeof(T); }
    template <class T> __device__ int width(T *) { return 16; }
    template <class T> struct Tile { T held; __device__ int pitch() const { return width(held); } };
    __device__ int one() { return Tile<char>{}.pitch(); }
    __device__ int two() { return Tile<int *>{}.pitch(); }
    """
    for call, by in {"one()": 1, "two()": 16, "(one() + two())": 17}.items():
        assert told(head, call) == [(Grade.EXACT, [4 * by * t for t in range(32)])]


def test_an_explicit_specialisation_is_one_of_what_may_be_meant() -> None:
    head = """
    template <class T> __device__ int f(T) { return 2; } template <> __device__ int f(float) { return 8; }
    template <class T> __device__ int f(T *) { return 4; }
    template <class T> __device__ int via(T x) { return f(x); }
    """
    for call, by in {"via(1)": 2, "via(1.f)": 8, "via((float *)0)": 4}.items():
        assert told(head, call) == [(Grade.EXACT, [4 * by * t for t in range(32)])]


def test_instances_of_partial_specialisations_are_told_apart_by_what_calls_are_given() -> None:
    head = """
    __device__ int f(unsigned) { return 2; } __device__ int f(unsigned *) { return 4; }
    __device__ int f(...) { return 8; }
    template <class T> struct S { __device__ static int g() { return 1; } };
    template <class T> struct S<T *> { __device__ static int g() { return f(T()); } };
    template <class T> __device__ int one() { return S<T *>::g(); }
    template <class T> __device__ int two() { return S<T **>::g(); }
    """
    for call, by in {"one<unsigned>()": 2, "two<unsigned>()": 4, "two<unsigned *>()": 8}.items():
        assert told(head, call) == [(Grade.EXACT, [4 * by * t for t in range(32)])], call


def test_of_elements_of_a_pack_that_differ_in_const_alone_none_is_taken() -> None:
    head = """
    __device__ int f(int *) { return 4; } __device__ int f(const int *) { return 32; }
    template <class... A> __device__ int fold(A... a) { return (f(a) + ...); }
    """
    assert [grade is Grade.EXACT for grade, _ in told(head, "fold((int *)0, (const int *)0)")] == [False]


def test_no_instances_are_made_where_an_unknown_constant_ends_a_recursion() -> None:
    head = """
    __device__ int f(int) { return 1; } __device__ int f(float) { return 2; }
    template <int N, class T> __device__ int both(T x) {
        if constexpr (N < LIMIT) return both<N * 2, T>(x) + both<N * 2 + 1, T>(x); else return f(x); }
    """
    (module,) = load(
        source_from_bytes(
            "k.cu",
            f"{head} __global__ void k(float *q) {{ __shared__ float s[4]; s[both<1>(3)] = 1; }}".encode(),
        )
    )
    assert not module.choices
