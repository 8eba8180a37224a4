"""Conditions are turned into macros that make them true."""

from __future__ import annotations

import pytest

from smemlint.frontend.text.conditions import wish_for
from smemlint.frontend.text.configurations import (
    configuration_for_cuda,
    configuration_without_errors,
    configurations_that_include,
    configurations_that_use,
    drop_defines,
    further_configurations,
)
from smemlint.frontend.text.coverage import SkippedText

WISHES = [
    ("defined(A)", True, {"A": "1"}),
    ("defined A", False, {"A": None}),
    ("!defined(A) && B", True, {"A": None, "B": "1"}),
    ("A || B", False, {"A": "0", "B": "0"}),
    ("__CUDA_ARCH__ >= 1000", True, {"__CUDA_ARCH__": "1000"}),
    ("defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 1000)", True, {"__CUDA_ARCH__": "1000"}),
    ("(defined(__CUDA_ARCH__) and __CUDA_ARCH__ >= 1000) or A", True, {"__CUDA_ARCH__": "1000"}),
    ("not defined(A) and B not_eq 2", True, {"A": None, "B": "3"}),
    ("not (A or B)", False, {"A": "1"}),
    ("__CUDA_ARCH__ < 700", True, {"__CUDA_ARCH__": "690"}),
    ("__CUDA_ARCH__ >= 700", False, {"__CUDA_ARCH__": "690"}),
    ("__CUDA_ARCH__ < 600", True, {"__CUDA_ARCH__": "590"}),
    ("__CUDA_ARCH__ < 300", True, None),
    ("__CUDA_ARCH__ >= 200", False, None),
    ("__CUDA_ARCH__ < 200 || FORCE", True, {"FORCE": "1"}),
    ("VERSION == 3", True, {"VERSION": "3"}),
    ("3 < VERSION", True, {"VERSION": "4"}),
    ("MODE == FAST", True, {"MODE": "FAST"}),
    ("0", True, None),
    ("1", False, None),
    ("__HIP_PLATFORM_AMD__", True, None),
    ("defined(LIB_NO_CUDA_HIP)", True, None),
    ("defined(LIB_CUDA_OR_HIP_LANG)", True, {"LIB_CUDA_OR_HIP_LANG": "1"}),
    ("LIB_ROCM_CUDA && !X", True, {"LIB_ROCM_CUDA": "1", "X": "0"}),
    ("F(3)", True, None),
    ("A +", True, None),
    ("defined(USE_CUDA)", True, {"USE_CUDA": "1"}),
    ("!(LARGE)", True, {"LARGE": "0"}),
    ("LIMIT >= 0x40UL", True, {"LIMIT": "64"}),
]


@pytest.mark.parametrize(("condition", "holds", "wish"), WISHES)
def test_a_condition_becomes_macros(condition: str, holds: bool, wish: dict[str, str | None] | None) -> None:
    assert wish_for(condition, holds) == wish


def branch(directive: str, other: str = "") -> SkippedText:
    text = f"void k() {{ __shared__ int a[2];\n{other}{directive}\na[0] = 1;\n#endif\n}}"
    return SkippedText("k.cu", text.encode(), ((text.index(directive), text.index("#endif") + 6),))


def test_a_skipped_branch_with_shared_memory_asks_for_its_macros() -> None:
    assert further_configurations([branch("#ifdef ENABLE_BF16")]) == (("ENABLE_BF16",),)
    assert further_configurations([branch("#else", "#if N > 2\n")]) == (("N=2",),)
    assert further_configurations([branch("#if 0")]) == ()


def test_include_guards_and_other_conditions_that_hold_are_left_alone() -> None:
    file = branch("#ifdef A")
    text = b"#ifndef K_CUH\n#define K_CUH\n#if B\n" + file.data + b"#endif\n#endif\n"
    shift = text.index(file.data)
    skipped = tuple((start + shift, end + shift) for start, end in file.skipped)
    assert further_configurations([SkippedText("k.cuh", text, skipped)]) == (("A",),)


