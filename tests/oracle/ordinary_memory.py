"""Shared memory and pointers as ordinary code uses them."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.ordinary_values import ValueWriter
from oracle.pointing import NEIGHBOURS

VECTORS = (
    ("float2", 2, 2048),
    ("float4", 4, 1024),
    ("uint4", 4, 1024),
    ("double2", 4, 1024),
    ("int2", 2, 2048),
)


@dataclass(slots=True)
class MemoryWriter(ValueWriter):
    """Unions, packed records, bit-fields, vectors; double buffers, tables, pools."""

    def memory_form(self) -> None:
        forms = (
            self.cell,
            self.union,
            self.flag,
            self.packed,
            self.odd_record,
            self.vector,
            self.copied_value,
            self.pool,
            self.helper_pointer,
            self.double_buffer,
            self.ping_pong,
            self.buffers,
            self.table,
            self.walked_pointer,
            self.row_pointer,
            self.stepped_pointer,
            self.stored_index,
        )
        forms[self.number(0, len(forms) - 1)]()

    def moved(self, *places: str) -> None:
        """Read or write one of some places."""
        place = self.choose(*places)
        self.line(self.choose(f"{place} = 1;", f"{place} = lane;", f"acc += {place};", f"{place} += 1;"))

    def cell(self) -> None:
        at = self.index(512)
        self.moved(
            f"cells[{at}].b[{self.part_of(4)}]",
            f"cells[{at}].h[{self.part_of(2)}]",
            f"cells[{at}].f",
            f"cells[{at}].u",
        )

    def part_of(self, count: int) -> str:
        return str(self.number(0, count - 1)) if self.chance(60) else f"{self.leaf()} & {count - 1}"

    def union(self) -> None:
        self.moved(
            f"both.f[{self.index(512)}]",
            f"both.i[{self.index(512)}]",
            f"both.d[{self.index(256)}]",
            f"both.r[{self.index(256)}].{self.choose('a', 'b')}",
            f"reinterpret_cast<unsigned char *>(&both)[{self.index(2048)}]",
        )

    def flag(self) -> None:
        at = self.index(128, 1)
        member = self.choose("a", "b", "c", "rest")
        self.line(
            self.choose(f"flags[{at}].{member} = {self.number(0, 30)};", f"acc += flags[{at}].{member};")
        )

    def packed(self) -> None:
        self.moved(
            f"wires[{self.index(128, 1)}].{self.choose('tag', 'at', 'id', 'last')}",
            f"tights[{self.index(64, 1)}].{self.choose('c', 'v', 'd')}",
        )

    def odd_record(self) -> None:
        kind = self.number(0, 4)
        if kind == 0:
            self.line(f"triples[{self.index(256, 1)}] = triples[{self.index(256, 1)}];")
        else:
            self.moved(
                f"triples[{self.index(256, 1)}].{self.choose('x', 'y', 'z')}",
                f"names[{self.index(128, 1)}].name[{self.number(0, 12)}]",
                f"names[{self.index(128, 1)}].name[({self.expr(1)} & 255) % 13u]",
                f"fives[{self.index(128, 1)}].v[{self.number(0, 4)}]",
                f"sevens[{self.index(64, 1)}].m[{self.choose('6', '0', '(lane & 3)')}]",
                f"sevens[{self.index(64, 1)}].{self.choose('k', 'd')}",
                f"(&triples[{self.index(128, 1)}].x)[{self.number(0, 2)}]",
            )

    def vector(self) -> None:
        type_, floats, count = self.draw.pick(VECTORS)
        at = self.index(count)
        made = self.name("v")
        kind = self.number(0, 3)
        scalar = {"f": "float", "u": "unsigned", "d": "double", "i": "int"}[type_[0]]
        if kind == 0:
            self.line(f"{type_} {made} = reinterpret_cast<{type_} *>(t)[{at}];")
            members = "xyzw"[: int(type_[-1])]  # all of them: of what is used in part, parts are loaded
            self.line("acc += " + " + ".join(f"{made}.{each}" for each in members) + ";")
        elif kind == 1:
            values = ", ".join(f"({scalar})lane" for _ in range(int(type_[-1])))
            self.line(f"reinterpret_cast<{type_} *>(t)[{at}] = make_{type_}({values});")
        elif kind == 2:
            self.line(f"{type_} &{made} = *reinterpret_cast<{type_} *>(&t[({at}) * {floats}]);")
            self.line(self.choose(f"acc += {made}.y;", f"{made}.x = 1;", f"{made}.y += acc;"))
        else:
            self.moved(f"reinterpret_cast<{type_} *>(t)[{at}].{self.choose('x', 'y')}")

    def copied_value(self) -> None:
        made = self.name("v")
        if self.chance(50):
            self.line(f"float {made};")
            self.line(f"memcpy(&{made}, &t[{self.index(4096)}], sizeof(float));")
            self.line(f"acc += {made};")
        else:
            self.line(f"double {made} = lane;")
            self.line(f"memcpy(&e[{self.index(512)}], &{made}, sizeof({made}));")

    def pool(self) -> None:
        a, b, size = self.name("p"), self.name("pb"), self.name("size")
        self.line(
            f"const int {size} = {self.choose('n * 8', '(n + 3) / 4 * 4', 'BM * 4', 'blockDim.x + n', '96')};"
        )
        self.line(f"float *{a} = reinterpret_cast<float *>(pool);")
        if self.chance(50):
            self.line(f"short *{b} = reinterpret_cast<short *>({a} + {size});")
            self.moved(f"{b}[{self.index(512)}]")
        else:
            more = self.choose("warp * 32", "0", "threadIdx.y * 8")
            self.line(f"int *{b} = reinterpret_cast<int *>(pool + {size} * sizeof(float)) + {more};")
            self.moved(f"{b}[{self.index(256)}]")
        self.line(f"{a} += {size};")
        self.moved(f"{a}[{self.index(512)}]")
        self.pointers.append(a)

    def helper_pointer(self) -> None:
        a, b = self.draw.pick(NEIGHBOURS)
        i = f"{self.known(1)} & {self.choose('7', '15')}"
        kind = self.number(0, 2)
        if kind == 0:
            self.moved(f"*early(&t[{self.index(1024)}], {i})", f"early(c, {i})[{self.index(512, 1)}]")
        elif kind == 1:
            self.moved(f"chosen({a}, {b}, {i})[{self.index(512, 1)}]")
        else:
            made = self.name("p")
            self.line(f"float *{made} = early(t, {i});")
            self.moved(f"{made}[{self.index(512)}]")
            self.pointers.append(made)

    def double_buffer(self) -> None:
        a, b = self.draw.pick((*NEIGHBOURS, ("t", "t + 2048"), ("&q[0][0]", "u")))
        p, o, i = self.name("p"), self.name("o"), self.name("i")
        self.line(f"float *{p} = {a}, *{o} = {b};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('2', '3', '4', 'n', 'BM / 4')}; {i}++) {{")
        self.line(f"{p}[{self.index(512, 1)}] = acc;")
        self.line(f"acc += {o}[{self.index(512, 1)}];")
        if self.chance(25):
            self.line(f"if ({self.condition()}) {self.choose('continue', 'break')};")
        self.line(self.choose(f"float *x = {p}; {p} = {o}; {o} = x;", f"std::swap({p}, {o});"))
        self.line("}")
        self.moved(f"{p}[{self.index(512, 1)}]")

    def ping_pong(self) -> None:
        at, i = self.name("at"), self.name("i")
        a, b = self.draw.pick((("t", "t + 2048"), ("t", "&q[0][0]"), ("q[0]", "q[16]")))
        self.line(f"int {at} = {self.choose('0', '1')};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', 'n')}; {i}++) {{")
        place = self.choose(
            f"({at} ? {a} : {b})[{self.index(512, 1)}]", f"t[{at} * 2048 + {self.index(2048, 1)}]"
        )
        self.moved(place)
        if self.chance(30):
            self.line(f"if ({self.condition()}) continue;")
        self.line(
            self.choose(f"{at} ^= 1;", f"{at} = 1 - {at};", f"{at} = ({at} + 1) & 1;", f"{at} = !{at};")
        )
        self.line("}")

    def buffers(self) -> None:
        made, i = self.name("bufs"), self.name("i")
        a, b = self.draw.pick((("t", "t + 1024"), ("u", "t"), ("&q[0][0]", "t + 512")))
        self.line(f"Buffers {made}{{{a}, {b}}};")
        self.line(f"for (int {i} = 0; {i} < {self.number(1, 4)}; ++{i}) {{")
        self.moved(f"{made}.front[{self.index(512, 1)}]", f"{made}.back[{self.index(512, 1)}]")
        self.line(self.choose(f"{made}.flip();", f"if ({i} & 1) {made}.flip();"))
        self.line("}")
        self.line(f"if (({self.choose('warp', 'blockDim.x', 'BM')} & 1) == 1) {made}.flip();")
        self.moved(f"{made}.front[{self.index(512, 1)}]")
        self.numbers.append(f"{made}.turns")

    def table(self) -> None:
        made, p = self.name("rows"), self.name("p")
        self.line(f"float *{made}[4] = {{t, &q[0][0], t + 2048, u}};")
        if self.chance(30):
            self.line(f"{made}[{self.number(0, 3)}] += {self.choose('lane', '32', 'threadIdx.y')};")
        self.line(f"float *{p} = {made}[{self.choose('warp & 3', 'warp & 1', '(warp + 2) & 3', '2')}];")
        self.moved(f"{p}[{self.index(512)}]")
        self.pointers.append(p)

    def walked_pointer(self) -> None:
        p = self.name("p")
        step = self.choose("32", "40", "blockDim.x", "33 + BM")
        start, end = self.choose("lane", "tid % 50", "lane * 2"), self.number(30, 150)
        self.line(f"for (float *{p} = t + {start}; {p} < t + {end}; {p} += {step}) {{")
        self.line(self.choose(f"*{p} = acc;", f"acc += {p}[{self.number(0, 40)}];", f"*{p} += 1;"))
        if self.chance(30):
            self.line(f"if ({self.condition()}) {self.choose('break', 'continue')};")
        self.line("}")

    def row_pointer(self) -> None:
        made = self.name("rw")
        pitch = self.choose("33", "32", "BM", "20")
        self.line(
            f"float (*{made})[{pitch}] = reinterpret_cast<float (*)[{pitch}]>(t{self.choose('', ' + 64')});"
        )
        self.moved(f"{made}[{self.index(64, 1)}][({self.expr(1)} & 255) % {pitch}]")

    def stepped_pointer(self) -> None:
        p = self.name("p")
        self.line(f"float *{p} = {self.choose('t', '&q[0][0]', 't + lane')};")
        for _ in range(self.number(1, 2)):
            self.line(f"stepped({p}, {self.known(1)} & {self.choose('7', '31')});")
        self.moved(f"*{p}", f"{p}[{self.index(512, 1)}]")
        self.pointers.append(p)

    def stored_index(self) -> None:
        """An element that was just changed, as an index: where data may decide."""
        if not self.data:
            self.cell()
            return
        at, made = self.index(1024), self.name("m")
        self.line(f"c[{at}] {self.choose('+=', '^=', '=')} {self.known(1)} & 63;")
        self.line(f"int {made} = c[{at}] & {self.choose('31', '255', '7')};")
        self.numbers.append(made)
        self.use(made)
