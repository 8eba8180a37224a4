"""Numbers that a register tile sums up in itself are passed over; where its threads read is not."""

from __future__ import annotations

from smemlint.api import analyse_file
from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.running.jobs import Job, Options
from smemlint.source import source_from_bytes

TILE = """
struct Tile {
    float sums[8 * 8];
    int row, column;
    __device__ Tile() { row = threadIdx.x / 8; column = threadIdx.x % 8; }
    __device__ void step(float (*a)[64], float (*b)[64], int k) {
        float x[8], y[8];
        for (int i = 0; i < 8; i++) x[i] = a[k][i * 4 + row];
        for (int j = 0; j < 8; j++) y[j] = b[k][j * 8 + column];
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sums[i * 8 + j] += x[i] * y[j];
    }
    __device__ void store(float (*c)[64]) {
        for (int i = 0; i < 8; i++) c[i * 4 + row][column] = sums[i];
    }
};
"""


def ways(text: str) -> dict[str, tuple[float, str]]:
    """Expression of each access -> (ways, grade) for a block of one warp."""
    report = analyse_file(Job("k.cu", Options(blocks={"": (32, 1, 1)}, suggest=False), text))
    return {
        a.expression: ((a.wavefronts or 0) / (a.ideal or 1), a.grade)
        for kernel in report.kernels
        for a in kernel.accesses
    }


def test_sums_in_registers_cost_no_steps_and_the_reads_around_them_keep_their_numbers() -> None:
    text = TILE + (
        "__global__ void k() { __shared__ float a[16][64], b[16][64], c[64][64]; Tile t;\n"
        "for (int k = 0; k < 16; k++) t.step(a, b, k); t.store(c); }"
    )
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    # 16 x 64 sums would take some 20 steps each; 16 x 16 reads take some 25 with what they stand for
    assert trace.work < 16 * 64 * 10
    found = ways(text)
    assert found["a[k][i * 4 + row]"] == (1, "exact")
    # 8 lanes a row of 64 floats: 4 rows meet in each bank
    assert found["c[i * 4 + row][column]"] == (4, "exact")


def test_a_member_that_becomes_an_index_is_followed() -> None:
    found = ways("""
struct Place {
    float at;
    __device__ void move(int i) { at = i * 2.0f; }
    __device__ int index() { return (int)at; }
};
__global__ void k() {
    __shared__ float t[64];
    Place p;
    p.move(threadIdx.x);
    t[p.index()] = 1;
}""")
    assert found["t[p.index()]"] == (2, "exact")


def test_a_sum_that_was_passed_over_decides_nothing() -> None:
    # 0 before, not known after: both arms may run
    found = ways("""
struct Sum {
    float total;
    __device__ Sum() { total = 0; }
    __device__ void add(const float *in) { total += in[threadIdx.x] * 2; }
};
__global__ void k(const float *in) {
    __shared__ float t[1024];
    Sum s;
    s.add(in);
    if (s.total > 0) t[threadIdx.x * 32] = 1;
}""")
    assert found["t[threadIdx.x * 32]"][1] == "bound"


def test_numbers_of_an_object_in_shared_memory_are_accesses() -> None:
    found = ways("""
struct Sums {
    float of[32 * 33];
    __device__ void add(const float *in) { of[threadIdx.x * 2] += in[0] * 2; }
};
__global__ void k(const float *in) {
    __shared__ Sums s;
    s.add(in);
}""")
    assert {round(n) for n, _ in found.values()} == {2}
