"""The iteration that stands for all verifies what the trial suggests, and is undone where that is wrong."""

from __future__ import annotations

from costs import scored, traced


def _loop(n: int, trips: str) -> str:
    """A loop whose body has so many statements that addresses depend on, and moves an index and another."""
    body = "".join(f"at ^= (at >> {i % 5}) & {i}; " for i in range(n))
    head = f"\n#pragma unroll 1\nfor (int i = 0; i < {trips}; i++)"
    steps = "s[row + back + at] = 1; row += 33; back -= 3;"
    return f"int row = 0, back = 9; {head} {{ int at = threadIdx.x; {body} {steps} }}"


def test_a_body_runs_once_for_the_trial_and_once_for_all() -> None:
    """Nothing else is run to verify what the trial suggests."""
    once, all_ = ([traced(_loop(n, trips)).work for n in (60, 120)] for trips in ("1", "n"))
    assert all_[1] - all_[0] <= 2 * (once[1] - once[0])


def test_an_iteration_that_does_not_end_as_the_trial_suggests_leaves_no_trace() -> None:
    """`at` goes from 1 to 2, as if by one each time: the iteration that stands for all tells that it doubles.
    Loads that wait for a branch and arms that run as one are in the log by then."""
    loop = """
    int at = 1, sum = 0;
    for (int i = 0; i < n; i++) {
      int early = s[threadIdx.x + 512];
      if (in[i] > 0) sum += early; else s[threadIdx.x * 2] = i;
      if (n & 4) s[threadIdx.x * 4] = i; else s[threadIdx.x * 4] = sum;
      STORE;
      __syncthreads();
      at *= 2;
    }
    out[0] = sum + at;
    """
    doubled = scored(loop.replace("STORE", "s[at * 32 + threadIdx.x] = i"), shared="int s[4096]")
    alike = scored(loop.replace("STORE", "s[threadIdx.x] = i"), shared="int s[4096]")
    assert [(c.site.op, c.executions, c.ways_low, c.ways, c.wavefronts) for c in doubled] == [
        (c.site.op, c.executions, c.ways_low, c.ways, c.wavefronts) for c in alike
    ]


def test_every_copy_of_the_iteration_verifies_what_the_trial_suggests() -> None:
    """`at` goes 0, 1, 0, 1: of the number of the first copy, a multiple, `k ^ 1` is `k + 1`."""
    loop = """
    int at = 0;
    for (int i = 0; i < n; i++) {
      s[at * 2048 + threadIdx.x * 32] = i;
      if (threadIdx.x & 1) continue;
      at ^= 1;
    }
    """
    (cost,) = scored(loop, shared="int s[4096]")
    assert cost.ways_low < cost.ways
