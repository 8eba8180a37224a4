"""Runs of host code as projects write it are taken over: one question about a whole table would end that."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.ir import Module
from smemlint.launch import host, started_kernels
from smemlint.launch.linking import link
from smemlint.launch.model import ALL_HOST_STEPS, Allowance
from smemlint.source import source_from_bytes

SOLVER = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define CHECK(call)                                                        \\
    do {                                                                   \\
        cudaError_t status = (call);                                       \\
        if (status != cudaSuccess) {                                       \\
            fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, cudaGetErrorString(status)); \\
            exit(EXIT_FAILURE);                                            \\
        }                                                                  \\
    } while (0)

namespace solver {
constexpr int kWarp = 32;
template <typename T> constexpr int kWidth = 128 / sizeof(T);
enum class Kind { Sum, Max };

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }

template <typename T, int BLOCK>
__global__ void reduce(const T *in, T *out, int n) {
    __shared__ T part[2 * BLOCK];
    int t = threadIdx.x;
    part[2 * t] = t < n ? in[blockIdx.x * BLOCK + t] : T(0);
    __syncthreads();
    for (int d = BLOCK / 2; d > 0; d >>= 1) {
        if (t < d) part[2 * t] += part[2 * (t + d)];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

struct Shape {
    int rows = 0, cols = 0;
    Shape(int rows, int cols) : rows(rows), cols(cols) {}
    int size() const { return rows * cols; }
    bool operator==(const Shape &other) const { return rows == other.rows && cols == other.cols; }
};

template <typename T> class Buffer {
  public:
    explicit Buffer(size_t n) : size_(n) { CHECK(cudaMalloc(&data_, n * sizeof(T))); }
    ~Buffer() { cudaFree(data_); }
    T *get() const { return data_; }
    size_t size() const { return size_; }

  private:
    T *data_ = nullptr;
    size_t size_ = 0;
};

class Timer {
  public:
    Timer() { cudaEventCreate(&begin_); cudaEventRecord(begin_); }
    float stop() { float ms = 0; cudaEventElapsedTime(&ms, begin_, begin_); return ms; }

  private:
    cudaEvent_t begin_;
};

class Operator {
  public:
    virtual ~Operator() = default;
    virtual int threads() const { return 256; }
    virtual void apply(const float *in, float *out, Shape shape) = 0;
};

class Sum : public Operator {
  public:
    explicit Sum(Kind kind) : kind_(kind) {}
    int threads() const override { return 128; }
    void apply(const float *in, float *out, Shape shape) override {
        const int n = shape.size();
        switch (kind_) {
        case Kind::Sum: launch<float, 128>(in, out, n); break;
        case Kind::Max: launch<float, kWidth<float> * 2>(in, out, n); break;
        default: throw std::runtime_error("unknown kind");
        }
    }

  private:
    template <typename T, int BLOCK> void launch(const T *in, T *out, int n) {
        dim3 grid(ceil_div(n, BLOCK), 1, 1);
        cudaStream_t stream = nullptr;
        for (int i = 0; i < repeats_; ++i) {
            reduce<T, BLOCK><<<grid, BLOCK, 0, stream>>>(in, out, n);
            CHECK(cudaGetLastError());
        }
    }
    Kind kind_;
    int repeats_ = 3;
};

void run(const std::vector<int> &sizes, const std::string &name, bool verbose) {
    std::map<std::string, float> times;
    std::unique_ptr<Operator> op(new Sum(name == "max" ? Kind::Max : Kind::Sum));
    for (int n : sizes) {
        if (n <= 0) continue;
        Shape shape(n, kWarp);
        Buffer<float> in(shape.size()), out(std::max(1, n / kWarp));
        Timer timer;
        op->apply(in.get(), out.get(), shape);
        auto add = [&](float ms) { times[name] += ms; };
        add(timer.stop());
        if (verbose) printf("%d: %f ms\\n", n, times[name]);
    }
    CHECK(cudaDeviceSynchronize());
}
}  // namespace solver

int main(int argc, char **argv) {
    std::vector<int> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(atoi(argv[i]));
    if (sizes.empty()) sizes = {1024, 4096};
    try {
        solver::run(sizes, "sum", argc > 2);
    } catch (const std::exception &e) {
        fprintf(stderr, "%s\\n", e.what());
        return 1;
    }
    return 0;
}
"""
FILTER = """
#include <vector>
namespace image {
template <typename T> constexpr T zero = T(0);
struct Pixel {
    float r, g, b;
    Pixel operator+(const Pixel &p) const { return {r + p.r, g + p.g, b + p.b}; }
};
__global__ void blur(const float *in, float *out) {
    __shared__ float line[64];
    line[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = line[63 - threadIdx.x];
}
class Filter {
  public:
    virtual int width() const { return 64; }
    void start(const float *in, float *out) { blur<<<1, width()>>>(in, out); }
};
class Wide : public Filter {
  public:
    int width() const override { return 32; }
};
}  // namespace image
void filter(const std::vector<float> &in, float *out) { image::Wide().start(in.data(), out); }
"""


def module(text: str, path: str) -> Module:
    return load(source_from_bytes(path, text.encode()))[0]


def test_runs_of_a_solver_are_taken_over_beside_a_file_of_another_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    call = host._call
    monkeypatch.setattr(host, "_call", lambda m, f, *rest: (made.append(f.name), call(m, f, *rest))[1])
    own, other = module(SOLVER, "/t/solver.cu"), module(FILTER, "/t/filter.cu")
    allowance = Allowance()

    def starts(m: Module) -> list[tuple[str, object, object]]:
        found = started_kernels(m, allowance=allowance)
        return [(s.kernel.name, s.block, tuple(s.template.items())) for s in found]

    first = starts(own)
    assert {name for name, _, _ in first} == {"reduce"} and first[0][1][0] in (64, 128)  # type: ignore[index]
    steps, runs = ALL_HOST_STEPS - allowance.steps, list(made)
    assert "main" in runs
    both = starts(link(own, [other]))
    assert [s for s in both if s[0] == "reduce"] == first
    assert len(both) > len(first)
    assert not set(made[len(runs) :]) & set(runs)
    assert ALL_HOST_STEPS - allowance.steps > 2 * steps
