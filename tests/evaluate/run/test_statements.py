"""Statements in text that clang complains about and keeps."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def test_a_number_returned_from_a_void_function_is_dropped() -> None:
    text = (
        "__device__ void set(int &x) { x = 2; return x; }\n"
        "__global__ void k() { __shared__ int s[64]; int x = 1; set(x); s[threadIdx.x * x] = 0; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert not [n for n in trace.notes if n.code == "internal-error"]
    assert [c.ways for c in score_all(trace)] == [2]


def test_the_place_of_a_step_in_front_is_found_once() -> None:
    text = (
        "__global__ void k() { __shared__ int s[64]; int a[4] = {0, 0, 0, 0}; int i = 0;\n"
        "++(++a[i++]); s[threadIdx.x * i * a[0]] = 0; }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [c.ways for c in score_all(trace)] == [2]


def test_a_long_chain_of_steps_takes_as_many_steps() -> None:
    text = f"__global__ void k() {{ int x = 1; __shared__ int s[64 * ({'++' * 60}x)]; s[threadIdx.x] = 0; }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    assert evaluate(module, module.kernels()[0], Launch((32, 1, 1))).work < 1000


@pytest.mark.parametrize(
    ("statement", "noted"),
    [
        pytest.param("COMPUTE_FFT", ["unknown-macro"], id="a name alone"),
        pytest.param("LOAD_TILE(3);", ["unknown-macro"], id="with arguments"),
        pytest.param("KERNEL_ASSERT(n > 0);", [], id="an assertion"),
        pytest.param("DEBUG_PRINT(n);", [], id="a print"),
        pytest.param("STEP(n);", [], id="a function of the file"),
    ],
)
def test_a_statement_in_capitals_that_nothing_defines_is_not_lost(statement: str, noted: list[str]) -> None:
    text = (
        "template <class T> __device__ void STEP(T) {}\n"
        "template <class T> __global__ void k(T n) { __shared__ int s[64]; s[threadIdx.x] = 0;\n"
        f"{statement}\n}}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [n.code for n in trace.notes] == noted


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("int x = 2; { int x = 4; s[x] = 0; } s[threadIdx.x * x] = 0;", 2),
        ("for (int i = 0, x = 2; i < 1; i++) s[threadIdx.x * x] = 0;", 2),
        ("int *p; { int x = 2; p = &x; s[threadIdx.x * *p] = 0; }", 2),
        ("int x = 2; if (n > 3) goto end; s[x] = 1; end: s[threadIdx.x * x] = 0;", 2),
        ("auto twice = [&] { int x = 2; return threadIdx.x * x; }; s[twice()] = 0;", 2),
        ("switch (n) { case 1: int x; x = 2; { int y = x; s[threadIdx.x * y] = 0; } }", 2),
    ],
)
def test_a_variable_lasts_as_long_as_its_block(body: str, ways: int) -> None:
    """The scopes of C++, also where a loop, a label or a pointer stands between a variable and its use."""
    text = f"__global__ void k(int n) {{ __shared__ int s[256]; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert [c.ways for c in score_all(trace)][-1] == ways


def test_variables_of_a_block_that_is_over_cost_branches_nothing() -> None:
    """Each branch looks at all variables there are: blocks before it add no steps, and none is left."""
    block = "{ int x = 0; for (int i = 0; i < n; i++) x += i; s[x & 31] = 0; }"
    text = f"__global__ void k(int n) {{ __shared__ int s[256]; {block * 8} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    one = f"__global__ void k(int n) {{ __shared__ int s[256]; {block} }}"
    (short,) = load(source_from_bytes("k.cu", one.encode()))
    steps = [evaluate(m, m.kernels()[0], Launch((32, 1, 1))).work for m in (module, short)]
    assert steps[0] <= 8 * steps[1]


def test_a_jump_over_a_loop_of_jumps_leaves_for_the_label_behind_it() -> None:
    """Of two warps one jumps to the loop and the other past it."""
    body = """if (threadIdx.x > 31) goto produce;
    goto done;
    produce: s[(threadIdx.x & 31) + 32 * i] = i; if (++i < 3) goto produce;
    done: s[128 + threadIdx.x] = 1;"""
    text = f"__global__ void k(int n) {{ __shared__ int s[256]; int i = 0; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((64, 1, 1)))
    assert [c.executions for c in score_all(trace)] == [3, 2]


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("switch (t & 7) { case 0 ... 2: s[t * 4] = 1; break; case 3: s[t * 8] = 1; }", {4}),
        ("switch (t & 7) { case kOfSomeFile: s[t * 4] = 1; break; case 3: s[t * 8] = 1; }", {4}),
    ],
)
def test_lanes_go_to_the_cases_of_a_range_and_perhaps_to_one_that_is_not_known(
    body: str, ways: set[int]
) -> None:
    """Lanes 8 k + c of a case c go to words 32 k + 4 c, or 64 k + 24 with c = 3: four words of one bank."""
    text = f"__global__ void k(int n) {{ __shared__ int s[256]; int t = threadIdx.x; {body} }}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found = score_all(trace)
    assert {c.ways for c in found if c.grade is Grade.EXACT} == ways
    assert len(found) == 2


def test_instances_of_a_template_have_shared_variables_of_their_own() -> None:
    text = (
        "template <typename E> __device__ E turned(E v, int t) {\n"
        "__shared__ E tile[1024]; tile[t * 32] = v; __syncthreads(); return tile[t]; }\n"
        "__global__ void k(float *p) {\n"
        "p[0] = turned(p[0], threadIdx.x) + (float)turned((double)p[1], threadIdx.x); }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert sorted(a.bytes for a in trace.arrays.values()) == [4 * 1024, 8 * 1024]
    told = [(t.site.op, t.site.width) for t in trace.traces]
    assert sorted(told) == [("load", 4), ("load", 8), ("store", 4), ("store", 8)]
    # 32 words of one bank; a double takes 2 wavefronts at best, and its 32 lanes two of each 32.
    stores = {c.site.width: c.ways for c in score_all(trace) if c.site.op == "store"}
    assert stores == {4: 32, 8: 16}


@pytest.mark.parametrize(
    "code",
    [
        "int left = 2; switch (n & 1) { case 0: do { at += t; case 1: at += 1; } while (--left); }",
        "if (n > 3) goto inside; at = 2 * t; if (n < 2) { at = 4 * t; inside: at += t; }",
        "for (int i = 0; i < 3; ++i) switch (i) { case 0: if (t > 3) { at = 1; case 1: at *= 3; } break; }",
    ],
)
def test_what_a_label_within_another_statement_may_set_is_not_known(code: str) -> None:
    text = (
        "__global__ void k(int *p, int n) { __shared__ int s[4096]; const int t = threadIdx.x;\n"
        f"int at = t, other = 3; {code}\ns[at] = p[t]; __syncthreads(); s[t * other] = 1; p[t] = s[t]; }}"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert {n.code for n in trace.notes} == {"unknown-statement"}
    grades = [t.grade for t in trace.traces if t.site.op == "store"]
    assert grades[0] is Grade.BOUND
    assert grades[1] is (Grade.EXACT if "goto" not in code else Grade.BOUND)


@pytest.mark.parametrize("condition", ["C::wide == 1", "lib::wide", "C::wide && sizeof(float) == 4"])
def test_an_arm_that_may_not_be_compiled_is_assumed(condition: str) -> None:
    text = (
        '#include "lib/unread.h"\ntemplate <class C> __global__ void k(float *p) {\n'
        f"__shared__ float s[1024]; const int t = threadIdx.x; if constexpr ({condition}) s[8 * t] = p[t];\n"
        "else s[4 * t] = p[t];\n__syncthreads(); p[t] = s[t]; }\n"
        "void go(float *p) { k<lib::Config><<<1, 32>>>(p); }"
    )
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    grades = {c.site.op: c.grade for c in score_all(trace)}
    assert grades == {"store": Grade.ASSUMED, "load": Grade.EXACT}