def test_wishes_that_agree_share_a_configuration_and_at_most_two_are_made() -> None:
    files = [branch("#ifdef A"), branch("#ifdef B"), branch("#ifndef A"), branch("#if A == 7")]
    assert further_configurations(files) == (("A", "B"), ("-A",))


def test_a_branch_without_shared_memory_asks_for_nothing() -> None:
    text = b"#ifdef A\nint x;\n#endif\n__shared__ int a;\n"
    assert further_configurations([SkippedText("k.cu", text, ((0, 24),))]) == ()


def test_own_defines_give_way_at_the_same_length() -> None:
    text = b"#define A 0\n#define AB 1\n#undef A\n#define A \\\n 2\nint x = A;\n"
    dropped = drop_defines(text, ["A"])
    assert len(dropped) == len(text)
    assert dropped.split() == b"#define AB 1 int x = A;".split()


def test_what_no_single_condition_tells_of_the_architecture_is_tried_on_each() -> None:
    text = b"""
    __global__ void k(float *p) {
    #if __CUDA_ARCH__ >= 1000
        __shared__ float a[1];
    #elif __CUDA_ARCH__ == 900
        __shared__ float b[1];
    #else
        __shared__ float c[1];
    #endif
    }
    """
    begins, ends = text.index(b"#if") + 1, text.index(b"#endif")
    middle = text.index(b"#elif"), text.index(b"#else")
    file = SkippedText("a.cu", text, ((begins, middle[0]), (middle[1], ends)))
    assert further_configurations([file]) == (("__CUDA_ARCH__=1000",), ("__CUDA_ARCH__=800",))


def test_each_architecture_is_tried_beside_other_macros() -> None:
    heads = (
        "#if __CUDA_ARCH__ >= 1200",
        "#elif __CUDA_ARCH__ >= 1000",
        "#elif __CUDA_ARCH__ >= 900",
        "#else",
    )
    arms = "".join(f"{head}\n__shared__ float a{n}[1];\n" for n, head in enumerate(heads)) + "#endif\n"
    others = "".join(f"#if SIZE == {n}\n__shared__ float b[{n}];\n#endif\n" for n in range(1, 5))
    text = others + arms
    skipped = [
        (begin, text.index("__shared__", begin) + 20)
        for line in ("#if SIZE == 1", "#if SIZE == 2", "#if SIZE == 3", "#if SIZE == 4")
        for begin in (text.index(line) + 1,)
    ]
    skipped += [(text.index(h) + 1, text.index(h) + len(h) + 20) for h in heads if h != heads[2]]
    found = further_configurations([SkippedText("a.cu", text.encode(), tuple(skipped))])
    tried = sorted(value for plan in found for value in plan if "ARCH" in value)
    assert tried == ["__CUDA_ARCH__=1000", "__CUDA_ARCH__=1200", "__CUDA_ARCH__=800"]
    assert sum(not any("ARCH" in value for value in plan) for plan in found) <= 2


def test_launches_that_are_all_skipped_ask_for_their_macros() -> None:
    text = "__global__ void k() { __shared__ int a[2]; a[0] = 1; }\n"
    text += "#ifdef LIVE\nvoid f() { k<<<1, 2>>>(); }\n#endif\n"
    skipped = ((text.index("#ifdef"), text.index("#endif") + 6),)
    assert further_configurations([SkippedText("k.cu", text.encode(), skipped)]) == (("LIVE",),)
    other = text + "void g() { k<<<1, 4>>>(); }\n"
    assert further_configurations([SkippedText("k.cu", other.encode(), skipped)]) == ()


def test_a_skipped_launch_of_what_nothing_else_starts_asks_for_its_macros() -> None:
    text = "__global__ void k() { __shared__ int a[2]; a[0] = 1; }\n"
    text += "#if ARCH >= 100\nvoid f() { k<float, 4><<<1, 2>>>(); }\n#endif\n"
    skipped = ((text.index("#if"), text.index("#endif") + 6),)
    for other in ("void g() { other<<<1, 4>>>(); }\n", "void g() { ns::other<int> <<<1, 4>>>(); }\n"):
        file = SkippedText("k.cu", (text + other).encode(), skipped)
        assert further_configurations([file]) == (("ARCH=100",),)


