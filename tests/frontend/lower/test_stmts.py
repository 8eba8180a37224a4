# ruff: noqa: E501 - a kernel on one line is easier to compare with what becomes of it
import pytest
from lowered import function, kernel, lines

from smemlint.ir import Asm, Binary, Block, Declare, Goto, If, Labeled, Loop, Switch, UnknownStmt
from smemlint.ir.show import show
from smemlint.ir.walk import walk


def loops(text: str) -> list[Loop]:
    body = function(text, "k").body
    return [s for s in body.body if isinstance(s, Loop)]  # type: ignore[union-attr]


def loop(source: str, before: str = "", head: str = "int n") -> Loop:
    (found,) = loops(f"{before}\n__global__ void k({head}) {{\n{source}\n}}")
    return found


@pytest.mark.parametrize("init", ["int i = 0", ""])
@pytest.mark.parametrize("condition", ["n < 4", ""])
@pytest.mark.parametrize("step", ["n++", ""])
def test_a_for_loop_knows_which_of_its_parts_are_missing(init: str, condition: str, step: str) -> None:
    found = loop(f"for ({init}; {condition}; {step}) {{ n += 2; }}")
    assert (found.init is not None, found.condition is not None, found.step is not None) == (
        bool(init),
        bool(condition),
        bool(step),
    )


@pytest.mark.parametrize(
    ("pragma", "unroll"),
    [
        ("", None),
        ("#pragma unroll\n", 0),
        ("#pragma unroll 4\n", 4),
        ("#pragma unroll(8)\n", 8),
        ("#pragma unroll 1\n", 1),
        ("#pragma nounroll\n", 1),
        ('_Pragma("unroll")\n', 0),
    ],
)
def test_unrolling_is_read_from_the_pragma(pragma: str, unroll: int | None) -> None:
    assert loop(f"{pragma}for (int i = 0; i < 4; ++i) n += i;").unroll == unroll


@pytest.mark.parametrize(("body", "unroll"), [("#pragma unroll", 0), ("#pragma unroll 2", 2), ("", None)])
def test_unrolling_is_read_from_a_macro_that_holds_the_pragma(body: str, unroll: int | None) -> None:
    found = loop("UNROLL\nfor (int i = 0; i < 4; ++i) n += i;", f"#define UNROLL {body}")
    assert found.unroll == unroll


def test_a_counter_in_braces_is_a_counter() -> None:
    assert show(loop("for (unsigned long i{0U}; i < 4; ++i) n += i;")) == show(
        loop("for (unsigned long i = 0U; i < 4; ++i) n += i;")
    )


def test_unrolling_by_a_constant_takes_its_value() -> None:
    assert loop("#pragma unroll U\nfor (int i = 0; i < 4; ++i) n += i;", before="#define U 2").unroll == 2


def test_while_and_do_are_loops() -> None:
    first, second = loops("__global__ void k(int n) { while (n > 0) n--; do { n++; } while (n < 4); }")
    assert (first.test_first, first.init, first.step) == (True, None, None)
    assert not second.test_first


def test_do_while_zero_is_its_body() -> None:
    assert lines("__global__ void k(int n) { do { n = 1; } while (0); }") == ["{", "n = 1;", "}"]


def test_if_keeps_branches_and_constexpr() -> None:
    text = "template <int N> __global__ void k(int n) { if constexpr (N > 1) n = 1; else if (n) n = 2; else n = 3; }"
    found = function(text, "k").body.body[0]  # type: ignore[union-attr]
    assert isinstance(found, If) and found.constexpr
    assert (
        isinstance(found.otherwise, If)
        and not found.otherwise.constexpr
        and found.otherwise.otherwise is not None
    )


def test_an_if_with_a_declaration_declares_first() -> None:
    assert kernel("if (int m = n; m > 2) n = m;") == ["{", "int m = n;", "if (m > 2)", "n = m;", "}"]


