"""Code in the arguments of macros whose definition is in a header that is not there."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.frontend.heal.dispatch import code_macro, enclosing_calls, naming_macro

KERNEL = """
template <typename T, typename U, int D> __global__ void norm(const T *x, U *y) {
    __shared__ T s[2048];
    s[threadIdx.x * 32] = x[0];
    __syncthreads();
    y[0] = s[threadIdx.x];
}
"""


def launches(text: str) -> set[tuple[int, tuple[str, ...], bool]]:
    """Block, template arguments and whether something is assumed, of each launch that is analysed."""
    report = analyse_file(Job("k.cu", text='#include "missing.h"\n' + KERNEL + text))
    return {
        (k.launch.block[0], tuple(v for _, v in k.template_arguments), k.launch.assumed)
        for k in report.kernels
    }


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (
            '(TYPE, 0, "x", k<scalar_t_0><<<1, 2>>>(p);)',
            "(smemlint_0, smemlint_1, smemlint_2, ...) { __VA_ARGS__; }",
        ),
        ("(c, Flag, [&] { k<Flag, 1><<<1, 2>>>(); })", "(smemlint_0, smemlint_1, ...) { (__VA_ARGS__)(); }"),
        ("(t, ([&]() { f<<<1, 2>>>(); }))", "(smemlint_0, ...) { (__VA_ARGS__)(); }"),
        ("(cudaMemcpy(a, b, n))", None),
        ("(x == y)", None),
        ("(c, [&](auto x) { k<<<1, 2>>>(x); })", None),
    ],
)
def test_code_among_the_arguments_is_told_from_a_condition(use: str, text: str | None) -> None:
    assert code_macro(use, 0) == text


def test_a_launch_among_statements_that_a_macro_is_given_is_seen() -> None:
    text = """
void go(Tensor in, Tensor out, int n) {
    DISPATCH_FLOAT_AND_HALF(in.scalar_type(), 0, "norm",
        using acc_t = typename Acc<scalar_t_0>::type;
        norm<scalar_t_0, float, 4><<<n, 64>>>(in.data_ptr<scalar_t_0>(), out.data_ptr<float>()););
}
"""
    assert launches(text) == {
        (64, ("float", "float", "4"), True),
        (64, ("__half", "float", "4"), True),
        (64, ("__nv_bfloat16", "float", "4"), True),
        (64, ("double", "float", "4"), True),
    }


def test_switches_in_one_another_are_followed_to_the_launch() -> None:
    text = """
void go(void *o, bool causal, int d, bool half) {
    FP16_SWITCH(!half, [&] { HEADDIM_SWITCH(d, [&] { BOOL_SWITCH(causal, Causal, [&] {
        norm<elem_type, float, kHeadDim><<<1, 32>>>((elem_type *)o, (float *)o);
    }); }); });
}
"""
    found = launches(text)
    assert {block for block, _, _ in found} == {32}
    assert {types[0] for _, types, _ in found} == {"float", "__half", "__nv_bfloat16", "double"}
    assert all(assumed for _, _, assumed in found)


def test_the_types_of_pytorchs_own_macros_are_known() -> None:
    text = """
void go(at::Tensor x) {
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "norm", [&] {
        norm<scalar_t, float, 1><<<1, 32>>>(x.data_ptr<scalar_t>(), nullptr);
    });
}
"""
    assert launches(text) == {
        (32, ("float", "float", "1"), False),
        (32, ("double", "float", "1"), False),
        (32, ("__half", "float", "1"), False),
    }


def test_a_macro_that_names_a_function_leaves_the_function() -> None:
    text = """
extern LINKAGE
void FC_FUNC_(run_norm,
              RUN_NORM)(float *p, const int *n) {
    dim3 threads(125, 1, 1);
    norm<float, float, 1><<<*n, threads>>>(p, p);
}
extern LINKAGE void FC_FUNC_(run_more,RUN_MORE)(float *p) { norm<float, float, 2><<<1, 96>>>(p, p); }
"""
    assert launches(text) == {(125, ("float", "float", "1"), False), (96, ("float", "float", "2"), False)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("void FC(run, RUN)(int n) {", "FC"),
        ("const float *FC(run)(int n, float (*f)(int));", "FC"),
        ("return FC(run, RUN)(n);", None),
        ("{ FC(run, RUN)(n); }", None),
        ("dim3 FC(run, RUN);", None),
        ("void FC(run, 3)(int n) {", None),
        ("void FC(run, RUN)(int n) + 1", None),
    ],
)
def test_a_macro_that_names_a_function_stands_behind_a_type(text: str, name: str | None) -> None:
    assert naming_macro(text, text.index("run")) == name


@pytest.mark.parametrize("between", [0, 1, 40, 700])
def test_calls_around_a_place_are_found_however_much_stands_before_it(between: int) -> None:
    text = "OUTER(a, INNER(" + "f(x), {1}, " * between + "here"
    assert list(enclosing_calls(text, text.index("here"))) == [("INNER", 14), ("OUTER", 5)]


DISPATCHED = """
template <typename T> __global__ void twice(T *p) { __shared__ T s[2048]; s[threadIdx.x * 2] = p[0]; }
"""


@pytest.mark.parametrize("macro", ["AT_DISPATCH_FLOATING_TYPES", "MY_DISPATCH_FLOATING_TYPES"])
def test_a_dispatch_macro_is_one_statement_in_front_of_else_and_a_value_behind_return(macro: str) -> None:
    """What stood behind the `else`, or `return`, was dropped."""

    def started(body: str) -> set[int]:
        text = f'#include "missing.h"\n#include <torch/extension.h>\n{DISPATCHED}{body}'
        report = analyse_file(Job("k.cu", text=text))
        return {k.launch.block[0] for k in report.kernels if "implied" not in k.launch.origin}

    def launch(threads: int, rest: str = "") -> str:
        kernel = f"twice<scalar_t><<<1, {threads}>>>(x.data_ptr<scalar_t>());"
        return f'{macro}(x.scalar_type(), "twice", [&] {{ {kernel} {rest} }});'

    either = f"if (x.requires_grad()) {launch(256)} else {launch(128)}"
    assert started(f"void run(torch::Tensor x) {{ {either} }}") == {128, 256}
    assert started(f"torch::Tensor run(torch::Tensor x) {{ return {launch(64, 'return x;')} }}") == {64}
