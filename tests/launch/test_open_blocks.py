"""Blocks whose shape the command line or data give: which are tried."""

from __future__ import annotations

import pytest
from host_code import KERNEL, blocks, launches

from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes


def shapes(main: str) -> list[tuple[int, int, int]]:
    """Of a kernel whose array tells nothing of the block."""
    text = KERNEL.replace("__shared__ float part[1024]", "extern __shared__ float part[]") + main
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = infer(module.kernels()[0], module, started_kernels(module))
    assert all(x.assumed for x in found)
    return [x.block for x in found]


@pytest.mark.parametrize(
    "clamp",
    [
        "int block = n < 512 ? n : 512;",
        "int block = n > 512 ? 512 : n;",
        "int block = std::min(512, n);",
        "int block = smaller(512, n);",
        "int block = 512; if (n < block) block = n;",
        "int block; if (n > 512) block = 512; else block = n;",
        "int block = larger(smaller(512, n), 32);",
    ],
)
def test_a_block_clamped_to_a_limit_is_tried_at_the_limit_and_below(clamp: str) -> None:
    main = f"""
    inline int smaller(int a, int b) {{ return a < b ? a : b; }}
    inline int larger(int a, int b) {{ return a > b ? a : b; }}
    int main(int argc, char **argv) {{
        if (argc != 2) return 1;
        int n = atoi(argv[1]);
        {clamp}
        sum<<<1, block>>>(0, 0);
    }}"""
    assert sorted(x for x, _, _ in shapes(main)) == [32, 64, 128, 256, 512]
    assert shapes(main)[0] == (512, 1, 1)
    assert launches(main)[0].origin.startswith("at most, a.cu:")


def test_a_block_that_the_command_line_gives_is_tried_at_the_usual_sizes() -> None:
    main = "int main(int argc, char **argv) { int n = atoi(argv[1]); sum<<<1, n>>>(0, 0); }"
    assert shapes(main) == [(n, 1, 1) for n in (256, 128, 512, 64, 1024, 32)]


@pytest.mark.parametrize(
    "check",
    [
        "if (n > 96) return 1;",
        "if (n < 0 || n > 96 || m > 4) return 1;",
        "int info = 0; if (n < 0) info = 1; else if (n > 96) info = 2; if (info != 0) return info;",
    ],
)
def test_checks_before_a_launch_limit_the_shapes_that_are_tried(check: str) -> None:
    main = f"int start(int n, int m) {{ {check} sum<<<m, n>>>(0, 0); return 0; }}"
    assert shapes(main) == [(96, 1, 1), (64, 1, 1), (32, 1, 1)]


def test_shapes_below_a_check_are_not_tried() -> None:
    main = "void start(int n) { if (n > 32) if (n <= 128) sum<<<1, n>>>(0, 0); }"
    assert shapes(main) == [(128, 1, 1), (64, 1, 1)]


def test_an_array_for_every_thread_is_as_large_as_an_open_block_can_be() -> None:
    main = "int main(int argc, char **argv) { int n = atoi(argv[1]); sum<<<1, n>>>(0, 0); }"
    found = launches(main)
    assert [x.block[0] for x in found] == [1024, 256, 128, 512, 64, 32]
    assert found[0].origin == "implied by part[1024]"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ("int n = levels < 4 ? levels : 4; int block = (1 << n) / 2;", [8, 4, 2, 1]),
        ("int block = std::min(256, (1 << levels) / 2);", [256, 128, 64, 32]),
        ("if (levels > 6) return 1; int block = 1 << levels;", [64, 32]),
        ("int block = 1 << levels;", [256, 128, 512, 64, 1024, 32]),
    ],
)
def test_a_power_of_two_has_each_size_that_a_block_of_whole_warps_can_have(
    size: str, expected: list[int]
) -> None:
    main = f"""
    int main(int argc, char **argv) {{
        int levels = atoi(argv[1]);
        {size}
        sum<<<1, block>>>(0, 0);
    }}"""
    assert blocks(main) == expected


