"""Small records that are read from memory as a whole: each number of theirs is one that its readers share."""

from __future__ import annotations

from collections import Counter

import pytest

from smemlint.api import Job, analyse_file

KERNEL = """
struct Range { unsigned first, size; };
__global__ void k(float *p, const %s *table) {
    extern __shared__ uint2 entries[];
    unsigned t = threadIdx.x;
    %s head = table[blockIdx.x];
    unsigned size = head.%s;
    if (size > 0) {
        unsigned *gates = (unsigned *)&entries[size];
        for (unsigned i = t; i < size; i += 128) {
            gates[i] = 1;
            entries[i] = make_uint2(1, i);
        }
        __syncthreads();
        p[t] = gates[t];
    }
}
void run(float *p, const %s *table) { k<<<1, 128, 4096>>>(p, table); }
"""


def wavefronts(width: int, start: int, lanes: int) -> int:
    """Of a row of values from a word on: groups of 128 bytes, each as often as its busiest bank."""
    group = 128 // width
    found = 0
    for first in range(0, lanes, group):
        words = [start + (width * lane) // 4 + w for lane in range(first, min(first + group, lanes))
                 for w in range(width // 4)]  # fmt: skip
        found += max(Counter(word % 32 for word in words).values())
    return found


@pytest.mark.parametrize(("record", "member"), [("uint4", "y"), ("int2", "y"), ("Range", "size")])
def test_a_size_out_of_a_record_is_one_number(record: str, member: str) -> None:
    assert {wavefronts(4, 2 * size, n) for size in range(1, 200) for n in range(1, 33)} == {1}
    assert {wavefronts(8, 0, n) for n in range(17, 33)} == {2}
    (kernel,) = analyse_file(Job("/t/k.cu", text=KERNEL % (record, record, member, record))).kernels
    told = {(a.op, a.expression, a.ways, a.grade) for a in kernel.accesses}
    assert told == {
        ("store", "gates[i]", 1, "exact"),
        ("store", "entries[i]", 1, "exact"),
        ("load", "gates[t]", 1, "exact"),
    }


def test_what_each_lane_reads_stays_data() -> None:
    text = """
    __global__ void k(float *p, const int2 *table) {
        __shared__ float s[1024];
        int2 mine = table[threadIdx.x];
        s[mine.x] = 1;
        __syncthreads();
        p[0] = s[mine.y & 7];
    }
    void run(float *p, const int2 *table) { k<<<1, 32>>>(p, table); }
    """
    (kernel,) = analyse_file(Job("/t/k.cu", text=text)).kernels
    told = {a.op: (a.wavefronts_low, a.wavefronts, a.reason[0] if a.reason else "") for a in kernel.accesses}
    assert told["store"] == (1, 32, "data-dependent")
    assert told["load"][2] == "" or told["load"][:2] == (1, 8)
