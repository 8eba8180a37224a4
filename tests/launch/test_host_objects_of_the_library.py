"""Objects of the C++ library in host code: what they hold, look up and call."""

from __future__ import annotations

import re

import pytest

from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

HEADERS = "".join(
    f"#include <{x}>\n"
    for x in (
        *(
            "algorithm",
            "array",
            "functional",
            "initializer_list",
            "limits",
            "map",
            "memory",
            "numeric",
            "optional",
        ),
        *("queue", "set", "stack", "string", "tuple", "variant", "vector", "cmath"),
    )
)
RUN = """struct Run { virtual ~Run() {} virtual void run(float *p) = 0; };
struct One : Run { int t; One(int t) : t(t) {} void run(float *p) override { k<<<1, t>>>(p, 1); } };
"""
CLASSES = {
    "One": RUN,
    "All": RUN
    + """struct All { std::vector<std::unique_ptr<Run>> all; std::map<int, int> seen;
    void add(int t) { all.push_back(std::make_unique<One>(t)); seen[t] = 2 * t; }
    void run(float *p) { for (auto &r : all) r->run(p); } };
""",
    "Shape": """struct Shape { int d[4] = {1, 1, 1, 1}; int n = 0;
    Shape(std::initializer_list<int> l) { for (int v : l) d[n++] = v; } };
""",
    "Case": "template <int T> struct Case { static void run(float *p) { k<<<1, T>>>(p, T); } };\n",
    "Tree": """struct Tree { int n; std::unique_ptr<Tree> kid[2];
    Tree(int n) : n(n) { if (n > 32) { kid[0] = std::make_unique<Tree>(n / 2);
        kid[1] = std::make_unique<Tree>(n / 4); } }
    void run(float *p) const { if (!kid[0]) { k<<<1, n>>>(p, 1); return; } for (auto &x : kid) x->run(p); } };
""",
    "Two": "struct Two { int t, n; };\n",
    "Pool": "struct Pool { cudaStream_t s[2]; int at = 0; cudaStream_t next() { return s[at++ % 2]; } };\n",
    "_warps": 'constexpr int operator""_warps(unsigned long long n) { return 32 * n; }\n',
}
"""By a name that code needs one for: what declares it. Classes that start kernels and that nothing makes are
looked at by themselves."""
BLOCKS = {
    "containers of an object that has no constructor": ("All a; a.add(64); a.add(96); a.run(p);", [64, 96]),
    "the same on the heap": ("auto a = std::make_shared<All>(); a->add(64); a->run(p);", [64]),
    "a map of such an object": ("All a; a.add(32); k<<<1, a.seen[32]>>>(p, 1); a.run(p);", [64, 32]),
    "pointers in a vector": ("One o(96); std::vector<Run *> v; v.push_back(&o); v[0]->run(p);", [96]),
    "a list": ("Shape s{2, 64, 3}; k<<<1, s.d[1]>>>(p, s.n);", [64]),
    "a list for a vector": (
        "auto takes = [&](std::vector<int> v) { k<<<1, v[0]>>>(p, v.size()); }; takes({64, 2});",
        [64],
    ),
    "a literal of the program": ("k<<<1, 3_warps>>>(p, 1);", [96]),
    "a lambda that calls another": (
        "auto one = [&](int t) { k<<<1, t>>>(p, 1); }; "
        "auto two = [&](int t) { one(t); one(2 * t); }; two(32);",
        [32, 64],
    ),
    "a pack of objects": (
        "auto all = [&](auto... c) { (c.run(p), ...); }; all(Case<32>{}, Case<96>{});",
        [32, 96],
    ),
    "the elements of a tuple": (
        "std::apply([&](auto... c) { (c.run(p), ...); }, std::make_tuple(Case<64>{}, Case<96>{}));",
        [64, 96],
    ),
    "text as a key": (
        'std::map<std::string, int> m{{"a", 32}, {"b", 64}}; m["c"] = 96; k<<<1, m.at("b")>>>(p, m["c"]);',
        [64],
    ),
    "what a map finds": (
        'const std::map<std::string, int> m{{"a", 32}}; auto it = m.find("a"); '
        'if (it != m.end()) k<<<1, it->second>>>(p, m.count("z")); '
        'if (m.find("z") != m.end()) k<<<1, 1>>>(p, 1);',
        [32],
    ),
    "functions by their names": (
        "static const std::map<std::string, std::function<void(int)>> m{"
        '{"a", [](int t) { k<<<1, t>>>(0, 1); }}, {"b", [](int t) { k<<<1, 2 * t>>>(0, 1); }}}; '
        'm.at("b")(32); auto &same = m; same.begin()->second(96); '
        'for (auto &[name, f] : m) if (name == "a") f(160);',
        [64, 96, 160],
    ),
    "an optional object": (
        "std::optional<int> t; k<<<1, t.value_or(32)>>>(p, 1); t = 64; if (t) k<<<1, *t>>>(p, 1); "
        "t = std::nullopt; if (!t.has_value()) k<<<1, 96>>>(p, 1); t.emplace(7); k<<<1, t.value()>>>(p, 1);",
        [32, 64, 96, 7],
    ),
    "one of several types": (
        "using V = std::variant<int, Two>; V v = Two{64, 3}; auto go = [&](V v) { "
        "std::visit([&](const auto &x) { "
        "if constexpr (std::is_same_v<std::decay_t<decltype(x)>, Two>) k<<<1, x.t>>>(p, x.n); "
        "else k<<<1, x>>>(p, 1); }, v); }; go(v); go(96); "
        "if (auto at = std::get_if<Two>(&v)) at->t = 32; k<<<1, std::get<1>(v).t>>>(p, v.index());",
        [64, 96, 32],
    ),
    "queues": (
        "std::queue<int> q; q.push(32); q.push(64); while (!q.empty()) { int t = q.front(); q.pop(); "
        "k<<<1, t>>>(p, 1); if (t == 32) q.push(96); } std::stack<int> s; s.push(1); s.push(2); s.pop(); "
        "std::priority_queue<int> r; for (int t : {32, 160, 64}) r.push(t); "
        "k<<<1, r.top() + s.top()>>>(p, 1);",
        [32, 64, 96, 161],
    ),
    "sets": (
        "std::set<int> s; for (int t : {64, 32, 64}) if (s.insert(t).second) k<<<1, t>>>(p, 1); "
        "k<<<1, *s.begin() + 1>>>(p, s.count(64));",
        [64, 32, 33],
    ),
    "algorithms that write": (
        "std::vector<int> v(3); std::iota(v.begin(), v.end(), 1); std::array<int, 3> a; a.fill(7); "
        "std::transform(v.begin(), v.end(), a.begin(), [](int x) { return 32 * x; }); "
        "std::sort(a.begin(), a.end(), std::greater<int>()); for (int t : a) k<<<1, t>>>(p, 1); "
        "std::fill(a.begin() + 1, a.end(), 5); std::reverse(a.begin(), a.end()); k<<<1, a[0]>>>(p, 1); "
        "std::vector<int> w; std::copy(a.begin(), a.end(), std::back_inserter(w)); "
        "k<<<1, w.back() + 1>>>(p, 1);",
        [96, 64, 32, 5, 97],
    ),
    "algorithms that look": (
        "std::vector<int> v{3, 32, 9}; k<<<1, *std::max_element(v.begin(), v.end())>>>(p, 1); "
        "k<<<1, std::accumulate(v.begin(), v.end(), 0)>>>(p, 1); auto at = std::find(v.begin(), v.end(), 9); "
        "k<<<1, *at + std::distance(v.begin(), at)>>>(p, "
        "std::count_if(v.begin(), v.end(), [](int x) { return x > 3; }));",
        [32, 44, 11],
    ),
    "owners that hold nothing": (
        "std::unique_ptr<Two> a; if (!a) k<<<1, 32>>>(p, 1); a = std::make_unique<Two>(); "
        "if (a) k<<<1, 64>>>(p, 1); a.reset(); if (a == nullptr) k<<<1, 96>>>(p, 1); else k<<<1, 7>>>(p, 1);",
        [32, 64, 96],
    ),
    "a tree of owners": (
        "Tree t(64); t.run(p); auto set = [](std::unique_ptr<Two> &x, int t) { x->t = t; }; "
        "auto x = std::make_unique<Two>(); set(x, 96); k<<<1, x->t>>>(p, 1);",
        [32, 16, 96],
    ),
    "floats that are rounded": (
        "float mean = 10.0f / 3; k<<<1, mean < 3.5f ? 64 : 32>>>(p, 1); "
        "k<<<1, (int)std::ceil(std::pow(2.0, 5) * 2.9)>>>(p, mean > std::numeric_limits<float>::max());",
        [64, 93],
    ),
    "what gives the stream": (
        "Pool q; k<<<1, 32, 0, q.next()>>>(p, 1); int n = 32; "
        "k<<<1, 32 + q.at * n, 0, q.s[n++ & 1]>>>(p, n);",
        [32, 65],
    ),
}


