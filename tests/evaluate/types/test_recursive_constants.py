"""Constants of class templates that are made of those of smaller arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import Job, analyse_file

LOG = """
template <int N> struct Log { static const int value = 1 + Log<N / 2>::value; };
template <> struct Log<1> { static const int value = 0; };
"""
ENUM = """
template <int N> struct Log { enum { value = 1 + Log<N / 2>::value }; };
template <> struct Log<1> { enum { value = 0 }; };
"""


@pytest.mark.parametrize("constant", [LOG, ENUM])
def test_an_argument_that_nobody_tells_leaves_one_constant_open_and_no_more(
    tmp_path: Path, constant: str
) -> None:
    """It asked for the constant of half of it for ever: the kernel ended as nested too deeply."""
    kernel = """
    template <int N> __global__ void k(float *p) {
        __shared__ float s[1024];
        s[threadIdx.x * 2] = p[0];
        __syncthreads();
        p[threadIdx.x] = s[threadIdx.x] + s[Log<N>::value];
    }"""
    source = tmp_path / "k.cu"
    source.write_text(constant + kernel)
    for found in analyse_file(Job(str(source))).kernels:
        ways = {a.expression: (a.ways, a.reason) for a in found.accesses}
        assert ways["s[threadIdx.x * 2]"] == (2.0, None)
        assert ways["s[threadIdx.x]"] == (1.0, None)
        assert "Log<N>::value" in "".join(ways)


@pytest.mark.parametrize("constant", [LOG, ENUM])
def test_a_known_argument_is_followed_to_its_end(tmp_path: Path, constant: str) -> None:
    kernel = """
    template <int N> __global__ void k(float *p) {
        __shared__ float s[1024];
        s[threadIdx.x << Log<N>::value & 1023] = p[0];
        p[threadIdx.x] = s[threadIdx.x];
    }
    void host(float *p) { k<16><<<1, 32>>>(p); }"""
    source = tmp_path / "k.cu"
    source.write_text(constant + kernel)
    (found,) = analyse_file(Job(str(source))).kernels
    assert {a.ways for a in found.accesses if a.op == "store"} == {16.0}
