"""Launches around `try` and `catch`: a handler may run behind what is tried, or not."""

from __future__ import annotations

from smemlint.api import Job, analyse_file

KERNEL = """
#include <stdexcept>
__global__ void k(float *p) {
    extern __shared__ float s[];
    s[threadIdx.x * 2] = p[0];
}
void tune(int n) { if (n > 100) throw std::runtime_error("too many"); }
"""


def blocks(host: str) -> set[int]:
    found = analyse_file(Job("a.cu", text=KERNEL + host)).kernels
    assert all(k.launch.origin.startswith("a.cu:") for k in found)
    return {k.launch.block[0] for k in found}


def test_a_launch_in_a_handler_is_found() -> None:
    host = "try { k<<<1, 64, 8192>>>(p); } catch (const std::exception &e) { k<<<1, 96, 8192>>>(p); }"
    assert blocks(f"void run(float *p) {{ {host} }}") == {64, 96}
    assert blocks(f"void run(float *p) {{ {host} catch (...) {{ k<<<1, 32, 8192>>>(p); }} }}") == {32, 64, 96}


def test_what_a_handler_sets_is_a_way_of_its_own() -> None:
    """512 was told alone, as exact, and `tune(200)` throws."""
    host = """
    void run(float *p) {
        int t = 256;
        try { tune(200); t = 512; } catch (const std::exception &) { t = 128; }
        k<<<1, t, 8192>>>(p);
    }
    """
    assert blocks(host) == {128, 512}


def test_a_handler_that_ends_leaves_nothing_behind() -> None:
    for end in ("return;", "throw;", "exit(1);"):
        host = f"try {{ t = 512; }} catch (...) {{ t = 128; {end} }}"
        assert blocks(f"void run(float *p) {{ int t; {host} k<<<1, t, 8192>>>(p); }}") == {512}
