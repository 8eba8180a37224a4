"""Memory as bytes at addresses. Every object has a region of its own."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from oracle.values import UndefinedError

SHARED = 1 << 46
"""Generic address of the shared window; the low 32 bits are the address in it."""

_REGION = 33
_SHARED_REGION = 24
_SHIFT = 0x2F8A80
"""By how much more than a region shared objects lie apart: an index that is too large by a power of two then
leads to none of them."""


@dataclass(slots=True)
class Object:
    """size None: unknown. kind: 'local', 'shared', 'global' or 'constant'."""

    name: str
    base: int
    size: int | None
    kind: str
    data: dict[int, int] = field(default_factory=dict)


class Memory:
    """What was never written reads as a fixed noise, except in locals, where reading it is undefined.

    noise: which noise.
    """

    def __init__(self, noise: str = "") -> None:
        self.noise = noise
        self._objects: dict[int, Object] = {}
        self._shared: dict[int, Object] = {}

    def allocate(self, name: str, size: int | None, kind: str) -> Object:
        if kind == "shared":
            number = len(self._shared) + 1
            made = Object(name, SHARED + (number << _SHARED_REGION) + number * _SHIFT % (1 << 23), size, kind)
            self._shared[number] = made
            return made
        number = len(self._objects) + 1
        made = Object(name, (number << _REGION) + (1 << (_REGION - 1)), size, kind)
        self._objects[number] = made
        return made

    def find(self, address: int) -> tuple[Object, int]:
        """The object at an address and the offset in it."""
        if address >= SHARED:
            number = (address - SHARED) >> _SHARED_REGION
            found = self._shared.get(number)
        else:
            found = self._objects.get(address >> _REGION)
        if found is None:
            raise UndefinedError(f"no object at address {address:#x}")
        return found, address - found.base

    def load(self, address: int, size: int) -> int:
        found, offset = self._at(address, size)
        data = found.data
        bits = 0
        for i in range(size):
            byte = data.get(offset + i)
            if byte is None:
                if found.kind == "local":
                    raise UndefinedError(f"{found.name} is read before it is written")
                byte = zlib.crc32(f"{found.name}:{offset + i}{self.noise}".encode()) & 0xFF
            bits |= byte << (8 * i)
        return bits

    def store(self, address: int, size: int, bits: int) -> None:
        found, offset = self._at(address, size)
        for i in range(size):
            found.data[offset + i] = bits >> (8 * i) & 0xFF

    def _at(self, address: int, size: int) -> tuple[Object, int]:
        found, offset = self.find(address)
        if found.kind != "global" and (offset < 0 or (found.size is not None and offset + size > found.size)):
            raise UndefinedError(f"{found.name} at {offset} is outside of its {found.size} bytes")
        return found, offset
