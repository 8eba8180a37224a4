"""In what way a kernel has to do with shared memory, though no access of it was seen."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.ir.types import FLOAT
from smemlint.score import Sharing
from smemlint.source import source_from_bytes

HELPERS = """
template <class T> struct Shared {
    __device__ operator T *() { extern __shared__ int raw[]; return (T *)raw; }
};
template <class T> struct Plain { T *at; __device__ T *load() { return at; } };
struct Tile { __device__ void load(float *p) { __shared__ float t[32]; t[threadIdx.x] = *p; } };
template <class T> __device__ T sum(T v) { __shared__ T part[32]; part[threadIdx.x] = v; return part[0]; }
template <class T> __device__ T outer(T v) { return sum(v); }
__device__ float none(float v) { return v; }
"""


NORMAL = Launch((32, 1, 1))


def sharing(kernel: str, launch: Launch = NORMAL) -> str:
    (module, *_) = load(source_from_bytes("/t/a.cu", (HELPERS + kernel).encode()))
    return Sharing(module).of(module.kernels()[-1], launch)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("__shared__ float s[4]; s[0] = *p;", "it declares `s`"),
        ("*p = outer(*p);", "`sum`, which it calls, declares `part`"),
        ("float *q = Shared<float>(); *q = *p;", "`operator conversion`, which it calls, declares `raw`"),
        ("Tile t; t.load(p);", "`load`, which it calls, declares `t`"),
        ("*p = none(*p);", ""),
        ("__shared__ float s[4]; *p = 1;", ""),
        ("__shared__ float s[4]; auto f = [&] { s[0] = 1; }; f();", "it declares `s`"),
        ("__shared__ float s[4]; p->fill(s);", "it declares `s`"),
        ("__shared__ float s[4]; FILL(p);", "it declares `s`"),
        ("Plain<float> t{p}; *p = *t.load();", ""),
    ],
)
def test_a_kernel_shares_what_it_or_what_it_calls_declares(body: str, told: str) -> None:
    assert sharing(f"__global__ void k(float *p) {{ {body} }}") == told


def test_a_kernel_that_device_code_launches_is_started_not_called() -> None:
    child = "__global__ void child(float *p) { __shared__ float s[32]; s[threadIdx.x] = *p; }\n"
    parent = "template <class T> __global__ void parent(T *p) { child<<<1, 32>>>(p); }"
    assert sharing(child + parent) == "`child`, which it starts, declares `s`"


def test_a_launch_that_gives_shared_memory_says_so() -> None:
    kernel = "__global__ void k(float *p) { *p = 0; }"
    assert sharing(kernel, Launch((32, 1, 1), dynamic=512)) == "its launch gives it 512 bytes"


def test_a_class_that_a_launch_binds_is_in_play() -> None:
    from smemlint.ir import RecordRef

    kernel = "template <class F> __global__ void k(F f, float *p) { f.load(p); }"
    bound = Launch((32, 1, 1), template={"F": RecordRef("Tile")})
    assert sharing(kernel, bound) == "`load`, which it calls, declares `t`"
    assert sharing(kernel) == ""


def test_the_same_one_of_many_is_named_in_every_run() -> None:
    many = "".join(f"__device__ void f{i}() {{ __shared__ int t{i}; t{i} = 0; }}\n" for i in range(9))
    calls = "".join(f"f{i}();" for i in reversed(range(9)))
    assert sharing(f"{many}__global__ void k() {{ {calls} }}") == "`f8`, which it calls, declares `t8`"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("F::sum(p);", "it calls `F::sum`, and no launch tells what `F` is"),
        ("F f; f.load(p);", "`load`, which it calls, declares `t`"),
        ("*p = F::sum(p);", ""),
    ],
)
def test_a_kernel_that_leaves_all_to_an_unknown_class_may_share(body: str, told: str) -> None:
    kernel = f"template <class F> __global__ void k(float *p) {{ {body} }}"
    assert sharing(kernel, Launch((32, 1, 1), template={"F": FLOAT}, assumed=True)) == told
