"""Memory is bytes: what is written in one way and read in another."""

from __future__ import annotations

import pytest
from costs import scored

CASES = [
    pytest.param(
        "union { int i; short h[2]; } u; u.i = t * 32;\ns[u.h[0]] = 1;", 32, id="low half of an int"
    ),
    pytest.param("union { int i; short h[2]; } u; u.i = t << 16;\ns[u.h[1] * 4] = 1;", 4, id="high half"),
    pytest.param(
        "union { int i; unsigned char b[4]; } u; u.i = t * 32; u.b[0] = 0;\ns[u.i] = 1;", 4, id="cut"
    ),
    pytest.param("union { int i; unsigned u; } x; x.i = -1;\ns[(x.u >> 31) * t * 8] = 1;", 8, id="sign"),
    pytest.param("int x = 0; ((unsigned char *)&x)[1] = t;\ns[x >> 5] = 1;", 8, id="byte of an int"),
    pytest.param("int x = 7; *(short *)&x = t;\ns[x * 2] = 1;", 2, id="half of an int"),
    pytest.param("long x = ((long)t << 37) | 3;\ns[((int *)&x)[1]] = 1;", 32, id="upper half of a long"),
    pytest.param("int v[2] = {t, t * 32};\ns[*(long *)v >> 32] = 1;", 32, id="two ints as a long"),
    pytest.param(
        "int2 v = make_int2(t, t * 32); long w = *(long *)&v;\ns[w >> 32] = 1;", 32, id="int2 as a long"
    ),
    pytest.param(
        "int4 v; for (int i = 0; i < 4; i++) (&v.x)[i] = t << i;\ns[v.w] = 1;", 8, id="members by index"
    ),
    pytest.param("int i = t * 32; float f = *(float *)&i;\ns[*(int *)&f] = 1;", 32, id="the bits of a float"),
    pytest.param("float f = 1; \ns[(*(int *)&f >> 23) * t & 1023] = 1;", 1, id="the bits of a constant"),
    pytest.param("int x = t; if (t & 1) *(char *)&x = 0;\ns[x * 32] = 1;", 16, id="a byte in some lanes"),
    pytest.param(
        "unsigned x = 0; ((char *)&x)[t & 1] = 1;\ns[(x >> 8) * 32 * t + t] = 1;", 1, id="other bytes by lane"
    ),
    pytest.param(
        "struct { short a, b; } h; *(int *)&h = t << 16;\ns[h.b * 2] = 1;", 2, id="a struct through an int"
    ),
    pytest.param(
        "unsigned x = 0; for (int i = 0; i < n; i++) ((char *)&x)[1] = 4;\ns[(x & 255) + t * 2] = 1;",
        2,
        id="a byte in a loop",
    ),
    pytest.param(
        "int x = t; if (in[0] > 0) *(char *)&x = 0;\ns[((short *)&x)[1] + t * 2] = 1;",
        2,
        id="a byte on one way",
    ),
    pytest.param(
        "struct Low { short lo, hi; }; long w = 0; Low v = *(Low *)((char *)&w + 2);"
        " if (t & 1) --v.hi;\ns[(v.hi + 1) * t * 2] = 1;",
        2,
        id="the sign of a half that some lanes change",
    ),
]


@pytest.mark.parametrize(("body", "ways"), CASES)
def test_a_value_is_what_its_bytes_are(body: str, ways: int) -> None:
    (store,) = scored(f"int t = threadIdx.x;\n{body}", block=(32, 1, 1))
    assert (store.ways_low, store.ways) == (ways, ways)


@pytest.mark.parametrize(
    "body",
    [
        "union { int i; float f; } u; u.i = t; u.f = in[t];\ns[u.i & 1023] = 1;",
        "int x = t; *(float *)&x = in[t];\ns[x & 1023] = 1;",
        "int v[4] = {t, t, t, t}; *(float4 *)v = ((float4 *)in)[t];\ns[v[2] & 1023] = 1;",
    ],
)
def test_an_integer_over_which_a_float_was_written_is_not_known(body: str) -> None:
    store = scored(f"int t = threadIdx.x;\n{body}", block=(32, 1, 1))[-1]
    assert (store.ways_low, store.ways) == (1, 32)


@pytest.mark.parametrize(("part", "ways"), [("p[0] * 32 + t", (1, 1)), ("(p[1] & 3) * 32 + t", (1, 1))])
def test_half_of_an_integer_of_16_bytes_that_is_not_known_is_one_number(
    part: str, ways: tuple[int, int]
) -> None:
    body = f"__int128 v = n;\nunsigned long long *p = (unsigned long long *)&v;\ns[{part}] = 1;"
    (store,) = scored(f"int t = threadIdx.x;\n{body}", block=(32, 1, 1))
    assert (store.ways_low, store.ways) == ways
