"""Pointers into a pool are read from the text as they are declared, or not at all."""

from __future__ import annotations

import pytest

from smemlint.fix.text.declared import Declared, declared
from smemlint.fix.text.pointers import Pointer, pointers
from smemlint.fix.text.source import Source


def read(body: str, type_: str = "float") -> dict[str, tuple[str, str, list[tuple[str, str]]]]:
    """name -> (type, base, steps as text and unit)."""
    text = f"__global__ void k() {{\n extern __shared__ {type_} pool[];\n {body}\n}}\n"
    source = Source("a.cu", text.encode())
    at = declared(source, "pool", text.index("pool"), text.index("pool") + 4, 1)
    assert isinstance(at, Declared)
    found: list[Pointer] = pointers(source, "pool", type_, *at.scope)
    return {p.name: (p.type, p.base, [(text[s.begin : s.end], s.unit) for s in p.steps]) for p in found}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("float *a = pool;", ("float", "pool", [])),
        ("float *__restrict__ const a = pool + 4;", ("float", "pool", [("4", "float")])),
        ("float *a = &pool[N * 2];", ("float", "pool", [("N * 2", "float")])),
        ("int *a = (int *)pool;", ("int", "pool", [])),
        ("int *a = (int *)(pool + N);", ("int", "pool", [("N", "float")])),
        ("int *a = (int *)pool + N;", ("int", "pool", [("N", "int")])),
        ("int *a = (int *)&pool[N];", ("int", "pool", [("N", "float")])),
        ("int *a = reinterpret_cast<int *>(pool + N) + 1;", ("int", "pool", [("N", "float"), ("1", "int")])),
        ("const volatile float *a = pool + N + M;", ("float", "pool", [("N", "float"), ("M", "float")])),
        ("unsigned char *a = (unsigned char *)pool;", ("unsigned char", "pool", [])),
    ],
)
def test_a_pointer_starts_after_so_many_elements_of_a_type(body: str, expected: object) -> None:
    assert read(body) == {"a": expected}


def test_several_pointers_in_one_declaration_share_the_type() -> None:
    assert read("float *a = pool, *b = pool + N;") == {
        "a": ("float", "pool", []),
        "b": ("float", "pool", [("N", "float")]),
    }


def test_a_pointer_may_be_set_after_its_declaration() -> None:
    found = read("float *a, *b; int n;\n a = pool;\n b = &pool[N];")
    assert found == {"a": ("float", "pool", []), "b": ("float", "pool", [("N", "float")])}


@pytest.mark.parametrize(
    "body",
    [
        "float *a; if (n) { a = pool; }",
        "float *a; if (n) a = pool;",
        "float *a; a = pool; a = pool + 4;",
        "float *a; f(&a); a = pool;",
        "float **a; a = pool;",
        "float *a = 0; a = pool;",
    ],
)
def test_a_pointer_that_may_be_set_otherwise_is_none(body: str) -> None:
    assert read(body) == {}


def test_a_pointer_may_start_from_another() -> None:
    found = read("float *a = (float *)pool; double *b = (double *)(a + N);", "unsigned char")
    assert found["b"] == ("double", "a", [("N", "float")])


@pytest.mark.parametrize(
    "body",
    [
        "float *a = pool; a = a + 1;",
        "float *a = pool; a++;",
        "float *a = n ? pool : other;",
        "float *a = pool - 1;",
        "float *a = N + pool;",
        "int *a = pool;",
        "float (*a)[4] = (float (*)[4])pool;",
        "use(pool);",
        "float v = *pool;",
        "auto a = pool;",
    ],
)
def test_what_is_not_a_plain_start_is_no_pointer(body: str) -> None:
    assert read(body) == {}
