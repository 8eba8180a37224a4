"""Integers of C's width: hashes, top bits, intrinsics and PTX, against the same formula in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from costs import scored

from smemlint.evaluate import Grade, Trace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

WORD, LONG = 1 << 32, 1 << 64


def traced(index: str, before: str = "", **arguments: int) -> Trace:
    """The one store of `s[index]` by a warp of a kernel that is given n."""
    text = f"""typedef unsigned long long u64;
    __global__ void k(int *out, int n) {{
    __shared__ float s[4096];
    unsigned t = threadIdx.x;
    {before}
    s[{index}] = 1;
    }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1), arguments=arguments)).traces
    return trace


def words(index: str, before: str = "") -> list[int]:
    """What each lane's index is; it must be known exactly."""
    trace = traced(index, before)
    assert (trace.grade, trace.alignment) == (Grade.EXACT, 0)
    return [int(o) // 4 for o in trace.offsets[0]]


def signed(x: int, bits: int = 32) -> int:
    return (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def split_mix(t: int) -> int:
    z = (t + 0x9E3779B97F4A7C15) % LONG
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % LONG
    z = (z ^ z >> 27) * 0x94D049BB133111EB % LONG
    return z ^ z >> 31


SPLIT_MIX = """u64 z = t + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull; z = z ^ (z >> 31);"""


@pytest.mark.parametrize(
    ("index", "truth"),
    [
        ("z & 2047", lambda t: split_mix(t) & 2047),
        ("z >> 54", lambda t: split_mix(t) >> 54),
        ("z % 1999", lambda t: split_mix(t) % 1999),
        ("(z / 3) & 1023", lambda t: split_mix(t) // 3 & 1023),
        ("z < (1ull << 63) ? t : 99", lambda t: t if split_mix(t) < 1 << 63 else 99),
        ("(unsigned)z >> 22", lambda t: split_mix(t) % WORD >> 22),
        ("(int)(z >> 20) < 0 ? t : 99", lambda t: t if signed(split_mix(t) >> 20) < 0 else 99),
        ("__brevll(z) >> 54", lambda t: int(f"{split_mix(t):064b}"[::-1], 2) >> 54),
        ("__popcll(z)", lambda t: split_mix(t).bit_count()),
        ("__umul64hi(z, 1000ull)", lambda t: split_mix(t) * 1000 >> 64),
    ],
)
def test_a_hash_of_64_bits_wraps_and_has_no_sign(index: str, truth: Callable[[int], int]) -> None:
    assert words(index, SPLIT_MIX) == [truth(t) for t in range(32)]


@pytest.mark.parametrize(
    ("index", "truth"),
    [
        ("(1u << 31) >> t & 1023", lambda t: 1 << 31 >> t & 1023),
        ("((int)0x80000000 >> t) & 1023", lambda t: -(1 << 31) >> t & 1023),
        ("(1ull << 63 >> (t + 32)) & 1023", lambda t: 1 << 63 >> t + 32 & 1023),
        ("(t & 0xFFFFFFFFFFFFFFFFull) * 33", lambda t: t * 33),
        ("(t - 1ull) / 0xFFFFFFFFFFFFFFFFull * 64 + t", lambda t: 64 * (t == 0) + t),
        ("(t - 1ull) > 100 ? t : 64", lambda t: t if t == 0 else 64),
        ("(int)t - 16 < 4u ? t : 64", lambda t: t if 16 <= t < 20 else 64),
        ("(int)t - 16 < 4ull ? t : 64", lambda t: t if 16 <= t < 20 else 64),
        ("(t - 5) % 37", lambda t: (t - 5) % WORD % 37),
        ("((int)t - 16) % 7 + 8", lambda t: 8 + (abs(t - 16) % 7) * (1 if t > 16 else -1)),
        ("max((unsigned)((int)t - 16), 3u) & 63", lambda t: max((t - 16) % WORD, 3) & 63),
        ("__brev(t) >> 27", lambda t: int(f"{t:032b}"[::-1], 2) >> 27),
        ("__clz(t * 0x8000000)", lambda t: 32 - (t * 0x8000000 % WORD).bit_length()),
        ("__umulhi(t * 0x9e3779b9u, 1000)", lambda t: (t * 0x9E3779B9 % WORD) * 1000 >> 32),
        (
            "__mulhi((int)(t * 0x9e3779b9u), 1000) + 600",
            lambda t: (signed(t * 0x9E3779B9) * 1000 >> 32) + 600,
        ),
        ("__byte_perm(t * 9, t, 0x4340) & 4095", lambda t: _permuted(t) & 4095),
        ("__funnelshift_l(0x80000000u, t, 1)", lambda t: 2 * t + 1),
        ("__vadd4(t, 0xF0)", lambda t: (t + 0xF0) % 256),
        ("(short)(t * 4096) / 4096 + 8", lambda t: signed(t * 4096, 16) // 4096 + 8),
        ("(signed char)(t * 16) / 16 + 8", lambda t: signed(t * 16, 8) // 16 + 8),
        ("(int)(t * 0.5f)", lambda t: t // 2),
        ("(int)floorf(t * 0.25f) * 33", lambda t: t // 4 * 33),
        ("(int)log2f(32.0f) * t", lambda t: 5 * t),
    ],
)
def test_arithmetic_has_the_width_and_sign_of_its_type(index: str, truth: Callable[[int], int]) -> None:
    assert words(index) == [truth(t) for t in range(32)]


def _permuted(t: int) -> int:
    """Selector 4340, the lowest nibble first: bytes 0, 4, 3 and 4 of the two words."""
    both = (9 * t).to_bytes(4, "little") + t.to_bytes(4, "little")
    return int.from_bytes(bytes(both[i] for i in (0, 4, 3, 4)), "little")


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("bfe.u32 r, %1, 28, 4;", lambda h: h >> 28),
        ("bfe.s32 r, %1, 28, 4; and.b32 r, r, 15;", lambda h: h >> 28),
        ("bfi.b32 r, %1, 5, 2, 4;", lambda h: 5 & ~60 | (h & 15) << 2),
        ("lop3.b32 r, %1, 21, 3, 0x96; and.b32 r, r, 1023;", lambda h: (h ^ 21 ^ 3) & 1023),
        ("prmt.b32 r, %1, 0, 0x4443;", lambda h: h >> 24),
        ("shf.l.wrap.b32 r, %1, %1, 7; and.b32 r, r, 1023;", lambda h: (h << 7 | h >> 25) & 1023),
        ("mul.hi.u32 r, %1, 1000;", lambda h: h * 1000 >> 32),
        ("cvt.u32.u8 r, %1;", lambda h: h & 255),
        ("shr.s32 r, %1, 31; and.b32 r, r, 3;", lambda h: 3 * (h >> 31)),
        ("brev.b32 r, %1; shr.u32 r, r, 24;", lambda h: int(f"{h & 255:08b}"[::-1], 2)),
        ("mov.u32 r, 7; setp.lt.s32 p, %1, 0; @p mov.u32 r, 9;", lambda h: 9 if h >> 31 else 7),
        ("setp.gt.u32 p, %1, -5; @!p mov.u32 r, 100; @p mov.u32 r, 5;", lambda h: 5 if h > WORD - 5 else 100),
        ("setp.lt.u32 p|q, %1, 0x80000000; selp.u32 r, 33, 2, q;", lambda h: 2 if h < 1 << 31 else 33),
        ("mad.wide.u32 w, %1, 16, 5; mov.b64 {o, r}, w;", lambda h: h * 16 >> 32),
        ("mov.b64 w, {%1, 3}; shr.u64 w, w, 30; cvt.u32.u64 r, w;", lambda h: 12 + (h >> 30)),
    ],
)
def test_ptx_computes_at_the_width_that_it_names(text: str, truth: Callable[[int], int]) -> None:
    asm = f"{{ .reg .pred p, q; .reg .b64 w; .reg .b32 r, o; {text} mov.u32 %0, r; }}"
    before = f'unsigned h = t * 0x9e3779b9u, x; asm("{asm}" : "=r"(x) : "r"(h));'
    assert words("x", before) == [truth(t * 0x9E3779B9 % WORD) for t in range(32)]


def test_a_predicated_instruction_keeps_what_an_operand_held() -> None:
    text = "{ .reg .pred p; setp.ge.u32 p, %1, 20; @p mov.u32 %0, %1; }"
    before = f'unsigned x = 7; asm("{text}" : "+r"(x) : "r"(t));'
    assert words("x", before) == [t if t >= 20 else 7 for t in range(32)]


@pytest.mark.parametrize(
    ("index", "truth"),
    [
        ("h >> 20", lambda i: i * 2654435761 % WORD >> 20),
        ("h % 61", lambda i: i * 2654435761 % WORD % 61),
        ("(int)h < 0 ? t : 2 * t", lambda i: i % 32 if i * 2654435761 % WORD >> 31 else 2 * (i % 32)),
        ("(h ^ 0x80000000u) < 77u ? t : 2 * t", lambda i: 2 * (i % 32)),
    ],
)
def test_a_hash_of_an_unknown_is_not_taken_to_stay_small(index: str, truth: Callable[[int], int]) -> None:
    trace = traced(index, "unsigned h = (blockIdx.x * 32 + t) * 2654435761u;")
    if trace.grade is Grade.EXACT:
        for block in (0, 1, 7, 1000):
            lanes = np.array([truth(32 * block + t) for t in range(32)]) * 4
            assert len(set((lanes - trace.offsets[0]).tolist())) == 1
    else:
        assert trace.grade in (Grade.BOUND, Grade.UNRESOLVED)


def test_a_mask_of_an_unknown_hash_is_exact() -> None:
    """What wraps with the hash is as good as known: the unknown part is a multiple of 1024."""
    trace = traced("((n * 1024 + t) * 2654435761u) & 1023")
    assert trace.grade is Grade.EXACT
    assert [int(o) // 4 for o in trace.offsets[0]] == [t * 2654435761 % 1024 for t in range(32)]


def test_a_number_beyond_any_size_is_compared_by_its_type() -> None:
    assert words("(unsigned)n <= 0xFFFFFFFFu ? t : 0") == list(range(32))
    assert words("t < (size_t)-1 ? t : 0") == list(range(32))
    assert words("-1 < (int)t ? t : 0") == list(range(32))


def test_a_rest_of_data_from_which_more_was_taken_may_be_negative() -> None:
    body = "int d = ((int *)out)[threadIdx.x] & 31; s[threadIdx.x * 2 + 1 + (d - 16) % 2] = 1;"
    (c,) = [c for c in scored(body) if c.site.op == "store" and c.site.array]
    assert c.ways == 3  # words 0, 32 and 64: rests of 0 and 1 alone would ask one bank for two


def test_an_unsigned_sum_with_an_unknown_wraps_before_it_is_widened() -> None:
    """Of `~(t + bit)` all lanes are large, whatever the bit is."""
    trace = traced("(i > 4000000000l) * 64 + t", "long i = ~(t + !(n & 1));")
    assert trace.grade is Grade.EXACT
    assert [int(o) // 4 for o in trace.offsets[0]] == [64 + lane for lane in range(32)]


def test_a_comparison_of_an_unsigned_difference_that_may_wrap_is_open() -> None:
    """`x - t > x` holds in the lanes in which the difference wraps: t > x."""
    (c,) = scored("unsigned x = n & 31; if (x - threadIdx.x > x) s[threadIdx.x * 32 & 1023] = 1;")
    assert c.grade is not Grade.EXACT


@pytest.mark.parametrize("head", ["blockIdx.x % n", "(n * 4) % (blockIdx.x + 1)"])
def test_what_is_left_of_a_size_is_a_size_that_goes_into_an_int(head: str) -> None:
    """All lanes go round together: what each begins and ends with are n apart."""
    body = f"""int h = {head}, t = threadIdx.x;
    for (int i = h * 64 + t; i < n + h * 64 + t; i += n / 4) {{ s[t * 2] = out[i]; __syncthreads(); }}"""
    (store,) = scored(body, block=(32, 1, 1))
    assert (store.ways, store.grade) == (2, Grade.EXACT)


def test_what_is_left_of_a_hash_may_have_its_top_bit_set() -> None:
    body = "unsigned *u = (unsigned *)s; int h = u[0] % u[1];\ns[t * (h < 0 ? 2 : 1)] = 1;"
    *_, store = scored(f"int t = threadIdx.x; {body}", block=(32, 1, 1))
    assert (store.ways_low, store.ways) == (1, 2)


CUT = {
    "(t - 8 * n) % 8 * 4 + 32": lambda t, n: (abs(t - 8 * n) % 8 * (1 if t >= 8 * n else -1)) * 4 + 32,
    "(t - 8 * n) / 8 * 32 + 4096": lambda t, n: int((t - 8 * n) / 8) * 32 + 4096,
    "(t - n) % 16 * 2 + 64": lambda t, n: (abs(t - n) % 16 * (1 if t >= n else -1)) * 2 + 64,
    "(unsigned)(t - 33 * n) % 33": lambda t, n: (t - 33 * n) % 2**32 % 33,
    "(unsigned)(t - 3 * n) / 3 * 32 & 4095": lambda t, n: (t - 3 * n) % 2**32 // 3 * 32 & 4095,
    "((t - n) % 16 + 16) % 16 * 4": lambda t, n: (t - n) % 16 * 4,
    "((t - 8 * n) % 8 + 8) % 8 * 4": lambda t, n: (t - 8 * n) % 8 * 4,
}


@pytest.mark.parametrize("index", CUT)
def test_what_sizes_are_taken_off_may_be_negative_where_it_is_cut(index: str) -> None:
    """C rounds towards zero, and what is negative wraps to a large number: the costs of all n are told."""
    (c,) = scored(f"int t = threadIdx.x; s[{index}] = 1;", block=(32, 1, 1))
    found = set()
    for n in range(80):
        words = {CUT[index](t, n) for t in range(32)}
        found.add(max(sum(w % 32 == bank for w in words) for bank in range(32)))
    assert c.ways_low <= min(found) and max(found) <= c.ways
    assert (len(found) == 1) == (c.grade is Grade.EXACT)