def launches(code: str) -> list[Launch]:
    kernel = "__global__ void k(float *p, int n) { __shared__ float s[4096]; s[threadIdx.x * n] = 0; }\n"
    classes = "".join(text for name, text in CLASSES.items() if re.search(rf"{name}\b", code))
    (module, *_) = load(source_from_bytes("/t/a.cu", (HEADERS + kernel + classes + code).encode()))
    return list(infer(module.kernels()[0], module, started_kernels(module)))


@pytest.mark.parametrize("code, blocks", BLOCKS.values(), ids=BLOCKS.keys())
def test_a_block_is_what_the_library_s_objects_make_it(code: str, blocks: list[int]) -> None:
    """Truth: the same host code, compiled by g++ and run."""
    found = launches(f"int main() {{ float *p = new float; {code} }}")
    assert [x.block[0] for x in found] == blocks
    assert not any(x.assumed for x in found)


def test_a_registry_that_is_filled_before_main_is_not_taken_for_empty() -> None:
    code = """struct All { std::map<std::string, int> m; static All &get() { static All a; return a; } };
bool add(const char *n, int t) { All::get().m[n] = t; return true; }
static bool added = add("a", 64);
int main() { auto it = All::get().m.find("a"); if (it != All::get().m.end()) k<<<1, it->second>>>(0, 1); }"""
    assert launches(code) and all(x.assumed for x in launches(code))


def test_a_variable_of_the_environment_that_the_program_sets_is_not_taken_for_unset() -> None:
    """The default was told, as exact."""
    head = "#include <cstdlib>\nint of(const char *n) { const char *v = getenv(n); return v ? atoi(v) : 64; }"
    main = 'int main() { setenv("T", "96", 1); k<<<1, of("T")>>>(0, 1); }'
    assert all(x.assumed for x in launches(f"{head} {main}"))
    assert [x.block[0] for x in launches(head + " int main() { k<<<1, of(0)>>>(0, 1); }")] == [64]
