"""Arrays outside of functions that one function uses are laid out like those inside."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.fix.edits.apply import apply
from tests.fix.test_loaded_again import SCAN
from tests.fix.test_suggest import of_text

BODY = (
    "    int tx = threadIdx.x, ty = threadIdx.y;\n"
    "    t[tx * {W} + ty] = in[tx]; __syncthreads(); o[ty * {W} + tx] = t[ty * {W} + tx];\n"
)
START = "int main() {{ float *p = 0; {k}<<<1, dim3(32, 32){more}>>>(p, p); }}\n"


def kernel(declared: str, width: str = "32", template: str = "", more: str = "", name: str = "k") -> str:
    text = declared + template + "__global__ void k(float *o, const float *in) {\n"
    return text + BODY.replace("{W}", width) + "}\n" + START.format(k=name, more=more)


def fixed(tmp_path: Path, text: str) -> tuple[str, bool]:
    found, path = of_text(tmp_path, text.encode())
    (fix,) = found.values()
    assert fix.edits is not None, fix.refused
    assert fix.after == 64
    return apply(fix.edits, Path(path).read_bytes()).decode(), fix.safe


def test_a_pitch_stands_before_the_declaration(tmp_path: Path) -> None:
    text, safe = fixed(tmp_path, kernel("#define W 32\n__shared__ float t[W * W];\n", "W"))
    assert "constexpr int T_PITCH = W + 1;\n__shared__ float t[W * T_PITCH];\n" in text and safe


def test_a_name_of_the_function_is_not_used_outside_of_it(tmp_path: Path) -> None:
    text, _ = fixed(
        tmp_path, kernel("__shared__ float t[32 * 32];\n", "W", "template <int W> ", name="k<32>")
    )
    assert "constexpr int T_PITCH = 33;\n" in text


def test_the_launch_of_a_dynamic_one_gives_more(tmp_path: Path) -> None:
    text, safe = fixed(tmp_path, kernel("extern __shared__ float t[];\n", more=", 4096"))
    assert "dim3(32, 32), 4224>>>" in text and safe


def test_a_helper_stands_before_the_declaration(tmp_path: Path) -> None:
    text = "__shared__ int temp[512];\n" + SCAN.replace("    __shared__ int temp[512];\n", "")
    found, path = of_text(tmp_path, text.encode())
    fix = found["temp"]
    assert fix.edits is not None
    edited = apply(fix.edits, Path(path).read_bytes()).decode()
    assert edited.index("int skew_temp(int i)") < edited.index("__shared__ int temp[5")


@pytest.mark.parametrize("scope", ["namespace {", 'extern "C" {', "namespace a { namespace b {"])
def test_a_namespace_is_no_function(tmp_path: Path, scope: str) -> None:
    text, _ = fixed(tmp_path, scope + " __shared__ float t[1024]; " + "}" * scope.count("{") + "\n" + (
        "using namespace a::b;\n" if "a" in scope[10:12] else ""
    ) + kernel(""))  # fmt: skip
    assert "T_PITCH" in text


OTHER = "__device__ float one(int i) { return t[i * 32]; }\n"
SECOND = kernel("", name="k").partition("int main")[0].replace(" k(", " second(")


def test_all_functions_that_use_one_follow_its_pitch(tmp_path: Path) -> None:
    text = kernel("__shared__ float t[1024];\n" + OTHER).replace("= in[tx]", "= in[tx] + one(tx)")
    text = text.replace("int main", SECOND + "int main").replace(
        "p); }", "p); second<<<1, dim3(32, 32)>>>(p, p); }"
    )
    found, path = of_text(tmp_path, text.encode())
    (fix,) = found.values()
    assert fix.edits is not None and fix.safe, (fix.refused, fix.unsafe_because)
    edited = apply(fix.edits, Path(path).read_bytes()).decode()
    assert edited.count("* T_PITCH") == 6 and "return t[i * T_PITCH]" in edited


def test_a_function_that_nothing_runs_keeps_it_from_being_safe(tmp_path: Path) -> None:
    found, _ = of_text(tmp_path, kernel("__shared__ float t[1024];\n" + OTHER).encode())
    (fix,) = found.values()
    assert fix.edits is None or not fix.safe


@pytest.mark.parametrize(
    "other",
    [
        "__device__ float one(int i) { float *t = p; return t[i * 32]; }\n",
        "__device__ float one(float *t, int i) { return t[i * 32]; }\n",
        "struct S { __device__ float one(int i) { return t[i * 32]; } };\n",
        "inline float *all = t;\n",
    ],
)
def test_what_is_declared_again_or_used_outside_is_told_as_outside(tmp_path: Path, other: str) -> None:
    found, _ = of_text(tmp_path, kernel("float *p; __shared__ float t[1024];\n" + other).encode())
    (fix,) = found.values()
    assert fix.refused is not None and fix.refused.code in ("several-kernels", "declared-twice"), fix
