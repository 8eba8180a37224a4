"""Shuffles, votes and groups of which every lane is known give known numbers."""

from __future__ import annotations

import pytest
from costs import notes, scored, told

from smemlint.evaluate import Grade


def offsets(body: str, lanes: int = 4, block: tuple[int, int, int] = (64, 1, 1)) -> list[int]:
    """Word that the first lanes of the first warp store to."""
    (conflict,) = scored(body, block=block)
    assert conflict.grade is Grade.EXACT, conflict.reason
    return [int(x) // 4 for x in conflict.trace.offsets[0][:lanes]]


ALL = "0xffffffff"


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (f"__shfl_xor_sync({ALL}, threadIdx.x, 1)", [1, 0, 3, 2]),
        (f"__shfl_down_sync({ALL}, threadIdx.x, 2, 4)", [2, 3, 2, 3]),
        (f"__shfl_up_sync({ALL}, threadIdx.x, 1)", [0, 0, 1, 2]),
        (f"__shfl_sync({ALL}, threadIdx.x * 2, threadIdx.x / 2)", [0, 0, 2, 2]),
        (f"(int)__shfl_xor_sync({ALL}, (float)threadIdx.x, 1)", [1, 0, 3, 2]),
        (f"__popc(__ballot_sync({ALL}, threadIdx.x % 2) & ((1u << threadIdx.x % 32) - 1))", [0, 0, 1, 1]),
        (f"__reduce_max_sync({ALL}, threadIdx.x)", [31, 31, 31, 31]),
        (f"__popc(__match_any_sync({ALL}, threadIdx.x / 3))", [3, 3, 3, 3]),
        ("__fns(0xf0, 0, threadIdx.x % 4 + 1)", [4, 5, 6, 7]),
        ("min({threadIdx.x * 3, 7u})", [0, 3, 6, 7]),
    ],
)
def test_known_lanes_stay_known(index: str, words: list[int]) -> None:
    assert offsets(f"s[{index}] = 1;") == words


def test_lane_masks_are_known_in_ptx() -> None:
    body = 'unsigned m; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m)); s[__popc(m)] = 1;'
    assert offsets(body) == [0, 1, 2, 3]


BLOCK = "auto block = cg::this_thread_block();"


@pytest.mark.parametrize(
    ("group", "index", "words"),
    [
        ("auto g = cg::tiled_partition<4>(block);", "g.thread_rank()", [0, 1, 2, 3, 0, 1]),
        ("auto g = cg::tiled_partition<4>(block);", "g.meta_group_rank()", [0, 0, 0, 0, 1, 1]),
        ("cg::thread_block_tile<2> g = cg::tiled_partition<2>(block);", "g.size()", [2] * 6),
        ("auto g = cg::tiled_partition(block, 2);", "g.thread_rank()", [0, 1, 0, 1, 0, 1]),
        ("cg::thread_group g = block;", "g.size()", [64] * 6),
        (
            "auto g = cg::tiled_partition<2>(cg::tiled_partition<4>(block));",
            "g.meta_group_rank()",
            [0, 0, 1, 1, 0, 0],
        ),
        ("auto t = cg::tiled_partition<32>(block); auto g = cg::labeled_partition(t, threadIdx.x % 2);",
         "g.thread_rank()", [0, 0, 1, 1, 2, 2]),
        ("auto g = cg::tiled_partition<4>(block);", "cg::reduce(g, threadIdx.x, cg::plus<unsigned>())",
         [6, 6, 6, 6, 22, 22]),
        ("auto g = cg::tiled_partition<4>(block);", "cg::exclusive_scan(g, 2, cg::plus<int>())",
         [0, 2, 4, 6, 0, 2]),
        ("auto g = cg::tiled_partition<4>(block);", "g.shfl_xor(threadIdx.x, 3)", [3, 2, 1, 0, 7, 6]),
    ],
)  # fmt: skip
def test_ranks_of_groups(group: str, index: str, words: list[int]) -> None:
    assert offsets(f"{BLOCK} {group} s[{index}] = 1;", lanes=6) == words


