"""Source as tokens: declarations, scopes and uses are found by byte, whatever stands around them."""

from __future__ import annotations

from smemlint.fix.text.source import Source, has_side_effect, parse_range, tokenize

KERNEL = b"""\
#define SIZE 32
// The kernel.
template <int N>
__global__ void first(float *out) {
    __shared__ float tile[SIZE][SIZE];  // tile[1][2] in a comment
    tile[threadIdx.y][threadIdx.x] = out[0];
    const char *s = "tile[0][0]";
    out[0] = other.tile[3] + tile[threadIdx.x][(threadIdx.y)];
}

__global__ void second() { int tile = 1; }
"""


def source(text: bytes = KERNEL) -> Source:
    return Source("a.cu", text)


def test_tokens_tell_comments_strings_and_directives_apart() -> None:
    kinds = [t.kind for t in tokenize('#define A \\\n 1\nint x = 1\'000; // c\nR"(a " b)" "s" \'c\'')]
    assert kinds == ["directive", "name", "name", "punct", "number", "punct", "comment"] + ["string"] * 3


def test_a_number_with_an_exponent_is_one_token() -> None:
    assert [t.text for t in tokenize("1e-3f + 0x1F-2")] == ["1e-3f", "+", "0x1F", "-", "2"]


def test_the_declaration_is_found_at_the_start_of_its_statement_or_at_its_name() -> None:
    text = source()
    at_name = KERNEL.index(b"tile[SIZE]")
    at_statement = KERNEL.index(b"__shared__")
    for place in (at_name, at_statement):
        index = text.find_declaration("tile", place, at_name + 4)
        assert index is not None
        assert text.code[index].offset == at_name
        extents = text.subscripts_after(index)
        assert [text.text[e.open + 1 : e.close] for e in extents] == ["SIZE", "SIZE"]


def test_uses_are_those_of_the_scope_and_no_members_comments_or_strings() -> None:
    text = source()
    index = text.find_declaration("tile", KERNEL.index(b"tile[SIZE]"), 0)
    assert index is not None
    scope = text.scope_of(index)
    assert scope is not None
    uses = list(text.uses("tile", index + 1, scope[1], 2))
    assert [(u.line, u.context, len(u.subscripts)) for u in uses] == [
        (6, "subscript", 2),
        (8, "subscript", 2),
    ]


def test_a_use_with_too_few_subscripts_is_the_array_as_a_pointer() -> None:
    text = source(b"void k() { __shared__ float t[4][4]; f(t); g(t[1]); h(sizeof(t)); i(sizeof t[0][0]); }")
    contexts = [u.context for u in text.uses("t", 12, len(text.code), 2)]
    assert contexts == ["whole", "whole", "sizeof", "sizeof"]


def test_a_macro_that_names_the_array_is_found() -> None:
    text = source(b"#define T(i) t[i][0]\n#define U(t) t\nint x;\n")
    assert [u.line for u in text.macro_uses("t")] == [1]


def test_the_function_starts_at_its_comment_and_its_template_line() -> None:
    text = source()
    index = text.find_declaration("tile", KERNEL.index(b"tile[SIZE]"), 0)
    assert index is not None
    assert text.function_start(index) == KERNEL.index(b"// The kernel.")


def test_the_function_start_is_found_inside_namespaces_and_after_directives() -> None:
    data = (
        b'namespace a {\n#ifdef X\n#endif\nextern "C" {\n'
        b"  __global__ void k() {\n    if (1) { int t[3]; }\n  }\n}\n}\n"
    )
    text = source(data)
    index = text.find_declaration("t", data.index(b"int t"), 0)
    assert index is not None
    assert text.function_start(index) == data.index(b"  __global__")


def test_a_member_function_has_no_place_for_a_helper_before_it() -> None:
    data = b"struct S { __device__ void f() { __shared__ int t[3]; } };"
    text = source(data)
    index = text.find_declaration("t", data.index(b"__shared__"), 0)
    assert index is not None
    assert text.function_start(index) is None


def test_statement_start_skips_the_declarators_before() -> None:
    data = b"void k() { int a; __shared__ float x[f(1, 2)], y[3]; }"
    text = source(data)
    index = text.find_declaration("y", data.index(b"y["), 0)
    assert index is not None
    assert text.statement_start(index) == data.index(b"__shared__")


def test_byte_order_mark_crlf_and_non_ascii_text_keep_their_offsets() -> None:
    data = "\ufeff// Größe\r\n__shared__ int t[3];\r\n".encode()
    text = source(data)
    assert text.newline == "\r\n"
    index = text.find_declaration("t", data.index(b"__shared__"), 0)
    assert index is not None
    assert data[text.code[index].offset :].startswith(b"t[3]")


def test_side_effects_are_assignments_increments_and_calls() -> None:
    def effect(text: str) -> bool:
        whole = source(text.encode())
        return has_side_effect(parse_range(whole, 0, len(text)))

    assert effect("i++") and effect("i += 1") and effect("next(i)")
    assert not effect("(int)(i + 1)") and not effect("i == j") and not effect("min(i, 3)")


def test_unbalanced_braces_do_not_stop_the_scanner() -> None:
    text = source(b"void k() { ( [ __shared__ int t[3]; t[0] = 1; } }")
    index = text.find_declaration("t", 14, 0)
    assert index is not None
    assert text.subscripts_after(index)


def test_an_address_is_told_from_a_bitwise_and() -> None:
    text = source(b"void k() { f(&t[0]); x = y & t[1]; z = (a) & t[2]; p = &t[3]; }")
    assert [u.address for u in text.uses("t", 0, len(text.code), 1)] == [True, False, False, True]
