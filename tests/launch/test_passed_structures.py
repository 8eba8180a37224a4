"""Numbers that reach a kernel inside of structures, and launches through pointers that own their object."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.score import score_all
from smemlint.source import source_from_bytes
from tests.launch.test_host import blocks, launches

PARAMS = """
struct Shape { int strides[2]; unsigned short shift; };
struct Params { float scale; int pitch; Shape shape; };
__global__ void rows(float *out, Params p) {
    __shared__ float s[4096];
    int t = threadIdx.x;
    s[t * p.pitch] = out[t];
    __syncthreads();
    out[t] = s[t * p.shape.strides[1] >> p.shape.shift] * p.scale;
}
"""
CALLS = {
    "set one by one": "Params p; p.pitch = 36; p.shape.strides[1] = 8; p.shape.shift = 1;"
    " rows<<<1, 32>>>(o, p);",
    "as an aggregate": "Params p = {1.f, 36, {{4, 8}, 1}}; rows<<<1, 32>>>(o, p);",
    "set whole": "Params p; p = Params{1.f, 36, {{4, 8}, 1}}; rows<<<1, 32>>>(o, p);",
    "made at the launch": "rows<<<1, 32>>>(o, Params{1.f, 36, {{4, 8}, 1}});",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_structure_that_is_passed_by_value_tells_its_numbers(call: str) -> None:
    text = PARAMS + "void run(float *o) { " + call + " }"
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    (launch,) = infer(kernel, module, started_kernels(module, None))
    assert launch.arguments["p.pitch"] == 36
    assert launch.arguments["p.shape.strides[1]"] == 8
    assert launch.arguments["p.shape.shift"] == 1
    store, read = score_all(evaluate(module, kernel, launch))
    assert (store.grade.value, read.grade.value) == ("exact", "exact")
    assert store.ways == 4  # 36 words: lanes that are 8 apart meet
    assert read.ways == 4  # 8 words, halved: lanes that are 8 apart meet


PLAN = """
class Plan {
  public:
    explicit Plan(int threads) : threads_(threads) {}
    void run(float *p) const { sum<<<1, threads_>>>(p, p); }
  private:
    int threads_;
};
"""


@pytest.mark.parametrize(
    "main",
    [
        "auto p = std::make_unique<Plan>(96); p->run(0);",
        "auto p = std::make_shared<Plan>(96); p->run(0);",
        "std::unique_ptr<Plan> p(new Plan(96)); p->run(0);",
        "std::unique_ptr<Plan> p; p.reset(new Plan(96)); p->run(0);",
        "std::shared_ptr<const Plan> p(new Plan(96)); p.get()->run(0);",
        "make(96)->run(0);",
    ],
)
def test_an_object_that_a_smart_pointer_owns_has_what_its_constructor_gives_it(main: str) -> None:
    factory = "std::unique_ptr<Plan> make(int n) { return std::make_unique<Plan>(n); }"
    assert blocks("#include <memory>\n" + PLAN + factory + "int main() { " + main + " }") == [96]


def test_a_smart_pointer_that_is_set_on_one_way_only_may_hold_either() -> None:
    main = "std::unique_ptr<Plan> p(new Plan(96)); if (argc > 1) p.reset(new Plan(64)); p->run(0);"
    found = launches("#include <memory>\n" + PLAN + "int main(int argc, char **argv) { " + main + " }")
    assert {x.block[0] for x in found} >= {96}
    assert blocks(
        "#include <memory>\n" + PLAN + "int main(int argc, char **argv) { " + main + " }", ("x",)
    ) == [64]


def test_what_a_smart_pointer_holds_is_open_where_it_comes_from_elsewhere() -> None:
    found = launches("#include <memory>\n" + PLAN + "void run(std::unique_ptr<Plan> &p) { p->run(0); }")
    assert all(x.assumed for x in found)


@pytest.mark.parametrize("parameter", ["Shape shape", "const Shape &shape", "Shape &&shape"])
@pytest.mark.parametrize("given", ["{blocks, threads}", "{blocks, threads, 64}", "{dim3(2), dim3(threads)}"])
def test_a_braced_list_makes_the_structure_that_a_launcher_takes(parameter: str, given: str) -> None:
    text = f"""
struct Shape {{
    dim3 grid, block; size_t bytes;
    Shape(dim3 grid, dim3 block, size_t bytes = 0) : grid(grid), block(block), bytes(bytes) {{}}
    Shape(int grid, int block, size_t bytes = 0) : grid(grid), block(block), bytes(bytes) {{}}
}};
template <class F, class... A> void launch(F *kernel, {parameter}, A &&...a) {{
    void const *all[] = {{&a...}};
    cudaLaunchKernel((const void *)kernel, shape.grid, shape.block, (void **)all, shape.bytes, 0);
}}
template <class T> __global__ void k(const T *in, T *out) {{
    __shared__ T s[1024];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}}
template <class T> void go(int blocks, const T *in, T *out) {{
    auto threads = 256;
    launch(k<T>, {given}, in, out);
}}
void run(const float *in, float *out) {{ go(10, in, out); }}
"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert tuple(kernel.launch.block) == (256, 1, 1) and kernel.launch.origin.startswith("k.cu")
