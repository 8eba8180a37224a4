"""Which of host code is run on the way to a launch, and what is known where it was not."""

from __future__ import annotations

import pytest
from host_code import KERNEL, blocks, launches

from smemlint.api import analyse_file
from smemlint.frontend import load
from smemlint.ir import LaunchStmt, Name
from smemlint.ir.walk import nodes_of
from smemlint.launch import started_kernels
from smemlint.launch.model import ALL_HOST_STEPS, Allowance
from smemlint.launch.source.starters import may_start
from smemlint.running.jobs import Job
from smemlint.source import source_from_bytes


def test_what_no_launch_follows_is_not_run() -> None:
    after = """
    int check(const float *p, int n) {
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) n += p[i] > 1;
        return n;
    }
    int started(int n) { sum<<<1, n>>>(0, 0); n = check(0, n); return n; }
    """
    spent = [steps(after + f"int main() {{ {tail} }}") for tail in ("return started(64);", "started(64);")]
    assert spent[0] < 60 and spent[1] < 60


def test_what_a_launch_follows_is_run_also_behind_another_launch() -> None:
    start = "int begun(int &n) { sum<<<1, n>>>(0, 0); n *= 2; return n / 4; }"
    assert blocks(
        start + "int main() { int n = 64; int m = begun(n); sum<<<1, n>>>(0, 0); sum<<<1, m>>>(0, 0); }"
    ) == [
        64,
        128,
        32,
    ]
    assert blocks(start + "int main() { int n = 64; sum<<<1, begun(n)>>>(0, 0); }") == [64, 32]
    assert blocks(start + "int main() { int n = 64; if (begun(n)) begun(n); }") == [64, 128]
    assert blocks(start + "int main() { int n = 64; for (int i = 0; i < 3; i++) begun(n); }") == [
        64,
        128,
        256,
    ]
    assert blocks(start + "int main() { int n = 64; n = begun(n) + begun(n); }") == [64, 128]


def steps(main: str) -> int:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + main).encode()))
    allowance = Allowance()
    assert [s.block[0] for s in started_kernels(module, allowance=allowance)] == [64]
    return ALL_HOST_STEPS - allowance.steps


COSTLY = "int costly(int n) { int r = n; for (int i = 0; i < 60; i++) r = r * 3 + i; return r; } "


def test_what_is_given_back_at_the_end_is_not_computed() -> None:
    early = COSTLY + "int run(int n) { if (n < 9) return costly(n); sum<<<1, 64>>>(0, 0); return costly(2); }"
    assert steps(early) < 40
    assert steps(early + " int both(int n) { if (n < 3) return run(n); return run(n + 1); }") < 80
    asked = early + " int main() { if (run(3) > 9) return 1; return costly(1); }"
    assert steps(asked) > 60


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("int pick(int n) { if (n < 9) return 96; sum<<<1, 64>>>(0, 0); return 128; } "
         "int main(int argc, char **) { int t = pick(argc * 9); sum<<<1, t>>>(0, 0); "
         "return pick(5); }", [64, 128]),
        ("template <class F> int go(F f) { sum<<<1, f(32)>>>(0, 0); return f(1); } "
         "int main() { return go([](int x) { if (x > 9) return x * 2; return 32; }); }", [64]),
        ("int go(int n) { sum<<<1, n>>>(0, 0); if (n == 64) throw 1; return n; } "
         "int main() { try { return go(64); } catch (int) { sum<<<1, 128>>>(0, 0); } }", [64, 128]),
        ("int go(int n) { for (int i = 1; i < 9; i++) if (i * 32 > n) return i; "
         "sum<<<1, n>>>(0, 0); return n; } "
         "int main() { sum<<<1, 32 * go(64)>>>(0, 0); return go(512); }", [96, 512]),
    ],
)  # fmt: skip
def test_what_is_given_back_is_known_where_launches_follow(code: str, told: list[int]) -> None:
    assert blocks(code) == told


