# ruff: noqa: E501 - a kernel on one line is easier to compare with what becomes of it
import pytest
from lowered import function, kernel, lines, module

from smemlint.ir import Assign, Call, Evaluate, FloatLiteral, Index, Literal, Name, Special
from smemlint.ir.types import BOOL, INT, UINT
from smemlint.ir.walk import walk

SHARED = "__shared__ float s[32][33];"


def test_an_index_of_two_dimensions_keeps_both() -> None:
    assert kernel(f"{SHARED} s[threadIdx.y][threadIdx.x] = p[n];") == [
        "__shared__ float s[32][33];",
        "s[threadIdx.y][threadIdx.x] = p[n];",
    ]


def test_integer_literals_have_their_exact_values_and_types() -> None:
    body = function("__global__ void k(int n) { n = 0xffu + 07 + 1 + true; }", "k").body
    found = [e for e in walk(body) if isinstance(e, Literal)]
    assert [(e.value, e.type) for e in found] == [(255, UINT), (7, INT), (1, INT), (1, BOOL)]


def test_a_literal_in_a_macro_has_its_value() -> None:
    assert kernel(f"{SHARED} s[N][0] = 1.0f;", before="#define N (0x10)")[1] == "s[16][0] = 1.0f;"


def test_precedence_survives_printing() -> None:
    assert (
        kernel(f"{SHARED} s[0][(n + 1) * 2 % 3 - (n - (n - 1))] = 0;")[1]
        == "s[0][(n + 1) * 2 % 3 - (n - (n - 1))] = 0;"
    )


def test_increments_keep_their_side() -> None:
    assert kernel("n++; ++n; n--; --n; p[n++] = __shfl_sync(0, p[0], 1);")[:4] == [
        "n++;",
        "++n;",
        "n--;",
        "--n;",
    ]


def test_compound_assignment_keeps_its_operator() -> None:
    assert kernel("n <<= 1; n ^= 3;") == ["n <<= 1;", "n ^= 3;"]


def test_a_conditional_and_a_comma_stay() -> None:
    assert kernel("n = n > 0 ? 1 : 2, n = 3;") == ["n = n > 0 ? 1 : 2, n = 3;"]


def test_all_casts_are_casts() -> None:
    body = (
        "n = (int)p[0]; n = int(p[1]); n = static_cast<int>(p[2]); float4 *q = reinterpret_cast<float4 *>(p);"
    )
    assert kernel(body) == [
        "n = (int)p[0];",
        "n = (int)p[1];",
        "n = (int)p[2];",
        "float4* q = reinterpret_cast<float4*>(p);",
    ]


def test_a_vector_assignment_through_a_macro_is_an_assignment() -> None:
    before = "#define FLOAT4(a) (reinterpret_cast<float4 *>(&(a))[0])"
    assert kernel("__shared__ float s[64]; FLOAT4(s[4 * n]) = FLOAT4(p[n]);", before=before)[1] == (
        "reinterpret_cast<float4*>(&s[4 * n])[0] = reinterpret_cast<float4*>(&p[n])[0];"
    )


def test_thread_indices_are_special() -> None:
    body = function("__global__ void k(int *p) { p[threadIdx.x] = blockDim.y + warpSize; }", "k").body
    found = [e for e in walk(body) if isinstance(e, Special)]
    assert [(e.name, e.axis) for e in found] == [("threadIdx", "x"), ("blockDim", "y"), ("warpSize", "")]


def test_a_copied_thread_index_is_three_values() -> None:
    assert kernel("dim3 t = blockDim; uint3 u = threadIdx;") == [
        "dim3 t = dim3(blockDim.x, blockDim.y, blockDim.z);",
        "uint3 u = uint3(threadIdx.x, threadIdx.y, threadIdx.z);",
    ]


def test_a_dependent_constant_of_traits_is_read_from_the_text() -> None:
    text = """template <int A, int B> struct Traits { static constexpr int P = A + B; };
    template <int BM, int BN> __global__ void k(float *p) { __shared__ float s[BM]; s[Traits<BM, BN * 2>::P] = 0; }"""
    assert lines(text)[1] == "s[Traits<BM, BN * 2>::P] = 0;"


def test_a_dependent_constant_through_an_alias_has_its_owner() -> None:
    text = """template <int A> struct Traits { enum { Q = A * 2 }; };
    template <int BM> __global__ void k(float *p) { using T = Traits<BM>; __shared__ float s[BM]; s[T::Q] = 0; }"""
    assert lines(text)[-1] == "s[Traits<BM>::Q] = 0;"


def test_sizeof_a_template_parameter_waits_for_it() -> None:
    text = "template <typename T> __global__ void k(int n) { n = sizeof(T) + sizeof(T *) + sizeof(T[4]) + sizeof(n); }"
    assert lines(text) == ["n = sizeof(T) + sizeof(T*) + sizeof(T[4]) + sizeof(n);"]


def test_sizeof_and_alignof_tell_themselves_apart() -> None:
    assert kernel("n = sizeof(double) + alignof(float4);") == ["n = sizeof(double) + alignof(float4);"]


def test_designated_elements_go_to_their_fields() -> None:
    assert kernel("int4 v = {.y = 2, .w = 4};") == ["int4 v = {{}, 2, {}, 4};"]


