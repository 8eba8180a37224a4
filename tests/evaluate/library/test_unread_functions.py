"""Functions that no file defines, and the numbers that they may set."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

KERNEL = """
struct Step {{
    int pitch, at;
    __device__ void adjust() {{ lib::adjust(at); }}
    __device__ void all() {{ lib::adjust(*this); }}
}};
__device__ void declared(int &pitch);
__device__ void through(int &pitch) {{ lib::adjust(pitch); }}
template <class F> __device__ void through_any(F f, int &pitch) {{ f(pitch); }}
__global__ void k(float *out, int n) {{
    __shared__ float s[2048];
    int t = threadIdx.x, pitch = 1;
    const int fixed = 1;
    int row = t * 1;
    int pitches[2] = {{1, 2}};
    Step step{{1, 2}};
    {call}
    s[{index}] = 1;
    __syncthreads();
    out[t] = s[t];
}}
"""


def _grade(call: str, index: str) -> tuple[Grade, float | None]:
    text = KERNEL.format(call=call, index=index)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    launch = Launch((32, 1, 1))
    trace = evaluate(module, kernel, launch)
    costs = [c for c in score_all(trace) if c.trace.site.op == "store"]
    return costs[-1].grade, costs[-1].ways


@pytest.mark.parametrize(
    ("call", "index"),
    [
        ("adjust(pitch);", "t * pitch"),
        ("lib::adjust(pitch, t);", "t * pitch"),
        ("declared(pitch);", "t * pitch"),
        ("ADVANCE(pitch);", "t * pitch"),
        ("lib::make<4>(t, pitch);", "t * pitch"),
        ("adjust(pitches);", "t * pitches[0]"),
        ("adjust(pitches[0]);", "t * pitches[0]"),
        ("adjust(step);", "t * step.pitch"),
        ("adjust(step.pitch);", "t * step.pitch"),
        ("if (n > 3) adjust(pitch);", "t * pitch"),
        ("if (t & 1) adjust(pitch);", "t * pitch"),
        ("for (int i = 0; i < n; i++) adjust(pitch);", "t * pitch"),
        ("for (int i = 0; i < n; i++) { s[t * pitch + i % 8] = 2; adjust(pitch); }", "t * pitch"),
        ("lib::place(pitch) = 4;", "t * pitch"),
        ("int &chosen = lib::place(pitch); chosen = 4;", "t * pitch"),
        ("int x; x = t, lib::adjust(pitch);", "t * pitch"),
        ("n > 3 && lib::adjust(pitch);", "t * pitch"),
        ("n > 3 ? lib::adjust(pitch) : lib::reset(pitch);", "t * pitch"),
        ("through(pitch);", "t * pitch"),
        ("through_any(lib::Adjust{}, pitch);", "t * pitch"),
        ("step.adjust(); step.all();", "t * step.pitch"),
        ("auto set = [](auto &x) { lib::adjust(x); }; set(pitch);", "t * pitch"),
        ("while (lib::next(pitch)) out[pitch] = 1;", "t * pitch"),
        ("if (!lib::fits(pitch) || n > 3) out[t] = 1;", "t * pitch"),
        ("auto set = [&](int p) { pitch = p; }; lib::run(set);", "t * pitch"),
        ("lib::run([&](int p) { pitches[p] = p; });", "t * pitches[1]"),
    ],
)
def test_a_number_that_a_function_without_a_body_may_set_is_not_known_behind_it(
    call: str, index: str
) -> None:
    grade, _ = _grade(call, index)
    assert grade is Grade.BOUND


@pytest.mark.parametrize(
    ("call", "index"),
    [
        ("lib::put(s, row, t);", "row"),  # begins with a lane's own number, and is set nowhere
        ("lib::put(s, fixed);", "t * fixed"),
        ("pitch = 1; float v = lib::weigh(pitch); out[t] = v;", "t * pitch"),  # it is asked for its result
        ("for (int i = 0; i < 4; i++) { lib::touch(i); s[t + i * 32] = 2; }", "t"),
        ('printf("%d", pitch);', "t * pitch"),
        ("assert(pitch);", "t * pitch"),
        ("lib::run([=](int p) mutable { pitch = p; });", "t * pitch"),  # its own copy
        ("lib::run([=](int p) { out[p] = pitch; });", "t * pitch"),
    ],
)
def test_what_a_function_without_a_body_is_taken_to_read_stays(call: str, index: str) -> None:
    assert _grade(call, index) == (Grade.EXACT, 1.0)


ASSIGNED = """
#define ADVANCE(p) p = lib::offset(p, 1)
struct It {{ float *p; int k; }};
__global__ void k(float *out, int n) {{
    __shared__ float s[2048];
    int t = threadIdx.x;
    float *p = s, *q = s + 32;
    It it{{s, 1}}, other{{s, 2}};
    {call}
    {store}
    __syncthreads();
    out[t] = s[t];
}}
"""


@pytest.mark.parametrize(
    ("call", "store"),
    [
        ("p = lib::offset(p, t);", "*p = 1;"),
        ("p = offset(s, t);", "p[t] = 1;"),
        ("ADVANCE(p);", "*p = 1;"),
        ("p = /* a comment that is longer than what stands between others */ lib::offset(p, t);", "*p = 1;"),
        ("p = n > 3 ? lib::offset(p, t) : lib::offset(q, t);", "*p = 1;"),
        ("q = p = lib::offset(p, t);", "q[t] = 1;"),
        ("it = lib::next(it);", "it.p[t * it.k] = 1;"),
        ("it = n > 3 ? lib::next(it) : other;", "it.p[t * it.k] = 1;"),
    ],
)
def test_a_pointer_that_an_unread_function_gives_is_not_what_it_was(call: str, store: str) -> None:
    text = ASSIGNED.format(call=call, store=store)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert all(c.grade is not Grade.EXACT for c in score_all(trace) if c.trace.site.op == "store")
    assert trace.notes


@pytest.mark.parametrize(
    "call",
    ["(void)lib::put(s[t * 32]);", "lib::Ref ref(s[t * 32]); ref = 1;", "lib::Ref ref(s[t], s[t * 2]);"],
)
def test_an_element_that_unread_code_may_take_by_reference_is_said(call: str) -> None:
    text = KERNEL.format(call=call, index="t")
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert any("may take an element of `s`" in note.text for note in trace.notes)
