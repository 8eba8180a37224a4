from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    If,
    Index,
    Literal,
    Loop,
    Name,
    Place,
    PointerTo,
    RecordRef,
    Special,
    Unary,
    UnknownExpr,
    Var,
)
from smemlint.ir.show import show, show_type
from smemlint.ir.types import BOOL, FLOAT, INT, UINT, ULONG

A, B, C = Name("a", "a"), Name("b", "b"), Name("c", "c")
HERE = Place("k.cu", 1, 1, 1, 2, 0, 1)


def test_parentheses_stand_only_where_they_are_needed() -> None:
    assert show(Binary("*", Binary("+", A, B), C)) == "(a + b) * c"
    assert show(Binary("+", Binary("*", A, B), C)) == "a * b + c"
    assert show(Binary("-", A, Binary("-", B, C))) == "a - (b - c)"
    assert show(Unary("-", Binary("+", A, B))) == "-(a + b)"
    assert show(Index(Cast(PointerTo(FLOAT), A), B)) == "((float*)a)[b]"
    assert show(Binary("+", Conditional(A, B, C), A)) == "(a ? b : c) + a"


def test_literals_show_their_types() -> None:
    assert [show(Literal(3)), show(Literal(3, UINT)), show(Literal(3, ULONG)), show(Literal(1, BOOL))] == [
        "3",
        "3u",
        "3ull",
        "true",
    ]


def test_increments_show_their_side() -> None:
    assert [show(Unary("++x", A)), show(Unary("x--", A))] == ["++a", "a--"]


def test_types_read_as_they_are_written() -> None:
    assert show_type(ArrayOf(ArrayOf(FLOAT, Literal(33)), Literal(32))) == "float[32][33]"
    assert show_type(PointerTo(ArrayOf(FLOAT, Literal(8)))) == "float (*)[8]"
    assert show_type(RecordRef("Tile", (FLOAT, Literal(4), Binary("+", A, B)))) == "Tile<float, 4, a + b>"


def test_statements_come_on_lines() -> None:
    declared = Declare(Var("s", "s", ArrayOf(FLOAT, Literal(4)), "shared", HERE, align=Literal(16)))
    store = Evaluate(Assign("=", Index(Name("s", "s"), Special("threadIdx", "x")), Literal(0)))
    counter = Declare(Var("i", "i", INT, "local", HERE, Literal(0)))
    i = Name("i", "i")
    loop = Loop(counter, Binary("<", i, Literal(4)), Unary("++x", i), store, unroll=2)
    assert show(Block((declared, If(A, loop, None)))).split("\n") == [
        "{",
        "  __shared__ alignas(16) float s[4];",
        "  if (a)",
        "  #pragma unroll 2".replace("  #", "    #"),
        "    for (int i = 0; i < 4; ++i)",
        "      s[threadIdx.x] = 0;",
        "}",
    ]


def test_what_is_not_understood_shows_its_reason_and_parts() -> None:
    assert show(UnknownExpr("throw", (A, B))) == "<throw>(a, b)"


def test_very_deep_expressions_are_cut() -> None:
    deep = A
    for _ in range(500):
        deep = Unary("-", deep)  # type: ignore[assignment]
    assert show(deep).endswith("...")
