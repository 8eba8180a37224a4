"""What host code says of blocks: the program as it is run, and what the system answers."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void sum(const float *in, float *out) {
    __shared__ float part[1024];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x ^ 1];
}
"""


def launches(main: str, told: tuple[str, ...] | None = None) -> list[Launch]:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + main).encode()))
    return list(infer(module.kernels()[0], module, started_kernels(module, told)))


def blocks(main: str, told: tuple[str, ...] | None = None) -> list[int]:
    found = launches(main, told)
    assert not any(x.assumed for x in found)
    return [x.block[0] for x in found]


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
    assert blocks(main) == [192]
    assert blocks(main, ("320",)) == [320]
    assert blocks(main, ("320", "twice")) == [640, 320]


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
    (launch,) = launches("int main() { int n = 64; read_config(&n); sum<<<1, n>>>(0, 0); }")
    assert launch.assumed


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


def test_a_block_is_filled_in_extent_by_extent() -> None:
    assert blocks("int main() { dim3 block; block.x = 192; sum<<<1, block>>>(0, 0); }") == [192]
