"""`smemlint clean`: remove the reports that earlier runs have kept."""

from __future__ import annotations

import argparse

from smemlint.commands import CLEAN
from smemlint.system.streams import put


def options(parser: argparse.ArgumentParser) -> None:
    """There is nothing to choose."""


def run(options: argparse.Namespace) -> int:
    from smemlint.render.summary import count
    from smemlint.running.cache import open_cache

    cache = open_cache()
    removed, size = cache.clean() if cache is not None else (0, 0)
    put(f"removed {count(removed, 'report')}, {size / 2**20:.1f} MiB\n")
    return CLEAN
