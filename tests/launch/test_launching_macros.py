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
