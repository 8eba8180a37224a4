"""Loops, jumps and branches as ordinary code writes them."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.ordinary_memory import MemoryWriter


@dataclass(slots=True)
class ControlWriter(MemoryWriter):
    """Trip counts of each lane, ways out of nested loops, fall-through, machines of states."""

    def control_form(self, returns: bool) -> None:
        forms = (
            self.uneven_nest,
            self.nest_with_goto,
            self.looped_switch,
            self.state_machine,
            self.counted_down,
            self.flag_loop,
            self.searched,
            self.early_exit,
            self.short_circuit,
            self.wrapping_counter,
        )
        forms[self.number(0, len(forms) - 1)](returns)

    def a_body(self, returns: bool, size: int = 1) -> None:
        self.body(0, size, returns)

    def lanes(self) -> str:
        """A small number that differs from lane to lane."""
        return self.choose(
            "(lane & 3)",
            "(int)(threadIdx.x & 3)",
            "(lane >> 3)",
            "(int)threadIdx.y % 4",
            "(3 - lane % 4)",
            "warp % 3 + 1",
        )

    def uneven_nest(self, returns: bool) -> None:
        i, j = self.name("i"), self.name("j")
        self.line(f"for (int {i} = 0; {i} {self.choose('<', '<=')} {self.lanes()}; {i}++) {{")
        first, last = self.choose("0", i, self.lanes()), self.choose("3", f"{i} + 1", self.lanes())
        self.line(f"for (int {j} = {first}; {j} < {last}; {j}++) {{")
        self.numbers += [i, j]
        self.fixed |= {i, j}
        self.line(f"if ({self.condition()}) {{")
        self.set_something()
        self.line(self.choose("break;", "continue;", "continue;"))
        self.line("}")
        self.moved(
            f"t[({i} * 64 + {j} * 32 + lane) & 4095]",
            f"q[{j} & 31][lane]",
            f"t[({self.expr(1)} + {j}) & 4095]",
        )
        self.set_something()
        self.line("}")
        self.numbers.remove(j)
        if self.chance(50):
            self.line(f"if ({self.condition()}) {self.choose('break', 'continue')};")
        self.a_body(returns)
        self.numbers.remove(i)
        self.line("}")

    def nest_with_goto(self, returns: bool) -> None:
        i, j, out, m = self.name("i"), self.name("j"), self.name("out"), self.name("m")
        self.line(f"int {m} = {self.number(0, 9)};")
        self.line(f"for (int {i} = 0; {i} < 3; {i}++) {{")
        self.line(f"for (int {j} = 0; {j} < {self.choose('3', self.lanes())}; {j}++) {{")
        self.line(f"{m} += {self.choose(i, j, '3', 'lane & 1')};")
        self.line(f"if ({self.condition()}) goto {out};")
        self.moved(f"t[({m} * 32 + lane) & 4095]", f"t[({m} + tid * {self.number(1, 4)}) & 4095]")
        if returns and self.chance(30):
            self.line(f"if ({self.condition()}) return;")
        self.line("}")
        self.line(self.choose(f"{m} ^= 1;", f"if ({self.condition()}) {m} += 7;"))
        self.line("}")
        self.line(f"{out}: ;")
        self.numbers.append(m)
        self.use(m)

    def looped_switch(self, returns: bool) -> None:
        i, m = self.name("i"), self.name("m")
        self.line(f"int {m} = {self.known(1)} & 31;")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', self.lanes())}; {i}++) {{")
        value = self.choose(
            f"({i} + lane) & 3",
            "lane & 3",
            f"{i}",
            f"{self.deciding()} & 3",
            f"({m} + {i}) & 3" if not self.unknown else i,
        )
        self.numbers.append(m)
        self.line(f"switch ({value}) {{")
        for label in ("case 2", "case 0", self.choose("case 1", "default")):
            self.line(f"{label}:")
            self.line(f"{m} {self.choose('+=', '^=')} {self.number(1, 40)};")
            if self.chance(60):
                self.moved(f"t[({m} * {self.choose('1', '4', '32')} + lane) & 4095]")
            if self.chance(30):
                self.line(f"if ({self.condition()}) {self.choose('break', 'continue')};")
            self.line(self.choose("break;", "", "", "continue;"))
        self.line("}")
        self.moved(f"t[({m} + {i} * 64) & 4095]")
        self.line("}")
        self.use(m)

    def state_machine(self, returns: bool) -> None:
        s, turn, m = self.name("state"), self.name("turn"), self.name("m")
        self.line(
            f"int {s} = {self.choose('0', 'lane & 1', self.deciding() + ' & 1')}, {turn} = 0, {m} = lane;"
        )
        self.line("while (true) {")
        self.line(f"if (++{turn} > {self.number(2, 5)}) break;")
        self.line(f"switch ({s}) {{")
        self.line(f"case 0: {m} += {self.number(1, 40)}; {s} = {self.condition()} ? 2 : 1; break;")
        self.line(f"case 1: t[({m} * 2) & 4095] = acc; {s} = {self.choose('2', '0', '3')}; continue;")
        self.line(
            f"case 2: {m} ^= {self.number(1, 40)}; {s} = {self.choose('3', '1')}; {self.choose('break;', '')}"
        )
        self.line(f"default: acc += t[({m} + 512) & 4095]; {s} = 0;")
        self.line("}")
        self.moved(f"t[({m} * {self.choose('1', '8', '33')}) & 4095]")
        self.line("}")
        self.numbers.append(m)
        self.use(m)

    def counted_down(self, returns: bool) -> None:
        i = self.name("i")
        kind = self.number(0, 4)
        few = self.choose("3", "4", f"{self.lanes()} + 1")
        if kind == 0:
            self.line(f"for (unsigned {i} = {few}; {i}-- > 0;) {{")
        elif kind == 1:
            self.line(f"unsigned {i} = {few};")
            self.line("do {")
        elif kind == 2:
            self.line(f"for (unsigned {i} = {few}; {i} != 0; {i} -= 1) {{")
        elif kind == 3:
            self.line(f"for (unsigned {i} = {few} - 1; {i} < 100u; {i}--) {{")
        else:
            self.line(f"for (size_t {i} = {few}; {i} --> 1; ) {{")
        self.numbers.append(i)
        self.fixed.add(i)
        self.moved(f"t[({i} * {self.choose('32', '33', '64')} + lane) & 4095]", f"t[({i} * tid) & 4095]")
        self.a_body(returns)
        if kind != 1 and self.chance(30):
            self.line(f"if ({self.condition()}) {self.choose('break', 'continue')};")
        if kind != 1:
            self.numbers.remove(i)
        self.line(f"}} while (--{i});" if kind == 1 else "}")

    def flag_loop(self, returns: bool) -> None:
        done, i, m = self.name("ok"), self.name("i"), self.name("m")
        self.line(f"bool {done} = false;")
        self.line(f"int {m} = lane;")
        self.line(f"for (int {i} = 0; {i} < 4 && !{done}; {i}++) {{")
        self.line(f"if ({self.condition()}) {{ {done} = true; {m} += {self.number(1, 50)}; }}")
        self.moved(f"t[({m} + {i} * 32) & 4095]")
        self.line(f"{m} ^= {i};")
        self.line("}")
        self.numbers.append(m)
        self.use(m)
        if self.chance(50):
            self.line(f"if ({done}) {{")
            self.a_body(returns)
            self.line("}")

    def searched(self, returns: bool) -> None:
        """An access in the condition of a loop."""
        i = self.name("i")
        self.line(f"int {i} = {self.choose('0', 'lane', self.lanes())};")
        at = self.choose(f"{i} & 4095", f"({i} * 33) & 4095", f"({i} * 32 + lane) & 4095")
        if self.data:
            limit = self.choose("0.5f", "1", "1e30f")
            self.line(f"while ({i} < 40 && t[{at}] < {limit}) {i} += {self.choose('7', '11')};")
            self.use(i)
        elif self.chance(50):
            self.line(f"for (; {i} < {self.number(3, 9)} && (acc += t[{at}], true); {i} += 2) {{")
            self.a_body(returns)
            self.line("}")
            self.use(i)
        else:
            self.line(f"do {{ t[{at}] = acc; }}")
            self.line(f"while ((acc += t[({i} * 2) & 4095], {i} += 3) < {self.number(4, 9)});")
            self.use(i)
        self.numbers.append(i)

    def early_exit(self, returns: bool) -> None:
        if not returns:
            self.vector()
            return
        leaves = self.choose("lane > 20", "tid >= 40", "lane & 1", "threadIdx.x == 3", self.condition())
        self.line(f"if ({leaves}) {{")
        if self.chance(50):
            self.a_body(returns)
        self.line("return;")
        self.line("}")
        self.access()

    def short_circuit(self, returns: bool) -> None:
        a, b = self.known(1), self.known(1)
        op = self.choose("&&", "||")
        self.line(f"if (touched(t, {a}) {op} touched(t + 512, {b})) {{")
        self.a_body(returns)
        if self.chance(40):
            self.line(f"}} else if (touched(t, {self.leaf() if not self.unknown else 'lane'} + 3)) {{")
            self.a_body(returns)
        self.line("}")

    def wrapping_counter(self, returns: bool) -> None:
        i = self.name("i")
        self.line(
            self.choose(
                f"for (uint8_t {i} = {self.number(245, 252)}; {i} > 9; {i} += {self.number(2, 5)}) {{",
                f"for (int8_t {i} = {self.number(110, 120)}; {i} > 0; {i} += {self.number(5, 9)}) {{",
                f"for (unsigned {i} = 0xfffffff0u; {i} > 8u; {i} += {self.number(5, 9)}) {{",
                f"for (uint16_t {i} = {self.number(1, 3)}; {i} < 40; {i} = {i} * 3 + lane % 2) {{",
            )
        )
        self.numbers.append(i)
        self.fixed.add(i)
        self.moved(f"t[({i} * {self.choose('1', '4', '33')} + lane) & 4095]")
        self.a_body(returns)
        self.numbers.remove(i)
        self.line("}")
