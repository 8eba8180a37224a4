"""What a profile says: kernels as they ran, and the shared-memory wavefronts of their source lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from smemlint.records import record


@record(frozen=True, slots=True)
class MeasuredLine:
    """Totals over the instructions of one source line. op: the bank engine's name, '' where the profile does
    not tell them apart. warps: instructions executed by warps, None: not told. ideal: None likewise."""

    file: str
    line: int
    op: str
    wavefronts: int
    ideal: int | None
    warps: int | None = None

    @property
    def ways(self) -> float | None:
        if self.ideal is None:
            return None
        return self.wavefronts / self.ideal if self.ideal else 1.0


@record(frozen=True, slots=True)
class MeasuredKernel:
    """One launch. name: as demangled. block, grid: None where the export does not say. sources: path -> line
    -> its text when the profile was taken. total: wavefronts and ideal where only the whole is told."""

    name: str
    block: tuple[int, ...] | None
    grid: tuple[int, ...] | None
    lines: tuple[MeasuredLine, ...]
    sources: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    total: tuple[int, int | None] | None = None
    dynamic: int | None = None


@record(frozen=True, slots=True)
class Profile:
    """All launches of one export. kind: what it is, in words."""

    path: str
    kind: str
    kernels: tuple[MeasuredKernel, ...]


class ProfileError(Exception):
    """The file is no profile that can be read. The message is for the user, without the path."""
