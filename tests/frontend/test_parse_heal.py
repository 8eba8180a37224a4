"""A file that lacks its headers still gives its whole program."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from clang.cindex import Cursor

from smemlint import frontend
from smemlint.frontend import parse
from smemlint.frontend.parse import Known, parse_unit
from smemlint.frontend.project.options import ParseOptions
from smemlint.frontend.text.healed import FUNCTION, MACRO, NAMESPACE, NUMBER_TYPE, TYPE, VALUE, Healed
from smemlint.frontend.unit import Unit
from smemlint.ir import Block
from smemlint.source import read_source, source_from_bytes


def parsed(text: str, *configuration: str, defines: tuple[str, ...] = ()) -> Unit:
    source = source_from_bytes("/nowhere/kernel.cu", text.encode())
    return parse_unit(
        source, ParseOptions(defines=defines, project_root="/nowhere"), configuration=configuration
    )


def uses(unit: Unit, name: str) -> int:
    """How many expressions of the main file name a variable."""
    return len(
        [
            cursor
            for cursor in unit.tu.cursor.walk_preorder()
            if cursor.kind.name == "DECL_REF_EXPR" and cursor.spelling == name
        ]
    )


def in_kernel(statement: str) -> Unit:
    return parsed(f"__global__ void k(float* p, int n) {{ __shared__ float s[32]; {statement} }}")


def test_undeclared_values_do_not_lose_the_statement() -> None:
    unit = in_kernel("s[threadIdx.x] = s[0] * SCALE + offset.x[3]; p[0] = table[s[2]]->value;")
    assert uses(unit, "s") == 3
    assert unit.healed == {"SCALE": "value", "offset": "value", "table": "value"}
    assert unit.problems == ()


def test_undeclared_functions_and_templates() -> None:
    unit = in_kernel("s[0] = load(p, s[1]); s[2] = cast<int, 3>(s[3]); ns::deep::store(&s[4], 1);")
    assert uses(unit, "s") == 5
    assert unit.healed["load"] == "function"
    assert unit.healed["cast"] == "function template"
    assert unit.healed["ns::deep::store"] == "function"


def test_undeclared_types() -> None:
    unit = in_kernel(
        "real x = s[0]; Vec v(s[1]); Vec* w = (Vec*)s; w[2] = v; x = static_cast<real>(s[3]) + x;"
    )
    assert uses(unit, "s") == 4
    assert unit.healed == {"real": "number type", "Vec": "type"}


def test_undeclared_class_templates_and_their_members() -> None:
    unit = in_kernel(
        "Traits<float, 4>::Type q; q = s[0]; s[1] = Traits<float, 4>::kWidth; Traits<int>::run(s[2]);"
    )
    assert uses(unit, "s") == 3
    assert unit.healed["Traits"] == "type template"


def test_names_that_only_make_sense_as_types() -> None:
    unit = in_kernel(
        "using Atom = Copy<Wide<sizeof(word_t) * 8>, float>; auto a = make(Layout{}, s[0], Atom{}); a = s[1];"
    )
    assert uses(unit, "s") == 2
    assert unit.problems == ()


def test_a_type_that_is_calculated_with_is_a_number() -> None:
    unit = parsed(
        "const Ncv32u N = 128; template <Ncv32u M> __global__ void k(Ncv32u n) {"
        " __shared__ Ncv32u s[N]; s[threadIdx.x * n] = s[n] + M; n--; }"
    )
    assert uses(unit, "s") == 2
    assert unit.healed == {"Ncv32u": "number type"}


def test_a_type_with_ambiguous_operators_is_a_number() -> None:
    unit = parsed(
        "typedef lib::Index Index; __global__ void k(int n) { __shared__ float s[64];"
        " for (Index i = 32; i < n; i += 8) if (threadIdx.x < i) s[i + threadIdx.x] = 0; }"
    )
    assert uses(unit, "s") == 1
    assert unit.healed == {"lib": "namespace", "lib::Index": "number type"}


def test_an_undeclared_extent_keeps_the_array() -> None:
    unit = parsed(
        "__global__ void k() { __shared__ float s[ROWS][COLS + 1]; s[threadIdx.y][threadIdx.x] = 0; }"
    )
    assert uses(unit, "s") == 1
    assert any(c.kind.name == "VAR_DECL" and c.spelling == "s" for c in unit.tu.cursor.walk_preorder())


def attributes(unit: Unit, name: str) -> set[str]:
    function = next(c for c in unit.tu.cursor.walk_preorder() if c.spelling == name and c.is_definition())
    return {child.kind.name for child in function.get_children() if child.kind.is_attribute()}


def test_macros_in_capitals_before_a_function_are_qualifiers() -> None:
    unit = parsed(
        "MY_KERNEL void k(float* p) { __shared__ float s[2]; s[0] = p[0]; }\n"
        "MY_HOST_DEVICE_INLINE int f(int a) { return a; }\n"
        "static MY_DEVICE float g() { return 0; }\n"
    )
    assert uses(unit, "s") == 1
    assert "CUDAGLOBAL_ATTR" in attributes(unit, "k")
    assert {"CUDAHOST_ATTR", "CUDADEVICE_ATTR"} <= attributes(unit, "f")
    assert "CUDADEVICE_ATTR" in attributes(unit, "g")


def test_a_macro_before_a_loop_is_a_pragma() -> None:
    unit = in_kernel("MY_UNROLL for (int i = 0; i < n; i++) s[i] = 0;")
    assert uses(unit, "s") == 1
    assert any(c.kind.name == "FOR_STMT" for c in unit.tu.cursor.walk_preorder())


def test_a_name_that_the_program_declares_later_is_not_declared_twice() -> None:
    unit = parsed(
        "__global__ void k() { __shared__ int s[2]; s[0] = later; }\nint later(int x) { return x; }\n"
    )
    assert "later" not in unit.healed
    assert any(
        c.kind.name == "FUNCTION_DECL" and c.spelling == "later" for c in unit.tu.cursor.get_children()
    )


def launches(unit: Unit) -> list[Cursor]:
    return [
        cursor
        for cursor in unit.tu.cursor.walk_preorder()
        if cursor.kind.name == "CALL_EXPR" and cursor.spelling == "cudaConfigureCall"
    ]


def test_launches_in_host_code_are_there_also_in_templates_and_lambdas() -> None:
    unit = parsed(
        "template <int N> __global__ void k(float* p) {}\n"
        "template <class T> void a(T* p) { auto l = [&](auto x) { k<32><<<1, x>>>(p); }; l(32); }\n"
        "void b(float* p) { run([=] { k<64><<<dim3(1, 2), THREADS, 16, stream>>>(p); }); }\n"
        "int main() { std::vector<float> v(3); k<1><<<1, 2>>>(v.data()); std::cout << v[0] << std::endl; }\n"
    )
    assert len(launches(unit)) == 3


def test_pytorch_dispatch_macros_keep_the_launch() -> None:
    unit = parsed(
        "#include <torch/extension.h>\n"
        "template <typename T> __global__ void k(T* p) {}\n"
        "void f(torch::Tensor t) { TORCH_CHECK(t.is_cuda(), t.size(0));\n"
        "const auto st = at::cuda::getCurrentCUDAStream();\n"
        'AT_DISPATCH_FLOATING_TYPES_AND_HALF(t.scalar_type(), "f", [&] {\n'
        "k<scalar_t><<<1, 2, 0, st>>>(t.data_ptr<scalar_t>()); }); }\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }\n'
    )
    assert len(launches(unit)) == 3  # float, double, half


def test_the_users_macros_and_the_configurations_switch_branches() -> None:
    text = (
        "#define FAST 0\n#if FAST\nint fast;\n#elif LARGE > 2\nint large;\n#endif\n"
        "#if __CUDA_ARCH__ >= 1000\nint b200;\n#endif\n"
    )

    def variables(unit: Unit) -> list[str]:
        return [c.spelling for c in unit.tu.cursor.walk_preorder() if c.kind.name == "VAR_DECL"]

    assert variables(parsed(text)) == []
    assert variables(parsed(text, defines=("LARGE=3",))) == ["large"]
    assert variables(parsed(text, "FAST", "__CUDA_ARCH__=1000")) == ["fast", "b200"]
    assert parsed(text, "FAST", "-LARGE").configuration == "FAST !LARGE"


def test_the_prelude_is_no_project_file() -> None:
    unit = parsed("__global__ void k() { unknown(atomicAdd((int*)0, 1)); }")
    assert unit.files == ("/nowhere/kernel.cu",)
    declared = [
        c for c in unit.tu.cursor.walk_preorder() if c.spelling == "atomicAdd" and c.referenced is not None
    ]
    paths = {c.referenced.location.file.name for c in declared if c.referenced.location.file is not None}
    assert paths and not any(unit.is_project_file(path) for path in paths)


ROUNDS = (
    "using namespace maths;\nusing maths::deep::Tile;\n"
    "__global__ void k(float* p) { __shared__ float s[32]; Tile<float>::Row row = maths::wide(s[0]);"
    " s[1] = maths::deep::value; p[0] = row.sum(s[2]) + Tile<float>::count(s[3]); }"
)
"""Complaints that show only once others are healed."""


IMPORTED = "namespace a {{ using b::c::Thing; }}\nusing b::c::Thing;\n__global__ void k({0}) {{ {1} }}"
SHARED = "__shared__ float s[32]; s[threadIdx.x] = 1; int i = {0}; s[i] = 2;"


@pytest.mark.parametrize(
    "parameter", ["Thing<float> t", "Thing t", "const Thing &t", "Thing<Thing<int>, 3> t"]
)
def test_what_a_using_declaration_brings_in_is_declared_as_it_is_used(parameter: str) -> None:
    unit = parsed(IMPORTED.format(parameter, SHARED.format("t.ptr(1)[2]")))
    assert "template" in unit.healed["b::c::Thing"] or "type" in unit.healed["b::c::Thing"]
    assert "Thing" not in unit.healed and uses(unit, "s") == 2


def test_a_using_declaration_may_bring_in_a_value_or_a_function() -> None:
    unit = parsed(IMPORTED.format("int n", SHARED.format("Thing")))
    assert unit.healed["b::c::Thing"] == VALUE and uses(unit, "s") == 2
    unit = parsed(IMPORTED.format("int n", SHARED.format("Thing(n)")))
    assert unit.healed["b::c::Thing"] == FUNCTION and uses(unit, "s") == 2


def test_a_name_of_a_using_declaration_in_a_header_is_learnt_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "t.h").write_text("using b::Thing;\n", encoding="utf-8")
    text = '#include "t.h"\n__global__ void k(Thing<float> t) {' + SHARED.format("t.size()") + "}"
    (tmp_path / "k.cu").write_text(text, encoding="utf-8")
    unit = parse_unit(read_source(str(tmp_path / "k.cu")), ParseOptions(project_root=str(tmp_path)))
    assert unit.healed["b::Thing"] == "type template" and uses(unit, "s") == 2


def test_a_busy_machine_heals_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    known = parsed(ROUNDS)
    assert known.rounds > 2
    now = itertools.count(step=1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    monkeypatch.setattr(time, "time", lambda: next(now))
    late = parsed(ROUNDS)
    assert (late.rounds, late.healed) == (known.rounds, known.healed)


def test_healing_ends_where_much_text_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse, "MAX_BYTES", 2 * len(ROUNDS))
    assert parsed(ROUNDS).rounds == 2


HEALED = (
    "using namespace maths;\n"
    "__global__ void k(float* p) { __shared__ float s[32]; Tile<float>::Row row = maths::wide(s[0]);"
    " real_t x = cast(s[1]) + Tile<float>::count(s[3]); p[0] = x; }"
)


def begun_with(text: str, known: Known) -> Unit:
    source = source_from_bytes("/nowhere/other.cu", text.encode())
    return parse_unit(source, ParseOptions(project_root="/nowhere"), known=known)


def known_from(text: str) -> Known:
    known = Known()
    begun_with(text, known)
    return known


def test_what_one_file_taught_saves_the_next_its_rounds() -> None:
    known = known_from(HEALED)
    assert parsed(HEALED).rounds > 2
    again = begun_with(HEALED, known)
    assert (again.rounds, again.healed) == (1, parsed(HEALED).healed)


def test_a_second_configuration_begins_with_the_names_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []

    def counted(*arguments: object, **more: object) -> Unit:
        unit = parse_unit(*arguments, **more)  # type: ignore[arg-type]
        rounds.append(unit.rounds)
        return unit

    monkeypatch.setattr(frontend, "parse_unit", counted)
    fast = "__global__ void q(real_t* p) { __shared__ real_t t[8]; t[0] = p[0]; }"
    text = f"{HEALED}\n#ifdef FAST\n{fast}\n#endif\n"
    modules = frontend.load(source_from_bytes("/nowhere/kernel.cu", text.encode()))
    assert [m.configuration for m in modules] == ["", "FAST"]
    assert rounds[0] > 2 and rounds[1] == 1


DECLARATIONS = (
    "struct X { int a; }; __global__ void k(X* x) { x->a = 1; }",
    "struct X; __global__ void k(X* x) {}",
    "template <class T, int N> class X { T a[N]; }; X<int, 3> q;",
    "template <class T> struct X; template <> struct X<int> { int a; }; X<int> q;",
    "enum class X { A, B }; X q;",
    "enum E { X, B }; E q = X;",
    "typedef struct { int a; } X; X q;",
    "using X = float; X q;",
    "template <class T> using X = T; X<int> q;",
    "static const int X = 3; int q[X];",
    "template <class T> constexpr int X = 3; int q[X<int>];",
    "int X(int a) { return a; } int g() { return X(1); }",
    "__global__ void X(int* a) {} void g() { X<<<1, 1>>>(0); }",
    "namespace X { int f(); } int g() { return X::f(); }",
    "namespace Y { int f(); } namespace X = Y; int g() { return X::f(); }",
    "namespace Y { struct X { int a; }; } using Y::X; X q;",
    "namespace Y { struct X { int a; }; } using namespace Y; X q;",
    "#ifndef X\n#define X 3\n#endif\nint q[X];",
)
GUESSES = (
    Healed("X", TYPE), Healed("X", TYPE, "t"), Healed("X", TYPE, "v"), Healed("X", NUMBER_TYPE),
    Healed("X", VALUE), Healed("X", VALUE, "t"), Healed("X", FUNCTION), Healed("X", FUNCTION, "t"),
    Healed("X", MACRO, text="(...)"), Healed("X", MACRO),
)  # fmt: skip


def shape(unit: Unit) -> list[tuple[str, str, str]]:
    """What clang makes of the main file."""
    return [
        (cursor.kind.name, cursor.spelling, cursor.type.spelling)
        for top in unit.tu.cursor.get_children()
        if top.location.file is not None and top.location.file.name == unit.path
        for cursor in top.walk_preorder()
    ]


@pytest.mark.parametrize("guess", GUESSES, ids=lambda g: f"{g.describe()} {g.text or g.parameters or ''}")
@pytest.mark.parametrize("text", DECLARATIONS)
def test_a_name_that_another_file_declares_is_not_healed_there(text: str, guess: Healed) -> None:
    known = Known()
    known.names.root.children["X"] = guess.copied()
    unit = begun_with(text, known)
    assert unit.problems == ()
    assert shape(unit) == shape(begun_with(text, Known()))
    assert unit.rounds <= 4


def test_an_alias_of_another_namespace_is_not_lost_to_a_healed_namespace() -> None:
    known = known_from("int f() { return X::f(1); }")
    assert known.names.root.children["X"].kind == NAMESPACE
    assert (
        begun_with("namespace Y { int f(int); } namespace X = Y; int g() { return X::f(1); }", known).healed
        == {}
    )


def test_members_of_a_healed_class_are_kept_where_functions_have_their_names() -> None:
    known = known_from("void f() { Image<int>::create(3); create(4); }")
    assert set(known.names.carried([b"void create(int);"]).root.children) == {"Image"}
    assert "create" in known.names.carried([b"void create(int);"]).root.children["Image"].children


def test_what_is_asked_of_an_alias_is_asked_of_the_unknown_namespace() -> None:
    unit = parsed("namespace tg = far::away;\n__global__ void k(tg::Kind kind) { int x = tg::size(kind); }")
    assert unit.problems == ()
    assert unit.healed == {
        "far": "namespace", "far::away": "namespace", "far::away::Kind": "type",
        "far::away::size": "function",
    }  # fmt: skip
    assert unit.rounds <= 3


def test_the_text_that_is_read_for_one_program_is_bounded() -> None:
    known = Known(left=2 * len(HEALED))
    assert begun_with(HEALED, known).rounds == 2
    assert known.left == 0
    assert begun_with(HEALED, known).rounds == 1
    source = source_from_bytes("/nowhere/caller.cu", HEALED.encode())
    assert frontend.load_callers(source, ParseOptions(), frozenset({"k"}), known) is None


def test_the_last_file_that_may_be_read_is_read_as_it_is_built() -> None:
    text = (
        "#ifdef USE_CUDA\n__global__ void k(int *p) { *p = 1; }\nvoid go(int *p) { k<<<1, 64>>>(p); }\n"
        "#else\nvoid go(int *p) { *p = 1; }\n#endif\n"
    )
    known = Known(left=len(text))
    source = source_from_bytes("/nowhere/caller.cu", text.encode())
    module = frontend.load_callers(source, ParseOptions(), frozenset({"k"}), known)
    assert module is not None
    assert [k.name for k in module.kernels()] == ["k"]
    assert known.left <= 0


def test_errors_of_the_main_file_are_seen_behind_many_of_included_ones(tmp_path: Path) -> None:
    many = "".join(f"inline int f{n}() {{ return unknown; }}\n" for n in range(600))
    (tmp_path / "many.cuh").write_text(many)
    (tmp_path / "k.cu").write_text(
        '#include "many.cuh"\n__global__ void k() { __shared__ float s[4]; s[LANE] = 0; }\n'
    )
    unit = parse_unit(read_source(tmp_path / "k.cu"), ParseOptions(project_root=str(tmp_path)))
    assert (unit.rounds, unit.healed) == (2, {"unknown": "value", "LANE": "value"})


def test_a_round_that_comes_to_nothing_in_included_files_is_the_last() -> None:
    assert parse._is_idle([400, 399, 398], told_in_main=False)
    assert not parse._is_idle([400, 399, 398], told_in_main=True)
    assert not parse._is_idle([400, 399, 390], told_in_main=False)
    assert not parse._is_idle([400, 399], told_in_main=False)


def test_one_unknown_class_becomes_another_in_one_way() -> None:
    unit = parsed("""
        __global__ void k(const PtrStepSzb image, PtrStepSz<float> points) { __shared__ float s[32]; }
        void host(const GpuMat& image, GpuMat& points) {
            k<<<1, dim3(32, 8)>>>(image, points);
            GpuMat copy = image;
            k<<<1, dim3(32, 4)>>>(copy, points);
        }
    """)
    assert not unit.problems
    assert uses(unit, "image") == 2 and uses(unit, "copy") == 1


def test_constant_array_of_objects_with_an_unknown_extent() -> None:
    """clang itself ends at this array where its extent has no type."""
    unit = parsed(
        """
        static const std::string NAMES[COUNT] = {"H", "He"};
        __global__ void k(float* p) { __shared__ float s[32]; s[threadIdx.x] = p[OFFSET]; }
        """
    )
    assert {name: kind for name, kind in unit.healed.items() if name in ("COUNT", "OFFSET")} == {
        "COUNT": VALUE,
        "OFFSET": VALUE,
    }
    assert uses(unit, "s") == 1
    assert uses(unit, "OFFSET") == 1


def test_of_a_file_that_is_read_for_its_launches_other_kernels_are_known_without_their_bodies() -> None:
    text = (
        "__global__ void mine(int n) { __shared__ int s[4]; s[0] = n; }\n"
        "void go() {\nk();\nmine<<<1, 4>>>(2); }"
    )
    source = source_from_bytes("/nowhere/caller.cu", f"void k();\n{text}".encode())
    for files, statements in ((frozenset[str](), 0), (frozenset({source.path}), 2)):
        module = frontend.load_callers(source, ParseOptions(), frozenset({"k"}), whole=files)
        assert module is not None
        bodies = {f.name: len(f.body.body) for f in module.functions.values() if isinstance(f.body, Block)}
        assert bodies == {"mine": statements, "go": 2}