def test_a_switch_falls_through_by_the_order_of_its_cases() -> None:
    text = """__global__ void k(int n) { switch (n) { case 1: n = 2; case 2: case 3: { n = 4; break; } default: n = 5; } }"""
    found = function(text, "k").body.body[0]  # type: ignore[union-attr]
    assert isinstance(found, Switch)
    values = [None if c.value is None else c.value.value for c in found.cases]  # type: ignore[union-attr]
    assert values == [1, 2, 3, None]
    assert [len(c.body) for c in found.cases] == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("range_", "condition"), [("tab[wrapped<N>(n)]", "<"), ("lists[wrapped<N>(n)]", "!=")]
)
def test_a_range_for_over_an_element_of_a_template_is_a_loop(range_: str, condition: str) -> None:
    text = f"""template <typename V> struct List {{ V items[9]; __device__ V *begin(); __device__ V *end(); }};
    template <int N> __device__ int wrapped(int i) {{ return i & (N - 1); }}
    template <int N> __global__ void k(int n) {{ __shared__ int tab[32][N]; __shared__ List<int> lists[32];
    for (int x : {range_}) n += x; }}"""
    whole = function(text, "k").body.body[-1]  # type: ignore[union-attr]
    (loop,) = [s for s in walk(whole) if isinstance(s, Loop)]
    assert isinstance(loop.condition, Binary) and loop.condition.op == condition


def test_a_range_for_over_what_a_template_leaves_open_runs_from_begin_to_end() -> None:
    text = "template <class R> __global__ void k(int n, R r) { n++; for (int x : r) n += x; }"
    _, begin, end, _ = function(text, "k").body.body[-1].body  # type: ignore[union-attr]
    assert [show(v.var.init) for v in (begin, end)] == ["(range).begin()", "(range).end()"]


def test_a_jump_back_begins_again_what_is_behind_its_label_up_to_the_last_jump() -> None:
    text = "__global__ void k(int n) { again: n++; if (n < 4) goto again; n--; if (n) goto again; n += 2; }"
    again, after = function(text, "k").body.body  # type: ignore[union-attr]
    assert isinstance(again, Labeled) and again.again
    body = again.body.body  # type: ignore[union-attr]
    assert [show(s) for s in (body[0], body[2], after)] == ["n++;", "n--;", "n += 2;"]
    assert body[4] == Goto("again", over=True)


def test_a_jump_forward_leaves_what_is_before_its_label() -> None:
    text = "__global__ void k(int n) { if (n) goto end; n++; end: n--; }"
    before, after = function(text, "k").body.body  # type: ignore[union-attr]
    assert isinstance(before, Labeled) and not before.again
    assert show(after) == "n--;"


def test_range_for_over_an_array_is_a_loop_over_its_indices() -> None:
    text = "__global__ void k(int n) { int a[2]; for (int x : a) n += x; for (int y : {4, 5, 6}) n += y; }"
    array, listed = function(text, "k").body.body[1:]  # type: ignore[union-attr]
    assert show(array).split("\n")[1].strip() == "for (int (index) = 0; (index) < 2; ++(index))"
    assert "int x = a[(index)];" in show(array)
    assert "int (range)[3] = {4, 5, 6};" in show(listed)


def assembly(statement: str, before: str = "", head: str = "float *p, unsigned a") -> Asm:
    text = f"{before}\n__global__ void k({head}) {{\n__shared__ float s[8]; {statement}\n}}"
    from lowered import module

    found = [
        x
        for f in module(text).functions.values()
        if f.name == "k"
        for x in _walk(f.body)
        if isinstance(x, Asm)
    ]
    assert len(found) == 1
    return found[0]


def test_assembly_has_text_operands_and_constraints() -> None:
    found = assembly(
        'asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];\\n" "// %3" : "=f"(p[0]), "+f"(p[1]) : "r"(a), "n"(4) : "memory");'
    )
    assert found.text == "ld.shared.v2.f32 {%0, %1}, [%2];\n// %3"
    assert found.constraints == ("=f", "+f", "r", "n") and len(found.outputs) == 2 and len(found.inputs) == 2


def test_assembly_in_a_macro_is_read_from_its_definition() -> None:
    before = """#define LDSM(d, x) \\
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];\\n" \\
               : "=r"(d) : "r"(x))"""
    found = assembly("LDSM(a, a);", before)
    assert found.text.startswith("ldmatrix.sync.aligned.m8n8.x1") and found.constraints == ("=r", "r")
    assert found.place is not None and found.place.macro == "LDSM"


def test_assembly_text_takes_in_macros() -> None:
    before = '#define OP "cp.async.ca"\n#define WIDTH 16\n#define STR_(x) #x\n#define STR(x) STR_(x)'
    found = assembly(
        'asm volatile(OP ".shared.global [%0], [%1], " STR(WIDTH) ";" :: "r"(a), "l"(p));', before
    )
    assert found.text == "cp.async.ca.shared.global [%0], [%1], 16;"


