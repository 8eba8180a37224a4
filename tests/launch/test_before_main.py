"""Initialisers of variables outside functions run before `main`: registries fill themselves."""

from __future__ import annotations

import pytest
from host_code import blocks

HEADERS = "#include <functional>\n#include <map>\n#include <string>\n#include <vector>\n"
FILLED = {
    "by a function": """
        std::vector<int> &all() { static std::vector<int> v; return v; }
        bool add(int t) { all().push_back(t); return true; }
        static bool a = add(64), b = add(96);
        int main() { for (int t : all()) sum<<<1, t>>>(0, 0); }""",
    "by a constructor": """
        static int count; static int widths[4];
        struct Add { Add(int t) { widths[count++] = t; } };
        static Add a(64); static Add b(96);
        int main() { for (int i = 0; i < count; i++) sum<<<1, widths[i]>>>(0, 0); }""",
    "by a constructor without arguments": """
        static std::vector<int> v;
        struct Fill { Fill() { v.push_back(64); v.push_back(96); } } fill;
        int main() { for (int t : v) sum<<<1, t>>>(0, 0); }""",
    "by a lambda": """
        static std::map<std::string, int> m;
        static bool filled = [] { m["a"] = 64; m["b"] = 96; return true; }();
        int main() { sum<<<1, m["a"]>>>(0, 0); sum<<<1, m["b"]>>>(0, 0); }""",
    "with functions that launch": """
        std::vector<std::function<void()>> &all() { static std::vector<std::function<void()>> v; return v; }
        template <int T> void go() { sum<<<1, T>>>(0, 0); }
        static bool add(std::function<void()> f) { all().push_back(f); return true; }
        static bool a = add(go<64>), b = add(go<96>);
        int main() { for (auto &f : all()) f(); }""",
    "as a list of objects": """
        struct Bench; static Bench *head = nullptr;
        struct Bench { void (*run)(); Bench *next; Bench(void (*f)()) : run(f), next(head) { head = this; } };
        static void wide() { sum<<<1, 96>>>(0, 0); }
        static void narrow() { sum<<<1, 64>>>(0, 0); }
        static Bench b1(wide); static Bench b2(narrow);
        int main() { for (Bench *b = head; b; b = b->next) b->run(); }""",
    "in the order of the file": """
        static int next = 32;
        static int take() { return next *= 2; }
        struct Late { int t; Late() : t(take() - 32) {} };
        static int a = take(); static Late late;
        int main() { sum<<<1, a>>>(0, 0); sum<<<1, late.t>>>(0, 0); }""",
}


@pytest.mark.parametrize("code", FILLED.values(), ids=FILLED.keys())
def test_a_registry_holds_in_main_what_was_put_in_before(code: str) -> None:
    assert sorted(blocks(HEADERS + code)) == [64, 96]


def test_what_is_registered_decides_which_branch_main_takes() -> None:
    code = """
        static int count;
        struct Add { Add() { ++count; } };
        static Add a;
        int main() { int t = 64; if (count == 0) t = 32; sum<<<1, t>>>(0, 0); }"""
    assert blocks(code) == [64]