@pytest.mark.parametrize(
    "call", ["cudaMalloc((void **)&in, 64)", "fill(reinterpret_cast<void **>(&in))", "cudaMalloc(&in, 64)"]
)
def test_a_pointer_that_a_call_fills_is_null_no_longer(call: str) -> None:
    text = """void fill(void **);
    __global__ void k(const float *in, float *out) {
        __shared__ float s[512];
        if (in != nullptr) s[threadIdx.x * 4] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x]; }
    int main() { float *in = NULL, *out = NULL; %s; k<<<1, 128>>>(in, out); }"""
    (kernel,) = analyse_file(Job("k.cu", text=text % call)).kernels
    assert [(a.op, a.ways, a.grade) for a in kernel.accesses] == [("store", 4, "exact"), ("load", 1, "exact")]


def test_what_another_entry_has_set_is_not_known_where_an_entry_begins() -> None:
    """`count` is 0 until `fill` runs, and nothing that `go` calls runs it; what `go` sets itself is known."""
    entries = """
    static int count, way;
    extern "C" void fill(int n) { count = n; }
    int chosen() { if (!way) way = 2; return way; }
    extern "C" void go(float *x) { sum<<<1 + count, 64>>>(x, x); }
    extern "C" void lazily(float *x) { sum<<<chosen(), 128>>>(x, x); }
    """
    assert {s.block[0]: s.grid[0] for s in launches(entries)} == {64: None, 128: 2}
    nobody = entries.replace("count = n", "way = n")
    assert {s.block[0]: s.grid[0] for s in launches(nobody)} == {64: 1, 128: 2}


def test_what_a_branch_compares_with_is_no_default() -> None:
    main = "int main(int argc, char **argv) { int n = 64; if (argc > 1) n = atoi(argv[1]); dim3 block(n / 4);"
    assert blocks(main + " if (n == 256) sum<<<10, block>>>(0, 0); }") == [64]
    assert all(x.assumed for x in launches(main + " if (n > 100) sum<<<10, n>>>(0, 0); }"))
    assert all(x.assumed for x in launches(main + " if (argc > 2) sum<<<10, n>>>(0, 0); }"))


def test_behind_a_branch_that_is_not_taken_what_it_compares_is_another_number() -> None:
    main = 'int main() { const char *e = getenv("N"); int n = e ? atoi(e) : 8; int t = n * 4;'
    assert blocks(main + " if (n == 64) sum<<<1, 2 * n>>>(0, 0); }") == [128]
    assert all(x.assumed for x in launches(main + " if (n == 64) sum<<<1, t>>>(0, 0); }"))
    assert blocks(main + " dim3 block(96); if (n == 64) sum<<<1, block>>>(0, 0); }") == [96]


def test_instances_that_the_program_starts_only_when_told_are_not_left_out() -> None:
    main = """
    template <int N> __global__ void k(float *p) { __shared__ float s[1024]; s[N * threadIdx.x] = p[0]; }
    int main(int argc, char **argv) {
        int mode = argc > 1 ? atoi(argv[1]) : 1;
        switch (mode) {
        case 1: k<1><<<1, 128>>>(0); break;
        case 2: k<2><<<1, 64>>>(0); break;
        default: k<4><<<1, 32>>>(0);
        }
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", main.encode()))
    assert {(s.template["N"], s.block) for s in started_kernels(module)} == {
        (1, (128, 1, 1)),
        (2, (64, 1, 1)),
        (4, (32, 1, 1)),
    }


def test_a_table_that_is_asked_with_a_default_leads_to_its_other_kernels_too() -> None:
    main = """
    template <int N> __global__ void k(float *p) { __shared__ float s[1024]; s[N * threadIdx.x] = p[0]; }
    void (*table[])(float *) = {k<1>, k<2>, k<4>};
    int main(int argc, char **argv) { int i = argc > 1 ? atoi(argv[1]) : 1; table[i]<<<1, 128>>>(0); }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", main.encode()))
    started = started_kernels(module)
    assert {(s.template["N"], s.block) for s in started} == {(n, (128, 1, 1)) for n in (1, 2, 4)}
    assert started[0].template["N"] == 2 and not started[0].guessed


