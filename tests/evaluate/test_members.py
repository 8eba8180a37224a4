"""Members behind a library's storage, whose size no file tells, and that storage itself."""

from __future__ import annotations

from smemlint.api import analyse_file
from smemlint.evaluate import KernelTrace, evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.running.jobs import Job, Options
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes


def traced(members: str, body: str) -> KernelTrace:
    """A kernel of one warp with one such record, `s`, in shared memory."""
    text = (
        "#include <cub/cub.cuh>\n"
        "typedef cub::BlockScan<int, 32> Scan;\n"
        f"struct Parts {{ {members} }};\n"
        "template <typename T> __global__ void k(T *g) {\n"
        "  __shared__ Parts s; __shared__ typename cub::BlockReduce<T, 32>::TempStorage own;\n"
        "  int t = threadIdx.x;\n"
        f"  {body}\n}}\n"
        "void start(float *g) { k<<<1, 32>>>(g); }"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1)))


def costs(members: str, body: str) -> list[Conflict]:
    return list(score_all(traced(members, body)))


def test_where_a_member_begins_rotates_the_banks_and_no_more() -> None:
    rows, column = costs("Scan::TempStorage scan; float v[32][32];", "s.v[0][t] = 1;\n s.v[t][0] = 1;")
    assert (rows.ways, rows.grade) == (1, Grade.EXACT)
    assert (column.ways, column.grade) == (32, Grade.EXACT)


def test_whether_neighbours_are_joined_hangs_on_where_a_member_begins() -> None:
    body = "for (int i = 0; i < 4; i++) s.v[4 * t + i] = g[i];"
    (loose,) = costs("Scan::TempStorage scan; float v[128];", body)
    assert loose.grade is Grade.UNRESOLVED
    assert loose.reason is not None and loose.reason.code == "unknown-size"
    (known,) = costs("float4 scan; float v[128];", body)
    assert (known.joined, known.grade) == (16, Grade.EXACT)


def test_members_of_a_union_begin_where_it_does() -> None:
    (store,) = costs("union { Scan::TempStorage scan; float v[128]; };", "s.v[2 * t] = 1;")
    assert (store.ways, store.grade) == (2, Grade.EXACT)


def test_storage_that_a_library_is_given_is_not_read() -> None:
    body = "int x; Scan(s.scan).ExclusiveSum(x, x); float y = g[t]; y = cub::BlockReduce<T, 32>(own).Sum(y);"
    found = traced("Scan::TempStorage scan; int x;", body)
    assert not found.traces
    assert {note.code for note in found.notes} >= {"library-storage"}


def test_a_subscript_of_a_record_in_a_template_is_its_operator() -> None:
    text = """
template <typename T, int N> struct Spread {
    T data[N];
    __device__ T &operator[](int i) { return data[i + (i >> 5)]; }
};
template <typename T> struct Loader {
    Spread<T, 1056> spread;
    __device__ void fill(const T *in) { for (int i = 0; i < 4; i++) spread[threadIdx.x * 32 + i] = in[i]; }
};
template <typename T> __global__ void k(const T *in, T *out) {
    __shared__ Loader<T> loader;
    __shared__ Spread<T, 2112> rows;
    __shared__ T plain[1024];
    loader.fill(in);
    rows[threadIdx.x * 16] = in[0];
    plain[threadIdx.x * 32] = in[1];
    out[threadIdx.x] = loader.spread[threadIdx.x];
}
void go(float *p) { k<float><<<1, 32>>>(p, p); }
"""
    found = {
        (a.op, a.width, a.expression): (a.wavefronts, a.ideal, a.grade)
        for kernel in analyse_file(Job("k.cu", Options(suggest=False), text)).kernels
        for a in kernel.accesses
    }
    assert found == {
        ("store", 4, "spread[threadIdx.x * 32 + i]"): (4, 4, "exact"),
        ("store", 4, "rows[threadIdx.x * 16]"): (1, 1, "exact"),
        ("store", 4, "plain[threadIdx.x * 32]"): (32, 1, "exact"),
        ("load", 4, "loader.spread[threadIdx.x]"): (1, 1, "exact"),
    }


def test_a_member_that_is_a_reference_is_bound_to_a_place_and_reads_nothing() -> None:
    text = """\
struct View { float &at; int n; };
__device__ void clear(View v) { v.at = 0; }
__global__ void k() {
    __shared__ float s[1024], t[1024];
    View v{s[threadIdx.x * 2], 3};
    v.at = 1.f;
    clear(View{t[threadIdx.x * 8], 1});
}
void start() { k<<<1, 32>>>(); }
"""
    (kernel,) = analyse_file(Job("k.cu", Options(suggest=False), text)).kernels
    assert [(a.line, a.op, a.array, a.ways) for a in kernel.accesses] == [
        (2, "store", "t", 8),
        (6, "store", "s", 2),
    ]


def test_a_constructor_binds_its_references() -> None:
    text = """\
struct Kept { float &at; __device__ Kept(float &x) : at(x) {} __device__ void set() { at = 1; } };
struct Set { int &at; __device__ Set(int &x, int v) : at(x) { at = v; } };
struct Held { const int &at; };
__global__ void k() {
    __shared__ float s[1024], t[1024], u[1024];
    Kept kept(s[threadIdx.x * 32]);
    kept.set();
    int i = threadIdx.x;
    Set set(i, threadIdx.x * 16);
    t[i] = 1;
    Held held{(int)threadIdx.x * 8};
    u[held.at] = 1;
}
void start() { k<<<1, 32>>>(); }
"""
    (kernel,) = analyse_file(Job("k.cu", Options(suggest=False), text)).kernels
    assert [(a.line, a.op, a.array, a.ways) for a in kernel.accesses] == [
        (1, "store", "s", 32),
        (10, "store", "t", 16),
        (12, "store", "u", 8),
    ]


def test_a_cast_to_a_reference_is_an_access_of_that_type() -> None:
    text = """\
#define F4(x) (reinterpret_cast<float4 &>(x))
__global__ void k() {
    __shared__ float s[1024];
    float4 &q = reinterpret_cast<float4&>(s[threadIdx.x * 4]);
    q = make_float4(1, 2, 3, 4);
    ((float4 &)s[threadIdx.x * 4]) = make_float4(1, 2, 3, 4);
    F4(s[threadIdx.x * 4]) = make_float4(1, 2, 3, 4);
}
void start() { k<<<1, 32>>>(); }
"""
    (kernel,) = analyse_file(Job("k.cu", Options(suggest=False), text)).kernels
    assert [(a.line, a.op, a.width, a.ways) for a in kernel.accesses] == [
        (n, "store", 16, 1) for n in (5, 6, 7)
    ]
