# ruff: noqa: E501 - a kernel on one line is easier to compare with what becomes of it
import pytest
from lowered import function, kernel, lines, module

from smemlint.ir import ArrayOf, Declare, MemberType, PointerTo, Record, RecordRef, Scalar, TypeParam, Var
from smemlint.ir.nodes import TemplateArgument
from smemlint.ir.show import show, show_type
from smemlint.ir.types import CHAR, HALF, INT


def variable(text: str, name: str, of: str = "k") -> Var:
    body = function(text, of).body
    return next(s.var for s in body.body if isinstance(s, Declare) and s.var.name == name)  # type: ignore[union-attr]


def shared(declaration: str, before: str = "") -> Var:
    return variable(f"{before}\n__global__ void k(int n) {{ __shared__ {declaration}; }}", "s")


def test_extents_of_static_arrays_are_numbers() -> None:
    found = shared("float s[N][N + 1]", "#define N 32")
    assert found.storage == "shared" and show_type(found.type) == "float[32][33]"


def test_extents_that_depend_on_a_template_are_expressions() -> None:
    text = "template <int BM, int BN, typename T> __global__ void k() { __shared__ T s[BM][BN * 2 + 1][4]; }"
    found = variable(text, "s")
    assert show_type(found.type) == "T[BM][BN * 2 + 1][4]"
    parameters = function(text, "k").template
    assert isinstance(found.type, ArrayOf) and found.type.extent.id == parameters[0].id  # type: ignore[union-attr]


def test_an_extent_keeps_the_place_where_it_is_written() -> None:
    found = shared("float s[8][16 + 1]")
    assert isinstance(found.type, ArrayOf) and isinstance(found.type.element, ArrayOf)
    inner = found.type.element.extent
    assert (
        inner is not None
        and inner.place is not None
        and inner.place.end_offset - inner.place.offset == len("16 + 1")
    )
    assert show(inner) == "17"


def test_extern_arrays_have_no_extent() -> None:
    found = variable("__global__ void k() { extern __shared__ char s[]; }", "s")
    assert found.storage == "extern_shared" and found.type == ArrayOf(CHAR, None)


def test_extern_arrays_at_file_scope_are_globals() -> None:
    text = "extern __shared__ float s[]; __global__ void k(int n) { s[n] = 0; }"
    (found,) = module(text).globals.values()
    assert found.storage == "extern_shared" and found.type == ArrayOf(Scalar("float", 4, "float"), None)


def test_extern_arrays_of_one_name_keep_the_type_each_function_gives_them() -> None:
    text = """__global__ void a(int n) { extern __shared__ float s[]; s[n] = 0; }
    __global__ void b(int n) { extern __shared__ int s[]; s[n] = 0; }"""
    assert (
        show_type(variable(text, "s", "a").type) == "float[]"
        and show_type(variable(text, "s", "b").type) == "int[]"
    )
    assert variable(text, "s", "a").id != variable(text, "s", "b").id and not module(text).globals


def test_alignment_is_read_however_it_is_written() -> None:
    for written in (
        "__align__(16) float s[4]",
        "alignas(16) float s[4]",
        "float s[4] __attribute__((aligned(16)))",
    ):
        found = shared(written)
        assert found.align is not None and show(found.align) == "16", written


def test_alignment_by_a_constant_and_by_a_macro() -> None:
    assert show(shared("__align__(A) float s[4]", "constexpr int A = 32;").align or 0) in ("A", "32")  # type: ignore[arg-type]
    assert show(shared("ALIGNED float s[4]", "#define ALIGNED __align__(8)").align or 0) == "8"  # type: ignore[arg-type]


def test_typedefs_are_resolved() -> None:
    assert (
        show_type(shared("tile_t s", "typedef float row_t[4]; using tile_t = row_t[8];").type)
        == "float[8][4]"
    )


def test_alias_templates_are_expanded() -> None:
    before = (
        "template <typename T, int N> struct Buf { T d[N]; }; template <int N> using F = Buf<float, N * 2>;"
    )
    assert shared("F<8> s", before).type == RecordRef("Buf", (Scalar("float", 4, "float"), _literal(16)))
    text = before + "template <int M> __global__ void k() { __shared__ F<M> s; }"
    assert show_type(variable(text, "s").type) == "Buf<float, M * 2>"


def test_half_is_a_number_of_two_bytes() -> None:
    assert (
        shared("half s[4]").type
        == shared("__half s[4]").type
        == ArrayOf(HALF, _literal(4, shared("half s[4]")))
    )


