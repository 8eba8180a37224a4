"""Random kernels as text: one statement a line, every address known from the launch.

Most of what is drawn is defined behaviour and in range; what is not, the interpreter refuses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from oracle.drawing import Draw, Drawer, Program


@dataclass(slots=True)
class Writer(Drawer):
    """Draws statements. Variables are (name, type); `numbers` are those in scope."""

    data: bool = False
    """Whether conditions and indices may depend on values from memory."""
    unknown: bool = False
    """Whether the evaluator is not told n and the block's index. What it then assumes on purpose is not
    written: guards by them, division of or by them when it could be negative or not known to divide."""
    plain: bool = False
    """Inside a condition of such a program, where only what is known may stand."""
    numbers: list[str] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)
    """Counters of loops, which the body must not assign."""
    bools: set[str] = field(default_factory=set)
    """Variables of type bool, which C++ does not count up or down."""
    whole: set[str] = field(default_factory=set)
    """Variables of type int, whose address can be passed on."""
    pointers: list[str] = field(default_factory=list)
    loops: int = 0

    # Expressions

    def leaf(self) -> str:
        kind = self.number(0, 9)
        if kind <= 3:
            return self.choose("threadIdx.x", "threadIdx.x", "threadIdx.y", "threadIdx.z")
        if kind <= 6 and self.numbers and not self.plain:
            return self.choose(*self.numbers)
        if kind == 7 and self.unknown and not self.plain:
            return self.choose("blockIdx.x", "blockIdx.x * 32", "n", "threadIdx.x * n", "threadIdx.y * n + 1")
        if kind == 7 and not self.unknown:
            return self.choose("blockDim.x", "blockDim.y", "n", "warpSize")
        return self.choose("0", "1", "2", "3", "4", "5", "7", "8", "16", "31", "32", "33", "64", "100", "3u")

    def size(self) -> tuple[str, ...]:
        """`n`, where what is assumed of it on purpose does not matter."""
        return () if self.plain else ("n",)

    def known(self, depth: int) -> str:
        """An expression of what the evaluator knows for certain."""
        outer, self.plain = self.plain, self.unknown
        text = self.expr(depth)
        self.plain = outer
        return text

    def expr(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(20):
            return self.leaf()
        kind = self.number(0, 17)
        if self.unknown:
            kind = {6: 0, 17: 12}.get(kind, kind)
        a = self.known(depth - 1) if kind in (15, 16) else self.expr(depth - 1)
        if kind <= 3:
            return f"({a} + {self.expr(depth - 1)})"
        if kind <= 5:
            factors = ("2", "3", "4", "5", "8", "16", "32", "33", "blockDim.x", *self.size())
            return f"({a} * {self.choose(*factors)})"
        if kind == 6:
            return f"({a} - {self.expr(depth - 1)})"
        if kind in (7, 8):
            divisors = (
                "2",
                "3",
                "4",
                "7",
                "8",
                "16",
                "32",
                "2u",
                "blockDim.x",
                *(() if self.unknown else ("n",)),
            )
            return f"({a} {'/' if kind == 7 else '%'} {self.choose(*divisors)})"
        if kind == 9:
            masks = ("1", "3", "7", "6", "15", "28", "31", "255", "~3", *self.size())
            return f"({a} & {self.choose(*masks)})"
        if kind == 10:
            return f"({a} {self.choose('|', '^')} {self.expr(depth - 1)})"
        if kind == 11:
            return f"({a} << {self.number(0, 5)})"
        if kind == 12:
            return f"({a} >> {self.number(0, 5)})"
        if kind == 13:
            return f"({self.condition(depth - 1)} ? {a} : {self.expr(depth - 1)})"
        if kind == 14:
            types = ("unsigned", "int", "long", "unsigned long", "unsigned char", "short", "char")
            return f"({self.choose(*types[: 5 if self.unknown else 7])})({a})"
        if kind == 15:
            return f"{self.choose('min', 'max')}((int)({a}), {self.number(0, 40)})"
        if kind == 16 and self.unknown:
            return self.choose(f"twist({a}, {self.leaf()})", f"pick({a})")
        if kind == 16:
            return self.choose(f"twist({a}, {self.leaf()})", f"pick({a})", f"(-{a})", f"(~{a})", f"(!{a})")
        return f"(({self.condition(depth - 1)}) + {a})"

    def condition(self, depth: int = 1) -> str:
        outer, self.plain = self.plain, self.unknown
        text = self.decision(depth)
        self.plain = outer
        return text

    def decision(self, depth: int) -> str:
        if self.unknown and self.chance(25):
            return self.choose("n == 3", "n > 4", "(n & 1) == 0", "n & 2", "blockIdx.x % 2 == 1")
        a = self.expr(depth)
        kind = self.number(0, 5)
        if kind <= 2:
            return f"{a} {self.choose('<', '<=', '>', '>=', '==', '!=')} {self.leaf()}"
        if kind == 3:
            return f"({a} & {self.choose('1', '2', '4', '16')}) == 0"
        if kind == 4 and depth:
            op = self.choose("&&", "||")
            return f"({self.condition(depth - 1)} {op} {self.condition(depth - 1)})"
        return f"{a} % {self.choose('2', '3', '4')} == {self.number(0, 2)}"

    def index(self, size: int, depth: int = 2) -> str:
        """In range, or likely to be."""
        a = self.expr(depth)
        if self.unknown and size >= 1024 and self.chance(60):
            return a
        if size & (size - 1) == 0 and self.chance(75):
            return f"{a} & {size - 1}"
        if self.chance(60):
            return f"(unsigned)({a}) % {size}"
        return a

    # Accesses

    def place(self) -> tuple[str, bool]:
        """An lvalue in shared memory; whether it takes a float."""
        kind = self.number(0, 13)
        if kind <= 2:
            return f"t[{self.index(4096)}]", True
        if kind <= 4:
            return f"q[{self.index(32, 1)}][{self.index(32, 1)}]", True
        if kind == 5:
            return f"c[{self.index(1024)}]", True
        if kind == 6:
            return self.choose(f"b[{self.index(2048)}]", f"e[{self.index(512)}]"), True
        if kind == 7:
            array, member = self.choose("pairs a", "pairs b", "odds c", "odds f", "odds s").split()
            return f"{array}[{self.index(256)}].{member}", True
        if kind == 8:
            return f"((float4*)t)[{self.index(1024)}].{self.choose('x', 'y', 'w')}", True
        if kind == 9:
            return f"*(float2*)&t[({self.index(1024)}) * 2]", False
        if kind == 10:
            return f"((float4*)t)[{self.index(1024)}]", False
        if kind == 11:
            return f"((unsigned char*)c)[{self.index(2048)}]", True
        if self.pointers:
            p = self.choose(*self.pointers)
            return self.choose(f"{p}[{self.index(512)}]", f"*({p} + ({self.index(512)}))"), True
        return f"((double*)t)[{self.index(1024)}]", True

    def access(self) -> None:
        place, plain = self.place()
        kind = self.number(0, 4)
        if not plain:
            vector = "float2" if "float2" in place else "float4"
            v = self.name("v")
            self.line(f"{vector} {v} = {place};")
            if kind < 2:
                other = place if kind else "*(float4*)&t[0]" if vector == "float4" else "*(float2*)&t[0]"
                self.line(f"{other} = {v};")
        elif kind == 0:
            self.line(f"acc += {place};")
        elif kind == 1:
            self.line(f"{place} += 1;")
        elif kind == 2 and place.startswith("c["):
            self.line(
                f"atomic{self.choose('Add', 'Max', 'Exch')}(&{place}, {self.choose('1', '2', 'n + 1')});"
            )
        elif kind == 3 and place.startswith("t["):
            self.line(self.choose(f"put(t, {self.index(512)}, acc);", f"mix({self.index(512)});"))
        else:
            self.line(f"{place} = {self.choose('acc', '1', 'threadIdx.x')};")

    # Statements

    def fresh_number(self) -> str:
        """Declare an int."""
        made = self.name("i")
        self.line(f"int {made} = {self.expr(1)};")
        self.numbers.append(made)
        self.whole.add(made)
        return made

    def body(self, depth: int, size: int, returns: bool = True) -> None:
        """Statements with a scope of their own."""
        kept = (list(self.numbers), list(self.pointers))
        for _ in range(self.number(1, size)):
            self.statement(depth, returns)
        self.numbers, self.pointers = kept

    def statement(self, depth: int, returns: bool = True) -> None:
        if self.data and self.chance(15):
            made = self.name("i")
            source = self.choose(
                f"c[{self.index(1024)}]", f"b[{self.index(2048)}]", "((int*)out)[threadIdx.x]"
            )
            self.line(f"int {made} = {source} & {self.choose('1', '3', '31', '255', '96')};")
            self.numbers.append(made)
            return
        kind = self.number(0, 19)
        writable = [v for v in self.numbers if v not in self.fixed]
        if kind <= 6 or (depth == 0 and kind >= 13):
            self.access()
        elif kind <= 9:
            types = ("int", "int", "unsigned", "long", "short", "unsigned char", "bool")
            type_ = self.choose(*types[: 4 if self.unknown else 7])
            made = self.name("i")
            self.line(f"{type_} {made} = {self.expr(3)};")
            self.numbers.append(made)
            if type_ == "bool":
                self.bools.add(made)
        elif kind == 10 and writable:
            v = self.choose(*writable)
            op = self.choose("=", "+=", "*=", "&=", "^=", "|=", ">>=", *(() if self.unknown else ("-=",)))
            value = str(self.number(1, 4)) if op in ("*=", ">>=") else self.expr(2)
            steps = () if v in self.bools else (f"{v}++;", *(() if self.unknown else (f"--{v};",)))
            self.line(self.choose(f"{v} {op} {value};", *steps))
        elif kind == 11 and writable and self.chance(50):
            places = [v for v in writable if v in self.whole] or [self.fresh_number()]
            made = self.name("i")
            self.line(f"int {made} = settle(&{self.choose(*places)}, {self.deciding()} & 15);")
            self.numbers.append(made)
            self.whole.add(made)
        elif kind == 11:
            made = self.name("p")
            pool = f"(float *)((char *)s + 4 * ({self.expr(1)} & 63))"
            base = self.choose("t", "&q[0][0]", "t + 64", "s + 128", pool, *self.pointers)
            self.line(f"float *{made} = {base} + ({self.index(512)});")
            self.pointers.append(made)
        elif kind == 12:
            if self.pointers and self.chance(50):
                self.line(f"{self.choose(*self.pointers)} += {self.expr(1)} & 63;")
            else:
                made = self.name("d")
                self.line(f"int {made}[4] = {{{self.leaf()}, {self.leaf()}, {self.number(0, 99)}}};")
                self.line(f"{made}[{self.leaf()} & 3] = {self.expr(1)};")
                self.numbers.append(f"{made}[{self.number(0, 3)}]")
        elif kind <= 15:
            condition = self.condition()
            if self.data and self.chance(30):
                condition = self.choose(f"t[{self.index(4096)}] > 0", "acc > 1", "out[threadIdx.x] > 0")
            self.line(f"if ({condition}) {{")
            self.body(depth - 1, 2, returns)
            if returns and self.chance(10):
                self.line("return;")
            if self.chance(40):
                self.line("} else {")
                self.body(depth - 1, 2, returns)
            self.line("}")
        elif kind == 16:
            self.switch(returns)
        else:
            self.loop(depth, returns)

    def switch(self, returns: bool) -> None:
        """On anything that decides, with labels in any order, falling through, and ways out in the middle."""
        labels = ["case 0", "case 1", "case 2", "case 3", "default"]
        self.line(f"switch ({self.deciding()} & {self.choose('3', '3', '5')}) {{")
        for _ in range(self.number(1, 4)):
            label = self.choose(*labels)
            labels.remove(label)
            self.line(f"{label}: {{")
            self.body(0, 1, returns)
            self.set_something()
            if self.chance(20):
                self.line(f"if ({self.condition()}) break;")
                self.set_something()
            self.line("}")
            if self.chance(60):
                self.line("break;")
        self.line("}")

    def deciding(self) -> str:
        """A number that a branch may be decided by."""
        if self.unknown and self.chance(40):
            return self.choose("n", "blockIdx.x", "(n >> 1)")
        return f"({self.known(1)})"

    def set_something(self) -> None:
        """Change a variable, where there is one."""
        writable = [v for v in self.numbers if v not in self.fixed]
        if writable and not self.plain:
            v = self.choose(*writable)
            self.line(self.choose(f"{v} = {self.leaf()};", f"{v} += {self.leaf()};", f"{v} ^= 1;"))

    def way_out(self) -> None:
        """Leave the loop, or its iteration, with something set before."""
        self.line(f"if ({self.condition()}) {{")
        self.set_something()
        self.line(f"{self.choose('break', 'continue')};")
        self.line("}")
        self.set_something()

    def choose_loop(self) -> int:
        return self.draw.pick((*range(10), 10, 11, 11, 12))

    def loop_head(self, kind: int, i: str, few: int) -> list[str]:
        """A loop with two counters, with another number of iterations in each lane, or of `n`; returns the
        other counter."""
        if kind == 10:
            other = self.name("j")
            step = f"{other} {self.choose('+= 3', '+= 16', '^= 1', '*= 2')}"
            self.line(f"for (int {i} = 0, {other} = {self.known(1)} & 15; {i} < {few}; {i}++, {step}) {{")
            return [other]
        if kind == 11:
            first, last = (self.choose("threadIdx.x", "threadIdx.y", "threadIdx.x / 4") for _ in range(2))
            step = self.choose("++", "++", " += 2", " += 3")
            self.line(
                f"for (int {i} = {first} & 3; {i} {self.choose('<', '<=')} (int)({last} & 7); {i}{step}) {{"
            )
        else:
            self.line(f"for (int {i} = 0; {i} < n; {i}++) {{")
        return []

    def loop(self, depth: int, returns: bool) -> None:
        i = self.name("i")
        self.loops += 1
        few = 6 if self.loops == 1 else 3
        kind = self.choose_loop()
        after: list[str] = []
        others: list[str] = []
        if kind >= 10:
            others = self.loop_head(kind, i, few)
        elif kind <= 1:
            self.line(f"for (int {i} = {self.number(0, 2)}; {i} < {self.number(1, few)}; {i}++) {{")
        elif kind == 2:
            step = self.number(1, 40)
            self.line(f"for (int {i} = {self.number(0, 9)}; {i} <= {step * few}; {i} += {step}) {{")
        elif kind == 3:
            self.line(
                f"for (unsigned {i} = {self.choose('16', '64', 'blockDim.x / 2')}; {i} > 2; {i} >>= 1) {{"
            )
        elif kind == 4:
            self.line(f"for (int {i} = 1; {i} < {self.choose('8', '33', 'blockDim.x')}; {i} *= 2) {{")
        elif kind == 5:
            self.line(
                f"for (int {i} = threadIdx.x; {i} < {self.number(20, 99)}; {i} += blockDim.x * 2 + 8) {{"
            )
        elif kind == 6:
            bound = self.choose(*[v for v in self.fixed if v in self.numbers] or ["threadIdx.y & 3"])
            bound = self.choose(bound, f"({self.known(0)} & 3)")
            self.line(f"for (int {i} = 0; {i} < (int){bound}; {i}++) {{")
        elif kind == 7:
            self.line(f"int {i} = {self.known(1)} & 7;")
            self.line(f"while ({i} < {self.number(6, 9)}) {{")
            after = [f"{i} += {self.number(2, 4)};"]
        elif kind == 8:
            self.line(f"int {i} = {self.number(0, 3)};")
            self.line("do {")
            after = [f"{i}++;"]
        else:
            self.line(f"for (int {i} = {few}; {i} >= 0; {i} -= 2) {{")
        end = f"}} while ({i} < {self.number(1, 5)});" if kind == 8 else "}"
        toggle = self.choose("", "", "^= 1", "^= 1", "*= 2", "+= 5", "= {} + {} % 3")
        if toggle:
            made = self.name("i")
            place = len(self.lines) - (1 if kind not in (7, 8) else 2)
            self.lines.insert(place, f"int {made} = {self.number(0, 5)};")
            self.numbers.append(made)
            step = f"{made} {toggle.format(made, i)};"
            if self.chance(50):
                after.append(step)
            else:
                self.line(step)
        kept = (list(self.numbers), list(self.pointers))
        self.numbers += [*others, i]
        self.fixed.add(i)
        for _ in range(self.number(1, 3)):
            self.statement(depth - 1, returns)
            if kind not in (7, 8, 9) and self.chance(25):
                self.way_out()
        self.numbers, self.pointers = kept
        for text in after:
            self.line(text)
        self.line(end)
        self.loops -= 1


def program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """A kernel `k(out, n)`; data: lanes and addresses may depend on memory, so that only bounds can be known;
    unknown: it uses the block's index, and is for an evaluation that knows neither that nor n."""
    writer = Writer(draw, data=data, unknown=unknown)
    block = writer.statements()
    if not any(mark in line for line in writer.lines for mark in ("t[", "q[", "c[", "b[", "e[", "s[")):
        writer.access()
    text = writer.kernel()
    return Program(text, block, writer.number(1, 9), block_index=writer.number(int(unknown), 5))
