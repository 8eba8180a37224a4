# ruff: noqa: E501 - a kernel on one line is easier to compare with what becomes of it
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from lowered import module

from smemlint.ir import Index, Place


def places(text: str) -> list[tuple[str, str | None]]:
    """The text behind each subscript of shared memory's kernel `k`, and the macro it stands in."""
    source = text.encode()
    found: list[Place] = []
    for function in module(text).functions.values():
        found += [x.place for x in _walk(function.body) if isinstance(x, Index) and x.place is not None]
    found.sort(key=lambda p: (p.offset, p.end_offset))
    return [(source[p.offset : p.end_offset].decode(), p.macro) for p in found]


def _walk(node: object) -> Iterator[object]:
    if isinstance(node, tuple):
        for item in node:
            yield from _walk(item)
    elif is_dataclass(node):
        yield node
        for item in fields(node):
            yield from _walk(getattr(node, item.name))


def test_a_subscript_stands_where_it_is_written() -> None:
    text = "__global__ void k(int n) {\n  __shared__ int s[4];\n  s[n + 1] = 2;\n}\n"
    assert places(text) == [("s[n + 1]", None)]
    (place,) = (
        x.place for f in module(text).functions.values() for x in _walk(f.body) if isinstance(x, Index)
    )
    assert place is not None
    assert (place.line, place.column, place.end_line, place.end_column) == (3, 3, 3, 11)
    assert place.path.endswith("/k.cu")


def test_an_access_in_a_macro_s_body_stands_where_the_macro_is_used() -> None:
    text = "#define AT(i) s[(i) * 2]\n__global__ void k(int n) { __shared__ int s[4]; AT(n) = 2; }"
    assert places(text) == [("AT(n)", "AT")]


def test_an_access_in_a_macro_s_argument_keeps_its_own_place() -> None:
    text = "#define ID(x) (x)\n__global__ void k(int n) { __shared__ int s[4]; n = ID(s[n]) + 1; }"
    assert places(text) == [("s[n]", None)]


def test_a_macro_in_a_macro_s_argument_is_the_inner_one() -> None:
    text = "#define ID(x) (x)\n#define AT(i) s[i]\n__global__ void k(int n) { __shared__ int s[4]; n = ID(AT(n)) + 1; }"
    assert places(text) == [("AT(n)", "AT")]


def test_an_index_that_is_a_macro_does_not_make_the_access_one() -> None:
    text = "#define N 3\n#define IDX(a, b) ((a) * 4 + (b))\n__global__ void k(int n) { __shared__ int s[8]; s[IDX(n, N)] = N; s[N] = 1; }"
    assert places(text) == [("s[IDX(n, N)]", None), ("s[N]", None)]


def test_a_vector_access_through_a_macro() -> None:
    text = (
        "#define F4(a) (reinterpret_cast<float4 *>(&(a))[0])\n"
        "__global__ void k(float *p, int n) { __shared__ float s[64]; F4(s[4 * n]) = F4(p[n]); }"
    )
    assert places(text) == [("F4(s[4 * n])", "F4"), ("s[4 * n]", None), ("F4(p[n])", "F4"), ("p[n]", None)]


def test_columns_count_bytes() -> None:
    text = "__global__ void k(int n) { __shared__ int s[4]; /* ü */ s[n] = 2; }"
    (place,) = (
        x.place for f in module(text).functions.values() for x in _walk(f.body) if isinstance(x, Index)
    )
    assert place is not None and place.column == text.encode().index(b"s[n]") + 1


def test_every_shared_name_of_the_text_arrives() -> None:
    text = """#define AT(i) s[i]
    __shared__ float g[8];
    template <typename T> __device__ void f(T *p) { __shared__ T t[4]; t[0] = p[0]; p[1] = t[1]; }
    __global__ void k(float *p, int n) { extern __shared__ float s[]; s[n] = AT(1) + g[2]; f(p); (void)sizeof(s[0]); }"""
    found = module(text)
    assert found.unparsed == ()
