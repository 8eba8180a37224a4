"""Values that ordinary code computes indices from."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.modern_programs import ModernWriter

NARROW = ("uint8_t", "uint8_t", "int8_t", "int16_t", "uint16_t")


@dataclass(slots=True)
class ValueWriter(ModernWriter):
    """Integers of all widths, hashes, lambdas, objects with state, templates."""

    def value_form(self) -> None:
        forms = (
            self.hash,
            self.builtin,
            self.mixed_signs,
            self.narrow_integer,
            self.top_bits,
            self.captured,
            self.handed_lambda,
            self.binding,
            self.walker,
            self.template_constant,
            self.recursion,
            self.local_array,
            self.filled_array,
            self.bytes_of_value,
            self.copied_parts,
            self.decomposed,
            self.float_index,
            self.truths,
            self.ternaries,
            self.side_effects,
        )
        forms[self.number(0, len(forms) - 1)]()

    def made_number(self, value: str, use: bool = True) -> str:
        """Declare an int, and mostly use it in an access."""
        made = self.name("m")
        self.line(f"int {made} = {value};")
        self.numbers.append(made)
        if use:
            self.use(made)
        return made

    def use(self, index: str) -> None:
        """An access at an index that was just made."""
        if not self.chance(70):
            return
        factor = self.choose("", "", " * 2", " * 4", " * 33", " * 32", " + lane", " + tid", " * 8 + lane")
        place = self.choose(
            f"t[({index}{factor}) & 4095]",
            f"t[({index}{factor}) & 4095]",
            f"c[({index}{factor}) & 1023]",
            f"b[({index}{factor}) & 2047]",
            f"e[({index}{factor}) & 511]",
            f"q[({index}) & 31][lane]",
            f"q[lane][({index}) & 31]",
        )
        self.line(self.choose(f"{place} = 1;", f"acc += {place};", f"{place} += 1;"))

    def hash(self) -> None:
        seed = self.known(1)
        bits = self.choose("& 31", "& 1023", "% 97", "& 0x7f")
        self.made_number(
            self.choose(
                f"(int)(fnv({seed}) >> {self.number(0, 27)} {bits})",
                f"(int)(splitmix({seed}) >> {self.number(0, 63)} {bits})",
                f"(int)((uint64_t)({seed}) * 0x9E3779B97F4A7C15ull >> {self.number(40, 63)})",
                f"(int)((unsigned)({seed}) * 2654435761u >> {self.number(20, 31)})",
                f"(int)((int64_t)(splitmix({seed})) >> {self.number(54, 63)}) & 255",
                f"(int)((splitmix({seed}) ^ splitmix({seed} + 1)) % {self.choose('64', '100ull', '33u')})",
            )
        )

    def builtin(self) -> None:
        a = self.known(1)
        self.made_number(
            self.choose(
                f"__popc({a})",
                f"__clz({a})",
                f"__ffs({a})",
                f"(int)(__brev({a}) >> {self.number(22, 31)})",
                f"__popcll((uint64_t)({a}) << 30)",
                f"__clzll((long long)({a}))",
                f"__ffsll((long long)({a}) << 20)",
                f"(int)(__umulhi({a}, 0x20000000u) & 255)",
                f"(int)__byte_perm({a}, {self.leaf() if not self.unknown else '7'}, "
                f"{self.choose('0x0123', '0x4140', '0x3254')}) & 1023",
                f"(int)(__funnelshift_l({a}, 77, {self.number(0, 31)}) & 511)",
                f"abs((int)({a}) - {self.number(1, 40)})",
                f"__mul24({a} & 1023, {self.number(1, 40)})",
                f"max(0, (int)({a}) - {self.number(1, 40)})",
            )
        )

    def mixed_signs(self) -> None:
        made = self.name("m")
        self.line(f"int {made} = (int)({self.known(1)} & 255) - {self.number(1, 90)};")
        v = self.choose(
            f"({made} % 7 + 7) % 7",
            f"(int)({made} / 2u & 1023)",
            f"(int)((unsigned){made} >> {self.number(20, 31)})",
            f"({made} >> 2) & 127",
            f"{made} / 4 + 100",
            f"{made} % 8 + 8",
            f"({made} < (int)sizeof(T) ? {made} + 100 : {made})",
            f"(int)({made} < sizeof(T)) * 32 + 3",
            f"({made} > 3u) * 40",
            f"({made} & ~7) + 128",
            f"-{made} + 300",
            f"(int)(((long long){made} << 33 >> 33) & 255)",
            f"({made} < 0 ? -{made} : {made})",
            f"(int)(((size_t){made} * 8 + 4096) & 4095)",
        )
        self.made_number(v)
        if self.chance(40):
            self.line(f"{made} = {made} < 0 ? {made} + 256 : {made};")
            self.use(made)

    def narrow_integer(self) -> None:
        made = self.name("m")
        type_ = self.choose(*NARROW)
        self.line(f"{type_} {made} = {self.known(2)};")
        for _ in range(self.number(1, 3)):
            self.line(
                self.choose(
                    f"{made} += {self.number(50, 300)};",
                    f"{made} *= {self.number(3, 90)};",
                    f"{made} <<= {self.number(1, 5)};",
                    f"{made} >>= 1;",
                    f"{made}--;",
                    f"{made} = ~{made};",
                    f"{made} ^= {self.known(1)};",
                    f"{made} = -{made};",
                    f"{made} = {made} + {self.known(1)} > 255 ? 3 : {made};",
                )
            )
        self.made_number(
            self.choose(
                f"{made} + 32768", f"{made} & 1023", f"(uint8_t)({made} + 7)", f"({made} >> 3) + 4096"
            )
        )

    def top_bits(self) -> None:
        made = self.name("m")
        self.line(
            f"{self.choose('uint64_t', 'unsigned long long', 'int64_t')} {made} = "
            f"(uint64_t)({self.known(1)}) << {self.number(30, 62)};"
        )
        self.line(
            self.choose(
                f"{made} |= 1ull << {self.number(31, 62)};",
                f"{made} ^= 0x8000000000000001ull;",
                f"{made} >>= {self.number(1, 40)};",
                f"if (lane & 4) {made} = ~{made};",
            )
        )
        self.made_number(
            self.choose(
                f"(int)({made} >> {self.number(50, 63)}) & 4095",
                f"(int)((uint32_t)({made} >> 32) >> {self.number(16, 31)})",
                f"(int)({made} & 63) + (int)({made} >> 58 & 31)",
                f"({made} > 0 ? 40 : 3)",
            )
        )

    def captured(self) -> None:
        made, f = self.name("m"), self.name("f")
        self.line(f"int {made} = {self.known(1)} & 63;")
        kind = self.number(0, 4)
        if kind == 0:
            self.line(f"auto {f} = [{made}](int i) mutable {{ {made} += i; return {made}; }};")
        elif kind == 1:
            self.line(f"auto {f} = [&{made}](int i) {{ {made} += i; return {made} * 2; }};")
        elif kind == 2:
            self.line(f"auto {f} = [=](int i) {{ return i * 3 + {made}; }};")
        elif kind == 3:
            self.line(f"auto {f} = [k = {made} * 2 + 1](int i) {{ return i + k; }};")
        else:
            inner = self.name("g")
            self.line(f"auto {inner} = [&](int i) {{ if (i & 1) {made}++; return i + {made}; }};")
            self.line(f"auto {f} = [&](int i) {{ return {inner}(i) + {inner}(i * 2); }};")
        self.line(self.choose(f"{made} += 5;", f"{made} = lane;", ""))
        self.made_number(f"{f}({self.known(1)} & 31)")
        self.line(self.choose(f"{made} ^= 3;", ""))
        self.made_number(f"{f}({self.number(1, 9)})")
        self.use(made)

    def handed_lambda(self) -> None:
        made = self.name("m")
        self.line(f"int {made} = {self.known(1)} & 63;")
        if self.chance(50):
            self.made_number(f"applied([&](int i) {{ {made} += i; return {made}; }}, {self.known(1)} & 15)")
        else:
            first, last = self.number(0, 2), self.choose("3", "4", f"({self.known(0)} & 3) + 1")
            body = self.choose(
                f"t[({made} + i * 32 + lane) & 4095] = acc; {made} ^= i;",
                f"if (i == 1) return; {made} += 3; t[({made} * 4) & 4095] = acc;",
                f"{made} = {made} * 2 + i; acc += q[i & 31][{made} & 31];",
            )
            self.line(f"each({first}, {last}, [&](int i) {{ {body} }});")
        self.use(made)
        self.numbers.append(made)

    def binding(self) -> None:
        made, a, b = self.name("d"), self.name("m"), self.name("m")
        if self.chance(50):
            self.line(f"int {made}[2] = {{(int)({self.known(1)} & 63), {self.number(0, 40)}}};")
            self.line(f"auto &[{a}, {b}] = {made};")
            self.line(self.choose(f"{a} += {b};", f"{made}[0] += 9;", f"swap({a}, {b});"))
            self.numbers += [f"{made}[0]", a, b]
            self.use(f"{made}[{self.number(0, 1)}]")
        else:
            self.line(f"auto [{a}, {b}] = divided((int)({self.known(1)} & 255), {self.number(2, 33)});")
            self.numbers += [a, b]
            self.fixed |= {a, b}
        self.use(a)
        self.use(f"{b} * 33 + {a}")

    def walker(self) -> None:
        made = self.name("walker")
        self.line(f"Walker {made}{{(int)({self.known(1)} & 63), {self.number(1, 40)}}};")
        for _ in range(self.number(1, 3)):
            self.line(
                self.choose(
                    f"{made}.walk({self.known(1)} & 7).walk(2);",
                    f"{made} += {self.number(1, 9)};",
                    f"++{made};",
                    f"t[{made}.take() & 4095] = acc;",
                    f"if ({self.condition()}) {made}.walk(1);",
                    f"for (int w = 0; w < 3; w++) t[{made}.take() & 4095] += 1;",
                )
            )
        self.made_number(f"{made}.peek({self.number(0, 5)}) & 4095")
        self.numbers.append(f"{made}.at")

    def template_constant(self) -> None:
        value = self.choose(
            f"Power<{self.number(0, 6)}>::value",
            f"Pitch<{self.choose('float', 'double', 'T', 'T *')}, {self.choose('32', '16', 'BM')}>::value",
            f"Plan<8, {self.choose('32', 'BM')}, {self.choose('true', 'false')}>::kRow",
            f"kTwice<{self.choose('BM', '16', '33')}>",
            f"kSteps[{self.choose('lane & 7', 'warp & 7', '3', 'threadIdx.y & 7')}]",
        )
        padded = self.choose("true", "false")
        index = self.choose(
            f"{value} * lane",
            f"lane * {value} + threadIdx.y",
            f"Plan<{self.choose('8', '16')}, 32, {padded}>::at({self.known(1)} & 63, lane)",
        )
        self.made_number(f"({index}) & 4095")

    def recursion(self) -> None:
        if self.chance(60):
            self.made_number(f"folded<{self.number(0, 4)}>({self.known(1)} & 63)")
        else:
            self.line(f"unrolled<{self.number(0, 1)}, {self.number(1, 4)}>(t, {self.known(2)});")

    def local_array(self) -> None:
        made = self.name("d")
        options = ("lane", "1", "33", "tid * 2", "7", *(() if self.unknown else ("n",)))
        values = ", ".join(self.choose(*options) for _ in range(self.number(2, 4)))
        self.line(f"int {made}[2][4] = {{{{{values}}}, {{{self.number(0, 60)}, lane * 3}}}};")
        self.line(
            self.choose(
                f"{made}[lane & 1][{self.known(1)} & 3] = {self.known(1)} & 255;",
                f"{made}[1][lane & 3] += {self.number(1, 40)};",
                f"{made}[{self.known(0)} & 1][2]++;",
            )
        )
        self.made_number(
            f"{made}[{self.choose('lane & 1', '0', '1')}][{self.choose('lane & 3', '2', 'warp & 3')}]"
        )
        self.numbers.append(f"{made}[1][{self.number(0, 3)}]")

    def filled_array(self) -> None:
        made, i = self.name("d"), self.name("i")
        self.line(f"int {made}[8] = {{}};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('8', '6', '(lane & 7)')}; {i}++)")
        self.line(
            self.choose(
                f"{made}[{i}] = {i} * {self.number(1, 40)} + lane;",
                f"{made}[({i} * lane) & 7] += {i} + 1;",
                f"{made}[{i}] = {i} ? {made}[{i} - 1] + lane : tid;",
                f"{made}[{i} ^ 1]++;",
            )
        )
        self.made_number(f"{made}[{self.choose('lane & 7', '3', '7', 'warp & 7', 'threadIdx.x % 5')}]")

    def bytes_of_value(self) -> None:
        made = self.name("m")
        type_ = self.choose("int", "unsigned", "int", "uint64_t")
        self.line(f"{type_} {made} = {self.known(2)};")
        narrow = self.choose("unsigned char", "char", "uint16_t", "signed char")
        part = self.number(0, (2 if narrow == "uint16_t" else 4) - 1)
        at = str(part) if self.chance(80) else f"lane & {1 if narrow == 'uint16_t' else 3}"
        value = self.choose("1", "lane", self.known(1), "0")
        store = f"reinterpret_cast<{narrow} *>(&{made})[{at}] = {value};"
        self.line(self.choose(store, store, f"if ({self.condition()}) {store}"))
        self.numbers.append(made) if type_ == "int" else None
        self.use(self.choose(f"(int)({made} & 4095)", f"(int)({made} >> 8 & 1023)", f"({made} >> 16) & 255"))
        if self.chance(40):
            self.use(f"(int)reinterpret_cast<unsigned char *>(&{made})[{self.number(0, 3)}]")

    def copied_parts(self) -> None:
        made, other = self.name("m"), self.name("m")
        self.line(f"{self.choose('int', 'unsigned')} {made} = {self.known(2)};")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"unsigned short {other};")
            self.line(
                f"memcpy(&{other}, reinterpret_cast<char *>(&{made}) + {self.choose('0', '1', '2')}, 2);"
            )
        elif kind == 1:
            self.line(f"int {other} = {self.known(1)};")
            size = self.number(1, 2)
            at = self.number(0, 4 - size)
            self.line(f"memcpy(reinterpret_cast<char *>(&{other}) + {at}, &{made}, {size});")
        elif kind == 2:
            self.line(f"float f{other};")
            self.line(f"memcpy(&f{other}, &{made}, sizeof(float));")
            self.line(f"int {other} = __float_as_int(f{other});")
        else:
            self.line(f"uint8_t a{other}[4];")
            self.line(f"memcpy(a{other}, &{made}, 4);")
            self.line(f"int {other} = a{other}[{self.number(0, 3)}] | a{other}[{self.number(0, 3)}] << 8;")
        self.use(f"(int)({other} & 4095)")

    def decomposed(self) -> None:
        a = self.known(1)
        x, y = self.number(2, 7), self.number(2, 9)
        self.made_number(
            self.choose(
                f"({a}) / {x * y} % {x} * 33 + ({a}) / {x} % {y} * 4 + ({a}) % {x}",
                f"spread(({a}) & 31) | spread(threadIdx.y & 7) << 1",
                f"gcd(({a}) + {self.number(0, 9)}, {self.number(1, 60)})",
                f"(({a}) ^ ({a}) >> 1)",
                f"((({a}) & 7) << 2) | ((({a}) >> 3) & 3)",
                f"(({a}) * {self.choose('7', '13', '37')} + 5) % {self.choose('31', '61', '127')}",
                f"divided({a}, {x}).r * {y} + divided({a}, {y}).q",
                f"(({a}) + {x}) / {x} * {y}",
            )
        )

    def float_index(self) -> None:
        a = f"(int)({self.known(1)} & 255)"
        self.made_number(
            self.choose(
                f"(int)({a} * {self.choose('0.5f', '0.25f', '1.5f', '0.1f')})",
                f"(int)({a} / {self.choose('2.0', '3.0f', '4.0')})",
                f"static_cast<int>(floorf({a} * 0.5f))",
                f"(int)(float)({a})",
            )
        )

    def truths(self) -> None:
        made = self.name("ok")
        self.line(f"{self.choose('bool', 'int')} {made} = {self.condition()};")
        self.made_number(
            self.choose(
                f"{made} * 32 + !{made}",
                f"{made} + lane * 2",
                f"({made} ? lane : lane * 4)",
                f"({made} && lane > 3) + 2 * ({made} || lane < 9)",
                f"(lane << {made})",
                f"'a' + (lane & 7) - {made} * 'a'",
            )
        )

    def ternaries(self) -> None:
        pairs = (("threadIdx.y", "threadIdx.z"), ("threadIdx.z", "threadIdx.y"), ("lane", "warp"))
        y, z = self.draw.pick(pairs)
        self.made_number(
            self.choose(
                f"{y} == 0 ? lane : {y} == 1 ? {z} * 33 : {z} > 0 ? 7 : lane * 2",
                f"{z} ? ({y} & 1 ? lane * 4 : lane) : {y} < 2 ? 64 - lane : {y} * 32",
                f"({y} > {z} ? {y} : {z}) * 32 + ({y} > {z} ? {z} : {y})",
                f"lane < 8 ? 0 : lane < 16 ? {y} : lane < 24 ? lane * 3 : {z} + 100",
            )
        )

    def side_effects(self) -> None:
        made, other = self.name("m"), self.name("m")
        self.line(f"int {made} = {self.known(1)} & 63;")
        form = self.choose(
            f"({made} += 2, {made} * 3)",
            f"{self.condition()} ? {made}++ : ({made} -= 2)",
            f"{self.condition()} ? ({made} = 5) + 1 : side({made})",
            f"side({made}) + 2",
            f"({made} = {made} ^ 7) * 2",
            f"{made}++ * 4",
            f"--{made} + 8",
            f"({self.condition()} && ({made} += 3) > 9) ? 64 : 1",
            f"({self.condition()} || side({made}) > 9) + lane",
        )
        self.line(f"int {other} = {form};")
        self.numbers += [made, other]
        self.use(f"({other} + 64)")
        self.use(f"({made} + 64)")
