"""Launches in functions that host code hands on are found."""

from __future__ import annotations

import pytest

from tests.launch.test_host import blocks

WAYS = {
    "a function object": "std::function<void(int)> f = run; f(64);",
    "a lambda in one": "int n = 64; std::function<void()> f = [&] { run(n); }; f();",
    "several of them": (
        "std::vector<std::function<void()>> f; f.push_back([&] { run(64); }); for (auto &x : f) x();"
    ),
    "named ones": (
        'std::vector<std::pair<std::string, std::function<void(int)>>> f = {{"a", '
        "run}}; for (auto &x : f) x.second(64);"
    ),
    "a table": "void (*f[])(int) = {run}; for (auto x : f) x(64);",
    "a thread": "int n = 64; std::thread t([&] { run(n); }); t.join();",
    "a thread of a function": "std::thread t(run, 64); t.join();",
    "threads": "std::vector<std::thread> t; t.push_back(std::thread([&] { run(64); }));",
    "threads in place": "std::vector<std::thread> t; t.emplace_back([&] { run(64); });",
    "async": "auto f = std::async(std::launch::async, run, 64); f.wait();",
    "a reference": "int n = 64; std::thread t([](int &x) { run(x); }, std::ref(n)); t.join();",
    "each element": ("std::vector<int> n = {64}; std::for_each(n.begin(), n.end(), [&](int x) { run(x); });"),
    "an unknown pool": "Pool pool(4); pool.submit([&] { run(64); });",
}


@pytest.mark.parametrize("name", WAYS)
def test_a_launch_is_found(name: str) -> None:
    assert blocks(f"void run(int n) {{ sum<<<1, n>>>(0, 0); }} int main() {{ {WAYS[name]} }}") == [64]


def test_what_says_that_there_is_no_answer_is_no_default() -> None:
    main = """
    int main(int argc, char **argv) {
        int width = -1;
        FILE *f = fopen("picture", "rb");
        int found;
        if (fread(&found, 4, 1, f) == 1) width = found;
        if (width <= 0) return 1;
        sum<<<width / 64, 64>>>(0, 0);
    }"""
    assert blocks(main) == [64]


VARIANTS = """
using Flag = std::variant<std::false_type, std::true_type>;
Flag flag(bool on) { return on ? Flag{std::true_type{}} : Flag{std::false_type{}}; }
"""


def test_what_is_visited_is_of_any_of_its_types() -> None:
    main = """
    void go(bool a, bool b) {
        auto run = [&](auto x, auto y) { sum<<<1, 32 << x.value * 2 + y.value>>>(0, 0); };
        std::visit(run, flag(a), flag(b));
    }"""
    assert sorted(blocks(VARIANTS + main)) == [32, 64, 128, 256]


def test_a_number_in_what_is_visited_is_not_known() -> None:
    main = """
    void go(std::variant<int, Wide> v) {
        std::visit([&](auto x) { if constexpr (std::is_same_v<decltype(x), int>) sum<<<x, 64>>>(0, 0); }, v);
    }"""
    assert blocks("struct Wide {};" + main) == [64]
