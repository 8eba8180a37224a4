"""Names that libraries give to the size of a warp, which is the same on all devices of CUDA."""

from __future__ import annotations

from smemlint.patterns import pattern

WARP_SIZE = 32
_NAMED = pattern(
    r"(?:[A-Za-z0-9]+_)*?(?:k|g|c|NUM_|num_)?_?(?:WARP_?SIZE|[wW]arp_?[sS]ize|warpsize)(?:_v)?_?"
)
_COUNTED = pattern(r"(?:\w+_)?(?:THREADS_PER_WARP|threads_per_warp|LANES_PER_WARP)|k?(?:Num)?ThreadsPerWarp")
_OTHERS = pattern(r"(?i)sub|half|log|virtual|logical|tile|partial|quarter|mini|sizeof|max_|min_|shift")


def is_warp_size(name: str) -> bool:
    """Whether a name of a library that was not read can mean nothing else: `raft::warp_size`,
    `C10_WARP_SIZE`, `kWarpSize`, and not `SUB_WARP_SIZE`."""
    last = name.rsplit("::", 1)[-1]
    if _OTHERS.search(last):
        return False
    return _NAMED.fullmatch(last) is not None or _COUNTED.fullmatch(last) is not None
