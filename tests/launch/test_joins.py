"""What host code sets under a condition that nobody knows is either where the ways meet, or not known: never
what one of them has set."""

from __future__ import annotations

import pytest
from host_code import launches

LIBRARY = "cstring deque functional map memory optional set string tuple variant vector"
HEADERS = "".join(f"#include <{name}>\n" for name in LIBRARY.split())
DECLARED = """
bool odd();
struct Pair { int t, u; };
struct Named { int t = 65; std::string name; };
struct Base { virtual int t() const { return 65; } virtual ~Base() {} };
struct Derived : Base { int t() const override { return 64; } };
int first() { return 64; }
int second() { return 65; }
int number; int table[4]; Pair pair; std::string text; std::vector<int> list; Pair *leading;
"""
SET_IN_ONE_ARM = {
    "text": 'std::string s; if (odd()) s = "a"; int t = s == "a" ? 64 : 65;',
    "text, emptied": 'std::string s = "a"; if (odd()) s.clear(); int t = s.empty() ? 64 : 65;',
    "text, its length": 'std::string s = "abc"; if (odd()) s = "ab"; int t = 62 + s.size();',
    "a literal": 'const char *s = "a"; if (odd()) s = "b"; int t = strcmp(s, "b") ? 65 : 64;',
    "a literal, or none": 'const char *s = nullptr; if (odd()) s = "a"; int t = s ? 64 : 65;',
    "a number in text": 'const char *s = "65"; if (odd()) s = "64"; int t = atoi(s);',
    "a key":
        'std::map<std::string, int> m{{"a", 65}, {"b", 64}}; '
        'std::string s = "a"; if (odd()) s = "b"; int t = m[s];',
    "a pointer": "Pair a{65, 1}, b{64, 1}; Pair *p = &a; if (odd()) p = &b; int t = p->t;",
    "what a pointer sets":
        "Pair a{65, 1}, b{65, 1}; Pair *p = &a; "
        "if (odd()) p = &b; p->t = 64; int t = a.t;",
    "a pointer, or none": "Pair a{64, 1}; Pair *p = nullptr; if (odd()) p = &a; int t = p ? p->t : 65;",
    "a reference": "Pair a{65, 1}, b{64, 1}; Pair &r = odd() ? b : a; int t = r.t;",
    "an array": "int a[2] = {65, 65}, b[2] = {64, 64}; int *p = a; if (odd()) p = b; int t = p[1];",
    "a virtual function": "Base a; Derived b; Base *p = &a; if (odd()) p = &b; int t = p->t();",
    "an owner": "std::unique_ptr<Pair> p; if (odd()) p.reset(new Pair{64, 1}); int t = p ? 64 : 65;",
    "an owner of another":
        "auto p = std::make_shared<Pair>(Pair{65, 1}); "
        "if (odd()) p = std::make_shared<Pair>(Pair{64, 1}); int t = p->t;",
    "a function": "std::function<int()> f = second; if (odd()) f = first; int t = f();",
    "a pointer to a function": "int (*f)() = second; if (odd()) f = first; int t = f();",
    "a lambda":
        "int n = 64; std::function<int()> f = [&] { return n + 1; "
        "}; if (odd()) f = [&] { return n; }; int t = f();",
    "a sequence": "std::vector<int> v{65}, w{64}; if (odd()) v = w; int t = v[0];",
    "a sequence, grown in front": "std::deque<int> v{65}; if (odd()) v.push_front(64); int t = v.front();",
    "a map, grown in front":
        "std::map<int, int> m{{5, 65}}; "
        "if (odd()) m[3] = 64; int t = m.begin()->second;",
    "an optional": "std::optional<int> o; if (odd()) o = 64; int t = o.value_or(65);",
    "a variant": "std::variant<int, float> o = 65; if (odd()) o = 1.0f; int t = o.index() ? 64 : 65;",
    "a structure with text": 'Named n; if (odd()) n.name = "a"; int t = n.name == "a" ? 64 : 65;',
    "a number outside": "if (odd()) number = 64; int t = number ? number : 65;",
    "an element outside": "if (odd()) table[2] = 64; int t = table[2] ? table[2] : 65;",
    "a member outside": "if (odd()) pair.t = 64; int t = pair.t ? pair.t : 65;",
    "text outside": 'if (odd()) text = "a"; int t = text == "a" ? 64 : 65;',
    "a sequence outside": "if (odd()) list.push_back(1); int t = list.size() ? 64 : 65;",
    "a number that lasts": "static int n; if (odd()) n = 64; int t = n ? n : 65;",
    "memory": "int *p = (int *)calloc(2, 4); if (odd()) p[1] = 64; int t = p[1] ? 64 : 65;",
    "what && calls": "int n = 65; auto f = [&] { n = 64; return true; }; bool b = odd() && f(); int t = n;",
    "what || calls": "int n = 65; auto f = [&] { n = 64; return true; }; bool b = odd() || f(); int t = n;",
    "what ?: calls": "int n = 65; auto f = [&] { n = 64; return 1; }; int b = odd() ? f() : 0; int t = n;",
    "what is returned":
        'auto f = []() -> std::string { if (odd()) return "a"; '
        'return "b"; }; int t = f() == "a" ? 64 : 65;',
    "an object, or none, returned":
        "static Pair a{64, 1}; auto f = []() -> Pair * { if (odd()) return &a; "
        "return nullptr; }; Pair *p = f(); int t = p ? 64 : 65;",
    "what a lambda is given":
        "auto f = [](Pair &p) { p.t = 64; }; "
        "Pair a{65, 1}, b{65, 1}; f(odd() ? a : b); int t = a.t;",
}  # fmt: skip


@pytest.mark.parametrize("begin", ["int main() {", "void go() {"], ids=["from main", "from a function"])
@pytest.mark.parametrize("code", SET_IN_ONE_ARM.values(), ids=SET_IN_ONE_ARM.keys())
def test_what_one_arm_sets_is_not_all_that_may_be(code: str, begin: str) -> None:
    found = launches(f"{HEADERS}{DECLARED}{begin} {code} sum<<<1, t>>>(0, 0); }}")
    exact = {x.block[0] for x in found if not x.assumed}
    assert exact == {64, 65} or (found and not exact)


@pytest.mark.parametrize("code", SET_IN_ONE_ARM.values(), ids=SET_IN_ONE_ARM.keys())
def test_no_branch_is_left_out_that_what_one_arm_sets_may_lead_to(code: str) -> None:
    code = f"{code} if (t == 64) sum<<<1, 64>>>(0, 0); else sum<<<1, 65>>>(0, 0);"
    found = launches(f"{HEADERS}{DECLARED}int main() {{ {code} }}")
    assert {x.block[0] for x in found if not x.assumed} == {64, 65}
