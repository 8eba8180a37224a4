"""What host code keeps in the C++ library's containers reaches its launches."""

from __future__ import annotations

import pytest

from tests.launch.test_host import blocks, launches

SEQUENCES = {
    "listed": "std::vector<int> n = {64, 96}; for (int x : n) sum<<<1, x>>>(0, 0);",
    "added": (
        "std::vector<int> n; n.push_back(64); n.emplace_back(96); for (int x : n) sum<<<1, x>>>(0, 0);"
    ),
    "indexed": ("std::vector<int> n{64, 96}; for (size_t i = 0; i < n.size(); i++) sum<<<1, n[i]>>>(0, 0);"),
    "by iterators": (
        "std::vector<int> n{64, 96}; for (auto i = n.begin(); i != n.end(); ++i) sum<<<1, *i>>>(0, 0);"
    ),
    "set": "std::vector<int> n(2); n[0] = 64; n.at(1) = 96; for (int x : n) sum<<<1, x>>>(0, 0);",
    "resized": ("std::vector<int> n; n.resize(2, 64); n.back() = 96; for (int x : n) sum<<<1, x>>>(0, 0);"),
    "copied": "std::vector<int> m{64, 96}, n(m); m[0] = 32; for (int x : n) sum<<<1, x>>>(0, 0);",
    "a part": (
        "int m[] = {32, 64, 96}; std::vector<int> n(m + 1, m + 3); for (int x : n) sum<<<1, x>>>(0, 0);"
    ),
    "blocks": "std::vector<dim3> n = {dim3(64), dim3(96)}; for (auto x : n) sum<<<1, x>>>(0, 0);",
    "objects": (
        "struct T { int n = 64; }; std::vector<T> n(2); n[1].n = 96; for (auto &x : n) sum<<<1, x.n>>>(0, 0);"
    ),
    "pairs": (
        "std::vector<std::pair<int, int>> n = {{1, 64}, {2, 96}}; for (auto [g, x] : n) sum<<<g, x>>>(0, 0);"
    ),
    "tuples": (
        "std::vector<std::tuple<int, int>> n = {{1, 64}, {2, 96}}; "
        "for (auto &x : n) sum<<<1, std::get<1>(x)>>>(0, 0);"
    ),
    "a map": ("std::map<int, int> n = {{1, 64}, {2, 96}}; for (auto &x : n) sum<<<1, x.second>>>(0, 0);"),
    "keys": (
        "std::map<int, int> n; n[1] = 64; n[5] = 96; sum<<<1, n[1]>>>(0, 0); sum<<<1, n.at(5)>>>(0, 0);"
    ),
    "a list": "std::initializer_list<int> n = {64, 96}; for (int x : n) sum<<<1, x>>>(0, 0);",
    "memory": (
        "int *n = (int *)malloc(8); n[0] = 64; n[1] = 96; for (int i = 0; i < 2; i++) sum<<<1, n[i]>>>(0, 0);"
    ),
    "new": ("int *n = new int[2]; n[0] = 64; n[1] = 96; for (int i = 0; i < 2; i++) sum<<<1, n[i]>>>(0, 0);"),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_elements_are_known(name: str) -> None:
    assert blocks(f"int main() {{ {SEQUENCES[name]} }}") == [64, 96]


@pytest.mark.parametrize(
    "code",
    [
        "std::pair<int, int> n(2, 64); sum<<<n.first, n.second>>>(0, 0);",
        "auto [g, n] = std::make_pair(2, 64); sum<<<g, n>>>(0, 0);",
        "auto n = std::make_tuple(2, 3.f, 64); sum<<<std::get<0>(n), std::get<2>(n)>>>(0, 0);",
        "auto [g, f, n] = std::tuple<int, float, int>(2, 3.f, 64); sum<<<g, n>>>(0, 0);",
        "int g, n; std::tie(g, n) = std::make_tuple(2, 64); sum<<<g, n>>>(0, 0);",
        "auto [g, n] = std::make_tuple(dim3(2), dim3(64)); sum<<<g, n>>>(0, 0);",
        "std::tuple<dim3, int> n{dim3(64), 2}; sum<<<std::get<1>(n), std::get<0>(n)>>>(0, 0);",
    ],
)
def test_parts_of_pairs_and_tuples_are_known(code: str) -> None:
    assert blocks(f"int main() {{ {code} }}") == [64]


def test_how_many_elements_data_has_is_known() -> None:
    data = "std::vector<int> h(1 << 20); for (auto &x : h) x = rand();"
    assert blocks(f"int main() {{ {data} sum<<<1, h.size() >> 14>>>(0, 0); }}") == [64]


@pytest.mark.parametrize(
    "loop",
    [
        "std::vector<int> n; for (int i = 64; i < 256; i *= 2) n.push_back(i);",
        "std::vector<int> n(2); for (int i = 0; i < 2; i++) n[i] = 64 << i;",
        "std::vector<int> n; int x = 64; while (x < 256) { n.emplace_back(x); x *= 2; }",
    ],
)
def test_a_loop_fills_in_elements(loop: str) -> None:
    assert blocks(f"int main() {{ {loop} for (int x : n) sum<<<1, x>>>(0, 0); }}") == [64, 128]


@pytest.mark.parametrize(
    "change",
    [
        "std::rotate(n.begin(), n.begin() + 1, n.end());",
        "unknown(n);",
        "unknown(n.data(), 2);",
        "n.erase(n.begin());",
        "n.insert(n.begin(), 32);",
        "n.swap(m);",
        "n[rand()] = 32;",
        "if (rand()) n.push_back(32);",
        "n.assign(1000, 32); n.resize(2);",
    ],
)
def test_what_may_have_changed_is_not_known(change: str) -> None:
    main = f"std::vector<int> n{{96, 64}}, m{{32}}; {change} sum<<<1, n.back()>>>(0, 0);"
    assert all(x.assumed for x in launches(f"int main() {{ {main} }}"))


def test_an_array_that_an_unknown_function_fills_is_not_known() -> None:
    main = "int main() { int n[3] = {32, 64, 96}; unknown(n, 3); sum<<<1, n[1]>>>(0, 0); }"
    assert all(x.assumed for x in launches(main))


@pytest.mark.parametrize("change", ["n[rand()] = 32;", "n.emplace(rand(), 32);"])
def test_a_key_that_is_not_known_may_be_any(change: str) -> None:
    main = f"std::map<int, int> n = {{{{1, 64}}}}; {change} sum<<<1, n[1]>>>(0, 0);"
    assert all(x.assumed for x in launches(f"int main() {{ {main} }}"))


def test_a_key_is_there_once() -> None:
    added = "n.insert({1, 96}); n.emplace(2, 128);"
    main = f"std::map<int, int> n = {{{{1, 64}}}}; {added} for (auto &x : n) sum<<<1, x.second>>>(0, 0);"
    assert blocks(f"int main() {{ {main} }}") == [64, 128]
