"""The process of the command line: `smemlint`, and `python -m smemlint`."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from smemlint.cli import main
from smemlint.system.collection import COLLECTION


def run() -> NoReturn:
    """Run the command in a process of its own, which ends here.

    What a process that lives on would set: numpy's matrix products, which nothing here asks for, have no
    threads that wait for them; what is imported is no garbage; and at the end nothing is taken apart.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(*COLLECTION)
    status = main()
    if not os.environ.get("SMEMLINT_DEBUG"):  # profilers tell at an ordinary end
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    run()
