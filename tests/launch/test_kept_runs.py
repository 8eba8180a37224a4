"""Runs of host functions that an earlier program made already."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.ir import Module
from smemlint.launch import host, started_kernels
from smemlint.launch.linking import link
from smemlint.launch.model import ALL_HOST_STEPS, Allowance
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void sum(const float *in, float *out) {
    __shared__ float part[1024];
    part[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}
int size(int n);
"""
WAYS = "void run(int n) { int t = 128; if (n > 64) t = 256; sum<<<1, t>>>(0, 0); }\n"
OTHER = """
__global__ void other(float *out) {{ __shared__ float s[32]; s[threadIdx.x] = 0; out[0] = s[1]; }}
void start() {{ other<<<1, {}>>>(0); }}
"""
ASKS = "void run() { sum<<<1, size(2)>>>(0, 0); }\n"


def module(text: str, path: str = "/t/a.cu") -> Module:
    return load(source_from_bytes(path, text.encode()))[0]


def blocks(module: Module, allowance: Allowance) -> list[int | None]:
    """What `sum` is started with."""
    return [s.block[0] for s in started_kernels(module, allowance=allowance) if s.kernel.name == "sum"]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that are run, as they are."""
    made: list[str] = []
    call = host._call

    def counted(m: object, f: object, *rest: object) -> None:
        made.append(f.name)
        call(m, f, *rest)

    monkeypatch.setattr(host, "_call", counted)
    return made


def test_a_program_of_more_files_takes_over_the_runs_that_see_nothing_new(runs: list[str]) -> None:
    own, other = module(KERNEL + WAYS), module("int unrelated(int n) { return n; }\n", "/t/b.cu")
    allowance = Allowance()
    first = blocks(own, allowance)
    made, steps = len(runs), ALL_HOST_STEPS - allowance.steps
    assert blocks(link(own, [other]), allowance) == first == [128, 256]
    assert len(runs) == made == 3
    assert ALL_HOST_STEPS - allowance.steps == 2 * steps


def test_a_run_is_made_again_where_another_file_defines_what_it_calls() -> None:
    own, other = (
        module(KERNEL + ASKS),
        module("int size(int n) { return 32 * n; }\n" + OTHER.format("size(1)"), "/t/b.cu"),
    )
    allowance = Allowance()
    assert set(blocks(own, allowance)) == {None}
    assert set(blocks(link(own, [other]), allowance)) == {64}


def test_a_run_is_made_again_where_another_file_sets_what_it_reads() -> None:
    own = module("extern int width;\n" + KERNEL + "void run() { sum<<<1, width>>>(0, 0); }\n")
    other = module("int width = 96;\n" + OTHER.format("width"), "/t/b.cu")
    allowance = Allowance()
    assert 96 not in blocks(own, allowance)
    assert blocks(link(own, [other]), allowance) == [96]


VIRTUAL = "struct Shape { int width; virtual int threads() { return 64; } };\n"
SHAPED = "void run(Shape *s) { sum<<<s->width, s->threads()>>>(0, 0); }\n"
WIDE = "struct Wide : Shape { int threads() override { return 128; } };\n"
SETS = "struct Shape { int width; void grow(); };\n"
GROWS = "void Shape::grow() { width = 96; }\n"


def test_a_run_that_asks_objects_of_classes_is_taken_over(runs: list[str]) -> None:
    own, other = module(VIRTUAL + KERNEL + SHAPED), module("int unrelated(int n) { return n; }\n", "/t/b.cu")
    allowance = Allowance()
    assert blocks(own, allowance) == blocks(link(own, [other]), allowance) == [64]
    assert runs == ["run"]


def test_a_run_is_made_again_where_another_file_derives_a_class_that_may_be_meant() -> None:
    own = module(VIRTUAL + KERNEL + SHAPED)
    other = module(VIRTUAL + WIDE + OTHER.format("Wide().threads()"), "/t/b.cu")
    allowance = Allowance()
    assert blocks(own, allowance) == [64]
    assert set(blocks(link(own, [other]), allowance)) == {None}


def test_a_run_is_made_again_where_another_file_sets_a_member_that_it_reads() -> None:
    own = module(SETS + KERNEL + "void run(Shape *s) { sum<<<1, s->width>>>(0, 0); }\n")
    starts = "void start() {{ Shape s; s.grow(); other<<<1, s.width>>>(0); }}"
    other = module(SETS + OTHER.replace("void start() {{ other<<<1, {}>>>(0); }}", starts).format() + GROWS)
    allowance = Allowance()
    assert set(blocks(own, allowance)) == {None}
    assert blocks(link(own, [other]), allowance) == [96]


LOOPS = """
namespace lib { template <int N> constexpr int twice = 2 * N; }
using namespace lib;
struct Pool { void take(int &n); void give(int n); };
void run(Pool pool) {
    int t = twice<64>, left = 0;
    for (int i = 0; i < 4; ++i) pool.give(t);
    sum<<<1, t>>>(0, 0);
    for (int i = 0; i < 4; ++i) pool.take(left);
    sum<<<1, left>>>(0, 0);
}
"""


@pytest.mark.parametrize(
    ("more", "size", "again"),
    [
        ("template <int N> int unrelated = N;\n", "unrelated<32>", False),
        ("struct Pot { int give(int &n); };\nint Pot::give(int &n) { return n; }\n", "Pot().give(5)", True),
    ],
)
def test_a_run_that_asks_methods_in_loops_and_variable_templates_is_taken_over(
    more: str, size: str, again: bool, runs: list[str]
) -> None:
    own, other = module(KERNEL + LOOPS), module(more + OTHER.format(f"({size})"), "/t/b.cu")
    allowance = Allowance()
    first = blocks(own, allowance)
    assert set(first) == {128, None}
    made = len(runs)
    second = blocks(link(own, [other]), allowance)
    assert ("run" in runs[made:]) is again
    assert again or second == first


def test_main_of_another_file_is_run_once_for_all_programs(runs: list[str]) -> None:
    own = module(KERNEL + "void run(int n) { sum<<<1, n>>>(0, 0); }\n")
    main = OTHER.format(32).replace("void start() {", "void run(int n);\nint main() { run(64);")
    starts = module(main, "/t/main.cu")
    third = module("int unrelated(int n) { return n; }\n", "/t/b.cu")
    allowance = Allowance()
    assert blocks(link(own, [starts]), allowance) == blocks(link(own, [starts, third]), allowance) == [64]
    assert runs == ["main"]


def test_a_run_is_made_again_where_another_file_defines_an_operator() -> None:
    tiles = "struct Tiles { int rows; };\nTiles operator*(Tiles a, int n);\n"
    starts = "void run() { Tiles t; t.rows = 2; Tiles all = t * 48; sum<<<1, all.rows>>>(0, 0); }\n"
    defines = "Tiles operator*(Tiles a, int n) { Tiles r; r.rows = a.rows * n; return r; }\n"
    uses = "void more() { Tiles t; t.rows = 1; Tiles u = t * 32; other<<<1, u.rows>>>(0); }\n"
    own = module(tiles + KERNEL + starts)
    other = module(tiles + defines + OTHER.format(32) + uses, "/t/b.cu")
    allowance = Allowance()
    assert set(blocks(own, allowance)) == {None}
    assert set(blocks(link(own, [other]), allowance)) == {96}
