"""Where the pointers of loops start. The widths were read from machine code (nvcc 13.0, sm_90)."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import score_all
from smemlint.source import source_from_bytes

FOUR = "a += p[0]; b += p[1]; c += p[2]; d += p[3];"
PLAIN = "__shared__ float s[4096]"
UNKNOWN = "#pragma unroll 1\nfor (int i = 0; i < n; i++)"
KNOWN = "#pragma unroll 1\nfor (int i = 0; i < 40; i++)"


def told(loop: str, body: str, shared: str = "__shared__ float s[4096]") -> tuple[float, float, set[Grade]]:
    """The least and the most wavefronts of a request, over the accesses in the loop, and their grades."""
    text = f"""__global__ void k(float *out, int n, int m) {{
{shared}; int t = threadIdx.x; float a = n, b = n, c = 1, d = 2; const float *q = s + t * 4;
{loop} {{
{body} }}
out[t] = a + b + c + d; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    found = [c for c in score_all(trace) if c.wavefronts and c.site.place.line > 3]
    low, high, ideal = (
        sum(getattr(c, end) for c in found) for end in ("wavefronts_low", "wavefronts", "ideal")
    )
    assert ideal
    return low / ideal, high / ideal, {c.grade for c in found}


@pytest.mark.parametrize("loop", [UNKNOWN, KNOWN])
@pytest.mark.parametrize(
    "body",
    [
        f"const float *p = s + t * 4 + i * 64; {FOUR}",
        f"if (out[i] > 0) {{ const float *p = s + t * 4 + i * 64; {FOUR} }}",
        "for (int j = 0; j < 4; j++) a += s[t * 4 + i * 64 + j];",
    ],
)
def test_the_only_copy_of_a_loop_starts_in_the_middle_of_four_neighbours(loop: str, body: str) -> None:
    """LDS.64 [R-0x8] and LDS.64 [R]: half as wide, twice the ways."""
    assert told(loop, body) == (2, 2, {Grade.EXACT})


def test_a_stride_that_only_the_run_tells_makes_no_difference() -> None:
    low, high, _ = told(UNKNOWN, f"const float *p = s + t * 4 + i * m * 4; {FOUR}")
    assert low <= 2 <= high


@pytest.mark.parametrize("loop", [UNKNOWN, KNOWN])
@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("a += q[0]; b += q[1]; c += q[2]; d += q[3]; q += 64;", "__shared__ float s[4096]"),
        (f"const float *p = s + ((t ^ i) * 4); {FOUR}", "__shared__ float s[4096]"),
        (f"const float *p = s + t * 4 + i * 64; {FOUR}", "__shared__ __align__(16) float s[4096]"),
        (f"const float *p = s + t * 4 + i * 64; {FOUR}", "extern __shared__ float s[]"),
    ],
)
def test_other_pointers_start_as_they_are_written(loop: str, body: str, shared: str) -> None:
    """LDS.128."""
    assert told(loop, body, shared)[0] == 1


def test_an_index_that_begins_anew_is_no_pointer_of_the_loop() -> None:
    """LDS.128; `(i & 7) * 64` grows for eight iterations only."""
    assert told(KNOWN, f"const float *p = s + t * 4 + (i & 7) * 64; {FOUR}")[0] == 1


def test_what_the_copies_of_a_loop_leave_over_may_be_narrower() -> None:
    """LDS.128 in the sixteen copies, LDS.64 in the loop after them: which runs depends on n."""
    low, high, grades = told("for (int i = 0; i < n; i++)", f"const float *p = s + t * 4 + i * 64; {FOUR}")
    assert low == 1 and high >= 2 and grades == {Grade.BOUND}


def test_of_two_neighbours_a_known_loop_starts_at_the_first() -> None:
    body = "const float *p = s + t * 2 + i * 64; a += p[0]; b += p[1];"
    assert told(KNOWN, body)[:2] == (1, 1)
    assert told(UNKNOWN, body)[:2] == (2, 2)