def test_vector_types_are_records_with_fields_and_alignment() -> None:
    found = module("__global__ void k(float4 *p) { __shared__ float4 s[4]; s[0] = p[0]; }")
    record = found.records["float4"]
    assert [f.name for f in record.fields] == ["x", "y", "z", "w"] and show(record.align or 0) == "16"  # type: ignore[arg-type]


def test_pointers_to_arrays_keep_the_row() -> None:
    assert kernel("__shared__ float s[4][8]; float (*q)[8] = s; q[n][1] = 0;")[1] == "float (*)[8] q = s;"
    assert show_type(PointerTo(ArrayOf(INT, _literal(8)))) == "int (*)[8]"


def test_parameters_decay() -> None:
    text = "__device__ void f(float a[4][8], int n) { a[n][0] = 1; } __global__ void k() { __shared__ float s[4][8]; f(s, 1); }"
    assert show_type(function(text, "f").parameters[0].type) == "float (*)[8]"


def test_references_are_pointers_that_say_so() -> None:
    text = "__device__ void f(float (&a)[8], int &n) { a[n] = 1; } __global__ void k(int n) { __shared__ float s[8]; f(s, n); }"
    first, second = function(text, "f").parameters
    assert (
        isinstance(first.type, PointerTo) and first.type.reference and show_type(first.type) == "float (&)[8]"
    )
    assert second.type == PointerTo(INT, reference=True)


def test_member_types_of_dependent_records_wait() -> None:
    text = """template <typename T> struct Traits { using type = T; };
    template <typename T> __global__ void k() { __shared__ typename Traits<T>::type s[4]; }"""
    found = variable(text, "s").type
    assert isinstance(found, ArrayOf) and isinstance(found.element, MemberType)
    assert found.element.name == "type" and isinstance(found.element.owner, RecordRef)
    assert isinstance(found.element.owner.arguments[0], TypeParam)
    assert module(text).records["Traits"].aliases["type"] == TypeParam(
        module(text).records["Traits"].template[0].id, "T"
    )


def test_a_record_has_fields_constants_types_and_methods() -> None:
    text = """template <typename T, int N> struct alignas(16) Tile { using value = T; static constexpr int size = N * 2;
      enum { pad = 1, more }; T data[N][N + pad]; int n : 3; union { float f; int i; };
      __device__ T &at(int i) { return data[i][0]; } __device__ static int one() { return 1; } };
    __global__ void k() { __shared__ Tile<float, 8> s; s.at(1) = 0; }"""
    record: Record = module(text).records["Tile"]
    assert [(f.name, f.bits and f.bits.value) for f in record.fields] == [
        ("data", None),
        ("n", 3),
        ("", None),
    ]
    assert show_type(record.fields[0].type) == "T[N][N + Tile<T, N>::pad]"
    assert {n: show(v.init) for n, v in record.constants.items() if v.init} == {
        "size": "N * 2",
        "pad": "1",
        "more": "1 + 1",
    }
    assert record.aliases["value"].name == "T" and set(record.methods) == {"at", "one"}  # type: ignore[union-attr]
    assert show(record.align or 0) == "16"  # type: ignore[arg-type]
    inner = record.fields[2].type
    assert isinstance(inner, RecordRef) and module(text).records[inner.name].union
    assert variable(text, "s").type == RecordRef("Tile", (Scalar("float", 4, "float"), _literal(8)))


def test_methods_defined_outside_share_the_record_s_parameters() -> None:
    text = """template <typename T, int N> struct Tile { T d[N]; __device__ T get(int i); };
    template <typename U, int M> __device__ U Tile<U, M>::get(int i) { U v = d[i % M]; return v; }
    __global__ void k(float *p) { __shared__ Tile<float, 8> s; p[0] = s.get(1); }"""
    found = module(text)
    method = found.functions[found.records["Tile"].methods["get"][0]]
    assert method.record == "Tile" and method.template == ()
    declared = method.body.body[0].var  # type: ignore[union-attr]
    assert declared.type.id == found.records["Tile"].template[0].id
    assert declared.init.index.right.id == found.records["Tile"].template[1].id


