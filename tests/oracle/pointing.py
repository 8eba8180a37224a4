"""Random kernels whose pointers lead to several arrays, and whose variables are read and written in parts."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.drawing import Draw, Program
from oracle.programs import Writer

NEIGHBOURS = (("t", "&q[0][0]"), ("&q[0][0]", "(float*)c"))
"""Arrays that lie one behind the other."""

PARTS = """union Key { int i; float f; short h[2]; unsigned char b[4]; };
struct Low { short lo; short hi; };
union Wide { long l; int i[2]; struct Low s[2]; unsigned char b[8]; };
"""


@dataclass(slots=True)
class PartsWriter(Writer):
    """Draws them besides the statements of C."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(45):
            super(PartsWriter, self).statement(depth, returns)
        elif self.chance(50):
            self.pointer(depth)
        else:
            self.parts()

    # Pointers

    def pointer(self, depth: int) -> None:
        made = self.name("p")
        a, b = self.swapped(*NEIGHBOURS[self.number(0, 1)])
        if self.chance(30) and self.pointers:
            a = self.choose(*self.pointers)
        kind = self.number(0, 5)
        if kind == 0:
            self.line(f"float *{made} = {self.condition()} ? {a} : {b};")
        elif kind == 1:
            table = self.name("tb")
            self.line(f"float *{table}[2] = {{{a}, {b}}};")
            self.line(f"float *{made} = {table}[{self.expr(1)} & 1] + ({self.index(256, 1)});")
        elif kind == 2:
            self.line(f"float *{made} = {a};")
            self.line(f"if ({self.condition()}) {{")
            self.line(f"{made} = {b} + ({self.index(256, 1)});")
            self.line("}")
        elif kind == 3:
            self.line(f"float *{made};")
            self.line(f"if ({self.condition()}) {{")
            self.line(f"{made} = {a} + ({self.index(256, 1)});")
            self.line("} else {")
            self.line(f"{made} = {b};")
            self.line("}")
        elif kind == 4:
            self.swap(made, a, b)
        else:
            i = self.name("i")
            self.line(f"float *{made} = {a};")
            self.line(f"for (int {i} = 0; {i} < {self.number(1, 3)}; {i}++) {{")
            self.line(f"{made}[{self.index(512)}] = acc;")
            self.line(f"if ({self.condition()}) {made} = {b};")
            self.line("}")
        self.pointers.append(made)
        place = f"{made}[{self.index(512)}]"
        self.line(self.choose(f"acc += {place};", f"{place} = acc;", f"{place} += 1;"))

    def swap(self, made: str, a: str, b: str) -> None:
        """Two buffers that change places in a loop."""
        other, kept, i = self.name("o"), self.name("x"), self.name("i")
        self.line(f"float *{made} = {a};")
        self.line(f"float *{other} = {b};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('2', '3', '5', 'n', 'n + 40')}; {i}++) {{")
        self.line(f"{made}[{self.index(512)}] = {other}[{self.index(512)}];")
        self.line(f"float *{kept} = {made};")
        self.line(f"{made} = {other};")
        self.line(f"{other} = {kept};")
        self.line("}")
        self.pointers.append(other)

    def swapped(self, a: str, b: str) -> tuple[str, str]:
        return (a, b) if self.chance(50) else (b, a)

    # Parts of values

    def parts(self) -> None:
        made = self.name("u")
        kind = self.number(0, 6)
        if kind == 0:
            self.line(f"union Key {made};")
            self.line(f"{made}.i = {self.expr(2)};")
            self.narrow(f"{made}.b[{self.part(4)}]", f"{made}.h[{self.part(2)}]")
            self.numbers += [f"{made}.i", f"{made}.h[{self.number(0, 1)}]", f"{made}.b[{self.number(0, 3)}]"]
        elif kind == 1:
            self.line(f"union Wide {made};")
            self.line(f"{made}.l = {self.expr(2)};")
            self.narrow(
                f"{made}.i[{self.part(2)}]", f"{made}.s[{self.number(0, 1)}].hi", f"{made}.b[{self.part(8)}]"
            )
            self.numbers += [f"{made}.i[{self.number(0, 1)}]", f"{made}.s[0].lo", f"{made}.s[1].hi"]
        elif kind == 2:
            self.line(f"int {made} = {self.expr(2)};")
            self.narrow(
                f"((unsigned char*)&{made})[{self.part(4)}]", f"*((short*)&{made} + {self.number(0, 1)})"
            )
            self.numbers.append(made)
        elif kind == 3:
            self.line(f"int {made}[4] = {{{self.leaf()}, {self.leaf()}, 7}};")
            self.narrow(
                f"*(long*)({made} + {self.choose('0', '2')})", f"((unsigned char*){made})[{self.part(16)}]"
            )
            self.numbers += [
                f"{made}[{self.number(0, 3)}]",
                f"(*(int*)((char*){made} + {self.number(0, 12)}))",
            ]
        elif kind == 4:
            self.line(f"int {made} = {self.expr(2)};")
            self.line(f"float f{made} = *(float*)&{made};")
            self.numbers.append(f"(*(int*)&f{made})")
        elif kind == 5:
            self.line(f"long {made} = {self.expr(2)};")
            self.line(f"struct Low v{made} = *(struct Low*)((char*)&{made} + {self.choose('0', '2', '4')});")
            self.line(f"v{made}.lo = {self.expr(1)};")
            self.numbers += [f"v{made}.lo", f"v{made}.hi", f"(*(int*)&v{made})"]
        else:
            self.line(f"struct Low {made};")
            self.line(f"*(int*)&{made} = {self.expr(2)};")
            self.narrow(f"{made}.lo", f"{made}.hi", f"((unsigned char*)&{made})[{self.part(4)}]")
            self.numbers += [f"{made}.lo", f"{made}.hi"]

    def narrow(self, *places: str) -> None:
        """One or two writes of parts, maybe by some lanes only."""
        for _ in range(self.number(1, 2)):
            store = f"{self.choose(*places)} = {self.expr(1)};"
            if self.chance(30):
                self.line(f"if ({self.condition()}) {{")
                self.line(store)
                self.line("}")
            else:
                self.line(store)

    def part(self, count: int) -> str:
        """The number of a part: mostly one for all lanes."""
        return str(self.number(0, count - 1)) if self.chance(80) else f"{self.leaf()} & {count - 1}"


def parts_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `program`, of these shapes."""
    writer = PartsWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    if not any(mark in line for line in writer.lines for mark in ("t[", "q[", "c[", "b[", "e[", "s[", "p")):
        writer.access()
    text = PARTS + writer.kernel()
    return Program(text, block, writer.number(1, 9), block_index=writer.number(int(unknown), 5))
