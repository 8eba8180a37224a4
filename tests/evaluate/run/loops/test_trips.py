"""How often a loop runs whose end the launch tells, counted against the loop itself."""

from __future__ import annotations

from math import gcd
from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file
from smemlint.diagnose.model import Access

HEAD = "__global__ void k(float *p, int n, int s) {{ __shared__ float t[1024]; {body} }}\n"
LAUNCH = "void go(float *p) {{ k<<<4, 64>>>(p, {n}, {s}); }}\n"


def accesses(folder: Path, body: str, n: int = 5000, s: int = 3) -> tuple[Access, ...]:
    path = folder / "k.cu"
    path.write_text(HEAD.format(body=body) + LAUNCH.format(n=n, s=s), encoding="utf-8")
    (kernel,) = analyse_file(Job(str(path))).kernels
    return kernel.accesses


@pytest.mark.parametrize(
    ("head", "trips"),
    [
        ("int i = 0; i < n; i++", 5000),
        ("int i = 0; i <= n; i++", 5001),
        ("int i = 0; i < n; i += 3", 1667),
        ("int i = 7; i < n; i += s", 1665),
        ("int i = n; i > 0; i--", 5000),
        ("int i = n - 1; i >= 0; i -= 16", 313),
        ("int i = 1; i < n; i *= 2", 13),
        ("int i = 1; i < n; i <<= 1", 13),
        ("int i = n; i > 0; i /= 2", 13),
        ("int i = 0; i < 100000; i++", 100000),
        ("int i = 0; i < 10; i++", 10),
    ],
)
def test_requests_are_counted_as_the_loop_runs(tmp_path: Path, head: str, trips: int) -> None:
    (access,) = accesses(tmp_path, f"for ({head}) t[threadIdx.x + 64 * (i & 15)] = i;")
    (load,) = access.spread.loads
    # A store that the next iteration overwrites is none, so one of thousands may be missing.
    assert load.requests == pytest.approx(2 * trips, rel=1e-3)
    assert load.wavefronts == load.ideal == load.requests


def test_a_condition_that_counts_through_a_pointer_is_asked_once_a_round(tmp_path: Path) -> None:
    body = "int left = 5; int *at = &left; while ((*at)-- > 0) t[32 * *at + threadIdx.x * (*at + 1)] = 1;"
    (access,) = accesses(tmp_path, body)
    (load,) = access.spread.loads
    strides = range(1, 6)  # of the 64 threads, two warps
    assert load.requests == 2 * len(strides)
    assert load.wavefronts == sum(2 * gcd(stride, 32) for stride in strides)


def test_loops_in_each_other_multiply(tmp_path: Path) -> None:
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j += 8)"
    body = f"{loops} t[threadIdx.x + 64 * ((i + j) & 15)] = j;"
    (access,) = accesses(tmp_path, body)
    assert access.spread.loads[0].requests == pytest.approx(2 * 5000 * 625, rel=1e-3)


def test_an_end_that_only_run_time_tells_is_kept_apart(tmp_path: Path) -> None:
    body = "t[threadIdx.x] = 1; for (int i = 0; i < p[0]; i++) { t[threadIdx.x * 2 + 128 * (i & 7)] = i; }"
    once, often = accesses(tmp_path, body)
    assert [x.requests for x in once.spread.loads] == [2]
    assert [(x.requests, x.wavefronts, x.ideal) for x in often.spread.loads] == [(0, 0, 0), (2, 4, 2)]


def test_a_counter_that_the_body_changes_is_not_counted(tmp_path: Path) -> None:
    body = "for (int i = 0; i < n; i++) { t[threadIdx.x + 64 * (i & 15)] = i; if (p[i] > 0) i += 2; }"
    (access,) = accesses(tmp_path, body)
    assert len(access.spread.loads) == 2 and access.spread.loads[1].requests == 2


def test_joined_accesses_are_counted_once(tmp_path: Path) -> None:
    body = "float a = t[4 * threadIdx.x];\nfloat b = t[4 * threadIdx.x + 1];\n"
    body += "float c = t[4 * threadIdx.x + 2];\nfloat d = t[4 * threadIdx.x + 3];\n"
    body += "p[threadIdx.x] = a + b + c + d;"
    found = accesses(tmp_path, body)
    assert [a.joined for a in found] == [16] * 4
    assert [[x.wavefronts for x in a.spread.loads] for a in found] == [[8], [], [], []]
