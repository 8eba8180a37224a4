"""What host code says of blocks: the program as it is run, and what the system answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_code import KERNEL, blocks, launches

from smemlint.api import analyse_file
from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.running.jobs import Job, Options
from smemlint.source import source_from_bytes


def test_a_range_of_block_sizes_is_gone_through() -> None:
    over_array = "int main() { int sizes[] = {64, 96, 256}; for (int n : sizes) sum<<<1, n>>>(0, 0); }"
    assert blocks(over_array) == [64, 96, 256]
    assert blocks("int main() { for (auto n : {128, 512}) sum<<<1, n>>>(0, 0); }") == [128, 512]


def test_a_program_that_is_told_nothing_takes_its_defaults() -> None:
    main = """
    int main(int argc, char **argv) {
        int threads = 192;
        if (argc > 1) threads = atoi(argv[1]);
        if (argc > 2 && !strcmp(argv[2], "twice")) sum<<<1, 2 * threads>>>(0, 0);
        sum<<<1, threads>>>(0, 0);
    }"""
    assert launches(main)[0].block[0] == 192
    assert blocks(main, ("320",)) == [320]
    assert blocks(main, ("320", "twice")) == [640, 320]


@pytest.mark.parametrize("checks", [2, 3, 4, 7])
def test_arguments_that_are_checked_one_after_the_other_may_all_be_right(checks: int) -> None:
    chain = "".join(f"else if (p{i} < {i}) info = {-i - 1};\n" for i in range(1, checks))
    parameters = ", ".join(f"int p{i}" for i in range(checks))
    main = f"""
    int start({parameters}) {{
        int info = 0;
        if (p0 != 122) info = -1;
        {chain}
        if (info != 0) return info;
        sum<<<1, 192>>>(0, 0);
        return info;
    }}"""
    assert blocks(main) == [192]


@pytest.mark.parametrize(
    "member",
    [
        "std::vector<float *> others;",
        "std::map<int, int> others;",
        "at::Tensor other;",
        "float other[COUNT];",
    ],
)
def test_members_beside_one_of_unknown_size_are_followed(member: str) -> None:
    main = f"""
    class Sum {{
        {member}
        unsigned width;
        dim3 block;
    public:
        Sum() : width(8) {{}}
        void set(unsigned n) {{ width = n; block = dim3(2 * n); }}
        void run() {{ sum<<<width, block>>>(0, 0); }}
    }};
    int main() {{ Sum s; s.set(96); s.run(); }}"""
    [launch] = launches(main)
    assert (launch.block, launch.grid, launch.assumed) == ((192, 1, 1), (96, 1, 1), False)


def test_the_size_of_a_class_with_a_member_of_unknown_size_is_not_known() -> None:
    main = """
    struct Sum { std::regex others; int n; };
    int main() { sum<<<1, 64, sizeof(Sum)>>>(0, 0); }"""
    [launch] = launches(main)
    assert launch.dynamic is None


def test_a_program_that_wants_to_be_told_is_read_with_words_that_are_not_known() -> None:
    main = """
    int main(int argc, char **argv) {
        if (argc != 2) { usage(); return 1; }
        int n = atoi(argv[1]);
        sum<<<n / 256, 256>>>(0, 0);
    }"""
    assert blocks(main) == [256]


def test_a_switch_over_a_known_number_starts_one_case() -> None:
    main = """
    void start(int threads) {
        switch (threads) {
        case 256: sum<<<1, 256>>>(0, 0); break;
        case 128: sum<<<1, 128>>>(0, 0); break;
        }
    }
    int main() { int threads = 128; start(threads); }"""
    assert blocks(main) == [128]


def test_nothing_runs_after_exit() -> None:
    main = """
    void quick() { sum<<<1, 96>>>(0, 0); exit(0); }
    int main() { int n = 1; if (n) quick(); sum<<<1, 64>>>(0, 0); }"""
    assert blocks(main) == [96]


@pytest.mark.parametrize(
    "asked",
    [
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); n = p.maxThreadsPerBlock;",
        "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); n = p.maxThreadsDim[0];",
        "cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, 0);",
    ],
)
def test_every_device_has_blocks_of_1024_threads(asked: str) -> None:
    assert blocks(f"int main() {{ int n = 0; {asked} sum<<<1, n>>>(0, 0); }}") == [1024]


def test_a_block_of_the_best_occupancy_is_assumed_to_be_the_largest() -> None:
    main = """
    int main() {
        int grid = 0, n = 0;
        cudaOccupancyMaxPotentialBlockSize(&grid, &n, sum, 0, 512);
        sum<<<grid, n>>>(0, 0);
    }"""
    (launch,) = launches(main)
    assert (launch.block[0], launch.assumed) == (512, True)


def test_what_unknown_code_may_set_is_not_known() -> None:
    found = launches("int main() { int n = 64; read_config(&n); sum<<<1, n>>>(0, 0); }")
    assert all(x.assumed for x in found)
    assert len(found) > 1


def test_what_a_function_hands_back_by_reference_is_followed() -> None:
    main = """
    struct Shape { int threads; };
    int chosen;
    void choose(int n, int &grid, int *threads, Shape *shape) {
        grid = n / 96;
        *threads = n > 100 ? 96 : 32;
        shape->threads = 160;
        chosen = 224;
    }
    int main() {
        int grid = 0, threads = 0;
        Shape shape;
        choose(9600, grid, &threads, &shape);
        sum<<<grid, threads>>>(0, 0);
        sum<<<grid, shape.threads>>>(0, 0);
        sum<<<grid, chosen>>>(0, 0);
    }"""
    assert blocks(main) == [96, 160, 224]


def test_members_that_a_method_sets_are_followed() -> None:
    main = """
    class Sum {
        dim3 block;
        void prepare(int n) { block = dim3(n / 2); }
    public:
        Sum(int n) { prepare(n); }
        void run() { sum<<<1, block>>>(0, 0); }
    };
    int main() { Sum s(256); s.run(); }"""
    assert blocks(main) == [128]


def test_a_null_pointer_is_null_in_host_code() -> None:
    main = """
    int main() {
        char *name = 0;
        int threads = 64;
        if (name != nullptr) threads = 128;
        if (name) threads = 256;
        sum<<<1, threads>>>(0, 0);
    }"""
    assert blocks(main) == [64]


def test_a_cooperative_launch_is_followed_through_its_callers() -> None:
    main = """
    void cooperate(int threads, float *in, float *out) {
        void *arguments[] = {&in, &out};
        cudaLaunchCooperativeKernel((void *)sum, dim3(8), dim3(threads), arguments, 0, 0);
    }
    int main() { float *p; cooperate(320, p, p); }"""
    assert blocks(main) == [320]


def test_a_function_that_is_handed_over_is_called() -> None:
    main = """
    template <int threads> double once(float *p, bool warm) { sum<<<1, threads>>>(p, p); return 0; }
    void measure(float *p, double (*f)(float *, bool)) { (*f)(p, true); }
    template <typename F> void repeat(F f, float *p) { f(p, false); }
    int main() { float *p; measure(p, once<64>); repeat(once<96>, p); }"""
    assert blocks(main) == [64, 96]


def test_a_function_that_is_registered_is_run_as_it_stands() -> None:
    main = """
    template <int threads> void launch(dim3 block, float *p) { sum<<<threads, block>>>(p, p); }
    template void launch<64>(dim3 block, float *p);
    template void launch<96>(dim3 block, float *p);
    void start(float *p) {
        const int threads = 64;
        dim3 block(threads);
        switch (threads) {
        case 64: launch<64>(block, p); break;
        case 96: launch<96>(block, p); break;
        }
    }
    void module(Unknown &m) { m.def("start", &start); }"""
    assert [(x.grid[0], x.block[0]) for x in launches(main)] == [(64, 64)]


def test_a_block_is_filled_in_extent_by_extent() -> None:
    assert blocks("int main() { dim3 block; block.x = 192; sum<<<1, block>>>(0, 0); }") == [192]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_launch_in_a_macro_of_several_lines_is_seen_whatever_ends_them(end: str) -> None:
    main = "#define START(k, n) \\\n { \\\n k <<< 1, n >>> (0, 0); \\\n }\nint main() { START(sum, 96); }"
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + main).replace("\n", end).encode()))
    (launch,) = infer(module.kernels()[0], module, started_kernels(module))
    assert launch.block[0] == 96


def test_a_variable_outside_functions_is_what_a_function_before_the_launch_made_it() -> None:
    main = """
    int threads; dim3 shapes[2][2]; float data[1 << 20];
    void configure() { threads = 96; shapes[1][0] = dim3(64, 3); }
    void setUp() { for (int i = 0; i < 1 << 20; i++) data[i] = i; configure(); }
    void start(int which) { sum<<<4, shapes[which][0]>>>(data, 0); }
    int main() { setUp(); sum<<<1, threads>>>(data, 0); start(1); }"""
    assert [x.block for x in launches(main)] == [(96, 1, 1), (64, 3, 1)]


def test_kernels_in_an_array_are_started_each() -> None:
    main = """
    __global__ void other(const float *in, float *out) {}
    int main() {
        void (*kernels[2])(const float *, float *) = {other, sum};
        for (int i = 0; i < 2; i++) kernels[i]<<<1, 64 << i>>>(0, 0);
        kernels[0] = sum;
        kernels[0]<<<1, 96>>>(0, 0);
    }"""
    assert blocks(main) == [128, 96]


def test_a_launch_that_is_repeated_to_be_timed_is_looked_at_twice() -> None:
    main = """
    void scan(int n, float *p) { sum<<<n / 64, 64>>>(p, p); }
    int main() {
        float *p;
        for (int n = 64; n <= 1 << 20; n *= 2)
            for (int i = 0; i < 1000; i++) scan(n, p);
        int last = 32;
        for (int i = 0; i < 3; i++) last *= 2;
        sum<<<1, last>>>(p, p);
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + main).encode()))
    found = started_kernels(module)
    assert [s.grid[0] for s in found] == [2**k for k in range(15)] + [1]
    assert [s.block[0] for s in found] == [64] * 15 + [256]


