"""What a suggestion says of the accesses of its array."""

from __future__ import annotations

from pathlib import Path

from smemlint.api import Job, check
from smemlint.evaluate.model import Site
from smemlint.fix.model import SiteChange
from smemlint.fix.words import effect
from tests.fix.cases import place


def change(line: int, before: int, after: int, ideal: int = 1) -> SiteChange:
    return SiteChange("k", Site(place(line, line), "load", 4, "t", "t[...]"), before, after, ideal)


def test_accesses_that_get_better_are_not_told_as_ones_that_keep_a_conflict() -> None:
    changes = [*(change(n, 32, 8) for n in range(8)), change(8, 32, 1), change(9, 1, 1)]
    assert (
        effect(changes)
        == "289 wavefronts become 66 (10 at best; accesses: 1 conflict-free, 8 with fewer conflicts)"
    )


def test_accesses_that_get_worse_are_told() -> None:
    changes = [change(1, 32, 4), change(2, 2, 2), change(3, 1, 2)]
    counts = "1 with fewer conflicts, 1 as before, 1 with more conflicts"
    assert effect(changes) == f"35 wavefronts become 8 (3 at best; accesses: {counts})"


def test_an_access_is_counted_once_over_all_instances() -> None:
    assert effect([change(1, 32, 2), change(1, 16, 1)], 2) == (
        "48 wavefronts over 2 launches become 3 (2 at best; accesses: 1 with fewer conflicts)"
    )


def test_an_array_without_conflicts_is_told_in_words() -> None:
    assert effect([change(1, 32, 1), change(2, 1, 1)]) == "both accesses of the array are then conflict-free"


def test_a_sum_below_the_ideal_names_no_ideal() -> None:
    """Pairs of lanes that agree share a wavefront: one access below its ideal makes up for another above."""
    assert effect([change(1, 32, 5, 4), change(2, 32, 2, 4)]) == (
        "64 wavefronts become 7 (accesses: 1 conflict-free, 1 with fewer conflicts)"
    )


def test_nothing_is_said_of_all_accesses_where_one_was_not_read() -> None:
    assert (
        effect([change(1, 32, 1)], unread=True) == "its only access that was analysed is then conflict-free"
    )
    said = effect([change(n, 32, 1) for n in range(3)], unread=True)
    assert said == "all 3 accesses that were analysed are then conflict-free"


def test_an_access_in_a_statement_that_clang_drops_is_none_of_the_others(tmp_path: Path) -> None:
    file = tmp_path / "k.cu"
    text = """__global__ void k(float *o) {
      __shared__ float s[32][32];
      s[threadIdx.x][0] = o[0] +;
      __syncthreads();
      o[threadIdx.x] = s[threadIdx.x][1];
    }
    void go(float *o) { k<<<1, 32>>>(o); }
    """
    for written, said in (
        (text, "only access that was analysed"),
        (text.replace("+;", ";"), "both accesses of"),
    ):
        file.write_text(written, encoding="utf-8")
        report = check([Job(str(file))])
        fix = report.diagnostics[0].fix
        assert fix is not None and said in fix.words
