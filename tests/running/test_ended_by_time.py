"""What a stage leaves that time ended: 'cannot tell', never a number or a range that may be wrong."""

from __future__ import annotations

import pytest

from smemlint import api
from smemlint.diagnose.model import FileReport
from smemlint.frontend import Known
from smemlint.running import pipeline
from smemlint.running.schedule import FixWork
from smemlint.system import clock

TEXT = """
template <typename T>
__device__ void insert(T *best, int k, T x) {
    for (int i = 0; i < k; ++i)
        if (best[i] == x) return;
    if (x < best[k - 1]) return;
    for (int i = k - 2; i >= 0; --i)
        if (x > best[i]) best[i + 1] = best[i];
        else { best[i + 1] = x; return; }
    best[0] = x;
}
template <int BLOCK, int K>
__global__ void top(const int *in, int *out, int n) {
    __shared__ int all[BLOCK * K];
    int best[K];
    for (int i = 0; i < K; ++i) best[i] = -1;
    for (int i = threadIdx.x + blockDim.x * blockIdx.x; i < n; i += gridDim.x * blockDim.x)
        insert(best, K, in[i]);
    for (int i = 0; i < K; ++i) all[K * threadIdx.x + i] = best[i];
    __syncthreads();
    for (int d = BLOCK / 2; d >= 1; d /= 2) {
        if (threadIdx.x < d)
            for (int m = 0; m < K; ++m) insert(best, K, all[K * (threadIdx.x + d) + m]);
        __syncthreads();
        if (threadIdx.x < d)
            for (int m = 0; m < K; ++m) all[K * threadIdx.x + m] = best[m];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = all[0];
}
__global__ void turn(const float *in, float *out, int pitch) {
    extern __shared__ float tile[];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += blockDim.y) tile[y * pitch + x] = in[32 * y + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y) out[32 * y + x] = tile[x * pitch + y];
}
__global__ void count(const int *in, int *out) {
    __shared__ int bins[64];
    bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[threadIdx.x] & 63] = 1;
    if (in[threadIdx.x] > 7) out[threadIdx.x] = bins[2 * threadIdx.x & 63];
}
void start(const int *in, int *out, const float *f, float *g, int n) {
    top<64, 3><<<4, 64>>>(in, out, n);
    count<<<1, 64>>>(in, out);
    turn<<<1, dim3(32, 8), 33 * 32 * 4>>>(f, g, 33);
    turn<<<1, dim3(32, 8), 32 * 32 * 4>>>(f, g, 32);
}
"""
Told = tuple[int | None, int | None, int | None, str]


def told(report: FileReport) -> dict[tuple[object, ...], Told]:
    """The costs of each access under each launch."""
    return {
        (k.full_name, k.launch.block, k.launch.arguments, a.place.line, a.place.column, a.op, a.calls): (
            a.wavefronts_low,
            a.wavefronts,
            a.ideal,
            a.grade,
        )
        for k in report.kernels
        for a in k.accesses
    }


def test_what_time_ends_anywhere_is_unresolved_or_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0
    last = 10**9

    def late(until: float) -> bool:
        nonlocal looks
        looks += 1
        if looks > last:
            clock.end(until)
        return looks > last

    def run() -> dict[tuple[object, ...], Told]:
        nonlocal looks
        looks = 0
        return told(api.analyse_file(api.Job("/t/top.cu", text=TEXT)))

    monkeypatch.setattr(clock, "late", late)
    full = run()
    total = looks
    assert {t[3] for t in full.values()} >= {"exact", "bound"} and total > 30
    lost = 0
    for last in sorted({total * i // 8 for i in range(8)}):
        for access, now in run().items():
            if now[3] == "unresolved":
                assert now[:2] == (None, None)
                lost += 1
            else:
                assert now == full[access], last
    assert lost > 5


def test_an_edit_that_is_tried_does_not_forget_what_time_ended_before() -> None:
    text = "__global__ void k(float *p) { __shared__ float s[32]; s[threadIdx.x] = 0; *p = s[1]; }\n"
    job = api.Job("/t/k.cu", text=text)
    api.analyse_file(job)
    assert not clock.ended()
    clock.end()
    assert pipeline._from_nothing(job, FixWork(float("inf")), 0, Known())(text.encode()) is not None
    assert clock.ended()  # the report must not be kept in the cache
    api.analyse_file(job)
    assert not clock.ended()
