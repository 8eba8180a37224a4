"""The interpreter against answers worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from oracle import Request, UndefinedError, run
from oracle.c_text import load
from oracle.checks import CHECKS, known_launch, without_any_lane
from oracle.compare import evaluate_as_written
from oracle.drawing import Dice, Program
from oracle.loop_programs import Counter, LoopWriter
from smemlint.evaluate.machine import dispatch
from smemlint.ir import Binary, Launch


def requests(
    body: str,
    shared: str = "float t[1024]",
    block: tuple[int, int, int] = (32, 1, 1),
    before: str = "",
    parameters: str = "float *out",
    **arguments: int,
) -> list[Request]:
    text = f"{before}\n__global__ void k({parameters}) {{\n__shared__ {shared};\n{body}\n}}"
    module = load(text)
    return run(module, module.functions["k"], Launch(block), arguments=arguments)


def offsets(request: Request) -> list[int]:
    return [o for o in request.offsets if o is not None]


def only(body: str, **options: object) -> Request:
    (found,) = requests(body, **options)  # type: ignore[arg-type]
    return found


def test_a_column_steps_by_rows() -> None:
    found = only("t[threadIdx.x][3] = 0;", shared="float t[32][33]")
    assert offsets(found) == [4 * (33 * i + 3) for i in range(32)]
    assert (found.op, found.width) == ("store", 4)


def test_lanes_are_counted_along_x_then_y_then_z() -> None:
    found = requests("t[threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x] = 0;", block=(4, 3, 5))
    assert [len(offsets(r)) for r in found] == [32, 28]
    assert offsets(found[0])[:5] == [0, 4, 8, 12, 40]
    assert offsets(found[0])[12] == 400


def test_a_read_modify_write_is_two_requests() -> None:
    assert [r.op for r in requests("t[threadIdx.x] += 1;")] == ["load", "store"]
    assert [r.op for r in requests("t[threadIdx.x]++;")] == ["load", "store"]
    assert [r.op for r in requests("float x = t[threadIdx.x]; x += 1;")] == ["load"]


def test_a_branch_switches_lanes_off_and_they_meet_behind_it() -> None:
    body = """
    int i = threadIdx.x;
    if (i % 2) { t[i] = 0; } else { t[i + 64] = 0; }
    t[i + 128] = 0;"""
    first, second, third = requests(body)
    assert offsets(first) == [4 * i for i in range(1, 32, 2)]
    assert offsets(second) == [4 * (i + 64) for i in range(0, 32, 2)]
    assert len(offsets(third)) == 32


def test_lanes_that_leave_a_loop_wait_for_the_others() -> None:
    body = """
    for (int i = 0; i < (int)threadIdx.x; i++) { if (i == 2) break; t[i] = 0; }
    t[100] = 0;"""
    found = requests(body)
    assert [len(offsets(r)) for r in found] == [31, 30, 32]


def test_continue_skips_the_rest_of_one_turn() -> None:
    found = requests(
        "for (int i = 0; i < 4; i++) { if (i == threadIdx.x) continue; t[i * 32 + threadIdx.x] = 0; }"
    )
    assert [r.offsets.index(None) for r in found] == [0, 1, 2, 3]


def test_an_early_return_takes_lanes_out() -> None:
    found = requests("if (threadIdx.x >= 10) return; t[threadIdx.x] = 0;")
    assert [len(offsets(r)) for r in found] == [10]


def test_short_circuit_and_ternary_guard_their_operands() -> None:
    found = requests("if (threadIdx.x < 7 && t[threadIdx.x] != 3.0f) out[0] = threadIdx.x < 3 ? t[0] : 1.0f;")
    assert len(offsets(found[0])) == 7
    assert len(offsets(found[1])) == 3


def test_switch_falls_through_and_lanes_join() -> None:
    body = """switch (threadIdx.x & 3) {
      case 0: t[0] = 0; break;
      case 1: t[1] = 0;
      case 2: t[2] = 0; break;
      default: t[3] = 0;
    }"""
    assert [len(offsets(r)) for r in requests(body)] == [8, 8, 16, 8]


def test_integers_wrap_and_convert_as_in_c() -> None:
    assert offsets(only("t[(unsigned)(threadIdx.x - 1) >> 28] = 0;"))[:2] == [60, 0]
    assert offsets(only("t[-7 / 2 + 10] = 0;"))[0] == 28
    assert offsets(only("t[-7 % 4 + 10] = 0;"))[0] == 28
    assert offsets(only("t[(-7 >> 1) + 10] = 0;"))[0] == 24
    assert offsets(only("t[(unsigned char)(threadIdx.x + 250)] = 0;"))[6] == 0
    assert offsets(only("t[(-1 < 1u) + 2] = 0;"))[0] == 8


@pytest.mark.parametrize("expression", ["1 << 32", "7 / 0", "2147483647 + 1", "t[1024] > 0"])
def test_what_the_language_leaves_undefined_is_refused(expression: str) -> None:
    with pytest.raises(UndefinedError):
        requests(f"int i = {expression}; out[0] = i;")


def test_a_variable_that_was_never_written_is_refused() -> None:
    with pytest.raises(UndefinedError):
        requests("int i; t[i] = 0;")


def test_pointers_carry_array_and_offset() -> None:
    body = (
        "float *p = t + 32; p += threadIdx.x; *p = 0; float4 v = *(float4*)&t[threadIdx.x * 4]; out[0] = v.x;"
    )
    store, load_ = requests(body)
    assert offsets(store)[1] == 132
    assert (load_.width, offsets(load_)[:3]) == (16, [0, 16, 32])


def test_a_member_of_a_vector_is_one_word() -> None:
    body = "out[0] = ((float4*)t)[threadIdx.x].y;"
    found = only(body)
    assert (found.width, offsets(found)[:2]) == (4, [4, 20])


def test_structs_have_the_layout_of_c() -> None:
    found = only(
        "p[threadIdx.x].c = 1;", shared="struct P p[32]", before="struct P { char a; double b; short c; };"
    )
    assert offsets(found)[:2] == [16, 40]
    assert found.width == 2


def test_a_device_function_is_followed() -> None:
    before = "__device__ int twist(float *p, int i) { p[i] = 1; return i ^ 1; }"
    first, second = requests("t[twist(t, threadIdx.x)] = 0;", before=before)
    assert offsets(first)[:2] == [0, 4]
    assert offsets(second)[:2] == [4, 0]
    assert len(first.via) == 1


def test_shared_memory_holds_what_was_written_before_the_barrier() -> None:
    body = "t[threadIdx.x] = threadIdx.x * 2; __syncthreads(); int i = t[63 - threadIdx.x]; t[i] = 0;"
    found = requests(body, block=(64, 1, 1))
    last = [r for r in found if r.op == "store"][-2:]
    assert offsets(last[0])[0] == 4 * 126


def test_atomics_are_named_by_their_cost() -> None:
    body = """
    atomicAdd(&t[threadIdx.x & 3], 1);
    int old = atomicAdd(&t[0], 1);
    atomicCAS(&t[0], old, 3);
    atomicMax(&t[threadIdx.x], 5);"""
    found = requests(body, shared="int t[32]")
    assert [r.op for r in found] == ["increment", "atomic", "cas", "atomic"]


def test_local_arrays_and_kernel_arguments_are_values() -> None:
    body = "int d[3] = {1, 5}; for (int i = 0; i < n; i++) t[threadIdx.x * d[i]] = 0;"
    found = requests(body, parameters="float *out, int n", n=3)
    assert [offsets(r)[1] for r in found] == [4, 20, 0]


def test_warps_take_turns_between_barriers() -> None:
    body = """
    if (threadIdx.x < 32) { t[0] = 0.0f; }
    __syncthreads();
    if (threadIdx.x < 32) { t[0] = 1.0f; t[0] = 0.0f; return; }
    if (t[0] > 0.0f) t[threadIdx.x] = 2.0f;"""
    text = f"__global__ void k(float *out) {{\n__shared__ float t[1024];\n{body}\n}}"
    module = load(text)
    seen = {
        order: len(run(module, module.functions["k"], Launch((64, 1, 1)), shuffled=order))
        for order in (None, -1, *range(20))
    }
    assert seen[None] == seen[-1] == 4
    assert 5 in seen.values()


def test_a_barrier_that_counts_tells_all_threads_of_the_block() -> None:
    body = """
    t[__syncthreads_count(threadIdx.x > 40)] = 0;
    t[__syncthreads_or(threadIdx.x == 63)] = 0;
    t[__syncthreads_and(threadIdx.x < 63)] = 0;"""
    found = requests(body, block=(64, 1, 1))
    assert [set(offsets(r)) for r in found] == [{4 * 23}, {4 * 23}, {4}, {4}, {0}, {0}]


def test_a_request_of_one_lane_that_data_choose_may_be_told_of_any() -> None:
    """With the noise of `b` it is lane 8, and the first lane is told; a lane that the code names is no
    other's."""
    check = CHECKS["data"]
    body = "int i = b[0] & 31; if (threadIdx.x == i) t[7] = 1;\nif (threadIdx.x == 5) t[9] = 1;"
    text = (
        f"__global__ void k(float *out, int n) {{\n__shared__ float t[64];\n__shared__ int b[64];\n{body}\n}}"
    )
    program = Program(text, (32, 1, 1), n=1, block_index=0)
    assert not check.run(program).wrong
    module, launch = check.module(program), known_launch(program)
    seen = run(module, module.kernels()[0], launch, arguments={"n": 1})
    result = evaluate_as_written(module, module.kernels()[0], launch)
    kept = without_any_lane(module, launch, program, seen, result)
    lanes = [[lane for lane, o in enumerate(r.offsets) if o is not None] for r in kept if r.op == "store"]
    assert lanes == [[5]]