def test_enumerators_are_literals() -> None:
    assert kernel("n = B; n = E::X;", before="enum { A = 3, B }; enum class E { X = 9 };")[:1] == ["n = 4u;"]


def test_constants_are_names_of_globals_with_known_values() -> None:
    text = """constexpr int square(int x) { return x * x; }
    constexpr int T = 8; const int TT = square(T) + 1;
    __global__ void k(float *p) { __shared__ float s[TT]; s[TT - 1] = p[T]; }"""
    found = module(text)
    values = {g.name: g.init for g in found.globals.values()}
    assert values["TT"] == Literal(65, INT) and values["T"] == Literal(8, INT)
    assert lines(text)[1] == "s[TT - 1] = p[T];"


def test_a_lambda_keeps_its_parameters_and_body() -> None:
    from smemlint.ir import Declare, Lambda

    body = function(
        "__global__ void k(float *p) { __shared__ float s[4]; auto f = [&](int i) { s[i] = 0; }; f(1); }", "k"
    ).body
    declared = next(s for s in body.body if isinstance(s, Declare) and s.var.name == "f")
    assert isinstance(declared.var.init, Lambda)
    assert [p.name for p in declared.var.init.parameters] == ["i"]
    uses = [e for e in walk(declared.var.init.body) if isinstance(e, Name) and e.name == "i"]
    assert uses[0].id == declared.var.init.parameters[0].id


def test_a_statement_expression_is_a_called_lambda() -> None:
    assert kernel("n = ({ int t = n; t + 1; });") == ["n = [&]() { ... }();"]


def test_a_long_sum_does_not_nest_the_reader() -> None:
    assert kernel("n = " + " + ".join(["n"] * 80) + ";")[0].count("n") == 81
    assert "nested too deeply" in kernel("n = " + " + ".join(["n"] * 1000) + ";")[0]


def test_deep_parentheses_end_in_a_reason_not_in_an_error() -> None:
    text = "__global__ void k(int n) { n = " + "-(" * 240 + "n" + ")" * 240 + "; }"
    assert "nested too deeply" in " ".join(lines(text)) or lines(text)[0].startswith("n = -")


def test_a_healed_call_keeps_its_arguments() -> None:
    assert kernel("__shared__ float s[4]; nobody_knows(s[n]);")[1] == "nobody_knows(s[n]);"


def test_float_literals_keep_value_and_type() -> None:
    body = function("__global__ void k(float *p) { p[0] = 1.5e1f; }", "k").body
    (found,) = (e for e in walk(body) if isinstance(e, FloatLiteral))
    assert found.value == 15.0 and found.type.size == 4


def test_a_user_operator_is_a_member_call() -> None:
    before = "struct M { float *p; __device__ float &operator()(int i, int j) { return p[i * 8 + j]; } };"
    assert kernel("M m{p}; m(1, n) = 2.0f;", before=before) == ["M m = {p};", "m.operator()(1, n) = 2.0f;"]


def test_dependent_arithmetic_is_built_in_arithmetic() -> None:
    text = "template <typename T> __global__ void k(T *p) { __shared__ T s[4]; s[0] += p[0] * p[1] + T(2); }"
    assert lines(text)[1] == "s[0] += p[0] * p[1] + (T)2;"


def test_every_use_of_a_local_has_its_declaration_s_id() -> None:
    body = function("__global__ void k(float *p) { int i = 0; { int i = 1; p[i] = 0; } p[i] = 1; }", "k").body
    stores = [s.expr for s in walk(body) if isinstance(s, Evaluate) and isinstance(s.expr, Assign)]
    ids = [s.target.index.id for s in stores if isinstance(s.target, Index)]
    assert len(set(ids)) == 2


def test_a_recovered_assignment_is_still_one() -> None:
    body = kernel("__shared__ float s[4]; unknown_t u = make_unknown(); s[n] = u; u = s[n];")
    assert [line for line in body if "s[n]" in line and "=" in line] == body[-2:]


def test_calls_of_the_library_are_by_qualified_name() -> None:
    body = function(
        "__global__ void k(int *p) { p[0] = std::min(p[1], 2); atomicAdd(p, 1); __syncthreads(); }", "k"
    ).body
    names = [e.callee.name for e in walk(body) if isinstance(e, Call) and isinstance(e.callee, Name)]
    assert names == ["std::min", "atomicAdd", "__syncthreads"]


TRAITS = """
template <int Q> struct Load {
    template <int N, int M> __device__ static void two(float *p) { p[N] = M; }
    template <int N> __device__ float one(float *p) { return p[N]; }
};
template <class A> struct Traits { using L = Load<1>; L l; };
template <class A> __global__ void k(float *p, int n) {
    __shared__ float s[32];
    Traits<A> t;
    %s
}
"""


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Traits<A>::L::two<4, 8>(s);", "Traits<A>::L::two<4, 8>(s);"),
        ("t.l.two<4, 8>(s);", "t.l.two<4, 8>(s);"),
        ("s[0] = t.l.one<4>(s) + 1;", "s[0] = t.l.one<4>(s) + 1;"),
        ("s[0] = (t.l.n < n) > (n - 1);", "s[0] = t.l.n < n > n - 1;"),
    ],
)
def test_a_template_of_an_unknown_class_is_called_without_the_word(written: str, shown: str) -> None:
    assert lines(TRAITS % written)[-1] == shown
