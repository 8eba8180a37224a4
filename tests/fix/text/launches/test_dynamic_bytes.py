"""The bytes that a launch gives, and whether every launch is seen."""

from __future__ import annotations

import pytest

from smemlint.fix.model import Refusal
from smemlint.fix.text.launches.dynamic_bytes import Growth, grown
from smemlint.fix.text.launches.known import unknown_launch
from smemlint.fix.text.source import Source
from smemlint.ir import Place

KERNEL = "__global__ void k(float *p) {}\n"


CONSTANTS = """#define BYTES (N * 4)
const int N = 64;
constexpr bool WIDE = N > 32;
"""


def places(text: str, wanted: str = "k<<<", path: str = "a.cu") -> list[Place]:
    found = []
    at = text.find(wanted)
    while at >= 0:
        found.append(Place(path, 1, 1, 1, 1, at, at + len(wanted)))
        at = text.find(wanted, at + 1)
    return found


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("BYTES", "BYTES + 128"),
        ("1024", "1152"),
        ("N * sizeof(float)", "N * sizeof(float) + 128"),
        ("WIDE ? 64 : 32", "(WIDE ? 64 : 32) + 128"),
        ("N << 2", "(N << 2) + 128"),
        ("std::max(N, 64)", "std::max(N, 64) + 128"),
    ],
)
def test_a_launch_asks_for_more_bytes(given: str, expected: str) -> None:
    text = f"{KERNEL}{CONSTANTS}void f() {{ k<<<dim3(1, 2), g<int>(3), {given}, stream>>>(p); }}\n"
    edits = grown(Source("a.cu", text.encode()), places(text), Growth((128,), "", 1, "float"), "k")
    assert not isinstance(edits, Refusal)
    ((start, end, new),) = edits
    assert (text[start:end], new) == (given, expected)


@pytest.mark.parametrize(
    ("host", "given"),
    [
        ("void f(int bytes) {", "bytes"),
        ("void f() { int n = ask();", "n * sizeof(float)"),
        ("void f() { int n = 32; if (wide) n = 64;", "n << 2"),
        ("void f() { int n = 32; read(n);", "n << 2"),
        ("void f() { int n = 32; scanf(form, &n);", "n << 2"),
        ("void f() {", "size(a, b)"),
        ("void f() {", "properties.sharedMemPerBlock"),
        ("template <int N> void f() {", "N * 4"),
        ("#ifndef M\n#define M 32\n#endif\nvoid f() {", "M * 4"),
        ("#define M 32\n#undef M\n#define M 64\nvoid f() {", "M * 4"),
        ("int M = 32;\nvoid f() {", "M * 4"),
    ],
)
def test_a_number_is_added_to_nothing_that_another_run_may_change(host: str, given: str) -> None:
    text = f"{KERNEL}{CONSTANTS}{host} k<<<1, 32, {given}>>>(p); }}\n"
    refused = grown(Source("a.cu", text.encode()), places(text), Growth((128,), "", 1, "float"), "k")
    assert isinstance(refused, Refusal) and refused.code == "launches-differ"


def test_a_launch_without_bytes_is_refused() -> None:
    text = f"{KERNEL}void f() {{ k<<<1, 32>>>(p); }}\n"
    refused = grown(Source("a.cu", text.encode()), places(text), Growth((128,), "", 1, "float"), "k")
    assert isinstance(refused, Refusal) and refused.code == "launch-elsewhere"


def unknown(text: str, path: str = "a.cu") -> str:
    return unknown_launch(Source("a.cu", text.encode()), "k", places(text, path=path))


def test_a_whole_program_shows_every_launch() -> None:
    assert unknown(f"{KERNEL}int main() {{ k<<<1, 32, 64>>>(p); }}\n") == ""


def test_a_kernel_of_its_own_file_shows_every_launch() -> None:
    assert unknown(f"static {KERNEL}void f() {{ k<<<1, 32, 64>>>(p); }}\n") == ""
    assert unknown(f"namespace {{ {KERNEL} }}\nvoid f() {{ k<<<1, 32, 64>>>(p); }}\n") == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{KERNEL}void f() {{ k<<<1, 32, 64>>>(p); }}\n", "may be launched by other files"),
        (
            f"{KERNEL}int main() {{ cudaFuncSetAttribute(k, a, 64); k<<<1, 32, 64>>>(p); }}\n",
            "is also named on line 2",
        ),
        (f"#define RUN k\n{KERNEL}int main() {{ k<<<1, 32, 64>>>(p); }}\n", "is named by a macro on line 1"),
    ],
)
def test_a_launch_that_may_be_hidden_is_told(text: str, why: str) -> None:
    assert why in unknown(text)


def test_a_launch_in_another_file_is_told() -> None:
    assert "outside of this file" in unknown(f"{KERNEL}int main() {{ k<<<1, 32, 64>>>(p); }}\n", "b.cu")


@pytest.mark.parametrize(
    ("other", "edited"),
    [
        ("k<<<2, 64, n * sizeof(float)>>>(p);", 2),
        ("k<<<2, 64, n*sizeof( float )>>>(p);", 2),
        ("k<<<2, 64, 2 * n * sizeof(float)>>>(p);", 0),
        ("} void g(int n) { k<<<2, 64, n * sizeof(float)>>>(p);", 0),
    ],
)
def test_a_launch_that_was_not_seen_gets_the_formula_of_one_that_says_the_same(
    other: str, edited: int
) -> None:
    text = f"__global__ void k(float *p);\nvoid f(int n) {{ k<<<1, 32, n * sizeof(float)>>>(p); {other} }}\n"
    first = places(text)[:1]
    growth = Growth((128,), "4", 1, "float", count=(4,))
    found = grown(Source("a.cu", text.encode()), first, growth, "k")
    if not edited:
        assert isinstance(found, Refusal) and found.code == "launch-elsewhere"
    else:
        assert not isinstance(found, Refusal)
        assert [new for _, _, new in found] == ["n * sizeof(float) + 4 * sizeof(float)"] * edited
