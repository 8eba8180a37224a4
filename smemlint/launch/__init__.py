"""How is each kernel started?

In: modules. Out: Launches, each fact with its origin. Host code is run by the evaluator as a block of one
thread.
May import evaluate and ir; never clang, never the renderers.
"""

from smemlint.launch.host import started_kernels
from smemlint.launch.infer import Blocks, infer
from smemlint.launch.linking import Program, program_around, program_of
from smemlint.launch.model import Allowance, Started

__all__ = [
    "Allowance",
    "Blocks",
    "Program",
    "Started",
    "infer",
    "program_around",
    "program_of",
    "started_kernels",
]