def test_specialisations_of_a_record_are_listed_with_their_patterns() -> None:
    text = """template <typename T, int N> struct V { T a; }; template <typename T> struct V<T *, 2> { T b; };
    template <> struct V<int, 1> { int c; }; __global__ void k() { __shared__ V<float *, 2> s; s.b = 1; }"""
    found = module(text).records
    names = found["V"].specialisations
    assert len(names) == 2 and all(found[n].specialises is not None for n in names)
    full = next(found[n] for n in names if not found[n].template)
    assert full.specialises == (INT, _literal(1)) and full.fields[0].name == "c"
    partial = next(found[n] for n in names if found[n].template)
    first = (partial.specialises or (INT,))[0]
    assert (
        isinstance(first, PointerTo)
        and isinstance(first.to, TypeParam)
        and first.to.id == partial.template[0].id
    )


def test_template_defaults_come_along_even_from_a_declaration() -> None:
    text = """template <int N = 8, typename T = float> __global__ void k(T *p);
    template <int N, typename T> __global__ void k(T *p) { __shared__ T s[N]; s[0] = p[0]; }"""
    defaults: list[TemplateArgument | None] = [p.default for p in function(text, "k").template]
    assert [show(defaults[0]), defaults[1]] == ["8", Scalar("float", 4, "float")]  # type: ignore[arg-type]


def test_auto_has_the_deduced_type_where_clang_knows_it() -> None:
    assert kernel("auto i = 1; auto *q = p;") == ["int i = 1;", "float* q = p;"]


def test_a_local_alias_in_a_template_is_what_it_stands_for() -> None:
    text = "template <typename T> __global__ void k() { using V = T *; __shared__ T s[4]; V q = s; }"
    assert lines(text)[1] == "T* q = s;"


def test_base_classes_are_types() -> None:
    text = "struct A { int x; }; template <int N> struct B : A { int y[N]; }; __global__ void k() { __shared__ B<4> s; s.x = 1; }"
    assert module(text).records["B"].bases == (RecordRef("A"),)


def test_a_nested_record_of_a_template_shares_its_parameters() -> None:
    text = """template <int N> struct O { struct I { float d[N]; }; I inner; };
    __global__ void k() { __shared__ O<4>::I s; s.d[0] = 1; }"""
    found = module(text)
    assert found.records["O::I"].template == found.records["O"].template
    assert variable(text, "s").type == RecordRef("O::I", (_literal(4),))


def _literal(value: int, like: Var | None = None) -> object:
    from smemlint.ir import Literal

    place = (
        like.type.extent.place
        if like is not None and isinstance(like.type, ArrayOf) and like.type.extent
        else None
    )
    return Literal(value, INT, place)


def test_an_enumeration_is_as_wide_as_the_type_that_is_written() -> None:
    text = """#include <cstdint>
    enum Kind : uint8_t { A }; enum class Wide : uint64_t { B }; enum class Plain { C };
    struct Task { Kind kind; Wide wide; Plain plain; };
    __global__ void k() { __shared__ Task s[32]; s[threadIdx.x].kind = A; }"""
    record: Record = module(text).records["Task"]
    assert [(show_type(f.type), f.type.size) for f in record.fields if isinstance(f.type, Scalar)] == [
        ("Kind", 1),
        ("Wide", 8),
        ("Plain", 4),
    ]


@pytest.mark.parametrize("declared", ["constexpr int n[] =", "const int n[] =", "constexpr int n[3] ="])
def test_an_array_of_constants_is_one_whether_its_length_is_written_or_not(declared: str) -> None:
    text = f"{declared} {{4, 8, 16}}; __global__ void k(int *out) {{ out[0] = n[1]; }}"
    (n,) = module(text).globals.values()
    assert (n.storage, n.const) == ("constant", True)


def test_an_array_that_may_change_is_no_constant() -> None:
    text = "__device__ int n[] = {4, 8, 16}; __global__ void k(int *out) { out[0] = n[1]; }"
    (n,) = module(text).globals.values()
    assert (n.storage, n.const) == ("global", False)


def test_the_base_of_a_nested_record_is_found_through_an_alias_of_the_record_around() -> None:
    text = """template <class D> struct Base { struct Parameters { float f; }; };
    template <class D> struct Pinhole : Base<Pinhole<D>> { using B = Base<Pinhole<D>>; struct Parameters : B::Parameters { int w; }; };
    struct P : Pinhole<P> {};
    __global__ void k(P::Parameters p) {}"""
    (base,) = module(text).records["Pinhole::Parameters"].bases
    assert isinstance(base, MemberType) and base.name == "Parameters"
    assert isinstance(base.owner, RecordRef) and base.owner.name == "Base"
