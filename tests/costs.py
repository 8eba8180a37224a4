"""From a few lines of CUDA to what each access costs, through the real front end."""

from __future__ import annotations

from smemlint.api import analyse_file
from smemlint.evaluate import KernelTrace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.running.jobs import Job, Options
from smemlint.score import Conflict, score_all
from smemlint.source import source_from_bytes

HEADERS = """\
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/pipeline>
#include <mma.h>
namespace cg = cooperative_groups;
using namespace nvcuda;
"""


def traced(
    body: str, *, shared: str = "int s[1024]", block: tuple[int, int, int] = (64, 1, 1)
) -> KernelTrace:
    """Evaluation of a kernel with this body; its parameters: `int *out, const float *in, int n`."""
    head = "__global__ void kernel(int *out, const float *in, int n) {"
    text = f"{HEADERS}{head}\n__shared__ {shared};\n{body}\n}}\n"
    (module,) = load(source_from_bytes("kernel.cu", text.encode()))
    (kernel,) = module.kernels()
    return evaluate(module, kernel, Launch(block))


def scored(body: str, **more: object) -> list[Conflict]:
    return list(score_all(traced(body, **more)))  # type: ignore[arg-type]


def told(body: str, **more: object) -> list[tuple[str, int, float | None]]:
    """(operation, bytes a lane, ways) of each site."""
    return [(c.site.op, c.site.width, c.ways) for c in scored(body, **more)]


def notes(body: str, **more: object) -> list[str]:
    return [n.code for n in traced(body, **more).notes if n.code != "no-access"]  # type: ignore[arg-type]


def ways(text: str, block: tuple[int, int, int] = (64, 1, 1)) -> dict[str, tuple[float, str]]:
    """Expression of each access -> (ways, grade)."""
    report = analyse_file(Job("k.cu", Options(blocks={"": block}, suggest=False), text))
    return {
        a.expression: ((a.wavefronts or 0) / (a.ideal or 1), a.grade)
        for kernel in report.kernels
        for a in kernel.accesses
    }
