"""What functions set through pointers, and how host code jumps, decides over the launches behind."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = "__global__ void k(int w) { __shared__ float s[4096]; s[threadIdx.x * w] = 0; }\n"
SHAPE = "struct Shape { dim3 grid, block; int pitch; };\n"


def told(host: str) -> list[tuple[int, int | None]]:
    """Threads in x and the argument of each launch."""
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + host).encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert not any(x.assumed for x in found)
    return [(x.block[0], n) for x in found for n in [v["w"] for v in x.variants] or [x.arguments.get("w")]]


@pytest.mark.parametrize(
    "host",
    [
        "void set(int *out) { out[0] = 64; out[1] = 3; }"
        " int main() { int n[2] = {256, 1}; set(n); GO(n[0], n[1]); }",
        "void in(int *p) { *p *= 2; ++*p; } void out(int *q) { in(q); }"
        " int main() { int w = 1; out(&w); GO(64, w); }",
        "void set(int *p) { *p = 3; } int main() { int w = 1, *p = &w; set(p); GO(64, w); }",
        "void set(Shape *s) { s->block.x = 64; (*s).pitch = 3; }"
        " int main() { Shape s; s.block = dim3(32); s.pitch = 1; set(&s); GO(s.block, s.pitch); }",
        "int main() { int a = 3, b = 64; int *x = &a, *y = &b; std::swap(*x, *y); GO(b == 3 ? a : 1, b); }",
        "int main() { int t = 32, w = 3; (w > 2 ? t : w) = 64; GO(t, w); }",
        "static Shape d = {1, 256, 1}; static Shape *now = &d; void set(int n) { now->pitch = n; }"
        " int main() { set(3); now->block = 64; GO(d.block, d.pitch); }",
    ],
)
def test_what_is_set_through_a_pointer_is_launched(host: str) -> None:
    launch = "#define GO(t, w) k<<<1, t>>>(w)\n"
    assert told(launch + SHAPE + host) == [(64, 3)]


@pytest.mark.parametrize(
    "read", ['sscanf(line, "%d", w);', "parse(line, w);", "{ int *p = w; parse(line, p); }"]
)
@pytest.mark.parametrize(
    "ask", ["if (!fgets(line, 64, f)) return 12;", "if (f == line) { *w = 5; return 0; }"]
)
def test_what_a_file_gives_is_not_what_another_way_leaves(read: str, ask: str) -> None:
    """A reader that sets 0 first, in case that it must give up."""
    host = f"int size(void *f, int *w) {{ char line[64]; *w = 0; {ask} {read} return 0; }}"
    host += " int main() { int w; if (size(0, &w) != 0) return 1; k<<<1, 64>>>(w); }"
    assert told(host) in ([(64, None)], [(64, None), (64, 5)], [(64, 5), (64, None)])


def test_elements_of_an_argument_array_are_those_of_the_launch() -> None:
    host = """int main() { int n = 1, m = 2; void *args[] = {&n}; n = 3;
        cudaLaunchKernel((void *)k, 1, 32, args, 0, 0); args[0] = &m;
        cudaLaunchCooperativeKernel((void *)k, 1, 64, args, 0, 0); }"""
    assert told(host) == [(32, 3), (64, 2)]
    wrapper = """void go(int t, void **args) { cudaLaunchKernel((void *)k, 1, t, args, 0, 0); }
        int main() { int n = 5; void *args[1]; args[0] = &n; go(32, args); n = 7; go(64, args); }"""
    assert told(wrapper) == [(32, 5), (64, 7)]


def test_what_continues_the_loop_inside_a_switch_starts_nothing_behind_it() -> None:
    host = """int main() { for (int i = 1; i < 5; i++) { switch (i) {
        case 2: continue; case 4: goto done; default: break; } k<<<1, 32 * i>>>(i); }
        k<<<1, 512>>>(9); done: k<<<1, 256>>>(7); }"""
    assert told(host) == [(32, 1), (96, 3), (256, 7)]


def test_a_jump_back_repeats_what_is_set() -> None:
    host = "int main() { int t = 256, i = 0; again: t /= 2; i++; if (t > 40) goto again; k<<<1, t>>>(i); }"
    assert told(host) == [(32, 3)]


def test_the_shape_is_computed_before_the_arguments() -> None:
    assert told("int main() { int n = 1; k<<<n++, 64>>>(n); }") == [(64, 2)]


@pytest.mark.parametrize("host", ["init(); k<<<1, 32>>>(2, p);", "run();", "init(); run();"])
def test_memory_that_is_null_until_it_is_asked_for_is_not_told_as_null(host: str) -> None:
    kernel = (
        "__global__ void k(int w, float *p) { __shared__ float s[4096]; if (p) s[threadIdx.x * w] = 0; }\n"
    )
    before = """static float *p = nullptr; static int *all[4] = {0};
        void init() { cudaMalloc(&p, 99); cudaMalloc(&all[1], 99); }
        void run() { k<<<1, 32>>>(2, p); k<<<1, 32>>>(2, (float *)all[1]); }"""
    text = f"{kernel}{before} void go() {{ {host} }}"
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel_,) = module.kernels()
    told_ = infer(kernel_, module, started_kernels(module))
    assert told_ and not any("p" in x.arguments or any("p" in v for v in x.variants) for x in told_)
