"""What libraries call the size of a warp."""

from __future__ import annotations

import pytest

from smemlint.toolkit.warp_names import is_warp_size


@pytest.mark.parametrize(
    "name",
    [
        "WARP_SIZE",
        "C10_WARP_SIZE",
        "raft::warp_size",
        "kWarpSize",
        "ns::WarpSize",
        "warp_size_v",
        "_WARP_SIZE_",
    ],
)
def test_it_has_many_names(name: str) -> None:
    assert is_warp_size(name)


@pytest.mark.parametrize(
    "name",
    ["SUB_WARP_SIZE", "HALF_WARP_SIZE", "WARP_SIZE_LOG", "LOG_WARP_SIZE", "NUM_WARPS", "VirtualWarpSize"],
)
def test_other_sizes_are_not_meant(name: str) -> None:
    assert not is_warp_size(name)