def test_a_pointer_that_an_object_moves_on_is_no_sure_pointer_of_the_loop() -> None:
    """LDS.128: the source moves it, as `q += 64` does."""
    body = "a += o.p[0]; b += o.p[1]; c += o.p[2]; d += o.p[3]; o.p += 64;"
    shared = "struct Rows { const float *p; }; __shared__ float s[4096]; Rows o; o.p = s + threadIdx.x * 4"
    assert told(KNOWN, body, shared)[0] == 1


@pytest.mark.parametrize(
    ("loop", "body", "shared", "ways"),
    [
        ("for (int i = 0; i < n; i++)", "a += s[64 * t + i];", PLAIN, 16),  # LDS.64
        ("for (int i = m; i < n; i++)", "s[64 * t + i - m] = a;", PLAIN, 32),  # STS
        ("for (int i = m; i < n; i++)", "s[64 * t + i - m] = a;", "extern __shared__ float s[]", 32),
        ("for (int i = m; i < n; i++)", "a += s[64 * t + i - m];", PLAIN, 32),
        ("int j = 0; for (int i = m; i < n; i++, j++)", "s[64 * t + j] = a;", PLAIN, 16),
        ("int j = m; for (int i = 0; i < n; i++, j++)", "s[64 * t + i] = j;", PLAIN, 16),
    ],
)
def test_a_loop_of_unknown_length_that_begins_anywhere_joins_nothing(
    loop: str, body: str, shared: str, ways: int
) -> None:
    """What its copies leave over runs first, unless a whole number that it changes begins as a constant:
    then the pointer starts two iterations off."""
    assert told(loop, body, shared) == (ways, ways, {Grade.EXACT})


