"""Pointers that a method takes of its own object lead to shared memory where the object lies there."""

from __future__ import annotations

import pytest
from costs import ways

OWN_MEMBERS = """
struct Sub { float a[64]; };
struct View { float *p; __device__ float *get() const { return p; } };
struct Same { __device__ static float *as(float *p) { return p; } };
template <int N> class Tile {
    float rows_[2][64]; float row_[64]; Sub sub_; View kept_;
  public:
    __device__ float get() { return rows_[1][threadIdx.x] + row_[threadIdx.x] + sub_.a[threadIdx.x]; }
    __device__ float *begin() { return row_; }
    __device__ Sub &sub() { return sub_; }
    __device__ View view() { return View{row_}; }
    __device__ void keep() { kept_.p = row_; }
    __device__ void clear() {
        float *flat = FROM;
        for (int i = threadIdx.x; i < 64; i += 32) flat[i * 2 % 64] = 0.f;
    }
};
__global__ void k(float *out) {
    __shared__ Tile<4> tile;
    tile.keep();
    tile.clear();
    __syncthreads();
    out[threadIdx.x] = tile.get();
}"""


@pytest.mark.parametrize(
    "source",
    [
        "row_",
        "&row_[0]",
        "&rows_[0][0]",
        "rows_[1]",
        "*rows_",
        "this->row_",
        "&this->sub_.a[0]",
        "reinterpret_cast<float *>(rows_)",
        "begin()",
        "&*begin()",
        "sub().a",
        "view().p",
        "view().get()",
        "kept_.p",
        "Same::as(row_)",
        "std::move(kept_.p)",
        "threadIdx.x < 8 ? row_ : sub_.a",
    ],
)
def test_a_pointer_to_what_lies_in_the_object_of_a_method_is_one_to_shared_memory(source: str) -> None:
    found = ways(OWN_MEMBERS.replace("FROM", source), (32, 1, 1))
    assert found["flat[i * 2 % 64]"] == (2, "exact")


def test_a_pointer_that_an_object_in_shared_memory_keeps_leads_there() -> None:
    found = ways(
        """
struct View { float *p; };
struct Tile { float row[64]; View kept; };
__global__ void k(float *out) {
    __shared__ Tile tile;
    tile.kept.p = tile.row;
    __syncthreads();
    float *flat = tile.kept.p;
    for (int i = threadIdx.x; i < 64; i += 32) flat[i * 2 % 64] = 0.f;
    out[threadIdx.x] = tile.row[threadIdx.x];
}""",
        (32, 1, 1),
    )
    assert found["flat[i * 2 % 64]"] == (2, "exact")
