"""Which neighbouring accesses run as one, rule by rule, and against nvcc where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import pytest
from instructions import shared_instructions

from smemlint.evaluate.compiler.joining.address_patterns import pattern_of
from smemlint.evaluate.compiler.joining.join_events import JoinEvent, JoinGroup, JoinKind
from smemlint.evaluate.compiler.joining.vectorise import vectorise
from smemlint.evaluate.memory.segment import layout

THREADS = np.arange(64, dtype=np.int64)


def join(events: Sequence[JoinEvent]) -> list[JoinGroup]:
    return vectorise(events)[0]


def redundant(events: Sequence[JoinEvent]) -> frozenset[int]:
    return vectorise(events)[1]


class Line:
    """A straight line of accesses; offsets are `pitch * thread + constant`, in bytes."""

    def __init__(self, *, declared: int = 4) -> None:
        self.events: list[JoinEvent] = []
        self.declared = declared
        self.region = 0

    def add(
        self,
        op: str,
        array: str,
        pitch: int,
        constant: int = 0,
        *,
        width: int = 4,
        alignment: int | None = None,
        volatile: bool = False,
        base: Hashable = None,
        start: int | None = None,
        below: int = 64,
        declared: int | None = None,
    ) -> Line:
        pattern, lead = pattern_of(np.where(below > THREADS, pitch * THREADS + constant, -1))
        proved = pitch & -pitch if alignment is None else alignment
        self.events.append(
            JoinEvent(
                JoinKind(
                    op=op,
                    width=width,
                    array=array,
                    pattern=pattern if below else None,
                    alignment=proved,
                    region=self.region,
                    volatile=volatile,
                    declared=self.declared if declared is None else declared,
                    base=base,
                    start=start,
                ),
                lead,
                order=len(self.events),
            )
        )
        return self

    def load(self, array: str, pitch: int, *constants: int, **more: object) -> Line:
        for constant in constants or (0,):
            self.add("load", array, pitch, constant, **more)  # type: ignore[arg-type]
        return self

    def store(self, array: str, pitch: int, *constants: int, **more: object) -> Line:
        for constant in constants or (0,):
            self.add("store", array, pitch, constant, **more)  # type: ignore[arg-type]
        return self

    def barrier(self) -> Line:
        return self.add("barrier", "", 0, below=0)

    def fork(self) -> Line:
        return self.add("fork", "", 0, below=0)

    def widths(self) -> list[int]:
        return [group.width for group in join(self.events)]

    def groups(self) -> list[JoinGroup]:
        return join(self.events)

    def instructions(self) -> Counter[tuple[str, int]]:
        """(op, bytes a lane) -> how many instructions run."""
        groups = self.groups()
        taken = {member for group in groups for member in group.members} | redundant(self.events)
        found = Counter((self.events[group.leader].kind.op, group.width) for group in groups)
        found.update(
            (event.kind.op, event.kind.width)
            for index, event in enumerate(self.events)
            if index not in taken and event.kind.op in ("load", "store")
        )
        return found


# windows


def test_four_aligned_neighbours_become_one_16_byte_load() -> None:
    (group,) = Line().load("s", 16, 0, 4, 8, 12).groups()
    assert (group.members, group.width, group.leader) == ((0, 1, 2, 3), 16, 0)
    assert group.offsets.tolist() == (16 * THREADS).tolist()


@pytest.mark.parametrize("words", [(0, 1, 2), (1, 2, 3), (0, 1, 3), (0, 2, 3)])
def test_three_words_of_a_window_are_loaded_as_16_bytes_with_a_hole(words: tuple[int, ...]) -> None:
    (group,) = Line().load("s", 16, *(4 * word for word in words)).groups()
    assert group.width == 16
    assert group.offsets.tolist() == (16 * THREADS).tolist()


@pytest.mark.parametrize(
    ("words", "widths"), [((0, 1), [8]), ((2, 3), [8]), ((1, 2), []), ((0, 2), []), ((0, 3), [])]
)
def test_two_words_join_only_as_an_aligned_half(words: tuple[int, ...], widths: list[int]) -> None:
    assert Line().load("s", 16, *(4 * word for word in words)).widths() == widths


def test_five_six_and_seven_neighbours_split_by_windows() -> None:
    assert Line().load("s", 32, *range(0, 20, 4)).instructions() == {("load", 16): 1, ("load", 4): 1}
    assert Line().load("s", 32, *range(0, 24, 4)).instructions() == {("load", 16): 1, ("load", 8): 1}
    assert Line().load("s", 32, *range(0, 28, 4)).instructions() == {("load", 16): 2}


def test_the_order_of_loads_does_not_matter_and_the_first_one_leads() -> None:
    (group,) = Line().load("s", 16, 12, 8, 4, 0).groups()
    assert (group.leader, group.width) == (0, 16)
    assert group.offsets.tolist() == (16 * THREADS).tolist()


def test_stores_have_no_holes_and_the_last_one_leads() -> None:
    assert Line().store("s", 16, 0, 4, 8).instructions() == {("store", 8): 1, ("store", 4): 1}
    assert Line().store("s", 16, 4, 8, 12).instructions() == {("store", 8): 1, ("store", 4): 1}
    (group,) = Line().store("s", 16, 12, 8, 4, 0).groups()
    assert (group.leader, group.width) == (3, 16)
    assert group.offsets.tolist() == (16 * THREADS).tolist()


@pytest.mark.parametrize("order", [(0, 4, 8, 12), (12, 8, 4, 0), (4, 12, 0, 8), (8, 12, 0, 4)])
def test_of_stores_that_the_optimiser_joins_the_highest_address_leads(order: tuple[int, ...]) -> None:
    (group,) = Line(declared=16).store("s", 16, *order).groups()
    assert (group.leader, group.width, group.late) == (order.index(12), 16, False)
    assert group.offsets.tolist() == (16 * THREADS).tolist()


def test_doubles_join_in_pairs() -> None:
    assert Line(declared=8).load("d", 32, 8, 16, 24, width=8).instructions() == {
        ("load", 16): 1,
        ("load", 8): 1,
    }


def test_two_words_join_a_pair_of_words_in_machine_code() -> None:
    assert Line().load("s", 16, 0, 4).load("s", 16, 8, width=8).widths() == [16]
    assert Line().load("s", 16, 0).load("s", 16, 8, width=8).widths() == [16]  # over a hole
    assert Line().load("s", 8, 0).load("s", 8, 8, width=8).widths() == []
    assert Line().store("s", 16, 0, 4).store("s", 16, 8, width=8).widths() == [16]


def test_halves_join_up_to_8_bytes() -> None:
    assert Line(declared=2).load("h", 16, *range(0, 16, 2), width=2).widths() == [8, 8]
    assert Line(declared=2).load("h", 8, 0, 2, 4, width=2).widths() == [8]
    assert Line(declared=2).load("h", 4, 0, 2, width=2).widths() == [4]
    assert Line(declared=2).store("h", 8, 0, 2, 4, 6, width=2).widths() == [8]


def test_characters_join_only_where_the_declaration_is_aligned() -> None:
    assert Line(declared=1).load("c", 16, *range(16), width=1).widths() == []
    assert Line(declared=16).load("c", 16, *range(16), width=1).widths() == [16]
    assert Line(declared=16).load("c", 4, 0, 1, 2, width=1).widths() == [4]


# alignment


def test_an_8_byte_pitch_allows_8_byte_accesses_only() -> None:
    assert Line().load("s", 8, 0, 4, 8, 12).widths() == [8, 8]
    assert Line().load("s", 24, 0, 4, 8, 12).widths() == [8, 8]


def test_an_odd_pitch_joins_nothing() -> None:
    assert Line().load("s", 132, 0, 4, 8, 12).widths() == []


def test_a_pitch_that_only_the_launch_tells_joins_nothing() -> None:
    assert Line().load("s", 128, 0, 4, 8, 12, alignment=4).widths() == []


def test_a_broadcast_over_constant_indices_joins() -> None:
    assert Line().load("s", 0, 0, 4, 8, 12).widths() == [16]


def test_where_a_static_array_starts_decides_its_windows() -> None:
    assert layout([(12, 4), (4004, 4)]) == (0, 12)
    assert layout([(20, 4), (48, 8), (3, 1), (8, 2)]) == (0, 24, 72, 76)
    assert Line().load("s", 16, 0, 4, 8, 12, start=12).widths() == []
    assert Line().load("s", 16, 0, 4, 8, 12, start=8).widths() == [8, 8]
    assert Line().load("s", 16, 0, 4, 8, 12, start=4016).widths() == [16]


def test_constant_addresses_are_known_to_the_byte() -> None:
    (group,) = Line().load("s", 0, 0, 4, 8, 12, start=12).groups()
    assert (group.members, group.width, group.offsets[0]) == ((1, 2, 3), 16, 4)


def test_scalars_that_lie_side_by_side_join() -> None:
    line = Line().load("z", 0, 0, start=0).load("y", 0, 0, start=4)
    assert line.widths() == [8]


def test_different_unknown_bases_never_join() -> None:
    assert Line().load("s", 16, 0, base="n").load("s", 16, 4, base="m").widths() == []


def test_different_masks_never_join() -> None:
    assert Line().load("s", 16, 0).load("s", 16, 4, below=32).widths() == []


# what stands between


def test_different_regions_never_join() -> None:
    line = Line().load("s", 16, 0)
    line.region = 1
    assert line.load("s", 16, 4).widths() == []


def test_volatile_accesses_never_join() -> None:
    assert Line().load("s", 16, 0, 4, volatile=True).widths() == []


def test_a_barrier_ends_every_group() -> None:
    for declared in (4, 16):
        assert Line(declared=declared).load("s", 16, 0).barrier().load("s", 16, 4).widths() == []
        assert Line(declared=declared).store("s", 16, 0).barrier().store("s", 16, 4).widths() == []


def test_any_shared_store_ends_the_loads_of_a_plain_array() -> None:
    assert Line().load("s", 16, 0).store("q", 4).load("s", 16, 4).widths() == []
    assert Line().load("s", 16, 0).store("s", 16, 8).load("s", 16, 4).widths() == []


def test_a_shared_access_between_stores_of_a_plain_array_keeps_them_apart() -> None:
    assert Line().store("s", 16, 0).load("q", 12).store("s", 16, 4).widths() == []
    assert Line().store("s", 16, 0).store("q", 4).store("s", 16, 4).widths() == []
    rows = Line()
    for k in range(4):
        rows.store("s", 16, 4 * k).store("s", 16, 4 * k + 8192)
    assert rows.widths() == []


def test_an_array_with_a_declared_alignment_joins_across_what_cannot_alias() -> None:
    line = Line(declared=16)
    assert line.load("s", 16, 0).store("q", 4).load("s", 16, 4).widths() == [8]
    rows = Line(declared=16)
    for k in range(4):
        rows.store("s", 16, 4 * k).store("s", 16, 4 * k + 8192)
    assert rows.widths() == [16, 16]


def test_a_store_that_may_alias_ends_it_there_too() -> None:
    assert Line(declared=16).load("s", 16, 0).store("s", 4, base="n").load("s", 16, 4).widths() == []
    unknown = Line(declared=16)
    for k in range(4):
        unknown.store("s", 16, 4 * k).store("s", 16, 4 * k, base="n")
    assert unknown.widths() == []


def test_a_copy_within_an_extern_array_joins_because_residues_differ() -> None:
    line = Line(declared=16)
    for k in range(4):
        line.load("s", 16, 4 * k).store("s", 16, 4 * k, base="n")
    assert line.instructions() == {("load", 16): 1, ("store", 16): 1}


def test_updates_in_place_join_only_with_a_declared_alignment() -> None:
    for declared, expected in (
        (4, {("load", 4): 4, ("store", 4): 4}),
        (16, {("load", 16): 1, ("store", 16): 1}),
    ):
        line = Line(declared=declared)
        for k in range(4):
            line.load("s", 16, 4 * k).store("s", 16, 4 * k)
        assert line.instructions() == expected


# accesses that do not run


def test_a_value_already_loaded_or_stored_is_not_loaded_again() -> None:
    assert redundant(Line().load("s", 4).store("q", 4).load("s", 4).events) == {2}
    assert redundant(Line().store("s", 4).store("s", 4, 4).load("s", 4).events) == {2}
    assert redundant(Line().load("s", 4).store("s", 4, base="n").load("s", 4).events) == set()
    assert redundant(Line().load("s", 4).barrier().load("s", 4).events) == set()
    assert redundant(Line().load("s", 4, volatile=True).load("s", 4, volatile=True).events) == set()


def test_a_store_overwritten_before_anyone_reads_it_vanishes() -> None:
    reduction = Line().load("s", 4)
    for step in (32, 16, 8, 4, 2, 1):
        reduction.load("s", 4, 4 * step).load("s", 4).store("s", 4)
    assert reduction.instructions() == {("load", 4): 7, ("store", 4): 1}


def test_a_store_stays_where_lanes_may_leave_before_the_next_one() -> None:
    """`s[t] = 0; if (i >= n) return; s[t] = g[i];`: nvcc 13 has both stores in its machine code."""
    assert redundant(Line().store("s", 4).store("s", 4).events) == {0}
    assert redundant(Line().store("s", 4).fork().store("s", 4).events) == set()
    assert redundant(Line().load("s", 4).fork().load("s", 4).events) == {2}


def test_an_atomic_makes_its_own_array_unknown() -> None:
    assert redundant(Line().load("s", 4).add("atomic", "q", 4).load("s", 4).events) == {2}
    assert redundant(Line().load("s", 4).add("atomic", "s", 4).load("s", 4).events) == set()


def test_a_hundred_thousand_events_take_seconds() -> None:
    line = Line()
    for k in range(20000):
        line.load("s", 16, 16384 * k, 16384 * k + 4, 16384 * k + 8, 16384 * k + 12).store("q", 4, 4 * k)
    assert len(line.groups()) == 20000


# against the compiler

PROLOGUE = """
__shared__ float s[4096]; __shared__ float q[2048]; int t = threadIdx.x;
#pragma unroll 1
for (int i = t; i < n; i += blockDim.x) { s[i] = in[i]; q[i & 2047] = in[i] * 2; }
__syncthreads();
"""
EPILOGUE = "__syncthreads(); out[t + n] = s[t ^ 5] + q[t ^ 9];"


def plain() -> Line:
    """What prologue and epilogue add: two stores and two loads."""
    return Line().store("s", 4, 0).store("q", 4, 0).barrier()


def update_in_place() -> Line:
    line = plain()
    for k in range(4):
        line.load("s", 16, 4 * k, start=0).store("s", 16, 4 * k, start=0)
    return line


def dot_product() -> Line:
    line = plain()
    for k in range(16):
        line.load("s", 64, 4 * k).load("q", 4, 128 * k)
    return line


def interleaved_rows() -> Line:
    line = plain()
    for k in range(4):
        line.store("s", 16, 4 * k).store("s", 16, 4 * k + 8192)
    return line


COMPILED: dict[str, tuple[str, Line]] = {
    "four_loads": (
        "out[t] = s[4*t] * n + s[4*t+1] * 2 + s[4*t+2] + s[4*t+3] * 3;",
        plain().load("s", 16, 0, 4, 8, 12),
    ),
    "three_with_a_hole": ("out[t] = s[4*t] * n + s[4*t+1] * 2 + s[4*t+3];", plain().load("s", 16, 0, 4, 12)),
    "two_in_the_middle": ("out[t] = s[4*t+1] * n + s[4*t+2];", plain().load("s", 16, 4, 8)),
    "five_loads": (
        "out[t] = s[8*t] * n + s[8*t+1] * 2 + s[8*t+2] + s[8*t+3] * 3 + s[8*t+4] * 5;",
        plain().load("s", 32, 0, 4, 8, 12, 16),
    ),
    "pitch_of_six": (
        "out[t] = s[6*t] * n + s[6*t+1] * 2 + s[6*t+2] + s[6*t+3];",
        plain().load("s", 24, 0, 4, 8, 12),
    ),
    "pitch_of_33": (
        "out[t] = s[33*t] * n + s[33*t+1] * 2 + s[33*t+2] + s[33*t+3];",
        plain().load("s", 132, 0, 4, 8, 12),
    ),
    "three_stores": ("s[4*t] = n; s[4*t+1] = n*2; s[4*t+2] = n+3;", plain().store("s", 16, 0, 4, 8)),
    "four_stores_down": (
        "s[4*t+3] = n; s[4*t+2] = n*2; s[4*t+1] = n+3; s[4*t] = n-1;",
        plain().store("s", 16, 12, 8, 4, 0),
    ),
    "store_between_loads": (
        "float a = s[4*t]; q[t + n] = 3; float b = s[4*t+1]; out[t] = a * n + b;",
        plain().load("s", 16, 0).store("q", 4, 0, base="n").load("s", 16, 4),
    ),
    "guarded_load_between_stores": (
        "s[2*t] = n; float v = 0; if (t < n) v = in[t + n]; s[2*t+1] = v;",
        plain().store("s", 8, 0).fork().store("s", 8, 4),
    ),
    "guarded_loads_before_stores": (
        "float v = t < n ? in[t + n] : 0, w = t + 1 < n ? in[t] : 0; s[2*t] = v; s[2*t+1] = w;",
        plain().fork().fork().store("s", 8, 0, 4),
    ),
    "guarded_store_between_loads": (
        "float v = s[2*t]; if (t < n) out[t + 2*n] = 3; out[t] = v + s[2*t+1] * n;",
        plain().load("s", 8, 0).fork().load("s", 8, 4),
    ),
    "update_in_place": ("s[4*t] += n; s[4*t+1] += n; s[4*t+2] += n; s[4*t+3] += n;", update_in_place()),
    "dot_product": (
        "float x = 0; for (int k = 0; k < 16; k++) x += s[16*t+k] * q[32*k+t]; out[t] = x;",
        dot_product(),
    ),
    "interleaved_rows": (
        "for (int i = 0; i < 4; i++) { s[4*t+i] = in[t+i*n]; s[4*t+i+2048] = in[t+i*n+99]; }",
        interleaved_rows(),
    ),
    "unknown_base": (
        "out[t] = s[4*t+n] * n + s[4*t+n+1] * 2 + s[4*t+n+2] + s[4*t+n+3];",
        plain().load("s", 16, 0, 4, 8, 12, alignment=4, base="n"),
    ),
    "after_a_short_array": (
        "__shared__ float r[2]; r[t & 1] = n; __syncthreads(); "
        "out[t] = s[0] * n + r[0] + r[1] + s[4*t+1] + s[4*t+2] * n + s[4*t+3];",
        plain()
        .store("r", 4, base="r")
        .barrier()
        .load("s", 0, 0, start=0)
        .load("r", 0, 0, 4, start=24576)
        .load("s", 16, 4, 8, 12, start=0),
    ),
    "warp_reduction": (
        "s[t] += s[t+32]; s[t] += s[t+16]; s[t] += s[t+8];",
        plain()
        .load("s", 4, 128, 0)
        .store("s", 4)
        .load("s", 4, 64, 0)
        .store("s", 4)
        .load("s", 4, 32, 0)
        .store("s", 4),
    ),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[tuple[str, int]]]:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    folder: Path = tmp_path_factory.mktemp("join")
    source = "".join(
        f'extern "C" __global__ void {name}(float *in, float *out, int n) {{{PROLOGUE}{body}\n{EPILOGUE}}}\n'
        for name, (body, _) in COMPILED.items()
    )
    (folder / "kernels.cu").write_text(source)
    command: Sequence[str] = (nvcc, "-arch=sm_90", "-cubin", "-O3", "-w", "-o", "kernels.cubin", "kernels.cu")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        pytest.skip(f"nvcc cannot compile for sm_90: {done.stderr[-200:]}")
    return shared_instructions((folder / "kernels.cubin").read_bytes())


@pytest.mark.parametrize("name", COMPILED)
def test_the_compiler_agrees(compiled: dict[str, Counter[tuple[str, int]]], name: str) -> None:
    line = COMPILED[name][1].barrier().load("s", 4, 0, base="x").load("q", 4, 0, base="x")
    assert compiled[name] == line.instructions()