def test_what_several_sizes_of_one_block_pass_is_known_where_they_agree() -> None:
    text = """
    __global__ void k(float *p, int levels, int n) {
        extern __shared__ float s[];
        s[threadIdx.x] = p[levels];
    }
    void start(int levels) { int t = std::min(64, 1 << levels); k<<<1, t, 4 * t>>>(0, levels, t); }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = infer(module.kernels()[0], module, started_kernels(module))
    assert [(x.block[0], x.dynamic, x.arguments) for x in found[:2]] == [
        (64, 256, {"p": 0, "n": 64}),
        (32, 128, {"p": 0, "levels": 5, "n": 32}),
    ]


@pytest.mark.parametrize(
    "check",
    [
        "assert(n == 64 || n == 96);",
        "if (n != 64 && n != 96) return;",
        "if (!(n == 64 || n == 96)) throw 1;",
        "if (n % 2 == 0) if (n == 64 || n == 96)",
        'LIB_CHECK(n == 64 || n == 96, "another size");',
        "LIB_ENFORCE(n == 64 || n == 96 || n == 192); LIB_ENFORCE_NE(n, 192);",
        'CHECK(n == 64 || n == 96) << "not for " << n << " threads";',
        'TORCH_CHECK(n == 64 || n == 96, "not for ", n);',
    ],
)
def test_checks_that_name_each_size_tell_them(check: str) -> None:
    assert sorted(blocks(f"void start(int n) {{ {check} sum<<<1, n>>>(0, 0); }}")) == [64, 96]


def test_checks_that_compare_their_arguments_limit_sizes() -> None:
    start = "void start(int n) { CHECK_GE(n, 95); CHECK_LT(n, 97); sum<<<1, n>>>(0, 0); }"
    assert sorted(blocks(start)) == [95, 96]


def test_checks_that_are_told_why_limit_sizes() -> None:
    start = 'void start(int n) { CHECK_GE(n, 95) << "few"; CHECK_LT(n, 97); sum<<<1, n>>>(0, 0); }'
    assert sorted(blocks(start)) == [95, 96]


def test_macros_of_other_names_and_calls_in_checks_tell_nothing() -> None:
    for check in ("LIB_EXPECT(n == 64);", "CUDA_CHECK(lib::start(n));", "LIB_WARN(n == 64);"):
        assert shapes(f"void start(int n) {{ {check} sum<<<1, n>>>(0, 0); }}")


def test_what_checks_leave_over_is_told_in_the_other_arm() -> None:
    check = "assert(n == 64 || n == 96); if (n == 64) return;"
    assert blocks(f"void start(int n) {{ {check} sum<<<1, n>>>(0, 0); }}") == [96]


def test_checks_that_name_some_sizes_of_many_tell_nothing() -> None:
    assert shapes("void start(int n) { if (n == 64 || n > 96) sum<<<1, n>>>(0, 0); }")


@pytest.mark.parametrize(
    ("threads", "expected"),
    [
        ("n > 100000 ? 256 : 128", {(256, 1, 1), (128, 1, 1)}),
        ("n > 9 ? 256 : n > 5 ? 128 : 64", {(256, 1, 1), (128, 1, 1), (64, 1, 1)}),
        ("dim3(n > 9 ? 32 : 16, n > 9 ? 2 : 4)", {(32, 2, 1), (16, 4, 1)}),
        ("dim3(n > 9 ? 32 : 16, odd ? 2 : 4)", {(32, 2, 1), (16, 4, 1), (32, 4, 1), (16, 2, 1)}),
    ],
)
def test_shapes_between_which_conditions_choose_are_all_said(
    threads: str, expected: set[tuple[int, int, int]]
) -> None:
    """As if each stood in a branch of its own."""
    main = f"void go(int n, bool odd) {{ sum<<<1, {threads}>>>(0, 0); }}"
    text = KERNEL.replace("__shared__ float part[1024]", "extern __shared__ float part[]") + main
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = infer(module.kernels()[0], module, started_kernels(module))
    assert ({x.block for x in found}, any(x.assumed for x in found)) == (expected, False)


def test_a_size_that_replaces_what_was_typed_in_is_tried_first() -> None:
    main = """
    int main(int argc, char **argv) {
        int n = atoi(argv[1]);
        if (n > 1024) n = 192;
        sum<<<1, n>>>(0, 0);
    }"""
    assert shapes(main)[0] == (192, 1, 1)


def test_what_is_made_of_the_same_number_as_the_block_follows_from_it() -> None:
    kernel = """
    __global__ void scan(float *p, int n, int twice) {
        extern __shared__ float s[];
        s[threadIdx.x] = p[n];
        p[0] = s[threadIdx.x ^ 1];
    }
    int main(int argc, char **argv) {
        int n = atoi(argv[1]);
        scan<<<1, n / 2, n * sizeof(float)>>>(0, n, 2 * n);
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", kernel.encode()))
    found = infer(module.kernels()[0], module, started_kernels(module))
    assert {(x.block[0], x.arguments["n"], x.arguments["twice"], x.dynamic) for x in found} == {
        (n, 2 * n, 4 * n, 8 * n) for n in (32, 64, 128, 256, 512, 1024)
    }


def test_extents_of_one_number_are_tried_together() -> None:
    main = "int main(int argc, char **argv) { int n = atoi(argv[1]); sum<<<1, dim3(n, n)>>>(0, 0); }"
    assert shapes(main) == [(16, 16, 1), (32, 32, 1), (8, 8, 1)]


@pytest.mark.parametrize(
    "choice",
    [
        "switch (n) { case 64: reduce<64><<<1, n>>>(p); break; case 128: reduce<128><<<1, n>>>(p); break; }",
        "if (n == 64) reduce<64><<<1, n>>>(p); else if (n == 128) reduce<128><<<1, n>>>(p);",
    ],
)
def test_a_branch_that_compares_the_block_tells_it(choice: str) -> None:
    text = f"""
    template <int threads> __global__ void reduce(float *p) {{
        __shared__ float s[threads];
        s[threadIdx.x] = p[0];
        p[0] = s[threadIdx.x ^ 1];
    }}
    int main(int argc, char **argv) {{ float *p; int n = atoi(argv[1]); {choice} }}"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    found = infer(module.kernels()[0], module, started_kernels(module))
    assert {(x.block[0], x.template["threads"], x.assumed) for x in found} == {
        (64, 64, False),
        (128, 128, False),
    }


def test_a_branch_that_compares_a_quotient_does_not_tell_the_block() -> None:
    main = "int main(int argc, char **argv) { int n = atoi(argv[1]); if (n / 32 == 4) sum<<<1, n>>>(0, 0); }"
    assert len(shapes(main)) > 1


@pytest.mark.parametrize("size", ["std::min(x.size(1), 512l)", "std::min<long>(512, x.size(1))"])
def test_what_code_that_is_not_seen_gives_is_clamped_as_well(size: str) -> None:
    main = f"struct Tensor {{ long size(int) const; }}; void run(Tensor x) {{ sum<<<1, {size}>>>(0, 0); }}"
    assert shapes(main)[0] == (512, 1, 1)


def test_a_launch_of_unknown_shape_beside_a_known_one_is_named() -> None:
    main = """int main() {
        sum<<<1, 64>>>(0, 0);
        sum<<<1, get()>>>(0, 0);
        sum<<<1, rand() ? 64 : 128>>>(0, 0); }"""
    found = launches(main)
    assert {x.block[0] for x in found if not x.assumed} == {64, 128}
    assert [x.beside for x in found if x.beside] == [("a.cu:10",)]
    assert not any(x.beside for x in launches("void f(int n) { sum<<<1, n>>>(0, 0); }"))


@pytest.mark.parametrize(
    "code",
    [
        "switch (n) { case 256: sum<<<1, 512>>>(0, 0); break; default: sum<<<1, n>>>(0, 0); }",
        "switch (n) { case 256: sum<<<1, 512>>>(0, 0); return; case 96: return; } sum<<<1, n>>>(0, 0);",
    ],
)
def test_what_no_label_of_a_switch_fits_is_none_of_them(code: str) -> None:
    main = f"void go(int n) {{ assert(n == 64 || n == 128 || n == 256); {code} }}"
    assert set(blocks(main)) == {512, 128, 64}


@pytest.mark.parametrize(
    ("code", "block"),
    [
        ("int t = n > 512 ? 512 : n; if (n > 512) sum<<<1, t>>>(0, 0);", 512),
        ("int t = std::min(n, 512); if (n < 600) return; sum<<<1, t>>>(0, 0);", 512),
        ("int t = 2 * std::min(n + 1, 256); if (n >= 255) sum<<<1, t>>>(0, 0);", 512),
        ("int t = std::max(n, 64); if (n < 64) sum<<<1, t>>>(0, 0);", 64),
    ],
)
def test_a_block_that_conditions_keep_at_its_limit_has_that_size(code: str, block: int) -> None:
    assert blocks(f"void go(int n) {{ {code} }}") == [block]


def test_conditions_that_leave_some_sizes_below_a_limit_tell_none() -> None:
    main = "void go(int n) { int t = std::min(n, 512); if (n > 500) sum<<<1, t>>>(0, 0); }"
    assert all(x.assumed for x in launches(main))


def test_no_shape_above_a_check_is_tried() -> None:
    tried = shapes("void go(int n) { int t = n > 512 ? 512 : n; if (n < 64) sum<<<1, t>>>(0, 0); }")
    assert tried
    assert max(x for x, _, _ in tried) < 64


def test_one_place_that_starts_a_known_block_and_an_unknown_one_is_named() -> None:
    main = """void go(int n) { sum<<<1, n>>>(0, 0); }
        int main() { go(64); go(get()); }"""
    (told,) = launches(main)
    assert (told.block, told.assumed, told.beside) == ((64, 1, 1), False, ("a.cu:8",))