def test_lanes_that_run_together_are_numbered() -> None:
    body = "if (threadIdx.x % 2) { auto g = cg::coalesced_threads(); s[g.thread_rank()] = g.size(); }"
    (conflict,) = scored(body)
    assert [int(x) // 4 for x in conflict.trace.offsets[0][:6]][1::2] == [0, 1, 2]


def test_barriers_and_library_storage_are_named() -> None:
    assert notes("init(&bar, 64);", shared="cuda::barrier<cuda::thread_scope_block> bar") == [
        "barrier-object"
    ]
    shared = "cub::BlockReduce<int, 64>::TempStorage temp"
    body = "out[0] = cub::BlockReduce<int, 64>(temp).Sum(n);"
    assert notes(body, shared=shared) == ["library-storage"]
    assert told(body, shared=shared) == []


@pytest.mark.parametrize(
    ("size", "index", "alike"),
    [
        (8, "__popc(g.ballot(threadIdx.x < 3 || n & 2))", False),
        (8, "(int)g.any(threadIdx.x < 3 || n & 2)", False),
        (8, "cg::reduce(g, (int)out[threadIdx.x] & 31, cg::plus<int>())", False),
        (8, "cg::reduce(g, (int)out[threadIdx.x] & 31, cg::greater<int>())", False),
        (8, "__popc(g.ballot(n & 2))", True),
        (8, "(int)g.any(n & 2)", True),
        (32, "__popc(g.ballot(threadIdx.x < 3 || n & 2))", True),
        (32, "cg::reduce(g, (int)out[threadIdx.x] & 31, cg::plus<int>())", True),
    ],
)
def test_what_parts_of_a_warp_agree_on_may_differ_from_part_to_part(
    size: int, index: str, alike: bool
) -> None:
    group = f"{BLOCK} auto g = cg::tiled_partition<{size}>(block);"
    (conflict,) = scored(f"{group} s[33 * ({index})] = 1;")
    assert (conflict.grade is Grade.EXACT) == alike


def test_a_vote_on_a_uniform_number_counts_the_lanes_of_an_incomplete_part() -> None:
    """All of 12 threads say yes, or none does: 8 of the first part and 4 of the second, or 0."""
    group = f"{BLOCK} auto g = cg::tiled_partition<8>(block);"
    (conflict,) = scored(f"{group} s[g.ballot(n & 2)] = 1;", block=(12, 1, 1))
    assert conflict.trace.offsets[:, :12].tolist() == [[4 * 255] * 8 + [4 * 15] * 4, [0] * 12]


LOADED = "(int)out[threadIdx.x]"
BELOW = f"__ballot_sync({ALL}, {LOADED} > 3)"


@pytest.mark.parametrize(
    ("index", "ways"),
    [
        # one lane tells all the others where to begin
        (f"__shfl_sync({ALL}, {LOADED}, 0) + threadIdx.x % 32", 1),
        (f"__shfl_sync({ALL}, {LOADED}, n) + threadIdx.x % 32 * 2", 2),
        (f"__shfl_sync({ALL}, {LOADED}, threadIdx.x / 32) + threadIdx.x % 32", None),
        (f"__shfl_sync({ALL}, {LOADED}, 0, 8) + threadIdx.x % 32", None),
        (f"__shfl_up_sync({ALL}, {LOADED}, 1) + threadIdx.x % 32", None),
        # of the 31 lanes below no more say yes: within 32 words
        (f"__popc({BELOW} & ((1u << threadIdx.x % 32) - 1))", 1),
        (f"__popc({BELOW} & ((1 << threadIdx.x % 32) - 1))", 1),
        (f"__shfl_sync({ALL}, {LOADED}, 0) + __popc({BELOW} & ((1u << threadIdx.x % 32) - 1))", 1),
        (f"__popc({BELOW} & ({LOADED} | 1))", None),
    ],
)
def test_where_a_warp_puts_what_its_lanes_keep(index: str, ways: int | None) -> None:
    (conflict,) = scored(f"s[{index}] = 1;")
    assert (conflict.ways if conflict.grade is Grade.EXACT else None) == ways