def test_assembly_that_a_macro_makes_a_string_of_keeps_its_spaces() -> None:
    before = "#define STR(...) #__VA_ARGS__"
    found = assembly('asm volatile(STR(ld.shared.f32 %0, [%1];) : "=f"(p[0]) : "r"(a));', before)
    assert found.text == "ld.shared.f32 %0, [%1];"


def test_symbolic_operands_get_numbers() -> None:
    found = assembly('asm("st.shared.f32 [%[at]], %[v];" :: [at] "r"(a), [v] "f"(p[0]));')
    assert found.text == "st.shared.f32 [%0], %1;"


def test_an_asm_without_operands_is_text() -> None:
    assert (
        assembly('asm volatile("cp.async.commit_group;\\n" ::: "memory");').text == "cp.async.commit_group;\n"
    )


def test_declarations_of_one_statement_come_one_by_one() -> None:
    assert kernel("int i = 1, j = i, *q = &j;") == ["int i = 1;", "int j = i;", "int* q = &j;"]


def test_static_locals_say_so() -> None:
    assert kernel("static int calls; calls++;")[0] == "static int calls;"


def test_launch_bounds_and_cluster_dims_are_read() -> None:
    from smemlint.ir.show import show

    text = """#define BOUNDS __launch_bounds__(T * 2, 2)
    constexpr int T = 128;
    __global__ void BOUNDS k(int n) { __shared__ int s[4]; s[n] = 0; }
    __global__ __launch_bounds__(64) void __cluster_dims__(2, 1, 1) m(int n) { __shared__ int s[4]; s[n] = 0; }"""
    assert [show(b) for b in function(text, "k").launch_bounds] == ["T * 2", "2"]
    assert [show(b) for b in function(text, "m").launch_bounds] == ["64"]
    assert [show(b) for b in function(text, "m").cluster_dims] == ["2", "1", "1"]


def test_launch_bounds_take_no_macro_that_is_switched_off() -> None:
    from smemlint.ir.show import show

    text = """#if defined(WIDE)
    #define N 256
    #elif !defined(NARROW)
    #define N 64
    #else
    #define N 16
    #endif
    __global__ void __launch_bounds__(N) k(int n) { __shared__ int s[4]; s[n] = 0; }"""
    assert [show(b) for b in function(text, "k").launch_bounds] == ["64"]


def test_sides_are_told_apart() -> None:
    text = """__device__ int d() { return 1; } __host__ __device__ int hd() { return d(); } int h() { return 1; }
    __global__ void k(int *p) { __shared__ int s[1]; s[0] = hd(); } int main() { k<<<1, h()>>>(nullptr); }"""
    assert [function(text, n).side for n in ("d", "hd", "h", "k")] == ["device", "both", "host", "kernel"]


def test_deeply_nested_blocks_end_in_a_reason() -> None:
    text = "__global__ void k(int n) { " + "if (n) { " * 200 + "n++;" + "}" * 200 + " }"
    assert any(
        isinstance(x, UnknownStmt) and x.reason == "nested too deeply"
        for x in _walk(function(text, "k").body)
    )


def test_an_empty_kernel_has_an_empty_body() -> None:
    assert function("__global__ void k() {}", "k").body == Block(())


def _walk(node: object):  # type: ignore[no-untyped-def]
    from dataclasses import fields, is_dataclass

    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack.extend(item)
        elif is_dataclass(item):
            yield item
            stack.extend(getattr(item, f.name) for f in fields(item))


def test_a_range_for_over_an_object_runs_from_begin_to_end() -> None:
    text = """struct R { __device__ int *begin(); __device__ int *end(); };
    __global__ void k(int n, R r) { n++; for (int x : r) n += x; }"""
    held, begin, end, loop = function(text, "k").body.body[-1].body  # type: ignore[union-attr]
    assert [show(v.var.init) for v in (held, begin, end)] == ["r", "(range).begin()", "(range).end()"]
    assert isinstance(loop, Loop) and loop.condition is not None and "!=" in show(loop.condition)


@pytest.mark.parametrize("space", ["", " ", "\n  ", " /* rows */ "])
def test_an_object_that_depends_is_made_of_the_list_behind_its_name(space: str) -> None:
    text = f"""template <int N> __global__ void k() {{ __shared__ float s[9]; s[0] = 0; }}
    template <int N> void run() {{ dim3 block{space}(32, N, 1); k<N><<<1, block>>>(); }}"""
    (block,) = (s for s in walk(function(text, "run").body) if isinstance(s, Declare))
    assert show(block.var.init) == "dim3(32, N, 1)"
