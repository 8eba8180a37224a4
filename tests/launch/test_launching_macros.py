"""Launches that a macro makes: in methods of classes, of kernels whose names it puts together."""

from __future__ import annotations

import pytest
from instances import launches

KERNEL = """
enum Format { Queue, Bitmap }; enum Mode { Normal, Cached };
template <Format f, Mode m, typename G> __global__ void expand_rows(G g) {
    __shared__ int s[1024];
    s[threadIdx.x] = g.p[0];
    __syncthreads();
    g.p[1] = s[threadIdx.x ^ 1];
}
struct Graph { int *p; };
struct Active { Format format; Mode mode; };
"""
MACRO = """
#define LAUNCH(kind, as, g, threads) \\
    if (as.format == Queue) { \\
        if (as.mode == Normal) expand_##kind<Queue, Normal><<<3, threads>>>(g); \\
        else expand_##kind<Queue, Cached><<<3, threads>>>(g); \\
    } else { expand_##kind<Bitmap, Normal><<<3, threads>>>(g); }
"""
BODY = "(const Active &as, Graph g) { LAUNCH(rows, as, g, 128); }"
TEMPLATE = "(const Active &as, G g) { LAUNCH(rows, as, g, 128); }"


@pytest.mark.parametrize(
    "launcher",
    [
        f"void run{BODY} void main_(Active as, Graph g) {{ run(as, g); }}",
        f"template <class G> void run{TEMPLATE} void main_(Active as, Graph g) {{ run(as, g); }}",
        f"struct Host {{ static void run{BODY} }}; void main_(Active as, Graph g) {{ Host::run(as, g); }}",
        f"struct Host {{ void run{BODY} }}; void main_(Active as, Graph g) {{ Host h; h.run(as, g); }}",
        f"struct Host {{ template <class G> static void run{TEMPLATE} }};"
        "void main_(Active as, Graph g) { Host::run(as, g); }",
        f"template <int N> struct Host {{ template <class G> static void run{TEMPLATE} }};"
        "void main_(Active as, Graph g) { Host<3>::run(as, g); }",
    ],
)
def test_each_launch_of_a_macro_has_its_template_arguments(launcher: str) -> None:
    found = launches(KERNEL + MACRO + launcher)
    assert found == {(128, f, m, "Graph<>") for f, m in ((0, 0), (0, 1), (1, 0))}


WIDE = """
template <typename T, int W> __global__ void wide(T *p) {
    __shared__ T s[1024];
    s[threadIdx.x * W] = p[0];
}
"""


def test_an_explicit_specialisation_that_a_macro_makes_launches() -> None:
    # libclang tells it from an instantiation by its text alone, and the text is the use of the macro.
    host = """
    template <int W> struct Entry;
    #define ENTRY(W) template <> struct Entry<W> { \\
        static constexpr int threads = 32 * W; \\
        static void go(float *p) { wide<float, W><<<1, threads>>>(p); } };
    ENTRY(1)
    ENTRY(4)
    #define CASE(W) case W: Entry<W>::go(p); break;
    void run(int w, float *p) { switch (w) { CASE(1) CASE(4) } }
    """
    assert launches(WIDE + host) == {(32, "float", 1), (128, "float", 4)}


def test_what_a_macro_says_of_types_chooses_the_instance() -> None:
    host = """
    template <typename T> struct Width;
    #define WIDTH(T, w) template <> struct Width<T> { static constexpr int value = w; };
    WIDTH(float, 2)
    WIDTH(double, 8)
    template <typename T> void run(T *p) { wide<T, Width<T>::value><<<1, 16 * Width<T>::value>>>(p); }
    #define RUN(T) template void run<T>(T *);
    RUN(float)
    RUN(double)
    """
    assert launches(WIDE + host) == {(32, "float", 2), (128, "double", 8)}


def test_an_instantiation_that_a_macro_makes_is_no_specialisation() -> None:
    host = """
    template <int W> struct Entry { int n; struct Part { int k; }; void go(float *p); };
    template <int W> void Entry<W>::go(float *p) { wide<float, W><<<1, 64>>>(p); }
    #define ENTRY(W) template struct Entry<W>;
    ENTRY(1)
    ENTRY(4)
    """
    assert launches(WIDE + host) == {(64, "float", 1), (64, "float", 4)}