def test_sizes_that_launches_differ_in_are_kept_as_long_as_they_are_few() -> None:
    text = """
    __global__ void scan(float *p, int size, int seed) { __shared__ float s[64]; s[0] = p[size + seed]; }
    int main() {
        float *p;
        for (int n = 4; n <= 32; n *= 2)
            for (int seed = 0; seed < 30; seed++) scan<<<1, 64>>>(p, n, seed);
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (launch,) = infer(module.kernels()[0], module, started_kernels(module))
    assert [dict(v) for v in launch.variants] == [{"size": n} for n in (4, 8, 16, 32)]
    assert not launch.arguments


def test_a_chain_of_conditions_that_reads_the_words_is_gone_through() -> None:
    main = """
    int main(int argc, char **argv) {
        int rows = 0, n = 160;
        if (argc < 3) return 1;
        if ((rows = atoi(argv[1])) <= 0 || (n = atoi(argv[2])) <= 0) exit(1);
        sum<<<rows, n>>>(0, 0);
    }"""
    assert 160 not in {x.block[0] for x in launches(main)}
    assert blocks(main, ("2", "96")) == [96]


def test_a_long_host_function_of_a_header_is_followed_where_it_leads_to_a_launch(tmp_path: Path) -> None:
    """A launcher template of a library: the function between the program and it is long and says no `<<<`."""
    (tmp_path / "lib.cuh").write_text(
        """
        template <class F> __global__ void run(F f, int n) { f(threadIdx.x, blockIdx.x); }
        template <int NT, class F> void cta_launch(F f, int n) { run<F><<<n, NT>>>(f, n); }
        template <class T> void scan(T *p, int n) {
            auto k = [=] __device__(int t, int b) {
                __shared__ T s[256];
                s[t * 2] = p[t];
                __syncthreads();
                p[t] = s[t];
            };
        """
        + "".join(
            f'if (n == {i}) warn("size {i} is not one that this was ever tried with");' for i in range(80)
        )
        + """
            cta_launch<128>(k, n);
        }
        """
    )
    (tmp_path / "main.cu").write_text('#include "lib.cuh"\nint main() { double *p = 0; scan(p, 9); }\n')
    report = analyse_file(Job(str(tmp_path / "main.cu"), Options(suggest=False)))
    [kernel] = [k for k in report.kernels if k.name == "run"]
    assert kernel.launch.block == (128, 1, 1)
    assert [(a.op, a.width) for a in kernel.accesses] == [("store", 8), ("load", 8)]


def test_kernels_of_a_table_have_the_block_that_all_of_them_have() -> None:
    code = """
    template <int N> __global__ void of(float *p) { __shared__ float s[N]; s[threadIdx.x] = p[0]; }
    constexpr auto table = std::array {of<64>, of<128>};
    void go(int which, float *p) { table[which]<<<1, 64>>>(p); }
    """
    (module, *_) = load(source_from_bytes("/t/a.cu", code.encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert {(x.block[0], x.template["N"], x.assumed) for x in found} == {(64, 64, False), (64, 128, False)}


def test_a_switch_over_names_of_a_header_that_is_not_there_has_its_cases_and_not_their_power_set() -> None:
    cases = " ".join(f"case KIND_{i}: sum<<<1, {32 * i}>>>(0, 0); break;" for i in range(1, 19))
    text = '#include "kinds.h"\nvoid go(int kind) { switch (kind) {' + cases + "} }"
    assert sorted(x.block[0] or 0 for x in launches(text)) == [32 * i for i in range(1, 19)]


def test_a_kernel_that_is_declared_alone_stands_for_its_specialisations() -> None:
    """What runs is the specialisation for the arguments of the launch, each under its own block."""
    text = """
    template <int N> __global__ void k(float *o);
    template <> __global__ void k<1>(float *o) { __shared__ float s[4096]; o[0] = s[threadIdx.x * 32]; }
    template <> __global__ void k<2>(float *o) { __shared__ float s[4096]; o[0] = s[threadIdx.x * 33]; }
    template <int N> void start(int n) { k<N><<<1, n>>>(0); }
    int main() { start<1>(64); start<2>(96); }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    with_bodies = frozenset(k.id for k in module.kernels())
    for kernels in (None, with_bodies):
        started = started_kernels(module, None, kernels)
        told = [x for k in module.kernels() for x in infer(k, module, started)]
        assert [(x.block[0], x.assumed) for x in told] == [(64, False), (96, False)]


