"""Launches around `try` and `catch`: a handler may run behind what is tried, or not."""

from __future__ import annotations

import pytest
from host_code import blocks as blocks_in_order

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
    """512 was told, as exact, where `tune(200)` throws."""
    host = """
    void run(float *p, int n) {
        int t = 256;
        try { tune(%s); t = 512; } catch (const std::exception &) { t = 128; }
        k<<<1, t, 8192>>>(p);
    }
    """
    assert blocks(host % "200") == {128}
    assert blocks(host % "n") == {128, 512}
    assert blocks(host % "20") == {512}


def test_a_handler_begins_with_what_the_throw_left() -> None:
    host = """
    void run(float *p, int n) {
        int t = 256;
        try { tune(%s); t = 512; tune(%s); t = 64; } catch (...) { k<<<1, t, 8192>>>(p); }
    }
    """
    assert blocks(host % (200, 1)) == {256}
    assert blocks(host % (20, 200)) == {512}
    assert blocks(host % ("n", 200)) == {256, 512}


FIRST_THAT_FITS = """
void launch(float *p, int t) { if (t > 256) throw std::invalid_argument("wide"); k<<<1, t, 8192>>>(p); }
bool fits(float *p, int t) {
    try { launch(p, t); return true; } catch (const std::exception &) { return false; }
}
"""


def test_a_function_that_says_whether_something_was_thrown() -> None:
    """512, 256 and 128 were told: what ends in a `throw` was taken to end the program, or passed over."""
    search = "int t = 512; while (!fits(p, t)) t /= 2; k<<<1, t - 32, 8192>>>(p);"
    assert blocks(f"{FIRST_THAT_FITS} void run(float *p) {{ {search} }}") == {224, 256}
    either = "if (!fits(p, n)) k<<<1, 96, 8192>>>(p);"
    assert 96 in blocks(f"{FIRST_THAT_FITS} void run(float *p) {{ int n = 512; {either} }}")
    assert blocks(f"{FIRST_THAT_FITS} void run(float *p) {{ int n = 128; {either} }}") == {128}


def test_the_handler_of_its_type_takes_what_is_thrown() -> None:
    def told(thrown: str) -> set[int]:
        handlers = {"int x": "32 * x", "const std::logic_error &": "64", "std::runtime_error &": "128"}
        caught = "".join(f"catch ({x}) {{ k<<<1, {n}, 8192>>>(p); }}" for x, n in handlers.items())
        own = 'struct Own : std::runtime_error { Own() : std::runtime_error("own") {} };'
        return blocks(f"{own} void run(float *p) {{ try {{ throw {thrown}; }} {caught} catch (...) {{}} }}")

    assert told("3") == {96}
    assert told('std::out_of_range("n")') == {64}
    assert told("Own()") == {128}


def test_what_no_handler_takes_goes_on_to_the_next() -> None:
    inner = "try { throw 5; } catch (const std::exception &) { k<<<1, 32, 8192>>>(p); }"
    again = "try { throw 5; } catch (int x) { k<<<1, 64, 8192>>>(p); throw; }"
    for what, found in ((inner, {160}), (again, {64, 160})):
        handler = "catch (int x) { k<<<1, 32 * x, 8192>>>(p); }"
        assert blocks(f"void run(float *p) {{ try {{ {what} }} {handler} }}") == found


def test_a_handler_that_ends_leaves_nothing_behind() -> None:
    for end in ("return;", "throw;", "exit(1);"):
        host = f"try {{ t = 512; }} catch (...) {{ t = 128; {end} }}"
        assert blocks(f"void run(float *p) {{ int t; {host} k<<<1, t, 8192>>>(p); }}") == {512}


GUARDS = """
static int threads = 32, ended = 0;
struct Guard {
    int before;
    Guard(int t) : before(threads) { threads = t; }
    ~Guard() { threads = before; ended++; }
};
int ask();
void go() { sum<<<1, threads>>>(0, 0); }
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("void f() { Guard g(128); throw 1; } int main() { try { f(); } catch (int) { go(); } }", [32]),
        ("int main() { try { Guard g(128); throw 1; } catch (...) { } go(); }", [32]),
        ("int main() { Guard a(64); try { Guard g(128); throw 1; } catch (...) { go(); } }", [64]),
        ("void f() { Guard g(128); if (ask()) throw 1; go(); } "
         "int main() { try { f(); } catch (int) { go(); } }", [128, 32]),
        ("void f() { Guard g(96); try { Guard h(128); throw 2.0; } catch (int) { } } "
         "int main() { try { f(); } catch (...) { threads = 32 * ended; go(); } }", [64]),
    ],
)  # fmt: skip
def test_destructors_run_between_a_throw_and_its_handler(code: str, told: list[int]) -> None:
    """What the objects had set was told behind them, as exact."""
    assert blocks_in_order(GUARDS + code) == told
