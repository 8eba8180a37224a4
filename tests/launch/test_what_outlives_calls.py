"""Variables of functions that outlive their calls, and what sets them from outside."""

from __future__ import annotations

import pytest
from host_code import blocks, launches

CONFIG = "struct Config { int threads = 64; void set(int t) { threads = t; } int &n() { return threads; } };"
ASKED = {
    "a function": ("Config &config() { static Config c; return c; }", "config()"),
    "a method": ("struct All { static Config &get() { static Config c; return c; } };", "All::get()"),
    "a pointer": ("Config *config() { static Config c; return &c; }", "(*config())"),
}
SET = ("{}.threads = 128;", "{}.set(128);", "{}.n() = 128;", "auto &c = {}; c.threads = 128;", "put();")


@pytest.mark.parametrize("setting", SET)
@pytest.mark.parametrize(("made", "asked"), ASKED.values(), ids=ASKED.keys())
def test_an_object_that_a_function_gives_is_what_the_program_has_made_of_it(
    made: str, asked: str, setting: str
) -> None:
    """Nothing was known of it in the program that sets it."""
    host = f"""{CONFIG} {made}
        void put() {{ {asked}.set(128); }}
        void run() {{ sum<<<1, {asked}.threads>>>(0, 0); }}"""
    assert blocks(f"{host} int main() {{ {setting.format(asked)} run(); }}") == [128]
    assert blocks(f"{host} int main() {{ run(); {setting.format(asked)} run(); }}") == [64, 128]
    assert all(x.assumed for x in launches(host))


def test_a_variable_of_a_function_keeps_what_a_call_leaves() -> None:
    """The second call told what the first began with."""
    go = "void go() { static int t = 64; sum<<<1, t>>>(0, 0); t = 128; }"
    assert blocks(f"{go} int main() {{ go(); go(); }}") == [64, 128]
    assert blocks(f"{go} int main() {{ go(); }}") == [64]


def test_each_instance_of_a_template_has_variables_of_its_own() -> None:
    go = "template <int N> void go() { static int t = N; sum<<<1, t>>>(0, 0); t += 32; }"
    assert blocks(f"{go} int main() {{ go<64>(); go<256>(); go<64>(); }}") == [64, 256, 96]


@pytest.mark.parametrize("made", ["Wide w(96);", "Wide w{96};", "Usual u;", "auto w = Wide(96);", "Two h;"])
def test_what_an_object_sets_while_it_lives_is_seen_and_put_back(made: str) -> None:
    host = """
    static int threads = 64;
    struct Wide { int before; Wide(int t) : before(threads) { threads = t; } ~Wide() { threads = before; } };
    struct Usual { Usual() { threads = 96; } ~Usual() { threads = 64; } };
    struct Two { Usual inner; };
    void go() { sum<<<1, threads>>>(0, 0); }
    """
    assert blocks(f"{host} int main() {{ go(); {{ {made} go(); }} go(); }}") == [64, 96]
    assert blocks(f"{host} int main() {{ {{ {made} }} go(); }}") == [64]


@pytest.mark.parametrize(
    "asks",
    [
        "void ask(int *g, int *b) { cudaOccupancyMaxPotentialBlockSize(g, b, sum, 0, 0); }",
        'void ask(int *g, int *b) { sscanf("8 32", "%d %d", g, b); }',
        "void ask(int *g, int *b) { cudaMemcpy(b, g, 4, cudaMemcpyDeviceToHost); }",
        "void other(int *b); void ask(int *g, int *b) { other(b); }",
    ],
)
def test_a_pointer_that_is_handed_on_to_a_function_of_the_library_leads_to_what_that_sets(asks: str) -> None:
    """The number that the caller began with was told as the block."""
    found = launches(f"{asks} int main() {{ int g = 8, b = 64; ask(&g, &b); sum<<<g, b>>>(0, 0); }}")
    assert found and all(x.assumed for x in found)


def test_a_pointer_to_a_pointer_that_is_handed_on_is_set() -> None:
    """The kernel was told that its pointer is null."""
    host = """void get(void **p, int n) { cudaMalloc(p, n); }
    int main() { float *p = 0; get((void **)&p, 4); sum<<<1, 64>>>(p, 0); }"""
    assert [dict(x.arguments) for x in launches(host)] == [{"out": 0}]
