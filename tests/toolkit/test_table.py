"""The toolkit's functions: one row says what is declared, what a call does, and who evaluates it."""

from __future__ import annotations

from collections import Counter

import pytest

import smemlint.evaluate.run.evaluators  # noqa: F401  fills the table of handlers
from smemlint.evaluate import evaluate
from smemlint.evaluate.analysis.purity import arithmetic, pure
from smemlint.evaluate.machine.functions import FUNCTIONS
from smemlint.frontend import load
from smemlint.frontend.parse import parse_unit
from smemlint.frontend.prelude.precompiled import declarations
from smemlint.frontend.project.options import ParseOptions
from smemlint.ir import Launch
from smemlint.source import source_from_bytes
from smemlint.toolkit.mathematics import MATHEMATICS
from smemlint.toolkit.model import POINTEE, SAME, SECOND, TEXEL, Effect, Function, spelled
from smemlint.toolkit.table import DEVICE, HOST, effect_of, function_named


def test_names_are_spelled_as_a_shell_expands_braces() -> None:
    assert spelled("plain f{,2}{_rn,_rz} a{b}c") == ["plain", "f_rn", "f_rz", "f2_rn", "f2_rz", "abc"]


def test_a_name_has_one_declaration() -> None:
    declared = Counter(f.name for f in (*MATHEMATICS, *DEVICE, *HOST) if f.declared)
    assert [name for name, times in declared.items() if times > 1] == []


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("__fdividef", Effect.ARITHMETIC),
        ("std::sqrt", Effect.ARITHMETIC),
        ("cuda::std::fabs", Effect.ARITHMETIC),
        ("__ldg", Effect.LOAD),
        ("sincosf", Effect.OUTPUTS),
        ("__shfl_xor_sync", Effect.EXCHANGE),
        ("__syncwarp", Effect.BARRIER),
        ("atomicAdd_block", Effect.ATOMIC),
        ("cudaGraphLaunch", Effect.HOST),
        ("my_own", None),
        ("thrust::sqrt", None),
    ],
)
def test_a_name_has_one_effect(name: str, effect: Effect | None) -> None:
    assert effect_of(name) is effect


def test_purity_follows_from_the_effect() -> None:
    assert arithmetic("__viaddmax_s16x2_relu")
    assert not arithmetic("__shfl_sync")
    assert pure("__shfl_sync")
    assert not any(map(pure, ("__syncthreads", "atomicAdd", "__stcs", "memcpy", "my_own")))


STATES = """
__global__ void k(float *o, const int *a)
{
    __shared__ curandState states[64];
    __shared__ float s[64];
    s[threadIdx.x] = o[threadIdx.x];
    CALL;
}
"""


@pytest.mark.parametrize(
    "call",
    [
        "curand_init(1, threadIdx.x, 0, &states[threadIdx.x])",
        "o[0] = curand_uniform(&states[threadIdx.x])",
        "surf2Dread(&s[threadIdx.x], 1ull, 0, 0)",
        "o[0] = norm(s, 64)",
    ],
)
def test_shared_memory_that_a_function_is_given_is_never_lost_in_silence(call: str) -> None:
    (module,) = load(source_from_bytes("k.cu", STATES.replace("CALL", call).encode()))
    (kernel,) = module.kernels()
    notes = evaluate(module, kernel, Launch((64, 1, 1))).notes
    assert [note.at.line for note in notes if note.at is not None] == [7]


def test_what_the_evaluator_computes_of_cuda_is_in_the_table() -> None:
    """The three that are left are no functions of CUDA, but what projects call their own for lack of it."""
    ours = {name for name in FUNCTIONS if name.startswith("__") and not name.startswith("__builtin")}
    assert {name for name in ours if function_named(name) is None} == {"__max", "__min", "__vmin"}


SHAPES = {SAME: "k(3.0f)", SECOND: "k(1u, 3.0f)", POINTEE: "k(p)", TEXEL: "k<float>(1ull)"}


@pytest.mark.parametrize("result", [*SHAPES, "float"])
def test_each_kind_of_result_is_declared_so_that_calls_have_its_type(result: str) -> None:
    text = declarations([Function("k", result, Effect.NONE)])
    call = SHAPES.get(result, "k(1, 2)")
    both = "#pragma clang force_cuda_host_device"
    kernel = f"__global__ void run(float* p) {{ static_assert(sizeof({call}) == 4); }}"
    text = f"{both} begin\n{text}{both} end\n{kernel}"
    assert parse_unit(source_from_bytes("/nowhere/k.cu", text.encode()), ParseOptions()).problems == ()


CALLS = """
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/sort.h>
#include <fstream>
using namespace std;
__global__ void k(float* p) {
    unsigned v = __vabsdiffu4(threadIdx.x, 3) + __viaddmin_u32(1, 2, 3);
    p[v] = sqrt(p[0]) + std::fabs(p[1]) + __half2float(__hfma(__ushort2half_rd(3), __half(1.f), __half(2.f)));
}
int main() {
    timeval start;
    gettimeofday(&start, 0);
    srand(time(NULL));
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
    cufftHandle plan;
    cufftExecC2C(plan, nullptr, nullptr, CUFFT_FORWARD);
    thrust::sort(thrust::device, (int*)0, (int*)0);
    int found;
    cudaDeviceGetAttribute(&found, cudaDevAttrMemoryClockRate, 0);
    ifstream in("x", ios::binary);
    cudaGraphLaunch(0, 0);
    k<<<1, 32>>>(nullptr);
}
"""


def test_ordinary_programs_need_no_guesses() -> None:
    unit = parse_unit(source_from_bytes("/nowhere/k.cu", CALLS.encode()), ParseOptions())
    assert unit.healed == {}
    assert unit.problems == ()
