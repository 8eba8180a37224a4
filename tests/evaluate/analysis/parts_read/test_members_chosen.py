"""What is loaded of an element that `?:` chooses, or that goes to an array of the thread's own.

The machine code of nvcc 13.0 for sm_90, -O3: of elements of which `y` alone or `x` alone is used before both
are set LDS R, [R+0xc] and the like; of those of which `x` is used LDS; of a whole one LDS.128.
"""

from __future__ import annotations

from smemlint.evaluate import Trace, evaluate
from smemlint.evaluate.model import Grade
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.source import source_from_bytes

KERNEL = """
__global__ void chosen(unsigned long long *o, float *f, int n)
{
    __shared__ TYPE s[1024];
    const int t = threadIdx.x;
    s[t].x = n;
    __syncthreads();
    CODE
}
"""


def loads(type: str, code: str) -> list[Trace]:
    text = KERNEL.replace("TYPE", type).replace("CODE", code)
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (kernel,) = module.kernels()
    traces = evaluate(module, kernel, Launch((64, 1, 1))).traces
    return [t for t in traces if t.site.op == "load" and len(t.offsets)]


def test_members_that_are_set_after_a_choice_leave_open_what_is_loaded() -> None:
    told = loads(
        "ulonglong2",
        "int back = (t >> 5) & 1; ulonglong2 a[1]; a[0] = back ? s[t] : s[t + 2];"
        "if (back) { a[0].x = a[0].y >> 60; a[0].y = n; } else { a[0].y = a[0].x << 60; a[0].x = n; }"
        "o[t] = a[0].x + a[0].y;",
    )
    assert told
    for trace in told:
        assert (trace.joined, trace.grade) == (16, Grade.BOUND)
        assert trace.reason is not None and trace.reason.code == "joined-or-not"


def test_members_that_are_used_of_a_chosen_element_are_loaded_alone() -> None:
    told = loads("float4", "float4 v = t & 1 ? s[t + 32] : s[t + 64]; f[t] = v.x;")
    assert {t.joined or t.site.width for t in told} == {4}


def test_members_that_are_used_of_a_local_array_are_loaded_alone() -> None:
    told = loads("float4", "float4 v[2]; v[0] = s[t]; v[1] = s[t + 64]; f[t] = v[0].x + v[1].x;")
    assert {t.joined or t.site.width for t in told} == {4}


def test_what_goes_to_shared_memory_is_loaded_whole() -> None:
    told = loads("float4", "float4 v = s[t + 64]; s[t] = v; __syncthreads(); f[t] = s[t + 1].x;")
    assert [t.joined or t.site.width for t in told] == [16, 4]
