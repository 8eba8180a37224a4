"""What loops carry, and how often a loop in loops is tried out."""

from __future__ import annotations

from costs import scored, told, traced


def _nest(depth: int) -> str:
    """Loops in loops, each as long as data says, that count in several ways."""
    body = "s[at & 1023] = a0; at += 32; last = at;"
    for i in range(depth):
        body = f"int a{i} = in[{i}]; while (a{i} > 0) {{ sum += a{i}; {body} a{i} -= n; }} at = sum + {i};"
    return f"int at = threadIdx.x, sum = 0, last = 0; {body} out[last] = at;"


def test_loops_in_loops_are_not_tried_out_anew_for_each_trial_around_them() -> None:
    """Each loop more would else cost four times as much: a first trial, two more, the generic iteration."""
    work = [traced(_nest(depth)).work for depth in (3, 5, 7)]
    assert work[2] < 5 * work[0], work


def test_what_an_earlier_visit_says_is_verified() -> None:
    """The inner loop goes by another number on its second visit: by one pitch, then by two."""
    inner = "for (int i = 0; i < n; i++) {{ s[at] = i; at += {}; }}"
    loops = (
        "int at = threadIdx.x, by = 32; for (int j = 0; j < n; j++) { " + inner.format("by") + " by = 33; }"
    )
    (store,) = scored(loops)
    assert (store.ways_low, store.ways) == (1, 1)
    loops = (
        "int by = 1; for (int j = 0; j < 2; j++) { int at = 0;" + inner.format("by") + " by = threadIdx.x; }"
    )
    assert [op for op, *_ in told(loops)] == ["store"]
    (store,) = scored(loops, shared="int s[8192]")
    assert store.ways is None or store.ways > 1 or store.grade.value != "exact"


def test_an_unsigned_number_from_memory_may_have_its_top_bit_set() -> None:
    body = (
        "const unsigned *data = (const unsigned *)in; unsigned x = data[threadIdx.x];"
        "if ((int)x < 0) s[threadIdx.x * 32] = 1;"
    )
    assert [c.site.op for c in scored(body)] == ["store"]