def test_a_specialised_kernel_is_not_the_template_of_the_launch() -> None:
    text = """
    template <int N> __global__ void k(float *o) { __shared__ float s[4096]; o[0] = s[threadIdx.x * N]; }
    template <> __global__ void k<1>(float *o) { __shared__ float s[4096]; o[0] = s[threadIdx.x * 32]; }
    template <int N> void start() { k<N><<<1, 64>>>(0); }
    int main() { start<1>(); }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    assert [s.kernel.specialises is not None for s in started_kernels(module, None)] == [True]


def test_shapes_that_a_condition_chooses_stand_beside_those_of_other_launches() -> None:
    """In a function whose ways are gone one by one, as its class's sizes are not known."""
    code = """
    class Layer {
        int rows = 0, columns = 0;
        void run(float *p) {
            int threads = max(rows, columns) <= 64 ? 64 : 128;
            if (rows > 9) sum<<<rows, threads>>>(p, p); else sum<<<rows, 32>>>(p, p);
        }
    };"""
    text = KERNEL.replace("__shared__ float part[1024]", "extern __shared__ float part[]") + code
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = infer(module.kernels()[0], module, started_kernels(module))
    assert {(x.block[0], x.assumed) for x in found} == {(64, False), (128, False), (32, False)}


def test_loops_over_floating_point_data_are_passed_over_on_the_way_to_a_launch() -> None:
    host = """
    double x[100000], z[100000]; double norm; int n;
    void solve(double *q, double *r, double *out) {
      double sum = 0;
      for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 1000; j++)
          for (int k = 0; k < 1000; k++) { q[k] = r[k]; sum += q[k] * r[k]; }
      *out = sum;
    }
    void launch(double *out) { sum<<<1, n>>>(0, 0); *out = x[0]; }
    int main() {
      double found;
      solve(x, z, &found);
      for (int i = 0; i < 100000; i++) x[i] = found * z[i];
      n = 96;
      launch(&found);
    }
    """
    assert blocks(host) == [96]


def test_a_short_array_outside_functions_may_hold_what_a_block_is_made_of() -> None:
    host = """
    int levels[4 + 1]; float data[5];
    void set_up() { levels[4] = 256; for (int k = 3; k >= 0; k--) levels[k] = levels[k + 1] / 2; }
    void launch(int n) { sum<<<1, n>>>(0, 0); }
    int main() { set_up(); int n = levels[2]; launch(n); }
    """
    assert blocks(host) == [64]


def test_an_object_that_is_made_without_throwing_is_an_object() -> None:
    made = "#include <new>\nstruct Shape { int threads; Shape(int n) : threads(32 * n) {} };\n"
    run = "void run() { auto *s = new (std::nothrow) Shape(6); sum<<<1, s->threads>>>(0, 0); }"
    (module, *_) = load(source_from_bytes("/t/a.cu", (made + KERNEL + run).encode()))
    assert {s.block[0] for s in started_kernels(module)} == {192}