def test_a_case_says_what_a_number_of_one_of_two_sources_is() -> None:
    assert blocks(
        "int a(); int b(); void f(int n) {"
        " dim3 block(n / 4); switch (n) { case 256: sum<<<1, block>>>(0, 0); break;"
        " case 1024: sum<<<1, n / 8>>>(0, 0); break; } }\n"
        "int main(int argc, char **argv) { int n; char mode = '0'; if (argc > 2) mode = *argv[1];"
        " if (mode == 'f') n = a(); else if (mode == 'r') n = b(); else return 1; f(n); }"
    ) == [64, 128]


LONG_WAY = """
void wrapper(float *x) { sum<<<1, 64>>>(x, x); }
void go(float *x, int a) {
    int n = 1;
    for (int i = 0; i < 39; i++)
        for (int j = 0; j < 39; j++)
            for (int k = 0; k < 39; k++)
                for (int l = 0; l < 39; l++) n = n * 3 + i * j + k * l;
    if (n != 7) wrapper(x);
}
"""


def test_what_holds_a_launch_runs_where_its_callers_take_all_steps() -> None:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + LONG_WAY).encode()))
    allowance = Allowance(20_000)
    assert [s.block[0] for s in started_kernels(module, allowance=allowance)] == [64]
    assert allowance.steps <= 0


def test_a_launch_of_another_kernel_is_not_looked_for_where_what_it_is_given_is_not_known() -> None:
    """clang leaves open which kernel `other` is: it does not know what `x.data()` gives."""
    text = KERNEL + (
        "__global__ void other(float *x) { x[0] = 1; }\n__global__ void other(int *x) { x[0] = 1; }\n"
        "template <class T> void go(T x) { other<<<1, 32>>>(x.data()); sum<<<1, 64>>>(x.data(), x.data()); }"
    )
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (go,) = (f for f in module.functions.values() if f.name == "go")
    (wanted,) = (k.id for k in module.kernels() if k.name == "sum")
    other, this = (n for n in nodes_of(go.body) if isinstance(n, LaunchStmt))
    assert isinstance(other.kernel, Name)
    assert not other.kernel.id
    assert not may_start(module, other, frozenset({wanted}))
    assert may_start(module, this, frozenset({wanted}))


@pytest.mark.parametrize(
    "body",
    ["t = u; u = 96;", "if (i > 3) t = a[i];", "t += 32; if (t > 256) t = 32;"],
)
def test_what_a_loop_starts_is_told_once_though_its_iterations_are_tried_out(body: str) -> None:
    """The first iteration says that `t` goes in steps; the one that stands for all does not end so."""
    run = "void run(int *a, int n) { int t = 32, u = 64; for (int i = 0; i < n; i++) { LAUNCH BODY } }"
    text = KERNEL + run.replace("LAUNCH", "sum<<<1, t>>>(0, 0);").replace("BODY", body)
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    # Once as the function runs, and once on its way for any caller.
    assert [s.block[0] for s in started_kernels(module)] == [None, None]


def test_loops_in_loops_are_not_tried_out_anew_at_each_level() -> None:
    def steps(depth: int) -> int:
        body = "t = a[t] > 3 ? a[t] : t + 1;"
        for i in range(depth):
            body = f"for (int i{i} = 0; i{i} < a[{i}]; i{i}++) {{ {body} }}"
        text = f"{KERNEL}void run(int *a) {{ int t = 32; {body} sum<<<1, t>>>(0, 0); }}"
        (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
        allowance = Allowance()
        started_kernels(module, allowance=allowance)
        return ALL_HOST_STEPS - allowance.steps

    assert steps(3) < 4 * steps(1)
