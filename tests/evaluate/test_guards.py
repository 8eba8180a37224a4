"""Guards against sizes, as a block away from the edge meets them."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.evaluate import evaluate
from smemlint.evaluate.model import Grade, Trace
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes

KERNEL = """__global__ void k(float *out, int first, int last, const int *data) {{
  __shared__ float tile[32][32];
  const int i = first + blockIdx.x * blockDim.x + threadIdx.x;
  if ({guard}) return;
  out[i - first] = tile[threadIdx.x][0];
}}
"""


def _only(guard: str) -> Conflict:
    """The cost of the one load, in one warp."""
    source = source_from_bytes("kernel.cu", KERNEL.format(guard=guard).encode())
    module = load(source)[0]
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict


def _evaluated(text: str) -> Trace:
    module = load(source_from_bytes("kernel.cu", text.encode()))[0]
    return evaluate(module, module.kernels()[0], Launch((32, 1, 1)))


@pytest.mark.parametrize("guard", ["i >= last", "i > last - 1", "i >= last || i < first", "i + 4 >= last"])
def test_a_guard_between_two_sizes_takes_no_lane_of_an_inner_block(guard: str) -> None:
    column = _only(guard)
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.EXACT, 32, 32)


@pytest.mark.parametrize(
    "guard", ["i >= 512", "__all_sync(~0u, i >= 512)", "i + last > 511", "511 - i < 0", "i <= 0"]
)
def test_a_place_that_run_time_numbers_move_on_is_held_against_a_number_as_the_place_alone(
    guard: str,
) -> None:
    """A launch for a part of a volume adds where the part begins; the number is the volume's size."""
    column = _only(guard)
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.EXACT, 32, 32)


@pytest.mark.parametrize(
    "guard",
    [
        "i == 0",
        "i == 0 || i == last - 1",
        "i == last - 1",
        "!(i != 0 && i != last)",
        "i < 1 || i == last - 1",
    ],
)
def test_a_block_in_the_middle_has_no_place_at_the_border(guard: str) -> None:
    """As a tiled Sobel filter asks: 2.00 ways were measured on every line of it (an H200)."""
    text = KERNEL.format(guard=guard).replace("first + blockIdx", "blockIdx")
    (column,) = score_all(_evaluated(text))
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.EXACT, 32, 32)


@pytest.mark.parametrize(
    "guard",
    [
        "i == data[blockIdx.x]",
        "i == data[blockIdx.x * last] - 1",
        "i == blockIdx.x * last",
        "i == (blockIdx.x + 1) * last - 1",
    ],
)
def test_a_place_that_each_block_has_is_not_the_border(guard: str) -> None:
    """Each block may leave a lane out: 31 ways of all its blocks, not 32."""
    text = KERNEL.format(guard=guard).replace("first + blockIdx", "blockIdx")
    (column,) = score_all(_evaluated(text))
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.BOUND, 1, 32)


def test_what_one_place_alone_does_is_one_lanes() -> None:
    """Behind `if (i != 0) return;`, and where the border itself has an access."""
    (alone,) = score_all(_evaluated(KERNEL.format(guard="i != 0").replace("first + blockIdx", "blockIdx")))
    assert (alone.grade, alone.wavefronts) == (Grade.EXACT, 1)
    text = KERNEL.format(guard="i < 0").replace("out[i - first] =", "if (i == last - 1) out[i - first] =")
    (border,) = score_all(_evaluated(text.replace("first + blockIdx", "blockIdx")))
    assert (border.grade, border.wavefronts) == (Grade.EXACT, 1)


def test_a_guard_on_data_may_take_any_lane() -> None:
    column = _only("data[i] > last")
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.BOUND, 1, 32)


def test_what_the_block_wrote_itself_is_no_size() -> None:
    """A binary search over shared memory: where the pointer went depends on what is there."""
    text = b"""__global__ void k(const int *in, int *out) {
  __shared__ volatile unsigned s[257];
  unsigned e = in[threadIdx.x];
  s[threadIdx.x] = e;
  __syncthreads();
  volatile unsigned *at = s, *next;
  next = at + 64; if (threadIdx.x >= *next) at = next;
  next = at + 33; if (threadIdx.x >= *next) at = next;
  out[threadIdx.x] = *at;
}
"""
    module = load(source_from_bytes("kernel.cu", text))[0]
    found = score_all(evaluate(module, module.kernels()[0], Launch((64, 1, 1))))
    first, *later = [c for c in found if c.site.op == "load"]
    assert first.grade is Grade.EXACT
    assert [c.grade for c in later] == [Grade.BOUND] * 2
    assert later[-1].wavefronts > later[-1].ideal


ROWS = b"""__global__ void k(const float *in, float *out, int n) {
  __shared__ float s[4096];
  for (int i = threadIdx.x; i < COUNT; i += 32) s[i % 32 * 32] = in[i];
}
"""


