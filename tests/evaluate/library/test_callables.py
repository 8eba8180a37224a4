"""Launches in functions that host code hands on are found."""

from __future__ import annotations

import pytest
from host_code import blocks, launches

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
    "an unknown loop": (
        "int n = 64; lib::parallel_for(lib::range<int>(0, 9), "
        "[&](lib::range<int> r) { for (int i = r.begin(); i < r.end(); ++i) run(n); });"
    ),
    "an unknown capture": "Graph g; g.capture([&](cudaStream_t s) { run(64); });",
    "an unknown dispatch": "lib::dispatch([&](auto t) { constexpr int N = decltype(t)::value; run(64); });",
}


@pytest.mark.parametrize("name", WAYS)
def test_a_launch_is_found(name: str) -> None:
    assert blocks(f"void run(int n) {{ sum<<<1, n>>>(0, 0); }} int main() {{ {WAYS[name]} }}") == [64]


@pytest.mark.parametrize(
    "call",
    [
        "lib::each([&] { CHANGE; });",
        "pool.each(9, [&](int i) { CHANGE; });",
        "std::for_each(p, q, [&](int i) { CHANGE; });",
    ],
)
@pytest.mark.parametrize("change", ["n *= 2", "n++", "n = n + 32", "int &m = n; n = m; n -= 1"])
def test_how_often_a_lambda_runs_is_not_known(call: str, change: str) -> None:
    main = f"void go(int *p, int *q) {{ int n = 32; {call.replace('CHANGE', change)} sum<<<1, n>>>(0, 0); }}"
    assert all(x.assumed for x in launches(main))


def test_what_a_lambda_sets_however_often_it_runs_is_known() -> None:
    assert blocks("void go() { int n = 32; lib::each(9, [&](int i) { n = 64; }); sum<<<1, n>>>(0, 0); }") == [
        64
    ]


def test_what_is_made_of_an_unknown_argument_is_not_known() -> None:
    main = "void go() { int n = 32; lib::each(9, [&](int i) { n = i; }); sum<<<1, n>>>(0, 0); }"
    assert all(x.assumed for x in launches(main))


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
