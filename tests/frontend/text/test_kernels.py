"""Kernels are found in the text alone, and those that the tree lacks are told."""

from __future__ import annotations

from smemlint.frontend import load
from smemlint.frontend.text.coverage import DROPPED, active_code
from smemlint.frontend.text.kernels import kernels_in
from smemlint.source import source_from_bytes


def names(text: str) -> list[str]:
    return [k.name for k in kernels_in(active_code(text.encode(), ()))]


def lost(text: str) -> list[tuple[str, str]]:
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    return [(u.text, u.reason) for u in module.lost]


def test_definitions_are_found_behind_bounds_attributes_and_templates() -> None:
    text = """
    __global__ void plain(int n) { if (n) { } }
    template <int N = (3 > 2)> __global__ __launch_bounds__(N * (2 + 1)) void bounded(float *p) {}
    __launch_bounds__(256) __global__ static void after(int (*f)(int)) { }
    static __global__ void __launch_bounds__(128, 2) inside(int n)
    { /* } */ const char *s = "}"; }
    extern "C" __global__ __attribute__((used)) void attributed() { }
    """
    assert names(text) == ["plain", "bounded", "after", "inside", "attributed"]


def test_declarations_macros_and_comments_are_no_definitions() -> None:
    text = """
    __global__ void declared(int n);
    #define KERNEL(name) __global__ void name() { }
    // __global__ void commented() { }
    typedef void (*pointer)(int);
    """
    assert names(text) == []


def test_a_kernel_in_the_tree_is_not_lost() -> None:
    text = "template <class T> __global__ void k(T *p) { __shared__ T s[32]; s[0] = *p; }\n"
    assert lost(text) == []


def test_a_kernel_that_clang_takes_for_a_function_of_the_host_is_lost() -> None:
    kernel = "__global__ void my_bounds k(float *p) { __shared__ float s[32]; s[0] = *p; }\n"
    assert lost(kernel) == lost(f"template <int N> {kernel}") == [("k", DROPPED)]


def test_a_kernel_that_no_configuration_brings_is_lost() -> None:
    text = """
    #if MAGIC(3)
    __global__ void hidden(float *p) { __shared__ float s[32]; s[threadIdx.x] = p[0]; }
    #endif
    """
    why = "in a preprocessor branch that no tried configuration switches on: it needs `MAGIC(3)`"
    assert lost(text) == [("hidden", why)]


def test_a_kernel_whose_shared_memory_no_configuration_brings_is_lost() -> None:
    text = """
    __global__ void hidden(float *p) {
    #if MAGIC(3)
        __shared__ float s[32];
        s[threadIdx.x] = p[0];
    #else
        if (threadIdx.x == 0) __trap();
    #endif
    }
    """
    why = "in a preprocessor branch that no tried configuration switches on: it needs `MAGIC(3)`"
    assert lost(text) == [("hidden", why)]
    assert lost(text.replace("p) {", "p) { __shared__ int own[32];")) == []  # it shares what is read, too
    assert lost(text.replace("MAGIC(3)", "defined(__CUDA_ARCH__) and __CUDA_ARCH__ >= 1000")) == []


def test_a_kernel_for_an_older_standard_says_what_would_have_to_be_false() -> None:
    kernel = "__global__ void old(float *p) { __shared__ float s[32]; s[threadIdx.x] = p[0]; }"
    ((name, why),) = lost(f"#if __cplusplus >= 201703L\nint n;\n#else\n{kernel}\n#endif\n")
    assert name == "old" and why.endswith(": it needs `__cplusplus >= 201703L` to be false")


def test_what_is_not_for_this_compiler_is_not_lost() -> None:
    for condition in ("0", "defined(__HIP_PLATFORM_AMD__)", "defined(USE_ROCM) && X(1)"):
        text = f"#if {condition}\n__global__ void k() {{ __shared__ int s[4]; s[0] = 1; }}\n#endif\n"
        assert lost(text) == []
