"""What the generators of random kernels share: how choices are drawn, the head of a kernel, the result."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Draw(Protocol):
    """Where choices come from."""

    def pick(self, options: Sequence[T]) -> T: ...

    def number(self, low: int, high: int) -> int: ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """Choices of hypothesis, which keeps them to repeat a run or to make an example smaller."""

    draw: Callable[[st.SearchStrategy], Any]

    def pick(self, options: Sequence[T]) -> T:
        return self.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))


class Dice:
    """Choices of a seed: several times as fast, for runs of any length."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


HEAD = """struct Pair {{ float a; int b; }};
struct Odd {{ char c; float f; short s; }};
__device__ int twist(int a, int b) {{ return (a * 3 + b) & 127; }}
__device__ int pick(int a) {{ if (a > 5) return a - 5; return a + 40; }}
__device__ void put(float *p, int i, float v) {{ p[i & 511] = v; }}
__device__ int settle(int *x, int m) {{
if (m & 1) {{ *x = *x * 2 & 127; return 1; }}
*x += 3;
for (int i = 0; i < 3; i++) {{ if ((m >> i) & 2) return i; *x += 5; }}
switch (m & 12) {{ case 4: *x = 7; return 9; case 8: *x ^= 1; }}
return *x & 3;
}}
__shared__ float g[512];
__device__ void mix(int i) {{
float y = g[i & 255];
if (threadIdx.x & 1) y += g[(2 * i) & 511];
__syncthreads();
if (threadIdx.x < 24) g[(4 * i) & 511] = y;
}}
__global__ void k(float *out, int n) {{
extern __shared__ float s[];
__shared__ float t[4096];
__shared__ float q[32][{pitch}];
__shared__ int c[1024];
__shared__ unsigned char b[2048];
__shared__ double e[512];
__shared__ struct Pair pairs[256];
__shared__ struct Odd odds[256];
float acc = 0;
"""

BLOCKS = (
    (32, 1, 1),
    (64, 1, 1),
    (16, 4, 1),
    (8, 8, 1),
    (16, 2, 1),
    (32, 2, 1),
    (4, 4, 3),
    (8, 2, 3),
    (33, 1, 1),
    (20, 1, 1),
    (7, 5, 1),
    (1, 40, 1),
    (16, 16, 1),
    (48, 1, 1),
    (100, 1, 1),
    (10, 10, 1),
    (6, 3, 3),
)


@dataclass(frozen=True, slots=True)
class Program:
    """text and how it is started: the block, the argument n, and template arguments where there are some.
    more: other arguments, by name."""

    text: str
    block: tuple[int, int, int]
    n: int
    bm: int = 0
    type: str = ""
    block_index: int = 0
    more: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Drawer(ABC):
    """Draws choices, and keeps the lines that are written."""

    draw: Draw
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def choose(self, *options: str) -> str:
        return self.draw.pick(options)

    def number(self, low: int, high: int) -> int:
        return self.draw.number(low, high)

    def chance(self, percent: int) -> bool:
        return self.number(1, 100) > 100 - percent

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    @abstractmethod
    def statement(self, depth: int) -> None:
        """Write one statement, with others in it down to `depth`."""

    def statements(self) -> tuple[int, int, int]:
        """Draw a block, and write the two to six statements that it runs."""
        block = self.draw.pick(BLOCKS)
        for _ in range(self.number(2, 6)):
            self.statement(2)
        return block

    def kernel(self) -> str:
        """The text: the shared arrays, what is written, and a use of `acc`, away from where others read."""
        self.line("out[threadIdx.x + 4096] = acc;")
        return HEAD.format(pitch=self.choose("32", "33", "40")) + "\n".join(self.lines) + "\n}\n"
