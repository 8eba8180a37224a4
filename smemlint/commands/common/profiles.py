"""Profiles on the command line: reading one, and the launches that it tells."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from smemlint.commands.common.usage import UsageError
from smemlint.config import Block, short
from smemlint.system.streams import say

if TYPE_CHECKING:
    from smemlint.profile.model import Profile

MOST_BYTES = 512 * 2**20
"""Of a profile."""


def profile_of(path: str) -> Profile:
    """The profile in a file. Raises UsageError."""
    from smemlint.profile.model import ProfileError
    from smemlint.profile.read import read
    from smemlint.system.reading import UnreadableError, read_regular

    try:
        return read(path, read_regular(path, MOST_BYTES))
    except UnreadableError as error:
        raise UsageError(f"{short(path)}: {error}") from None
    except ProfileError as error:
        raise UsageError(f"{short(path)}: {error}") from None


def blocks_from(path: str) -> dict[str, Block]:
    """The block shape of each kernel that ran. Raises UsageError where the profile tells none."""
    from smemlint.profile.names import base_name

    shapes: dict[str, Counter[Block]] = {}
    for kernel in profile_of(path).kernels:
        if kernel.block is not None and len(kernel.block) == 3:
            x, y, z = kernel.block
            shapes.setdefault(base_name(kernel.name), Counter())[(x, y, z)] += 1
    if not shapes:
        raise UsageError(f"{short(path)}: tells no block shapes; `--page raw --csv` does")
    for name, found in shapes.items():
        if len(found) > 1:
            kept = ",".join(map(str, found.most_common(1)[0][0]))
            say(f"warning: {name} ran with {len(found)} block shapes; taken is {kept}, the most frequent")
    return {name: found.most_common(1)[0][0] for name, found in shapes.items()}