def test_skipped_code_that_calls_a_name_asks_for_its_macros() -> None:
    text = "#ifdef USE_CUDA\nvoid f() { start<float>(1); }\n#else\n#endif\n"
    file = SkippedText("f.cpp", text.encode(), ((0, text.index("#else")),))
    assert configurations_that_use([file], ["start"]) == (("USE_CUDA",),)
    assert configurations_that_use([file], ["stop"]) == ()
    assert configurations_that_use([file], []) == ()


def stopping(text: str) -> SkippedText:
    """A file of which clang takes the last branch of each condition."""
    skipped, at = [], 0
    while (begin := text.find("#if defined", at)) >= 0:
        at = text.index("#else", begin)
        skipped.append((begin, at))
    return SkippedText("t.h", text.encode(), tuple(skipped))


def test_of_alternatives_before_an_error_the_only_possible_one_is_meant() -> None:
    text = "#ifndef T_H\n#define T_H\n#if defined(USE_CUDA)\n#include <a.h>\n"
    text += "{}#else\n#error none\n#endif\n#endif\n"
    hip = "#elif defined(USE_HIP)\n#include <b.h>\n"
    assert configuration_without_errors([stopping(text.format(hip))]) == ("USE_CUDA",)
    sizes = "#elif defined(USE_DOUBLE)\ntypedef double real;\n"
    assert configuration_without_errors([stopping(text.format(sizes))]) == ()
    assert configuration_without_errors([stopping(text.format(hip).replace("#error", "// error"))]) == ()


def test_a_skipped_include_of_a_file_asks_for_its_macros() -> None:
    text = '#if ENABLE_GPU\n#include "gpu/norm_gpu.cu"\n#endif\n#include "norm.h"\n'
    file = SkippedText("norm.cu", text.encode(), ((0, text.index("#endif")),))
    assert configurations_that_include([file], "norm_gpu.cu") == (("ENABLE_GPU",),)
    assert configurations_that_include([file], "gpu.cu") == ()
    assert configurations_that_include([file], "norm.h") == ()


@pytest.mark.parametrize(
    ("condition", "macros"),
    [
        ("#ifdef USE_CUDA", ("USE_CUDA",)),
        ("#if defined(LIB_WITH_GPU) || defined(LIB_WITH_HIP)", ("LIB_WITH_GPU",)),
        ("#if __CUDA", ("__CUDA",)),
        ("#if GPU_SUPPORT && HAVE_CUDA", ("GPU_SUPPORT", "HAVE_CUDA")),
        ("#ifdef USE_CUDA_GRAPHS", ()),
        ("#ifdef NO_CUDA", ()),
        ("#ifdef USE_MULTI_GPU", ()),
        ("#ifdef LIB_CUDA_VERSION", ()),
        ("#ifndef USE_CUDA", ()),
    ],
)
def test_a_build_of_kernels_says_that_there_is_cuda(condition: str, macros: tuple[str, ...]) -> None:
    text = f"int a;\n{condition}\nint b;\n#endif\n".encode()
    start = text.index(b"#")
    skipped = () if "ifndef" in condition else ((start, len(text)),)
    assert configuration_for_cuda([SkippedText("a.h", text, skipped)]) == macros
    defined = text + b"".join(b"#define %s 0\n" % m.encode() for m in macros)
    assert configuration_for_cuda([SkippedText("a.h", defined, skipped)]) == ()


def test_of_two_platforms_of_a_library_its_own_macro_for_cuda_is_set() -> None:
    text = b"#if defined(LIB_CUDA)\nint a;\n#elif defined(LIB_ROCM)\nint b;\n#endif\n"
    skipped = ((0, text.index(b"#elif")),)
    assert configuration_for_cuda([SkippedText("a.h", text, skipped)]) == ("LIB_CUDA",)
    alone = text.replace(b"LIB_ROCM", b"LIB_ELSE")
    assert configuration_for_cuda([SkippedText("a.h", alone, skipped)]) == ()
    without = text.replace(b"LIB_", b"LIB_NO_")
    assert configuration_for_cuda([SkippedText("a.h", without, skipped)]) == ()
