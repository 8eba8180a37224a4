"""Containers of host code in templates, and those of which nothing is known."""

from __future__ import annotations

from host_code import blocks, launches

from smemlint.frontend import load
from smemlint.launch import started_kernels
from smemlint.launch.model import Allowance
from smemlint.source import source_from_bytes

FILLED = """#include <vector>
template <class T> std::vector<T> made(int n) {
    std::vector<T> a(n);
    for (int i = 0; i < n; ++i) a[i] = i;
    return a;
}
"""
TYPED = """template <class T> __global__ void k(const T *in, int n) {
    __shared__ T s[64];
    s[threadIdx.x] = in[0];
}
"""


def types(text: str) -> list[tuple[object, object]]:
    """Name of the element type and block of each launch."""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    return [(getattr(s.template.get("T"), "name", None), s.block[0]) for s in started_kernels(module)]


def test_an_element_that_is_set_in_a_template_leaves_the_container_as_large_as_it_is() -> None:
    """Clang leaves `a[i]` without its operator there."""
    assert blocks(FILLED + "int main() { auto v = made<int>(96); sum<<<1, v.size()>>>(0, 0); }") == [96]
    kept = "int main() { auto v = made<int>(8); sum<<<1, 32 * v[3]>>>(0, 0); }"
    assert blocks(FILLED + kept) == [96]


def test_what_a_container_of_unknown_elements_gives_has_a_type() -> None:
    """A kernel whose type it tells was not found."""
    text = (
        TYPED
        + """#include <vector>
    std::vector<double> read(const char *name);
    int main() { auto v = read("x"); k<<<1, 64>>>(v.data(), v.size()); }"""
    )
    assert types(text) == [("double", 64)]


def test_the_size_of_a_container_that_is_not_known_is_no_number() -> None:
    text = """#include <vector>
    std::vector<double> read(const char *name);
    int main() { auto v = read("x"); sum<<<1, v.size()>>>(0, 0); }"""
    found = launches(text)
    assert found and all(x.assumed for x in found)


def test_loops_that_fill_data_leave_steps_for_what_comes_behind_them() -> None:
    fill = "for (int i = 0; i < 900; ++i) for (int j = 0; j < 900; ++j) v[i * 900 + j] = i * j + 1;"
    text = (
        FILLED
        + TYPED
        + "template <class T> void run(int n) { std::vector<T> v(n); "
        + fill
        + """
        k<<<1, n>>>(v.data(), v.size()); }
    int main() { run<char>(32); run<short>(64); run<int>(96); run<long>(128); }"""
    )
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    allowance = Allowance()
    before = allowance.steps
    found = started_kernels(module, allowance=allowance)
    assert [s.block[0] for s in found] == [32, 64, 96, 128]
    assert before - allowance.steps < 4_000


def test_a_loop_that_is_left_early_is_followed_to_where_it_ends() -> None:
    text = """int main() { int t = 1;
        for (int i = 0; i < 100; ++i) { t = 32 * (i + 1); if (t == 256) break; }
        sum<<<1, t>>>(0, 0); }"""
    assert blocks(text) == [256]
