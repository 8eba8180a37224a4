"""Numbers of host code to which something else holds a reference, or is given one."""

from __future__ import annotations

import pytest
from host_code import blocks, launches

HEADERS = "".join(f"#include <{x}>\n" for x in ("algorithm", "functional", "tuple", "vector"))
LEFT = {
    "a function that is bound": "auto f = std::bind(grow, std::ref(t), 32); f();",
    "a wrapper": "std::reference_wrapper<int> w = t; w.get() = 64;",
    "a wrapper, made by a call": "std::reference_wrapper<int> w(t); w.get() = 64;",
    "a tuple": "std::tuple<int &, int &> both(t, u); std::get<0>(both) = 64;",
    "a tuple that is tied": "auto both = std::tie(t, u); both = std::make_tuple(64, 3);",
    "a vector": "std::vector<std::reference_wrapper<int>> all{t, u}; for (int &x : all) x += 32;",
    "a function of another source": "setup(t);",
    "a template of another source": "any(t);",
    "a method of another source": "Q q; q.set(t);",
}
DECLARED = """
void grow(int &n, int by) { n += by; } void setup(int &); template <class T> void any(T &);
struct Q { int t = 32; void set(int &); void own(); void look() const; };
void see(int); void look(const int &);
"""


@pytest.mark.parametrize("code", LEFT.values(), ids=LEFT.keys())
def test_what_others_may_set_is_not_known(code: str) -> None:
    """32 was told as exact."""
    found = launches(f"{HEADERS}{DECLARED} void go() {{ int t = 32, u = 2; {code} sum<<<1, t>>>(0, 0); }}")
    assert all(x.assumed for x in found)


def test_what_is_given_as_a_number_stays_what_it_is() -> None:
    for code in ("see(t);", "look(t);", "std::tie(t, u) = std::make_tuple(32, 3);"):
        assert blocks(f"{HEADERS}{DECLARED} void go() {{ int t = 32, u; {code} sum<<<1, t>>>(0, 0); }}") == [
            32
        ]


def test_a_method_of_another_source_may_set_its_object() -> None:
    assert all(
        x.assumed for x in launches(f"{DECLARED} void go() {{ Q q; q.own(); sum<<<1, q.t>>>(0, 0); }}")
    )
    assert blocks(f"{DECLARED} void go() {{ Q q; q.look(); sum<<<1, q.t>>>(0, 0); }}") == [32]


def test_the_larger_of_two_numbers_is_one_of_them() -> None:
    """It was what it had been when it was made."""
    host = "int a = 64, b = 96; const int &r = std::max(a, b); b = 160; sum<<<1, r>>>(0, 0);"
    assert blocks(f"{HEADERS} void go() {{ {host} }}") == [160]