def widths(loop: str, body: str) -> set[int] | None:
    """The widths of the loads in a loop; None where it is not told how many of them are joined."""
    text = f"""__global__ void k(float *out, const float *in, int n) {{
__shared__ float s[4096]; int t = threadIdx.x; float a = n; s[t] = in[t]; __syncthreads();
{loop}
{body}
out[t] = a; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments={"n": 64})).traces
    found = [t for t in traces if t.site.op == "load" and t.weights.any()]
    doubtful = any(t.reason is not None and t.reason.code == "joined-or-not" for t in found)
    return None if doubtful else {t.joined or t.site.width for t in found}


def unrolled(copies: int, first: int = 0) -> str:
    return f"#pragma unroll {copies}\nfor (int i = {first}; i < {first + 16}; i++)"


@pytest.mark.parametrize(
    ("loop", "body", "expected"),
    [
        (unrolled(4), "a += s[t * 16 + i];", {8}),
        (unrolled(4), "a += s[t * 16 + i] * in[i];", {8}),
        (unrolled(4), "if (s[t * 16 + i] > a) a = s[t * 16 + i];", {8}),
        (unrolled(8), "a += s[t * 16 + i];", {16}),
        (unrolled(2), "a += s[t * 16 + i] * in[i];", None),
        (unrolled(4, 4), "a += s[t * 32 + i];", {4}),
        (unrolled(8, 4), "a += s[t * 32 + i];", {8}),
        (unrolled(8, 8), "a += s[t * 32 + i];", {16}),
        (unrolled(4), "a += s[t * 64 + i + 16];", {4}),
        (unrolled(4), "a += s[t * 64 + i + 16] * in[i];", None),
        # streams of one array share a register, which starts in the middle of all
        (unrolled(4), "a += s[t * 64 + i] * s[t * 64 + i + 8];", {16}),
        (unrolled(4), "a += s[t * 64 + i] * s[t * 64 + i + 1024];", {16}),
        (unrolled(4), "a += s[t * 64 + i] * s[t * 64 + i + 1];", {4, 8}),
        (unrolled(8), "a += s[t * 64 + i] * s[t * 64 + i + 2];", {4}),
        ("for (int i = 0; i < n; i++)", "a += s[t * 64 + i] * s[t * 64 + i + 1024];", {16}),
        ("for (int i = 0; i < n; i++)", "if (s[t * 16 + i] > a) a = s[t * 16 + i];", {8}),
        ("for (int i = 4; i < n; i++)", "a += s[t * 64 + i];", {4}),
    ],
)
def test_copies_share_a_register_that_starts_in_their_middle(
    loop: str, body: str, expected: set[int] | None
) -> None:
    """From 0 on it is the address in the middle; where the addresses begin elsewhere, it lies nearer to their
    beginning, and of four copies it is the last."""
    assert widths(loop, body) == expected


def test_what_is_the_same_in_each_line_has_no_register_of_its_own() -> None:
    """`i & 3` is a constant in four copies: LDS.128."""
    assert widths("for (int i = 0; i < n; i++)", "a += s[t * 4 + (i & 3)];") == {16}


@pytest.mark.parametrize("shared", ["extern __shared__ float s[]", PLAIN])
@pytest.mark.parametrize(
    ("loop", "body", "requests"),
    [
        ("for (int i = 0; i < n; i++)", "s[i] = in[i];", 4),
        ("for (int i = 0; i < n; i++)", "a += s[i];", 4),
        ("int j = 0; for (int i = 0; i < n; i++, j++)", "s[j] = a;", 4),
        ("for (int i = 0; i < n; i += 4)", "s[i] = in[i], s[i + 1] = a, s[i + 2] = a, s[i + 3] = a;", 16),
    ],
)
def test_the_counter_of_all_lanes_is_one_address_in_the_first_copy_too(
    shared: str, loop: str, body: str, requests: int
) -> None:
    """STS.128 or LDS.128 each: `s[i]` is as it is where nothing is added to i."""
    text = f"""__global__ void k(float *out, const float *in, int n) {{
{shared}; int t = threadIdx.x; float a = n; s[t] = in[t]; __syncthreads();
{loop} {{
{body} }}
__syncthreads(); out[t] = a + s[t]; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    found = [t for t in evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces if t.weights.any()]
    inside = [t for t in found if t.site.place.line == 4]
    assert [(t.joined, int(t.weights.sum())) for t in inside] == [(16, requests)]


@pytest.mark.parametrize(
    ("body", "rounds", "expected"),
    [
        ("if (a < s[i]) a = s[i];", 31, {16}),
        ("if (a < s[i]) { a = s[i]; at = i; }", 31, {16}),
        ("if (s[i] > 0.5f) { a += s[i] * 2; at++; }", 43, {16}),
        ("if (s[i] > a && s[i] < 7.f) a = s[i]; else at++;", 31, {16}),
        ("float v = s[i]; if (a < v) a = v;", 31, {16}),
        ("if (s[i] != 0) at++;", 31, {16}),
    ],
)
def test_a_choice_of_what_is_at_hand_is_no_branch_of_the_loop(
    body: str, rounds: int, expected: set[int]
) -> None:
    """The greatest of some partial results, by one thread: LDS.128, also in 31 rounds, of which the optimiser
    makes no copies but all. What the condition has read the arm does not read again."""
    loop = f"int at = 0; for (int i = 1; i <= {rounds}; i++) {{"
    assert widths(loop, body + " } out[n] = at;") == expected


@pytest.mark.parametrize(
    ("loop", "body", "ways", "grades"),
    [
        ("for (int i = 1; i < n; i++)", "s[4 * t + i] += a;", 4, {Grade.EXACT}),  # LDS, STS
        ("for (int i = 3; i < n; i++)", "s[4 * t + i] += a;", 4, {Grade.EXACT}),
        ("for (int i = 4; i < n; i++)", "s[4 * t + i] += a;", 1, {Grade.EXACT}),  # LDS.128, STS.128
        ("for (int i = 1; i < n; i++)", "a += s[2 * t + i]; b += s[2 * t + i + 1] / a;", 2, {Grade.EXACT}),
        (
            "int p, j; for (int i = 1; i < n; i++)",
            "p = 2 * t, j = p; j++; a += s[p + i] / j;",
            2,
            {Grade.EXACT},
        ),
        ("for (int i = 0; i < n; i++)", "a += s[4 * t + i + 1] / a;", 3, {Grade.EXACT}),  # LDS, LDS.64, LDS
    ],
)
def test_of_a_loop_that_counts_from_1_the_optimiser_sees_less(
    loop: str, body: str, ways: int, grades: set[Grade]
) -> None:
    """Though the array is declared at a multiple of 16: it does not see that the counter is odd there."""
    assert told(loop, body, "extern __shared__ float s[]") == (ways, ways, grades)
