"""Objects that are made in an expression, and casts to references."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
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


CLASSES = """
struct P { int a; int b; int c[3]; };
struct Q { int a; P p; int d = 7; };
struct R : P { int e; };
struct Cut { unsigned x : 4; unsigned y : 6; int z; };
struct Holes { unsigned a : 5, : 3, b : 7, : 0; int c : 6, : 4; unsigned d : 9; };
union U { int i; short h[2]; };
template <typename T> struct V { T x; T y; int n = 2; };
struct Cursor {
    float *p;
    int at = 0;
    __device__ bool take(int n, float *&q) {
        if (at + n > 512) return false;
        q = p + at;
        at += n;
        return true;
    }
};
__device__ P made(int a) { return {a}; }
"""


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        pytest.param("P p{}; s[p.a + p.c[1] + t * 2] = 1;", 2, id="nothing is given"),
        pytest.param("P p = {}; s[p.b + t * 4] = 1;", 4, id="nothing is given to a copy"),
        pytest.param("P p{1}; s[p.a * t + p.c[1]] = 1;", 1, id="the first is given"),
        pytest.param("P p = made(4); s[p.a * t + p.b] = 1;", 4, id="a list is returned"),
        pytest.param("Q q{1}; s[(q.a + q.p.b + q.d) * t] = 1;", 8, id="an initialiser of a member"),
        pytest.param("Q q{1, {3}, 4}; s[(q.a + q.p.a + q.p.c[2] + q.d) * t] = 1;", 8, id="inner braces"),
        pytest.param("Q q{1, 2, 3, 4, 5, 6, 1}; s[(q.p.c[2] + q.a + q.d) * t] = 1;", 8, id="no inner braces"),
        pytest.param("R r{{1, 2}, 3}; s[(r.a + r.c[0] + r.e) * t] = 1;", 4, id="a base"),
        pytest.param("R r{1, 2, 3, 4, 5, 3}; s[(r.a + r.e) * t] = 1;", 4, id="a base without braces"),
        pytest.param("Q q{.a = 2, .d = 6}; s[(q.a + q.d) * t] = 1;", 8, id="by name"),
        pytest.param("int4 v{1, 2}; s[(v.y + v.w) * t] = 1;", 2, id="a vector"),
        pytest.param("P v[2] = {{2}, {1, 1}}; s[(v[0].a + v[0].b) * t + v[1].c[2]] = 1;", 2, id="an array"),
        pytest.param("int d[3][2] = {{4}}; s[(d[0][0] + d[0][1] + d[2][1]) * t] = 1;", 4, id="of arrays"),
        pytest.param("V<int> v{1}; s[(v.x + v.y + v.n + 1) * t] = 1;", 4, id="a template"),
        pytest.param("Cut c{3}; s[(c.x + c.y + c.z + 1) * t] = 1;", 4, id="bit-fields"),
        pytest.param("Holes h{}; s[(h.a + h.c + h.d + 4) * t] = 1;", 4, id="bit-fields with gaps"),
        pytest.param("U u{131072 + 8}; s[(u.h[0] + u.h[1] - 2) * t] = 1;", 8, id="a union"),
        pytest.param(
            "Cursor c{s}; float *a = nullptr, *b = nullptr; if (!c.take(65, a)) return;"
            " if (!c.take(128, b)) return; b[t * 4] = 1;",
            4,
            id="an arena",
        ),
    ],
)
def test_members_that_a_list_does_not_give_are_set(body: str, ways: int) -> None:
    text = f"{CLASSES}__global__ void k() {{ __shared__ float s[1024]; int t = threadIdx.x; {body} }}\n"
    text += "void go() { k<<<1, 32>>>(); }\n"
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (access.ways, access.grade) == (ways, "exact")


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("float Five::*m = &Five::c; s[t].*m = 1;", 1),
        ("float Four::*m = &Four::c; (f + t)->*m = 1;", 4),
        ("read(f[t], t ? &Four::a : &Four::d);", 4),
    ],
)
def test_a_pointer_to_a_member_is_followed(body: str, ways: int) -> None:
    text = "struct Five { float a, b, c, d, e; }; struct Four { float a, b, c, d; };\n"
    text += "__device__ float read(const Four &f, float Four::*m) { return f.*m; }\n"
    text += "__global__ void k() { __shared__ Five s[32]; __shared__ Four f[32]; int t = threadIdx.x;"
    text += f" {body} }}\nvoid go() {{ k<<<1, 32>>>(); }}\n"
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (access.ways, access.grade, access.width) == (ways, "exact", 4)


CONSTANTS = """
__constant__ int four[2] = {4, 16};
__constant__ int eight = 8;
__constant__ int set[2] = {4, 16};
__constant__ int found = 4;
__global__ void k(float *out, int n) {
    __shared__ float s[4096];
    float v = 0;
    %s
    out[threadIdx.x] = v;
}
void go(float *p, int *q) {
    void *at;
    cudaMemcpyToSymbol(set, q, 8);
    cudaGetSymbolAddress(&at, found);
    k<<<1, 32>>>(p, 8);
}
"""


@pytest.mark.parametrize(
    ("body", "ways", "grade"),
    [
        ("v = s[threadIdx.x * four[1]];", 16, "exact"),
        ("v = s[threadIdx.x * eight];", 8, "exact"),
        ("v = s[threadIdx.x * set[1]];", 32, "parametric"),
        ("v = s[threadIdx.x * found];", 32, "parametric"),
        # the compiler knows none of them: it neither joins along them nor counts a loop by them
        ("for (int i = 0; i < 4; ++i) v += s[threadIdx.x * four[1] + i];", 16, "exact"),
        ("for (int i = 0; i < eight; ++i) v += s[threadIdx.x * 32 + i];", 16, "exact"),
        ("for (int i = 0; i < n; ++i) v += s[threadIdx.x * 32 + i];", 16, "exact"),
        ("for (int i = 0; i < 8; ++i) v += s[threadIdx.x * 32 + i];", 8, "exact"),
    ],
)
def test_constant_memory_holds_what_it_begins_with_unless_the_host_sets_it(
    body: str, ways: int, grade: str
) -> None:
    (access,) = analyse_file(Job("k.cu", text=CONSTANTS % body)).kernels[0].accesses
    assert (access.ways, access.grade) == (ways, grade)
