"""Random forms of production code that no other drawing has: counters stepped by an alias, stacks and lists
in registers, lambdas that are called where they stand, division by multiplication, accessors with steps,
bases that call what is derived from them, results by pointers, generators of random numbers, switches in
loops that are left from within, pointers chosen by a switch."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.drawing import Draw, Program
from oracle.everyday_programs import EVERYDAY_HEAD, EVERYDAY_SHARED, EverydayWriter
from oracle.production_head import PRODUCTION_HEAD, PRODUCTION_SHARED
from oracle.real_programs import started


@dataclass(slots=True)
class ProductionWriter(EverydayWriter):
    """Draws these forms, with all others between."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(75):
            super(ProductionWriter, self).statement(depth, returns)
            return
        forms = (
            self.aliases, self.aliases, self.stacks, self.lists, self.shifted_registers, self.called_at_once,
            self.dividers, self.accessors, self.derived_bases, self.unravelled, self.by_pointers,
            self.random_numbers, self.flag_sets, self.member_references, self.sorted_registers,
            self.searches, self.chosen_pointers, self.chosen_records, self.packed_arrays, self.conversions,
            self.bound_loops, self.local_records, self.jumps, self.float_counters, self.wrapped_counters,
            self.pointers_to_pointers, self.asked_in_conditions, self.recursive_classes, self.claimed,
        )  # fmt: skip
        nested = (self.aliased_loop, self.aliased_loop, self.done_loop, self.shrinking, self.nested_switches,
                  self.left_in_loops, self.counted_to_zero, self.blocks_of_two)  # fmt: skip
        kind = self.number(0, len(forms) + (2 * len(nested) if depth else 0) - 1)
        if kind < len(forms):
            forms[kind]()
        else:
            nested[(kind - len(forms)) % len(nested)]()

    # Values

    def aliases(self) -> None:
        """What is changed under another name."""
        m, r = self.name("m"), self.name("r")
        self.line(f"int {m} = {self.small()};")
        step = f"{self.choose('+=', '^=', '*=')} {self.number(1, 9)}"
        kind = self.number(0, 6)
        if kind == 0:
            self.line(f"int &{r} = {m}; {r} {step}; if ({self.condition()}) {r} {step};")
        elif kind == 1:
            self.line(f"int *{r} = &{m}; *{r} {step}; if ({self.condition()}) *{r} += lane;")
        elif kind == 2:
            self.line(f"struct {{ int &to; int by; }} {r}{{{m}, {self.number(1, 9)}}}; {r}.to += {r}.by;")
            self.line(f"if ({self.condition()}) {r}.to ^= {r}.by;")
        elif kind == 3:
            o = self.name("m")
            self.line(f"int {o} = lane; int &{r} = {self.condition()} ? {m} : {o}; {r} {step};")
            self.kept(o)
        elif kind == 4:
            self.line(f"auto {r} = [&{r} = {m}](int by) {{ {r} += by; return {r}; }}; {r}({self.small()});")
        elif kind == 5:
            o = self.name("m")
            self.line(f"int {o} = {self.small()}; int *{r}[2] = {{&{m}, &{o}}};")
            self.line(f"*{r}[{self.choose('0', 'lane & 1', 'warp & 1')}] {step};")
            self.kept(o)
        else:
            self.line(f"Shared{r} {r};".replace(f"Shared{r}", "Pointing"))
            self.line(f"{r}.to = &{m}; {r}.by(3).by(lane); {self.choose('', f'*{r}.to {step};')}")
        self.kept(m)

    def stacks(self) -> None:
        """A tree that is walked with a stack of one's own."""
        s, n, v = self.name("stack"), self.name("top"), self.name("v")
        first, limit = self.choose("1", "(lane & 3) + 1", "1 + warp"), self.choose("8", "12", "16")
        self.line(f"int {s}[12]; int {n} = 0; {s}[{n}++] = {first};")
        self.line(f"while ({n} > 0) {{")
        self.line(f"const int {v} = {s}[--{n}];")
        if self.chance(40):
            self.line(f"if ({self.choose(f'{v} % 3 == 2', f'({v} ^ lane) & 1', self.condition())}) continue;")
        self.moved(f"t[({v} * {self.choose('32', '33', '64')} + lane) & 4095]", f"c[({v} + tid * 2) & 1023]")
        self.line(f"if ({v} < {limit}) {{ {s}[{n}++] = 2 * {v} + 1; {s}[{n}++] = 2 * {v}; }}")
        self.line("}")

    def lists(self) -> None:
        """Elements that name the next one."""
        n, k, m = self.name("next"), self.name("k"), self.name("m")
        order = self.choose("3, 2, 4, 1, -1", "1, 2, 3, 4, -1", "4, -1, 1, 2, 3")
        self.line(f"const int {n}[5] = {{{order}}}; int {m} = 0;")
        first = self.choose("0", "lane % 5", "warp % 5")
        self.line(f"for (int {k} = {first}; {k} >= 0; {k} = {n}[{k}]) {{")
        self.line(f"{m} = {m} * {self.choose('2', '5')} + {k};")
        self.moved(f"t[({k} * {self.choose('32', '36')} + lane) & 4095]", f"t[({m} * 4 + tid) & 4095]")
        self.line("}")
        self.kept(m)

    def shifted_registers(self) -> None:
        """A window of values that moves on."""
        w, i, k = self.name("window"), self.name("i"), self.name("k")
        size = self.choose("3", "4")
        self.line(f"int {w}[{size}] = {{{self.small()}, lane, 2}};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '5', self.lanes())}; {i}++) {{")
        if self.chance(50):
            self.line(f"for (int {k} = 0; {k} + 1 < {size}; ++{k}) {w}[{k}] = {w}[{k} + 1];")
        else:
            self.line(f"for (int {k} = {size} - 1; {k} > 0; --{k}) {w}[{k}] = {w}[{k} - 1];")
        at = self.choose(f"{size} - 1", "0", f"{i} % {size}")
        self.line(f"{w}[{at}] = {w}[{self.choose('0', '1')}] + {self.choose(i, 'lane', '7')};")
        self.moved(f"t[({w}[1] * {self.choose('1', '2', '32')}) & 4095]", f"t[({w}[0] + lane * 4) & 4095]")
        self.line("}")
        self.made_number(f"({w}[0] + {w}[2] * 2) & 511")

    def called_at_once(self) -> None:
        m = self.name("m")
        kind = self.number(0, 3)
        a, b = self.small(), self.small()
        if kind == 0:
            self.line(f"const int {m} = [&] {{ if ({self.condition()}) return {a}; return {b} + lane; }}();")
        elif kind == 1:
            self.line(f"const int {m} = [&]() -> int {{ switch (lane & 3) {{ case 0: return {a};")
            self.line(f"case 2: {{ if ({self.condition()}) return 5; break; }} default: break; }}")
            self.line(f"return {b}; }}();")
        elif kind == 2:
            self.line(f"const int {m} = [=](int i) {{ for (int k = 0; k < 4; k++)")
            self.line(f"{{ if ((i >> k) & 1) return k * 8 + lane; i += {self.number(1, 5)}; }}")
            self.line(f"return i & 63; }}({a});")
        else:
            self.line(f"int {m} = {a}; [&]() {{ if ({self.condition()}) return; {m} += {b}; }}();")
        self.numbers.append(m)
        self.fixed.add(m)
        self.use(m)

    def dividers(self) -> None:
        d, q, r = self.name("div"), self.name("m"), self.name("m")
        self.line(f"Divider {d}({self.choose('3', '5', '7', '24', '33', 'BM', *self.unless_unknown('n'))});")
        if self.chance(50):
            self.line(f"int {q}, {r}; {d}({q}, {r}, {self.choose('tid', self.small(), 'lane * 5')});")
        else:
            i = self.choose("tid", self.small())
            self.line(f"const int {q} = {d}.div({i}), {r} = {i} - {q} * {d}.by;")
        self.numbers += [q, r]
        self.fixed |= {q, r}
        self.use(f"({q} * {self.choose('33', '32')} + {r})")
        self.use(r)

    def accessors(self) -> None:
        a, s = self.name("acc"), self.name("steps")
        rank = self.number(2, 3)
        steps = (
            ("33, 1", "1, 32", "BM, 1", "64, 2") if rank == 2 else ("256, 32, 1", "132, 33, 1", "1, 8, 64")
        )
        self.line(f"const int {s}[{rank}] = {{{self.choose(*steps)}}};")
        self.line(f"Strided<float, {rank}> {a}{{t, {s}}};")
        r, c = f"(({self.small()}) & 7)", self.choose("(lane & 7)", "(lane >> 3)", "(tid & 15)")
        if rank == 2:
            self.moved(f"{a}[{r}][{c}]", f"{a}[{c}][{r}]")
        else:
            z = self.choose("(warp & 3)", "1", "(lane & 1)")
            self.moved(f"{a}[{z}][{r}][{c}]", f"{a}[{z}][{c}][{r}]")
            if self.chance(40):
                p = self.name("part")
                self.line(f"auto {p} = {a}[{z}];")
                self.moved(f"{p}[{r}][{c}]")

    def derived_bases(self) -> None:
        made = self.name("loc")
        self.line(self.choose(f"ByRows {made}({self.choose('33', '32', 'BM')});", f"Turned {made};"))
        if self.chance(30):
            self.line(f"{made}.set({self.number(1, 7)});")
        r, c = f"(({self.small()}) & 31)", "lane"
        self.moved(f"t[{made}.at({r}, {c})]", f"t[{made}.at({c}, {r})]", f"t[{made}.twice({r}, {c}) & 4095]")

    def unravelled(self) -> None:
        s = self.name("shape")
        self.line(
            f"Shape {s}{{{{2, {self.choose('4', '3')}, 8}}, {{{self.choose('40, 9, 1', '1, 2, 8')}}}}};"
        )
        i = self.choose("tid % 64", "lane", self.small())
        if self.chance(30):
            self.line(f"if ({self.condition()}) {s}.step[{self.number(0, 2)}] = {self.number(1, 40)};")
        self.made_number(self.choose(f"unravelled({i}, {s})", f"resized({s}, {i}, {self.number(1, 9)})"))

    def by_pointers(self) -> None:
        r, c = self.name("m"), self.name("m")
        i, w = self.choose("tid", "lane", self.small()), self.choose("7", "8", "BM", "24")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"int {r}, {c}; placed({i}, {w}, &{r}, &{c});")
        elif kind == 1:
            self.line(f"const RowCol {r}x = found_at({i}, {w}); int {r} = {r}x.r, {c} = {r}x.c;")
        elif kind == 2:
            self.line(f"auto [{r}, {c}] = found_at({i}, {w});")
            self.fixed |= {r, c}
        else:
            self.line(f"int {r} = {self.number(0, 9)}, {c} = 0;")
            self.line(f"if (tried({i}, {r})) {c} = {r} + 3; else if (tried({i} + 1, {c})) {r}++;")
        self.numbers += [r, c]
        self.use(f"({r} * {self.choose('32', '33', '1')} + {c})")

    def random_numbers(self) -> None:
        s = self.name("seed")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"unsigned {s} = {self.small()} * 2 + 1;")
            self.line(f"for (int i = 0; i < {self.choose('2', '3', self.lanes())}; i++) xorshift({s});")
            self.made_number(f"(int)(xorshift({s}) >> {self.number(0, 24)} & 255)")
        elif kind == 1:
            self.line(f"uint64_t {s} = {self.small()} + {self.choose('0x853c49e6748fea9bull', '77')};")
            if self.chance(50):
                self.line(f"if ({self.condition()}) pcg({s});")
            self.made_number(f"(int)(pcg({s}) % {self.choose('61u', '128', '100')})")
        elif kind == 2:
            self.made_number(f"(int)(murmur({self.small()}) >> {self.number(0, 56)} & 127)")
        else:
            self.line(f"unsigned {s} = {self.small()};")
            self.line(f"{s} = {s} * 1664525u + 1013904223u;")
            self.made_number(f"(int)({s} >> {self.number(16, 27)})")

    def flag_sets(self) -> None:
        flags = self.choose(
            "kSkew", "kTurn", "kSkew | kWide", "kNone", "kTurn | kWide", "BM == 8 ? kSkew : kTurn"
        )
        r, c = f"(({self.small()}) & 15)", self.choose("lane", "(lane & 15)")
        self.made_number(f"flagged<{flags}>({r}, {c}) & 2047")

    def member_references(self) -> None:
        made, r = self.name("nest"), self.name("r")
        self.line(f"Nest {made} = {{{{{self.small()}, 2, {{1, 2, 3}}, 4}}, {{{{5}}, {{6, lane}}}}, 7}};")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(
                f"int &{r} = {made}.two[{self.choose('1', 'lane & 1')}].c[{self.choose('1', 'warp & 1')}];"
            )
            self.line(f"{r} += {self.small()}; {r}++;")
        elif kind == 1:
            self.line(f"int *{r} = {made}.one.c; *{r}++ = lane; *{r} += 3; {r}[1] = {self.small()};")
        elif kind == 2:
            self.line(f"Part &{r} = {made}.two[{self.choose('0', 'lane & 1')}]; {r}.a ^= 3;")
            self.line(f"if ({self.condition()}) {r} = {made}.one;")
        else:
            self.line(f"for (Part &{r} : {made}.two) {{ {r}.c[2] = {r}.a * 2; {r}.d += 1; }}")
        self.made_number(
            self.choose(
                f"{made}.two[{self.choose('0', '1', 'lane & 1')}].a + {made}.two[0].c[1] * 2",
                f"{made}.one.c[{self.choose('0', '1', '2', 'lane % 3')}] * 4 + {made}.two[1].d",
                f"{made}.two[1].c[2] + {made}.one.c[1] + {made}.two[1].c[1] * 8",
            )
        )

    def sorted_registers(self) -> None:
        a, i, j = self.name("arr"), self.name("i"), self.name("j")
        self.line(f"int {a}[4] = {{{self.small()}, lane, {self.number(0, 40)}, {self.small()}}};")
        if self.chance(50):
            self.line(f"for (int {i} = 1; {i} < 4; ++{i})")
            self.line(f"for (int {j} = {i}; {j} > 0 && {a}[{j} - 1] > {a}[{j}]; --{j})")
            self.line(f"{{ int held = {a}[{j}]; {a}[{j}] = {a}[{j} - 1]; {a}[{j} - 1] = held; }}")
        else:
            self.line("#pragma unroll")
            self.line(f"for (int {i} = 0; {i} < 3; ++{i}) for (int {j} = 0; {j} < 3 - {i}; ++{j})")
            self.line(f"if ({a}[{j}] > {a}[{j} + 1]) swap({a}[{j}], {a}[{j} + 1]);")
        self.made_number(f"{a}[{self.choose('0', '1', '2', '3', 'lane & 3')}]")

    def searches(self) -> None:
        a, low, high = self.name("edges"), self.name("low"), self.name("high")
        self.line(f"const int {a}[8] = {{0, 3, 5, 11, 17, 30, 44, 63}};")
        self.line(f"int {low} = 0, {high} = {self.choose('8', '7')};")
        value = self.choose(f"({self.small()})", "lane", "(tid % 50)")
        found = f"if ({a}[mid] == {value}) {{ {low} = mid; break; }}" if self.chance(30) else ""
        if self.chance(50):
            self.line(f"while ({low} < {high}) {{ const int mid = ({low} + {high}) / 2; {found}")
            self.line(f"if ({a}[mid] < {value}) {low} = mid + 1; else {high} = mid; }}")
        else:
            self.line(f"while ({low} + 1 < {high}) {{ const int mid = ({low} + {high}) >> 1; {found}")
            self.line(f"({a}[mid] <= {value} ? {low} : {high}) = mid; }}")
        self.numbers += [low, high]
        self.use(f"{low} * {self.choose('1', '32')}")

    def conversions(self) -> None:
        made = self.name("even")
        self.line(f"Even {made}{{{self.small()}}};")
        self.line(
            self.choose(
                f"if ({made} > 9) {made}.v += 3;", f"{made} = Even{{lane}};", f"Even {made}b = {made};"
            )
        )
        self.made_number(
            self.choose(f"{made} + lane", f"{made}", f"int({made}) * 3", f"{made}.v * 2 + {made}")
        )
        if self.chance(40):
            h = self.name("handle")
            self.line(f"Handle {h}{{t + {self.choose('0', '64', 'lane')}}};")
            self.moved(f"{h}[{self.small()}]", f"*({h} + lane * 2)", f"*{h}")

    def local_records(self) -> None:
        made = self.name("here")
        self.line(f"struct Here{made} {{ int a, b; __device__ int at(int i) const {{ return a * i + b; }}")
        self.line("__device__ void on(int by) { if (by & 1) { a += by; return; } b ^= by; } };")
        self.line(f"Here{made} {made}{{{self.choose('1', '2', '33')}, {self.small()}}};")
        self.line(f"{made}.on({self.small()});")
        self.made_number(f"{made}.at({self.choose('lane', 'lane & 7')}) & 1023")

    def random_pair(self) -> str:
        return f"{{{self.small()}, {self.choose('lane', 'warp', '3')}}}"

    def bound_loops(self) -> None:
        p, a, b, m = self.name("pairs"), self.name("a"), self.name("b"), self.name("m")
        self.line(f"RowCol {p}[3] = {{{self.random_pair()}, {self.random_pair()}, {{1, 2}}}}; int {m} = 0;")
        if self.chance(50):
            self.line(f"for (auto &[{a}, {b}] : {p}) {{ {a} += {b}; {m} += {a}; }}")
        else:
            self.line(f"for (const auto [{a}, {b}] : {p}) {{ if ({a} > {self.number(5, 40)}) continue;")
            self.moved(f"t[({a} * 33 + {b} + {m}) & 4095]")
            self.line(f"{m} += {b} + 1; }}")
        self.line(f"{m} += {p}[{self.choose('0', '2', 'lane % 3')}].r;")
        self.kept(m)

    def jumps(self) -> None:
        """A switch whose cases jump back to it."""
        m, k = self.name("m"), self.name("again")
        self.line(f"int {m} = {self.small()};")
        self.line(f"{k}: switch ({m} & 3) {{ case 1: {m} += 2; goto {k};")
        self.line(f"case 2: {m} += 5; break; case 3: if ({self.condition()}) {{ {m}++; break; }}")
        self.line(f"{m} += 3; goto {k}; default: {m} += lane * 4; }}")
        self.kept(m)

    def float_counters(self) -> None:
        f = self.name("f")
        step = self.choose("1", "0.5f", "0.25f")
        self.line(
            f"for (float {f} = {self.choose('0', '1')}; {f} < {self.choose('3', '2.5f')}; {f} += {step})"
        )
        self.moved(f"t[((int){f} * 32 + lane) & 4095]", f"t[(int)({f} * {self.choose('33', '64')}) + lane]")

    def wrapped_counters(self) -> None:
        i = self.name("i")
        head = self.choose(
            f"for (unsigned char {i} = 250; {i} != {self.choose('2', '0', '255')}; {i}++)",
            f"for (uint8_t {i} = {self.choose('2', 'lane & 3')}; {i} < 200; {i}--)",
            f"for (unsigned {i} = {self.choose('2', 'lane & 3')}; {i} != ~0u; {i}--)",
            f"for (unsigned short {i} = 65534; {i} != {self.choose('1', '3')}; ++{i})",
            f"for (unsigned {i} = 0u - {self.choose('3', '(lane & 3)')}; {i} != 2; {i}++)",
        )
        self.line(f"{head} {{")
        self.moved(f"t[({i} * {self.choose('1', '2', '33')} + lane) & 4095]", f"t[({i} & 63) * 32]")
        self.line("}")

    def pointers_to_pointers(self) -> None:
        p, q = self.name("p"), self.name("q")
        self.line(f"float *{p} = {self.choose('t', 'stage[1]', '&q[0][0]')}, *{q} = t + 1024;")
        kind = self.number(0, 2)
        if kind == 0:
            self.line(f"float **{p}p = &{p}; *{p}p += {self.choose('32', 'lane', self.small())};")
            self.line(f"if ({self.choose('warp & 1', 'warp == 0', 'BM == 8')}) {p}p = &{q}; **{p}p = acc;")
        elif kind == 1:
            self.line(f"if ({self.choose('warp & 1', 'BM > 8', 'warp == 0')}) exchange({p}, {q});")
        else:
            self.line(f"for (int i = 0; i < {self.choose('3', '2', 'n')}; i++) {{ exchange({p}, {q});")
            self.moved(f"{p}[{self.index(512, 1)}]")
            self.line("}")
        self.moved(f"{p}[{self.index(512, 1)}]", f"{q}[{self.index(512, 1)}]")

    def asked_in_conditions(self) -> None:
        i, m = self.name("i"), self.name("m")
        self.line(f"int {i} = 0, {m} = {self.small()};")
        asked = self.choose(
            f"{i} < 6 && ({m} = ({m} * 5 + {i}) & 63) != {self.number(0, 63)}",
            f"({m} -= {self.number(3, 9)}) > 0 && {i} < {self.choose('5', self.lanes() + ' + 1')}",
            f"tried({m} + {i}, {m}) || {i} < {self.choose('2', '3')}",
            f"{m} = ({m} >> 1), {m} > {self.choose('0', '2')}",
        )
        self.line(f"while ({asked}) {{ {i}++; if ({i} > 9) break;")
        self.moved(f"t[({m} * {self.choose('1', '2', '32')} + {i}) & 4095]")
        self.line("}")
        self.numbers.append(i)
        self.kept(m)

    def recursive_classes(self) -> None:
        self.line(f"Stepper<{self.number(1, 4)}>::run(t + {self.choose('0', '64')}, {self.small()} * 2);")
        self.made_number(f"(Stepper<{self.number(1, 3)}>::count * {self.small()}) & 511")

    # Memory

    def chosen_pointers(self) -> None:
        p = self.name("p")
        first, second, third = "t", self.choose("&q[0][0]", "stage[1]"), self.choose("stage[2]", "t + 2048")
        value = self.choose("warp & 3", "warp", "BM / 8", *(("n & 3",) if not self.unknown else ()))
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"float *{p}; switch ({value}) {{ case 0: {p} = {first}; break;")
            self.line(f"case 1: {p} = {second} + lane; break; default: {p} = {third}; }}")
        elif kind == 1:
            self.line(f"float *{p} = {first}; if ({value}) {p} = {second};")
            self.line(f"else if ({self.choose('warp == 2', 'BM == 16')}) {p} = {third};")
        elif kind == 2:
            self.line(
                f"float *const {p}s[] = {{{first}, {second}, {third}}}; float *{p} = {p}s[({value}) % 3];"
            )
        else:
            self.line(f"float *{p} = ({value}) == 0 ? {first} : ({value}) == 1 ? {second} : {third};")
        self.moved(f"{p}[{self.index(512, 1)}]")
        if self.chance(40):
            self.line(f"{p} += {self.choose('32', 'lane', self.small())};")
            self.moved(f"*{p}", f"{p}[lane]")

    def chosen_records(self) -> None:
        made = self.name("two")
        a, b = self.draw.pick((("t", "t + 1024"), ("stage[0]", "stage[1]"), ("t", "&q[0][0]")))
        test = self.choose("warp & 1", "BM == 8", "warp == 0", *(("n & 1",) if not self.unknown else ()))
        if self.chance(50):
            self.line(f"const Two {made} = {test} ? Two{{{a}, {b}}} : Two{{{b}, {a}}};")
        else:
            self.line(f"Two {made}{{{a}, {b}}}; if ({test}) {made} = {made}.turned();")
        self.moved(f"{made}.from[{self.index(512, 1)}]", f"{made}.to[{self.index(512, 1)}]")

    def packed_arrays(self) -> None:
        at = self.index(64, 1)
        self.moved(
            f"frames[{at}].kind",
            f"frames[{at}].at[{self.choose('0', '1', '2', 'lane % 3')}]",
            f"frames[{at}].sum",
            f"jobs[{at}].is.half.{self.choose('lo', 'hi')}",
            f"jobs[{at}].is.whole",
            f"jobs[{at}].more[{self.choose('0', '3', 'lane & 3')}]",
        )
        if self.chance(30):
            p = self.name("frame")
            self.line(f"Frame8 *{p} = &frames[{self.index(32, 1)}]; {p}++;")
            self.moved(f"{p}->at[1]", f"{p}[1].sum", f"(*{p}).kind")

    def claimed(self) -> None:
        """Places that an atomic gives."""
        if not self.data:
            self.packed_arrays()
            return
        m = self.name("slot")
        kind = self.number(0, 4)
        if kind == 0:
            self.line(f"const int {m} = atomicAdd(&c[{self.choose('0', 'warp')}], {self.choose('1', '2')});")
            self.line(f"if ({m} >= 0 && {m} < 512) t[{m}] = acc;")
        elif kind == 1:
            self.line(f"const unsigned {m} = atomicInc((unsigned *)&c[3], 31u); t[{m} & 511] = acc;")
        elif kind == 2:
            self.line(f"int {m} = c[lane], {m}b; do {{ {m}b = {m};")
            self.line(f"{m} = atomicCAS(&c[lane], {m}b, {m}b + 1); }} while ({m} != {m}b); t[{m} & 63] = 1;")
        elif kind == 3:
            self.line(f"const unsigned {m}m = __ballot_sync(~0u, 1); int {m} = 0;")
            self.line(f"if (lane == __ffs({m}m) - 1) {m} = atomicAdd(&c[0], __popc({m}m));")
            self.line(f"{m} = __shfl_sync(~0u, {m}, __ffs({m}m) - 1) + __popc({m}m & ((1u << lane) - 1));")
            self.line(f"t[{m} & 1023] = acc;")
        else:
            self.line(f"const int {m} = atomicExch(&c[{self.small()}], lane) & 255; t[{m} * 2] = acc;")

    # Loops

    def aliased_loop(self) -> None:
        """A counter that another name steps."""
        i, r, last = self.name("i"), self.name("r"), self.choose("4", "5", f"{self.lanes()} + 1", "n")
        kind = self.number(0, 6)
        self.line(f"int {i} = {self.begin()};")
        step = f"{r} += {self.choose('1', '2')}"
        if kind == 0:
            self.line(f"int &{r} = {i}; for (; {i} < {last}; {step}) {{")
        elif kind == 1:
            self.line(f"int *const {r}p = &{i}; while ({i} < {last}) {{")
            step = f"*{r}p += 1"
        elif kind == 2:
            self.line(f"auto {r}f = [&] {{ {i}++; }}; while ({i} < {last}) {{")
            step = f"{r}f()"
        elif kind == 3:
            self.line(f"Pointing {r}{{&{i}}}; for (; *{r}.to < {last}; {r}.by(1)) {{")
        elif kind == 4:
            self.line(f"int &{r} = {i}; do {{")
        elif kind == 5:
            self.line(f"int {i}n = {i}; for (; {i} < {last}; {i} = {i}n) {{ {i}n = {i} + 1;")
        else:
            self.line(f"struct {{ int at; int by; }} {r}{{{i}, 1}}; auto &{r}x = {r};")
            self.line(f"for (; {r}.at < {last}; {r}x.at += {r}.by) {{ {i} = {r}.at;")
        if self.chance(40):
            self.line(
                f"if ({self.condition()}) {{ {step if kind in (1, 2) else ''}; continue; }}"
                if kind != 4
                else ""
            )
        self.places(i)
        if self.chance(40):
            self.line(f"if ({self.condition()}) break;")
            self.places(i)
        if kind in (1, 2):
            self.line(f"{step};")
        self.line(f"}} while (({step}) < {last});" if kind == 4 else "}")
        self.numbers.append(i)
        self.fixed.add(i)
        self.use(f"({i} & 63)")

    def done_loop(self) -> None:
        i, done, m = self.name("i"), self.name("done"), self.name("m")
        self.line(f"bool {done} = false; int {m} = {self.small()};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('4', '6')} && !{done}; ++{i}) {{")
        self.line(f"{m} += {self.choose('3', i, 'lane')};")
        self.moved(f"t[({m} * {self.choose('1', '32')} + {i}) & 4095]")
        self.line(
            self.choose(
                f"{done} = {self.condition()};",
                f"if ({m} > {self.number(20, 90)}) {done} = true;",
                f"{done} |= ({i} ^ lane) & 1;",
                f"if ({self.condition()}) {{ {done} = true; continue; }} {m} ^= 2;",
            )
        )
        self.places(i)
        self.line("}")
        self.line(f"if (!{done})")
        self.places("lane")
        self.kept(m)

    def shrinking(self) -> None:
        i, last = self.name("i"), self.name("last")
        self.line(f"int {last} = {self.choose('5', '6', self.lanes() + ' + 3')};")
        self.line(f"for (int {i} = 0; {i} < {last}; {i}++) {{")
        self.line(
            self.choose(
                f"if ({self.condition()}) {last}--;", f"{last} -= {i} & 1;", f"if ({i} == 2) {last} = 4;"
            )
        )
        self.places(f"({i} + {last})")
        self.line("}")
        self.numbers.append(last)
        self.use(last)

    def nested_switches(self) -> None:
        i, m = self.name("i"), self.name("m")
        self.line(f"int {m} = {self.small()};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', self.lanes())}; {i}++) {{")
        self.line(f"switch (({i} + {self.choose('lane', 'warp', '1')}) & 3) {{ case 0: {m} += 3;")
        self.line(f"switch ({self.choose('lane & 3', f'{m} & 1', self.deciding() + ' & 3')}) {{")
        self.line(f"case 1: {m} ^= 9; {self.choose('continue;', 'break;', '')}")
        self.line(f"case 0: if ({self.condition()}) break;")
        self.moved(f"t[({m} * {self.choose('2', '32')} + {i}) & 4095]")
        self.line(f"{self.choose('break;', 'continue;', '')} default: {m} += lane; }}")
        self.moved(f"t[({m} + {i} * 32) & 4095]")
        self.line(f"{self.choose('break;', '')} case 2: if ({self.condition()}) continue; {m} += 11; break;")
        self.line(f"default: {m} += 1; }}")
        self.moved(f"t[({m} * 4 + lane) & 4095]")
        self.line("}")
        self.kept(m)

    def left_in_loops(self) -> None:
        """Helpers that return early, in loops that are left by what they say."""
        i, m, r = self.name("i"), self.name("m"), self.name("r")
        self.line(f"int {m} = {self.small()};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', self.lanes())}; {i}++) {{")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"if (!tried({m} + {i}, {m})) continue;")
        elif kind == 1:
            self.line(
                f"const RowCol {r} = found_at({m} + {i} * 5, 9); if ({r}.r > {self.number(1, 5)}) break;"
            )
            self.line(f"{m} = {r}.r * 8 + {r}.c;")
        elif kind == 2:
            self.line(f"if (const int {r} = scanned(t + 512, {m} + {i}); {r} < 0) break; else {m} += {r};")
        else:
            self.line(f"int {r} = 0; placed({m}, {self.number(3, 9)}, &{r}, &{m}); {m} += {r} * 3;")
            self.line(f"if ({r} == {self.number(0, 4)}) {{ {m}++; continue; }}")
        self.moved(f"t[({m} * {self.choose('1', '2', '33')} + {i} * 32) & 4095]")
        self.line("}")
        self.kept(m)

    def counted_to_zero(self) -> None:
        m = self.name("left")
        type_, first = (
            self.choose("int", "int", "short", "long long"),
            self.choose("3", "5", self.lanes(), "n"),
        )
        self.line(f"{type_} {m} = {first};")
        self.line(f"while ({self.choose(f'{m}-- > 0', f'{m}--', f'--{m} >= 0', f'{m}-- != 0')}) {{")
        self.line(
            f"if ({self.choose(self.condition(), f'(lane & 3) == {m}', f'({m} ^ lane) & 1')})"
            f" {self.choose('break', 'continue')};"
        )
        self.places(f"(int){m}")
        self.line("}")
        self.numbers.append(f"((int){m} + 1)")
        self.fixed.add(f"((int){m} + 1)")
        self.use(f"({m} + 2)")

    def blocks_of_two(self) -> None:
        """Both dimensions of a tile, by the dimensions of the block."""
        y, x = self.name("y"), self.name("x")
        h, w = self.choose("8", "12", "16"), self.choose("32", "24", "33")
        down, right = self.choose("(int)blockDim.y", "4", "8"), self.choose("(int)blockDim.x", "16", "32")
        self.line(f"for (int {y} = ty; {y} < {h}; {y} += {down})")
        self.line(f"for (int {x} = tx; {x} < {w}; {x} += {right}) {{")
        if self.chance(50):
            self.line(f"if (!inside({x} - 1, {y}, {w} - 2, {h} - {self.choose('1', '0', '3')}))")
            self.line(self.choose("continue;", f"{{ t[{y} * 40 + {x}] = 0; continue; }}"))
        self.moved(
            f"t[{y} * {self.choose(w, '33', '40')} + {x}]", f"t[{x} * {self.choose('17', '16')} + {y}]"
        )
        self.line("}")
        self.sync()


def production_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `everyday_program`, with these forms."""
    writer = ProductionWriter(draw, data=data, unknown=unknown)
    return started(writer, EVERYDAY_HEAD + PRODUCTION_HEAD, EVERYDAY_SHARED + PRODUCTION_SHARED)
