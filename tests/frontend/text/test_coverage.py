"""The text's own count of shared names."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.frontend.text.coverage import (
    DROPPED,
    INACTIVE,
    SkippedText,
    shared_tokens,
    uncovered,
)
from smemlint.source import source_from_bytes


def counted(text: str, *skipped: tuple[int, int]) -> tuple[list[str], list[str]]:
    """Names declared and names used, in order."""
    tokens = shared_tokens(SkippedText("k.cu", text.encode(), skipped))
    return [t.name for t in tokens if t.declaration], [t.name for t in tokens if not t.declaration]


DECLARATIONS = {
    "__shared__ float a[32][N + 1];": ["a"],
    "__shared__ float a[4], b, *c;": ["a", "b", "c"],
    "extern __shared__ __align__(16) unsigned char pool[];": ["pool"],
    "extern __shared__ float4 shared_mem[];": ["shared_mem"],
    "__shared__ typename cub::BlockReduce<float, 32>::TempStorage temp;": ["temp"],
    "__shared__ union { float f[32]; int i[32]; } u;": ["u"],
    "__shared__ struct alignas(16) S { int x, y; } s;": ["s"],
    "static __shared__ volatile int flag;": ["flag"],
    "__shared__ int x = 3;": ["x"],
    "__shared__ __attribute__((aligned(128))) half t[2];": ["t"],
    "__shared__ alignas(128) std::array<int, 4> t;": ["t"],
    "float __shared__ t[2];": ["t"],
    "__shared__ float (*p)[4];": ["p"],
    "__shared__ cuda::barrier<cuda::thread_scope_block> bar[2];": ["bar"],
}


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_declared_names(declaration: str) -> None:
    assert counted(f"void k() {{ {declaration} }}")[0] == DECLARATIONS[declaration]


def test_uses_end_with_the_block_of_the_declaration() -> None:
    text = "void k() { __shared__ int a[2]; a[0] = a[1]; { a[0]++; } } void l(int* a) { a[0] = 1; }"
    assert counted(text) == (["a"], ["a", "a", "a"])


def test_a_parameter_or_local_of_the_same_name_is_another_variable() -> None:
    text = (
        "extern __shared__ int s[];\n"
        "void f(volatile int* s, int n) { s[0] = s[n]; }\n"
        "void g(int* s);\n"
        "void h() { s[0] = n * s[1]; { float s = 2; s += 1; } for (int s = 0; s < 2; s++) { k(s); } }\n"
        "void i() { k(n * s[2]); return s[3]; }\n"
    )
    tokens = shared_tokens(SkippedText("k.cu", text.encode(), ()))
    used = [text[t.offset : t.offset + 4] for t in tokens if not t.declaration]
    assert used[:2] == ["s[0]", "s[1]"]
    assert used[-2:] == ["s[2]", "s[3]"]
    assert "s[n]" not in used


def test_a_local_that_is_declared_behind_others_is_another_variable() -> None:
    text = (
        "void k() { __shared__ int s[2], u[2];\n"
        "{ int a = f(x, y), s = 2; s += a; }\n"
        "{ const T a[2] = {1, 2}, *s = u + 1, b; g(s[2]); }\n"
        "int a = 1; f(a, s[0]), u[0] = a, s[1] = 3; a = f(1), s[1] = 2;\n"
        "for (int i = 0, s = 5; i < s; i++) g(s); }\n"
    )
    assert counted(text)[1] == ["u", "s", "u", "s", "s"]


def test_members_comments_strings_and_defines_are_no_uses() -> None:
    text = (
        "#define A(x) (a[x] + \\\n a[0])\n"
        'void k() { __shared__ int a[2]; p.a = q->a + N::a; // a\n /* a */ f("a"); A(1); g(a); }'
    )
    assert counted(text) == (["a"], ["a"])


def test_skipped_branches_do_not_count() -> None:
    text = "void k() { __shared__ int a[2];\n#if 0\na[0] = 1;\n#endif\na[1] = 2; }"
    assert counted(text)[1] == ["a", "a"]
    assert counted(text, (text.index("#if"), text.index("#endif") + 6))[1] == ["a"]


def test_what_no_configuration_brought_is_told_with_its_reason() -> None:
    text = "void k() { __shared__ int a[2];\n#if X\n  a[0] = 1;\n#endif\n  a[1] = 2; }"
    skipped = SkippedText("k.cu", text.encode(), ((text.index("#if"), text.index("#endif") + 6),))
    declared = ("k.cu", text.index("a["))
    left = uncovered([[skipped]], {declared})
    assert [(item.place.line, item.place.column, item.text, item.reason) for item in left] == [
        (3, 3, "a[0] = 1;", INACTIVE),
        (5, 3, "a[1] = 2; }", DROPPED),
    ]
    everything = SkippedText("k.cu", text.encode(), ())
    assert (
        uncovered(
            [[skipped], [everything]], {declared, ("k.cu", text.index("a[0]")), ("k.cu", text.index("a[1]"))}
        )
        == ()
    )


def test_an_array_of_the_file_is_parsed_where_no_kernel_uses_it() -> None:
    text = """\
__shared__ float g[512];
__shared__ int unused[4];
__device__ void mix(int i) { if (threadIdx.x < 24) g[(4 * i) & 511] = i; }
__global__ void k(float *out) { out[threadIdx.x] = 1; }
"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    assert not module.unparsed
    assert {f.name for f in module.functions.values()} == {"mix", "k"}
    assert {v.name for v in module.globals.values()} == {"g", "unused"}


def test_a_parameter_of_a_lambda_is_no_shared_variable() -> None:
    text = (
        "__global__ void k(int *out) { __shared__ int c[32]; auto f = [&](int r, int c) { return r + c; };"
        " out[0] = f(1, 2) + c[3]; }"
    )
    assert counted(text) == (["c"], ["c"])
    assert not load(source_from_bytes("k.cu", text.encode()))[0].unparsed


def test_text_that_no_cuda_compiler_is_meant_to_see_is_not_missed() -> None:
    line = "  __shared__ float s[32]; s[threadIdx.x] = p[0];\n"

    def told(above: str, below: str = "#endif\n") -> int:
        text = f"__global__ void k(float *p) {{\n{above}{line}{below}}}\n"
        return len(load(source_from_bytes("k.cu", text.encode()))[0].unparsed)

    for above in ("#if 0\n", "#if 1\n#else\n", "#if (0) && X(1)\n", "#ifdef __HIPCC__\n"):
        assert told(above) == 0, above
    for other in (
        "defined(USE_HIP) && (A || B)",
        "defined USE_HIP || USE_ROCM",
        "!defined(__CUDACC__) && ROCM",
    ):
        assert told(f"#if {other}\n") == 0, other
    # `X(2)` may be anything, also where it is compared with 0.
    for above in ("#if X(2)\n", "#if X(2) == 0\n", "#if 1 && X(2)\n", "#if !defined(USE_HIP) && X(2)\n"):
        assert told(above) == 2, above
    # What CUDA shares with another platform is meant for both.
    for both in (
        "USE_CUDA_OR_HIP > 1",
        "defined(__CUDACC__) || defined(__HIPCC__)",
        "A > 1 || defined(USE_HIP)",
    ):
        assert told(f"#if {both}\n#if X(2)\n", "#endif\n#endif\n") == 2, both
