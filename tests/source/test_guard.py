"""What would overflow the parser's stack is refused; what people write is not."""

from __future__ import annotations

import pytest

from smemlint.source.guard import MAX_ELSE_CHAIN, MAX_NESTING, MAX_OPERATORS, find_excess

DEEP = {
    "parentheses": b"int f() { return " + b"(" * 100_000 + b"1" + b")" * 100_000 + b"; }",
    "unclosed braces": b"void f() " + b"{" * 100_000,
    "brackets": b"int f() { return " + b"a[" * 1_000 + b"0" + b"]" * 1_000 + b"; }",
    "negations": b"int f() { return " + b"- " * 10_000 + b"1; }",
    "casts": b"int f() { return " + b"(int)" * 10_000 + b"1; }",
    "sum": b"int f() { return 1" + b"+1" * 100_000 + b"; }",
    "assignments": b"int f(int x) { return " + b"x=" * 10_000 + b"1; }",
    "else if": b"int f(int x) { " + b"if (x) x = 1; else " * 10_000 + b"x = 2; }",
    "else if in braces": b"int f(int x) { " + b"if (x) { x = 1; } else " * 10_000 + b"x = 2; }",
    "while": b"int f(int x) { " + b"while (x) " * 10_000 + b"x = 2; }",
    "template arguments": b"template<class T> struct A{}; "
    + b"A<" * 10_000
    + b"int"
    + b">" * 10_000
    + b" x;",
    "macros": b"#define A0 1\n"
    + b"".join(b"#define A%d A%d+A%d\n" % (i, i - 1, i - 1) for i in range(1, 24)),
    "calls": b"void f(S s) { s" + b".m()" * 10_000 + b"; }",
}


@pytest.mark.parametrize("name", DEEP)
def test_depth_is_refused(name: str) -> None:
    assert find_excess(DEEP[name]) is not None


FINE = {
    "a table": b"int t[] = {" + b"-1, 0x20, " * 50_000 + b"};",
    "a flat sum": b"int x = 1" + b"+1" * (MAX_OPERATORS // 2) + b";",
    "nesting at the limit": b"(" * MAX_NESTING + b")" * MAX_NESTING,
    "brackets in comments": b"/*" + b"(" * 10_000 + b"*/ int x; //" + b"{" * 10_000,
    "brackets in strings": b'const char* s = "' + b"(" * 10_000 + b'";',
    "many ifs": b"void f(int x) { "
    + b"if (x) { g(); } else { h(); } g(); i(); j();\n" * (3 * MAX_ELSE_CHAIN)
    + b"}",
    "an unbalanced end": b"}" * 10_000,
    "a long macro": b"#define M " + b"x + \\\n" * 500 + b"1\n",
    "many macros": b"".join(b"#define A%d A%d+1\n" % (i, i - 1) for i in range(1, 500)),
    "a long comment": b"// " + b"-=" * 10_000 + b"\nint x;",
}


@pytest.mark.parametrize("name", FINE)
def test_what_is_long_but_flat_passes(name: str) -> None:
    assert find_excess(FINE[name]) is None


def test_the_place_is_where_the_limit_is_passed() -> None:
    excess = find_excess(b"int x = " + b"(" * 1000)
    assert excess is not None
    assert excess.offset == 8 + MAX_NESTING


def test_macros_of_which_one_is_picked_do_not_add_up() -> None:
    """As libraries apply one to each of their arguments: `PICK(__VA_ARGS__, F64, ..., F1)(__VA_ARGS__)`."""
    each = ["#define F1(f, a) f(a)"]
    each += [f"#define F{n}(f, a, ...) {'f(a) ' * 100}F{n - 1}(f, __VA_ARGS__)" for n in range(2, 65)]
    names = ", ".join(f"F{n}" for n in range(64, 0, -1))
    each.append(f"#define ALL(...) PICK(__VA_ARGS__, {names})(__VA_ARGS__)")
    assert (
        find_excess("\n".join([*each, "#define TWICE(...) ALL(__VA_ARGS__) ALL(__VA_ARGS__)"]).encode())
        is None
    )


def test_macros_that_are_handed_on_add_up_at_each_call() -> None:
    lines = ["#define RUN(f, a) f(a)", "#define D0(a) a"]
    lines += [f"#define D{n}(a) RUN(D{n - 1}, a) RUN(D{n - 1}, a)" for n in range(1, 20)]
    found = find_excess("\n".join(lines).encode())
    assert found is not None
    assert "expands to more than" in found.message
