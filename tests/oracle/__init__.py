"""A deliberately naive interpreter of kernels, to hold the evaluator against.

Each thread of a block is run on its own, with C's exact integer arithmetic and real memory; the lanes of a
warp meet at their accesses, and what they ask for together is one request. Nothing here is shared with the
evaluator but the IR.
"""

from oracle.run import Request, run
from oracle.values import UndefinedError, UnsupportedError

__all__ = ["Request", "UndefinedError", "UnsupportedError", "run"]
