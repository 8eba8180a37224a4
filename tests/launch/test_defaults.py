"""Numbers that a program begins with, and that something which is not followed may replace."""

from __future__ import annotations

import pytest
from host_code import blocks, launches

from smemlint.frontend import load
from smemlint.launch import started_kernels
from smemlint.source import source_from_bytes

READ = "struct Config { int threads, n; }; void read(Config *); const char *line(int); "
REPLACED = {
    "by what the device has": """int t = 128; cudaDeviceProp d; cudaGetDeviceProperties(&d, 0);
        if (d.major >= 8) t = d.multiProcessorCount;""",
    "by what text says": """int t = 128; const char *given[] = {line(0), line(1)};
        for (auto x : given) if (strncmp(x, "t=", 2) == 0) t = atoi(x + 2);""",
    "by what another file reads": "int t = 128; Config c; read(&c); if (c.n == 3) t = c.threads;",
}


@pytest.mark.parametrize("setting", REPLACED.values(), ids=REPLACED.keys())
def test_a_block_that_something_may_replace_is_assumed(setting: str) -> None:
    """128 was told as exact."""
    found = launches(f"#include <cstring>\n{READ} int main() {{ {setting} sum<<<1, t>>>(0, 0); }}")
    assert (128, 1, 1) in {x.block for x in found}
    assert all(x.assumed for x in found)


PARSED = {
    "an argument": "if (argc > 1) t = atoi(argv[1]);",
    "a loop over arguments": "for (int i = 1; i < argc; i++) if (argv[i][0] == 't') t = atoi(argv[i] + 1);",
    "options": "int o; while ((o = getopt(argc, argv, \"t:\")) != -1) if (o == 't') t = atoi(optarg);",
    "the environment": 'if (const char *given = getenv("THREADS")) t = atoi(given);',
}


@pytest.mark.parametrize("parsed", PARSED.values(), ids=PARSED.keys())
def test_a_block_that_the_command_line_may_replace_is_tried_with_its_default_first(parsed: str) -> None:
    """The default alone was told, as exact."""
    main = f"int main(int argc, char **argv) {{ int t = 128; {parsed} sum<<<1, t>>>(0, 0); }}"
    first, *others = launches(f"#include <unistd.h>\n{main}")
    assert (first.block, first.origin) == ((128, 1, 1), "a.cu:9 without arguments")
    assert {x.block[0] for x in others} == {32, 64, 256, 512, 1024}
    assert first.assumed and all(x.assumed for x in others)


def test_blocks_between_which_the_command_line_chooses_are_all_known() -> None:
    main = "int main(int argc, char **argv) { int t = argc > 1 ? 512 : 256; sum<<<1, t>>>(0, 0); }"
    assert sorted(blocks(main)) == [256, 512]


def test_a_block_beside_the_command_line_is_known() -> None:
    main = "int main(int argc, char **argv) { if (argc > 1) puts(argv[1]); sum<<<1, 128>>>(0, 0); }"
    assert [(x.block[0], x.assumed) for x in launches(main)] == [(128, False)]


def test_what_the_command_line_may_replace_is_named() -> None:
    kernel = "__global__ void k(int n, int w) { __shared__ float s[4096]; s[threadIdx.x * n * w] = 0; }"
    host = """int main(int argc, char **argv) {
        int n = 4, w = 2;
        if (argc > 1) n = atoi(argv[1]);
        k<<<1, 32>>>(n, w);
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", f"{kernel}\n{host}".encode()))
    (found,) = started_kernels(module)
    assert (found.arguments, found.defaults) == ({"n": 4, "w": 2}, {"n"})


def test_an_argument_that_something_may_replace_is_not_known() -> None:
    """It was told as 0, which no way that gets to the launch leaves it at."""
    kernel = "__global__ void k(int w) { __shared__ float s[4096]; s[threadIdx.x * w] = 0; }"
    host = """int first(); bool is(int); int main() {
        const bool a = is(0), b = is(1);
        if (!a && !b) return 1;
        int w = 0, wide = first() + 1;
        if (a) w = wide; else if (b) w = 2 * wide;
        k<<<1, 32>>>(w);
    }"""
    (module, *_) = load(
        source_from_bytes("/t/a.cu", f"int first(); bool is(int);\n{kernel}\n{host}".encode())
    )
    assert [dict(s.arguments) for s in started_kernels(module)] == [{}]
