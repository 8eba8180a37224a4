"""Maps have the numbers of the trace: as many wavefronts as the request costs, each lane where it asks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from smemlint.api import shown
from smemlint.evaluate import Unresolved
from smemlint.running.jobs import Job, Options
from smemlint.running.pipeline import Examined, examine
from smemlint.view.bankmap import words_of
from smemlint.view.requests import NoRequestError, Requests, map_of, pick, requests_of
from smemlint.view.site import leader_of, site_view

FIXTURES = sorted((Path(__file__).resolve().parents[2] / "fixtures").glob("*.cu"))


def examined(text: str, block: tuple[int, int, int] = (32, 1, 1)) -> Examined:
    found = examine(Job("k.cu", Options(suggest=False, blocks={"": block}), text), shown)
    assert isinstance(found, Examined)
    return found


def requests(
    body: str, *, shared: str = "float t[32][32]", block: tuple[int, int, int] = (32, 1, 1)
) -> Requests:
    """Of the last access of a kernel with this body."""
    text = f"__global__ void k(float *p, int n) {{ __shared__ {shared}; {body} }}"
    found = requests_of(examined(text, block).analyses[0].conflicts[-1].trace)
    assert not isinstance(found, Unresolved)
    return found


@pytest.mark.parametrize("path", FIXTURES, ids=lambda p: p.stem)
def test_the_maps_of_a_fixture_add_up_to_what_its_accesses_cost(path: Path) -> None:
    found = examine(Job(str(path), Options(suggest=False)), shown)
    assert isinstance(found, Examined)
    for analysis in found.analyses:
        for conflict in analysis.conflicts:
            if not len(conflict.trace.offsets) or conflict.wavefronts is None:
                continue
            all_of_them = requests_of(conflict.trace)
            assert not isinstance(all_of_them, Unresolved)
            if not all_of_them.drawn or conflict.trace.ends is not None or conflict.trace.ways > 1:
                continue
            maps: dict[bytes, int] = {}
            total = 0
            for at in range(min(len(all_of_them.offsets), 400)):
                key = all_of_them.offsets[at].tobytes()
                if key not in maps:
                    maps[key] = len(map_of(all_of_them, at).passes)
                if all_of_them.low[at] == all_of_them.high[at]:
                    assert maps[key] == all_of_them.high[at]
                total += maps[key] * int(all_of_them.weights[at])
            if len(all_of_them.offsets) <= 400 and np.array_equal(all_of_them.low, all_of_them.high):
                assert total == conflict.wavefronts


def test_each_lane_is_served_once_for_each_word_it_asks() -> None:
    found = requests("p[0] = ((float4 *)t)[threadIdx.x * 2].x + ((float4 *)t)[threadIdx.x * 2].w;")
    drawn = map_of(found, 0)
    served = Counter((s.word, lane) for each in drawn.passes for s in each.served for lane in s.lanes)
    asked = {(word, lane) for word, lanes in words_of(drawn).items() for lane in lanes}
    assert set(served) == asked and set(served.values()) == {1}
    assert all(s.bank == s.word % 32 for each in drawn.passes for s in each.served)


def test_the_request_with_the_most_ways_is_drawn_unless_one_is_chosen() -> None:
    body = "for (int i = 1; i <= 16; i *= 2) t[0][(threadIdx.x * i) % 1024] = 0;"
    found = requests(body, block=(64, 1, 1))
    assert (found.visits, pick(found)) == (5, pick(found, visit=4))
    chosen = pick(found, warp=1, visit=2)
    assert chosen is not None
    drawn = map_of(found, chosen)
    assert (drawn.warp, drawn.visit, len(drawn.passes)) == (1, 2, 4)


def test_a_warp_or_an_iteration_that_makes_no_request_is_refused_with_those_that_do() -> None:
    found = requests("if (threadIdx.x >= 64) t[0][threadIdx.x] = 0;", block=(128, 1, 1))
    with pytest.raises(NoRequestError, match=r"warp 0 makes no request there; these do: 2, 3"):
        pick(found, warp=0)
    with pytest.raises(NoRequestError, match="no request in iteration 7; there are 1, from 0"):
        pick(found, visit=7)


def test_lanes_that_hang_on_data_are_drawn_as_active_and_named() -> None:
    found = requests("if (p[threadIdx.x] > 0 && threadIdx.x < 8) t[threadIdx.x][0] = 0;")
    drawn = map_of(found, 0)
    assert drawn.maybe == tuple(range(8)) and drawn.inactive == tuple(range(8, 32))
    assert not drawn.exact and len(drawn.passes) == 8


def test_an_access_that_is_joined_shows_what_runs() -> None:
    text = """__global__ void k(float *p) { __shared__ __align__(16) float t[256];
    float *q = t + 4 * threadIdx.x; p[threadIdx.x] = q[0] + q[1] + q[2] + q[3]; }"""
    (analysis,) = examined(text).analyses
    views = [site_view(c, analysis, "k.cu") for c in analysis.conflicts]
    assert {(v.width, v.written) for v in views} == {(16, 4)}
    assert {len(v.map.passes) for v in views if v.map is not None} == {4}
    assert {leader_of(c, analysis).site for c in analysis.conflicts} == {analysis.conflicts[0].site}


def test_an_address_that_hangs_on_data_has_no_map_but_both_ends() -> None:
    text = "__global__ void k(int *p, int *q) { __shared__ int t[1024]; p[threadIdx.x] = t[q[threadIdx.x]]; }"
    (analysis,) = examined(text).analyses
    view = site_view(analysis.conflicts[0], analysis, "k.cu")
    assert view.map is None and view.no_map == "each lane's address depends on data: 1 to 32 wavefronts"