@pytest.mark.parametrize(("count", "least"), [("n", 32), ("n / 8", 32), ("n / 256", 1), ("(n + 63) >> 6", 1)])
def test_a_size_in_parts_of_a_warp_or_more_may_have_few(count: str, least: int) -> None:
    """A row of 4096 numbers has 16 blocks of 256: half of the lanes copy one, and `n / 8` has many."""
    module = load(source_from_bytes("kernel.cu", ROWS.replace(b"COUNT", count.encode())))[0]
    (store,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert store.wavefronts_low / store.ideal == least
    assert store.wavefronts / store.ideal == 32


def test_blocks_that_count_parts_of_a_size_find_enough_of_them() -> None:
    text = b"""__global__ void k(float *out, int n) {
  __shared__ float s[1024];
  if (blockIdx.x * blockDim.y + threadIdx.y >= n / 256) return;
  out[0] = s[threadIdx.x * 32];
}
"""
    module = load(source_from_bytes("kernel.cu", text))[0]
    (read,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    assert (read.grade, read.wavefronts) == (Grade.EXACT, 32)


CHOSEN = """__global__ void k(float *out, int n) {{
  __shared__ float tile[32][32];
  int i;
  if (gridDim.y - 1 == gridDim.z * 2) {{
    bool lower = blockIdx.y > blockIdx.z;
    i = lower ? blockIdx.y - 1 : blockIdx.z + gridDim.z;
  }} else {{
    bool lower = blockIdx.y >= blockIdx.z;
    i = lower ? {there} : blockIdx.z + gridDim.z - 1;
  }}
  i *= 32;
  if (i + threadIdx.x < n) out[i] = tile[threadIdx.x][0];
}}
"""


def _chosen(there: str) -> Conflict:
    module = load(source_from_bytes("kernel.cu", CHOSEN.format(there=there).encode()))[0]
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict


def test_a_guard_takes_no_lane_of_an_inner_block_whichever_of_two_rows_it_works_on() -> None:
    """As in SLATE's transposition of square tiles, where an H100 has all lanes: half of the blocks work above
    the diagonal, half below."""
    column = _chosen("blockIdx.y")
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.EXACT, 32, 32)
    assert [a.kind for a in column.trace.assumptions] == ["interior-block"]


def test_a_guard_on_what_memory_says_on_one_way_may_take_any_lane() -> None:
    column = _chosen("(int) out[blockIdx.y]")
    assert (column.wavefronts_low, column.wavefronts) != (32, 32)


@pytest.mark.parametrize(
    "rest",
    [
        "min(32, n - (int)blockIdx.x * 32)",
        "n - blockIdx.x * 32 < 32 ? n - blockIdx.x * 32 : 32",
        "blockIdx.x * 32 + 32 <= n ? 32 : n - blockIdx.x * 32",
        "std::min<int>(n - blockIdx.x * blockDim.x, 32)",
    ],
)
def test_what_a_size_leaves_to_a_block_is_a_whole_part_in_the_middle_of_the_grid(rest: str) -> None:
    text = f"""__global__ void k(float *p, int n) {{
        __shared__ float s[32 * 33];
        int count = {rest};
        s[threadIdx.x * count] = p[threadIdx.x];
    }}
    void go(float *p, int n) {{ k<<<n, 32>>>(p, n); }}"""
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    assert (access.ways, access.grade) == (32, "exact")
    assert {kind for kind, *_ in access.assumptions} == {"interior-block"}


@pytest.mark.parametrize(
    "index", ["min((int)threadIdx.x, n - 1 - (int)blockIdx.x * 32)", "min(threadIdx.x, n)"]
)
def test_a_lane_is_clamped_at_the_edge_of_the_grid_alone(index: str) -> None:
    text = f"""__global__ void k(float *p, int n) {{
        __shared__ float s[32][32];
        int x = {index};
        p[x] = s[x][0];
    }}
    void go(float *p, int n) {{ k<<<n, 32>>>(p, n); }}"""
    (access,) = analyse_file(Job("k.cu", text=text)).kernels[0].accesses
    if "blockIdx" in index:
        assert (access.ways, access.grade) == (32, "exact")
    else:
        assert (access.ways_low, access.ways, access.grade) == (1, 32, "bound")


FLAT = """__global__ void k(const float *in, int rows, int height, int pitch) {{
  __shared__ float tile[32][32];
  const int row = blockIdx.y * 32 + threadIdx.x, at = row * pitch + blockIdx.x;
  if ({guard}) tile[threadIdx.x][0] = in[at];
}}
"""


def _flat(guard: str) -> Conflict:
    source = source_from_bytes("kernel.cu", FLAT.format(guard=guard).encode())
    module = load(source)[0]
    (conflict,) = score_all(evaluate(module, module.kernels()[0], Launch((32, 1, 1))))
    return conflict


@pytest.mark.parametrize(
    "guard",
    ["at < height * pitch", "in + at < in + height * pitch", "row * pitch < height * pitch"],
)
def test_the_end_of_an_array_by_rows_is_a_guard_like_that_of_its_height(guard: str) -> None:
    column = _flat(guard)
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.EXACT, 32, 32)


@pytest.mark.parametrize(
    "guard",
    [
        "threadIdx.x * pitch < height / 64 * pitch",
        "at < rows + height",
        "row * pitch < 1024",
        "height * pitch + threadIdx.x * pitch < 1024",
    ],
)
def test_an_end_that_no_lane_need_be_before_decides_nothing(guard: str) -> None:
    column = _flat(guard)
    assert (column.grade, column.wavefronts_low, column.wavefronts) == (Grade.BOUND, 1, 32)
