"""Ways in which host code starts a kernel beside a plain one: no instance of it is lost."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = """
#include <functional>
#include <string>
#include <vector>
template <int W> __global__ void k(float *p) { __shared__ float s[4096]; s[threadIdx.x * W] = p[0]; }
void plain(float *p) { k<1><<<1, 32>>>(p); }
"""
RUN = "k<2><<<1, 64>>>(p);"
WAYS = {
    "a lambda in a variable that other files use": f"""
    struct Ops {{ void (*go)(float *); }};
    extern const Ops ops;
    const Ops ops = {{[](float *p) {{ {RUN} }}}};
    """,
    "a lambda that is called before main": f"""
    static int once = [] {{ float *p = nullptr; {RUN} return 1; }}();
    """,
    "a function object that a braced list gives": f"""
    struct Guard {{ std::function<void()> f; ~Guard() {{ f(); }} }};
    void run(float *p) {{ Guard g{{[&] {{ {RUN} }}}}; }}
    """,
    "a method that calls what a member holds": f"""
    struct Task {{ std::string name; std::function<void(float *)> f; void now(float *p) {{ f(p); }} }};
    void exec(Task &t, float *p) {{ t.now(p); }}
    void run(float *p) {{ Task t{{"two", [](float *p) {{ {RUN} }}}}; exec(t, p); }}
    """,
    "a task that is kept for later": f"""
    class Queue {{
        std::vector<std::function<void()>> tasks_;
    public:
        void add(float *p) {{ tasks_.push_back([=] {{ {RUN} }}); }}
        void drain();
    }};
    """,
    "a lambda that is returned": f"auto make(float *p) {{ return [=](int n) {{ {RUN} }}; }}",
    "a destructor": f"struct W {{ float *p; ~W() {{ {RUN} }} }};",
    "a handler": f"void other(); void run(float *p) {{ try {{ other(); }} catch (...) {{ {RUN} }} }}",
    "a friend": "struct F { float *p; friend void go(const F &f) { k<2><<<1, 64>>>(f.p); } };",
    "a number below zero": """
    template <int W> void go(float *p) { k<W><<<1, 32 * W>>>(p); }
    void run(float *p, int n) { if (n < 0) { n = -n; go<2>(p); } else go<1>(p); }
    """,
    "a number below zero in a method": """
    template <int W> void go(float *p) { k<W><<<1, 32 * W>>>(p); }
    struct Plan { int n; void run(float *p) { if (n >= 0) go<1>(p); else go<2>(p); } };
    """,
    "a number below zero among others": """
    template <int W> void go(float *p) { k<W><<<1, 32 * W>>>(p); }
    void run(float *p, int n, bool c) { if (c && n == -1) return go<2>(p); go<1>(p); }
    """,
}


@pytest.mark.parametrize("way", WAYS)
def test_an_instance_that_is_started_in_another_way_is_seen(way: str) -> None:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + WAYS[way]).encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert {(x.threads, x.template["W"]) for x in found if not x.assumed} == {(32, 1), (64, 2)}


def test_a_block_of_a_number_below_zero_is_one_of_two() -> None:
    host = "void run(float *p, int n) { k<2><<<n < 0 ? -n : n, n < 0 ? 64 : 96>>>(p); }"
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + host).encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert {(x.threads, x.template["W"]) for x in found} == {(32, 1), (64, 2), (96, 2)}


@pytest.mark.parametrize("condition", ["n % 4 < 0", "sizeof(p) < 0", "unsigned(n) < 0"])
def test_what_cannot_be_below_zero_is_not_tried(condition: str) -> None:
    host = f"""
    template <int W> void go(float *p) {{ k<W><<<1, 32>>>(p); }}
    void run(float *p, unsigned n) {{ if ({condition}) go<2>(p); else go<4>(p); }}"""
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + host).encode()))
    (kernel,) = module.kernels()
    assert {x.template["W"] for x in infer(kernel, module, started_kernels(module))} == {1, 4}