def test_an_operator_outside_of_classes_runs_where_a_template_leaves_it_open() -> None:
    text = """__device__ int2 operator+(const int2 &a, const int2 &b) { return make_int2(a.x & b.y, 0); }
    template <class T> struct Trait { static constexpr int size = 4; };
    template <int BM, typename T> __global__ void k(float *out, int n) {
        __shared__ int2 p[64];
        int2 v = p[Trait<T>::size] + p[threadIdx.x];
    }"""
    check = CHECKS["real"]
    program = Program(text, (32, 1, 1), n=1, bm=8, type="float")
    module = check.module(program)
    found = run(module, module.kernels()[0], known_launch(program), arguments={"n": 1})
    assert [(r.width, offsets(r)[:2]) for r in found] == [(4, [32, 32]), (4, [4, 12])]
    assert not check.run(program).wrong


def test_what_counts_by_a_size_that_is_not_told_is_not_held_against_lanes() -> None:
    """There a comparison goes as for a large size, on purpose: a small one runs something else."""
    writer = LoopWriter(Dice("sizes"), unknown=True)
    writer.statements()
    writer.sizes.clear()
    for turn in range(80):
        starts = writer.down(Counter(f"u{turn}")).start.startswith("(n) + ")
        assert (f"u{turn}" in writer.sizes) == starts
    assert 0 < len(writer.sizes) < 80
    by_lanes = re.compile(r"^(\w+) > .*(?:lane|warp|threadIdx)")
    writer.numbers = ["warp"]
    asked = [writer.leaving(name) for _ in range(80) for name in ("other", min(writer.sizes))]
    assert {found[1] for found in map(by_lanes.match, asked) if found} == {"other"}


