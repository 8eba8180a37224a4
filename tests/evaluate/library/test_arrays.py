"""`std::array`: its methods, its elements by `std::get`, in a loop over it and taken apart."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

NUMBERS = {
    "int c = 0; for (int x : a) c = c * 3 + x; s[c] = 1;": 32,
    "for (auto &x : a) x += 2; s[a[0] * 10 + a[2]] = 1;": 40,
    "s[(int)a.size() * 5 + (a.empty() ? 1 : 0)] = 1;": 15,
    "s[std::get<2>(a) * 4] = 1;": 32,
    "auto [x, y, z] = a; x = 50; s[a[0] * 100 + y * 10 + z] = 1;": 158,
    "auto &[x, y, z] = a; x = 7; s[a[0]] = 1;": 7,
    "a.fill(6); s[a[0] * 10 + a[2]] = 1;": 66,
    "int c = 0; for (auto i = a.begin(); i != a.end(); ++i) c += *i; s[c] = 1;": 14,
    "s[(int)(a.end() - a.begin()) * 9] = 1;": 27,
    "int c[5] = {4}; s[std::size(c) * 7 + *std::begin(c)] = 1;": 39,
    "int c[5] = {4}; s[std::ssize(a) * 20 + (std::end(c) - std::data(c))] = 1;": 65,
    "s[std::size(s) - 24] = 1;": 1000,
    "int x, y; std::tie(x, y) = std::make_tuple(5, 70); s[x + y] = 1;": 75,
    "int x = 9, y = 2; for (int i = 0; i < 3; i++) std::tie(x, y) = std::pair(y, x + y); s[x] = 1;": 13,
    "int x; std::tie(std::ignore, x) = std::pair<int, int>(5, 70); s[x] = 1;": 70,
}


@pytest.mark.parametrize(("body", "index"), NUMBERS.items())
def test_an_array_of_the_library_holds_its_elements(body: str, index: int) -> None:
    text = f"__global__ void k(int n) {{ __shared__ int s[1024]; std::array<int, 3> a{{1, 5, 8}}; {body} }}"
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert {o for t in trace.traces for o in t.offsets.ravel().tolist()} == {4 * index}


def test_a_whole_array_in_shared_memory_that_is_filled_is_stored_element_by_element() -> None:
    text = "__global__ void k(int n) { __shared__ std::array<int, 4> s; s.fill(n); }"
    module = load(source_from_bytes("k.cu", text.encode()))[0]
    trace = evaluate(module, module.kernels()[0], Launch((32, 1, 1)))
    assert not trace.notes
    stored = {int(o) for t in trace.traces for o in t.offsets.ravel()}
    assert stored <= {0, 4, 8, 12} and 0 in stored
