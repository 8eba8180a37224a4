"""Random forms of code that asks for the size of its problem: guards of threads beside conditions of single
lanes, what such a guard sets, rests of tiles, rows below a height, steps back into a range.

The size is far above any index, as in a block in the middle of the grid.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.drawing import Draw, Program
from oracle.everyday_programs import EVERYDAY_HEAD, EVERYDAY_SHARED
from oracle.production_head import PRODUCTION_HEAD, PRODUCTION_SHARED
from oracle.production_programs import ProductionWriter
from oracle.real_programs import started


@dataclass(slots=True)
class SizedWriter(ProductionWriter):
    """Draws these forms, with all others between."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(75):
            super(SizedWriter, self).statement(depth, returns)
            return
        forms = (self.guarded, self.guarded, self.either, self.flagged, self.rest, self.reduced, self.loaded)
        nested = (self.guarded_rounds, self.guarded_rounds, self.left_rounds, self.bounded_rows, self.doubled)
        kind = self.number(0, len(forms) + (2 * len(nested) if depth else 0) - 1)
        if kind < len(forms):
            forms[kind]()
        else:
            nested[(kind - len(forms)) % len(nested)]()

    def within(self) -> str:
        """A guard that all lanes pass, written in one of its ways."""
        i = self.choose("tid", "lane", "(int)(blockIdx.x * 64) + tid", "tid / 4", "tid * 4 + 3", "ty", "warp")
        return self.choose(f"{i} < size", f"size > {i}", f"!({i} >= size)", f"{i} <= size - 1")

    def some(self) -> str:
        """A condition that lanes may differ in."""
        return self.choose("lane % 4 == 0", "(lane & 3) == warp", "tid < 20", "lane != 5", self.condition())

    def guard(self) -> str:
        return self.choose(
            self.within(),
            f"{self.within()} && {self.some()}",
            f"{self.some()} && {self.within()}",
            f"({self.some()} || {self.some()}) && {self.within()}",
            f"{self.within()} && {self.within()}",
        )

    def somewhere(self) -> None:
        self.moved(
            f"t[(tid * {self.choose('1', '2', '3', '32')} + {self.small()}) & 4095]",
            f"c[(lane * {self.choose('1', '4', '33')} + warp) & 1023]",
            f"t[({self.small()} * 8 + lane) & 4095]",
        )

    def guarded(self) -> None:
        self.line(f"if ({self.guard()}) {{")
        self.somewhere()
        if self.chance(40):
            self.line("} else {")
            self.somewhere()
        self.line("}")

    def either(self) -> None:
        i = self.small()
        read = f"t[(lane * {self.choose('1', '2', '32')} + {i}) & 4095]"
        self.line(f"acc += {self.guard()} ? {read} : {self.choose('0', f't[{i} & 255]')};")

    def flagged(self) -> None:
        """A guard that is kept, and asked more than once."""
        f = self.name("valid")
        self.line(f"const bool {f} = {self.guard()};")
        for _ in range(2):
            self.line(f"if ({self.choose(f, f'!{f}', f'{f} && {self.some()}', f'{f} || {self.some()}')}) {{")
            self.somewhere()
            self.line("}")

    def rest(self) -> None:
        """How much of a tile is left."""
        r, first = self.name("m"), self.choose("(int)blockIdx.x * 64", "warp * 32", "0")
        full = self.choose("32", "16", "20")
        left = f"size - {first}"
        self.line(
            f"const int {r} = {self.choose(f'min({full}, {left})', f'{left} < {full} ? {left} : {full}')};"
        )
        self.line(f"if ({self.choose('lane', 'tid')} < {r}) {{")
        self.somewhere()
        self.line("}")

    def reduced(self) -> None:
        """An index that comes back into the range."""
        i = self.name("m")
        self.line(f"int {i} = {self.choose('tid', 'lane * 2', 'tid + 5')};")
        self.line(f"{self.choose('if', 'while')} ({i} >= size) {i} -= size;")
        if self.chance(40):
            self.line(f"{i} = {self.choose(f'min({i}, size - 1)', f'{i} < size ? {i} : size - 1')};")
        self.places(i)

    def loaded(self) -> None:
        """A value that one guard sets and the next one stores."""
        v = self.name("v")
        self.line(
            f"float {v} = 0; if ({self.guard()}) {v} = t[(lane * {self.choose('1', '2', '4')}) & 4095];"
        )
        self.line(f"{self.choose('', f'if ({self.guard()}) ')}t[(tid + 64) & 4095] = {v};")

    def guarded_rounds(self) -> None:
        i = self.name("i")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', 'n', self.lanes())}; {i}++) {{")
        self.line(
            f"if ({self.choose(self.guard(), f'{i} * 32 + lane < size', f'{i} < size && {self.some()}')}) {{"
        )
        self.places(i)
        self.line("}")
        if self.chance(30):
            self.sync()
        self.somewhere()
        self.line("}")

    def left_rounds(self) -> None:
        """A loop that a guard leaves, or passes over a round of."""
        i = self.name("i")
        self.line(
            f"for (int {i} = lane & 1; {i} < {self.choose('4', '5', *self.unless_unknown('n'))}; {i}++) {{"
        )
        out = self.choose(f"{i} * 64 + tid >= size", "tid >= size", f"{i} >= size || {self.some()}")
        self.line(f"if ({out}) {self.choose('break', 'continue')};")
        self.places(i)
        self.line("}")

    def doubled(self) -> None:
        """A number that doubles until it is as large as the problem."""
        k = self.name("k")
        first, step = (
            self.choose("1", "2"),
            self.choose(f"{k} *= 2", f"{k} <<= 1", f"{k} += {k}", f"{k} <<= 2"),
        )
        test = self.choose(
            f"{k} < size", f"{k} <= size", f"{k} < size / 2", f"size > {k}", f"{k} <= size >> 2"
        )
        self.line(f"for (int {k} = {first}; {test}; {step}) {{")
        pair = f"2 * tid - (tid & ({k} - 1))"
        apart = f"(tid / {k}) * 2 * {k} + tid % {k}"
        at = self.choose(pair, f"{pair} + {k}", apart, f"{apart} + {k}", f"tid ^ {k}", f"lane * {k} + warp")
        guard = self.choose("", "", f"if ({self.some()}) ", f"if (tid * {k} < size) ")
        self.line(f"{guard}t[({at}) & 4095] += t[(tid * {self.choose('1', '2', k)}) & 4095];")
        if self.chance(30):
            self.somewhere()
        self.line("}")

    def bounded_rows(self) -> None:
        """Rows of a tile, each asked for the height."""
        y = self.name("y")
        self.line(f"for (int {y} = warp; {y} < {self.choose('8', '6')}; {y} += {self.choose('4', '2')})")
        beside = self.choose("", " && lane < size", f" && {self.some()}")
        self.line(f"if ({y} + (int)blockIdx.x * 8 < size{beside}) {{")
        self.moved(f"t[({y} * {self.choose('32', '33')} + lane) & 4095]", f"t[(lane * 33 + {y}) & 4095]")
        self.line("}")


def sized_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `production_program`, with these forms."""
    writer = SizedWriter(draw, data=data, unknown=unknown)
    return started(writer, EVERYDAY_HEAD + PRODUCTION_HEAD, EVERYDAY_SHARED + PRODUCTION_SHARED)