def test_a_counter_that_an_unknown_bound_ends_is_the_same_element_in_all_lanes() -> None:
    known, unknown = (LoopWriter(Dice("elements"), unknown=unknown) for unknown in (False, True))
    for writer in (known, unknown):
        writer.statements()
    counters = [[writer.counter("1").text for _ in range(80)] for writer in (known, unknown)]
    assert [any("[warp & 1]" in text for text in texts) for texts in counters] == [True, False]
    assert any(text.endswith("[1]") for text in counters[1])


@pytest.mark.parametrize("name", ["real", "real-data", "real-joined"])
def test_a_fault_of_the_evaluator_s_own_is_told_by_its_name(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(m: object, e: object) -> None:
        raise OverflowError("too large")

    monkeypatch.setitem(dispatch.VALUES, Binary, fail)
    text = """template <int BM, typename T> __global__ void k(float *out, int n) {
        __shared__ float t[64];
        t[threadIdx.x * 2 + 1] = 0;
    }"""
    wrong = CHECKS[name].run(Program(text, (32, 1, 1), n=1, bm=8, type="float")).wrong
    assert wrong == ["internal error in line 3: OverflowError: too large"]


FORMS = """
struct Pair { int a, b; };
__device__ Pair split(int x) { if (x & 1) return {x, 2}; Pair p; p.a = 1; p.b = x; return p; }
template <typename D> struct Base {
    __device__ int twice(int x) const { return 2 * static_cast<const D *>(this)->at(x); }
};
struct Three : Base<Three> { __device__ int at(int x) const { return 3 * x; } };
template <int BM, typename T> __global__ void k(float *out, int n) {
    __shared__ float s[1024];
    int lane = threadIdx.x;
    BODY
}
"""


@pytest.mark.parametrize(
    ("body", "index"),
    [
        ("Pair p = split(lane); s[p.a * 10 + p.b] = 0;", lambda t: t * 10 + 2 if t & 1 else 10 + t),
        ("Three f; s[f.twice(lane)] = 0;", lambda t: 6 * t),
        ("int m = lane; auto f = [&r = m](int by) { r += by; }; f(3); f(2); s[m] = 0;", lambda t: t + 5),
        (
            "int m = lane; auto f = [r = m](int by) { return r + by; }; m = 9; s[f(3) + m] = 0;",
            lambda t: t + 12,
        ),
    ],
    ids=["list returned", "base calls derived", "capture by reference", "capture by value"],
)
def test_forms_of_production_code(body: str, index: Callable[[int], int]) -> None:
    check = CHECKS["production"]
    program = Program(FORMS.replace("BODY", body), (32, 1, 1), n=1, bm=8, type="float")
    module = check.module(program)
    (found,) = run(module, module.kernels()[0], known_launch(program), arguments={"n": 1})
    assert offsets(found) == [4 * index(t) for t in range(32)]
    assert not check.run(program).wrong
