"""Random kernels of forms that ordinary C++ holds and `ordinary_programs` leaves out: aggregates in part
initialised, records by value and by reference, packs and folds, nested lambdas, ladders, fall-through, sums
that wrap at 64 bits, pointers to rows and pointers chosen by lane, local bit-fields and unions."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.cxx_programs import CXX_HEAD, KERNEL
from oracle.drawing import Draw, Program
from oracle.modern_programs import MODERN_HEAD
from oracle.ordinary_head import ORDINARY_HEAD, ORDINARY_SHARED
from oracle.ordinary_programs import OrdinaryWriter

WIDER_HEAD = """struct Part { int a, b = 3; int c[3]; short d; };
struct Nest { Part one; Part two[2]; int last; };
struct Count {
  int n; short k;
  __device__ void add(int d) { n += d; k = n >> 1; }
  __device__ int get() const { return n * 2 + k; }
  __device__ Count next() const { Count c = *this; c.n += 5; return c; }
};
__device__ int by_value(Count c, int d) { c.add(d); return c.get(); }
__device__ void by_reference(Count &c, int d) { if (d & 1) { c.add(d); return; } c.k ^= d; }
__device__ void by_pointer(Count *c, int d) { for (int i = 0; i < 2; i++) c->add(d + i); c[0].n &= 255; }
__device__ Count made_of(int n) { return Count{n}; }
struct Fields { unsigned a : 3; unsigned b : 6; signed int c : 5; unsigned d : 18; };
union Mixed { unsigned u; struct { unsigned lo : 12; unsigned hi : 20; } f; unsigned short h[2]; };
struct Lead { int pad = 3; };
struct Under { int ld = 4; short y = 2; __device__ int at(int i) { return i * ld + y; } };
struct Over : Lead, Under {
  int off = 1;
  __device__ Over(int l) { ld = l; }
  __device__ int at(int i) { return Under::at(i + off) + pad; }
};
__device__ int under_of(Under &u, int i) { u.y ^= 1; return u.at(i); }
__device__ int under_at(const Under *u, int i) { return u->ld * i + u->y; }
__device__ int under_in(Under u, int i) { u.ld++; return u.at(i); }
template <typename E> __device__ int sized(E v) {
  if constexpr (sizeof(E) == 1) return v + 1;
  else if constexpr (sizeof(E) == 2) return v * 2;
  else if constexpr (sizeof(E) == 8) return (int)(v >> 3) & 63;
  return v * 3;
}
template <typename... A> __device__ int summed(A... a) { return (0 + ... + a); }
template <typename... A> __device__ int ored(int x, A... a) { return (x | ... | a); }
template <int... I> __device__ int folded_at(int x) {
  int s = 0; ((s = s * 2 + (x >> I & 1)), ...); return s;
}
template <typename... A> __device__ int counted(A... a) { return (int)sizeof...(a) * 32; }
__device__ float *picked(float (*rows)[33], int r) { return rows[r & 15] + (r & 1); }
__device__ int laddered(int x) {
  int y;
  if (x < 4) y = x * 8;
  else if (x < 12) { y = x + 1; if (x & 1) y = 3; }
  else if (x == 13 || x > 50) return 77;
  else y = x ^ 5;
  return y * 2;
}
"""


@dataclass(slots=True)
class WiderWriter(OrdinaryWriter):
    """Draws these forms besides the ordinary ones."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(55):
            super(WiderWriter, self).statement(depth, returns)
            return
        forms = (
            self.aggregate,
            self.nested_aggregate,
            self.record_passed,
            self.record_in_shared,
            self.local_fields,
            self.local_union,
            self.by_size,
            self.pack,
            self.ladder,
            self.nested_lambda,
            self.wide_index,
            self.underflow,
            self.rows,
            self.pointer_of_lane,
            self.chosen_array,
            self.halves,
            self.chained,
            self.array_of_records,
            self.passed_array,
            self.shadowed,
            self.derived,
        )
        nested = (self.do_loop, self.falling_switch, self.lambda_in_loop, self.continued)
        kind = self.number(0, len(forms) + (2 * len(nested) if depth else 0) - 1)
        if kind < len(forms):
            forms[kind]()
        else:
            nested[(kind - len(forms)) % len(nested)](returns)

    def small(self) -> str:
        return f"(int)({self.known(1)} & {self.choose('15', '31', '63')})"

    def aggregate(self) -> None:
        made = self.name("part")
        given = self.choose(
            "", self.small(), f"{self.small()}, 4", f"{self.small()}, lane, {{1, {self.small()}}}"
        )
        named = self.choose(
            f".a = {self.small()}, .d = 5", f".c = {{1, {self.small()}}}", f".b = {self.small()}"
        )
        self.line(
            self.choose(
                f"Part {made} = {{{given}}};", f"Part {made}{{{given}}};", f"Part {made} = {{{named}}};"
            )
        )
        if self.chance(50):
            self.line(
                self.choose(
                    f"{made}.c[{self.choose('1', 'lane & 1', 'threadIdx.y & 1')}] += {self.small()};",
                    f"{made}.d = {made}.a + {made}.b;",
                    f"if ({self.condition()}) {made} = Part{{7}};",
                    f"if ({self.condition()}) {made} = {{}};",
                )
            )
        self.made_number(
            self.choose(
                f"{made}.a + {made}.b * 2",
                f"{made}.c[0] + {made}.c[1] * 4 + {made}.c[2]",
                f"{made}.d + {made}.b",
                f"{made}.c[lane % 3u]",
            )
        )

    def nested_aggregate(self) -> None:
        made = self.name("nest")
        given = self.choose(
            f"{{{self.small()}}}, {{{{1}}, {{2, {self.small()}}}}}, 5",
            f"{{{self.small()}, 2, {{3}}}}",
            f"{{}}, {{{{}}, {{{self.small()}}}}}",
        )
        self.line(f"Nest {made} = {{{given}}};")
        at = self.choose("0", "1", "lane & 1", "threadIdx.y & 1")
        self.line(
            self.choose(
                "", f"{made}.two[{at}].c[1] = lane;", f"{made}.two[1] = {made}.one;", f"{made}.last += 3;"
            )
        )
        self.made_number(
            self.choose(
                f"{made}.one.a + {made}.last",
                f"{made}.two[{at}].a * 2 + {made}.two[{at}].b",
                f"{made}.two[1].c[1] + {made}.two[0].b",
            )
        )

    def record_passed(self) -> None:
        made = self.name("count")
        self.line(
            self.choose(f"Count {made} = {{{self.small()}}};", f"Count {made} = made_of({self.small()});")
        )
        for _ in range(self.number(1, 3)):
            self.line(
                self.choose(
                    f"by_reference({made}, {self.small()});",
                    f"by_pointer(&{made}, {self.number(0, 5)});",
                    f"t[by_value({made}, {self.number(0, 9)}) & 1023] = acc;",
                    f"{made} = {made}.next();",
                    f"if ({self.condition()}) {made}.add({self.number(1, 9)});",
                    f"{{ Count &again = {made}; again.n ^= 1; }}",
                    f"{{ auto copy = {made}; copy.add(3); t[copy.get() & 1023] = acc; }}",
                )
            )
        self.made_number(
            self.choose(f"{made}.get() & 1023", f"{made}.next().get() & 1023", f"{made}.k & 255")
        )

    def derived(self) -> None:
        made = self.name("over")
        self.line(f"Over {made}({self.small()});")
        for _ in range(self.number(1, 3)):
            self.line(
                self.choose(
                    f"{made}.off += {self.small()};",
                    f"{{ Under &part = {made}; part.ld ^= {self.number(1, 7)}; }}",
                    f"Under *to{made} = &{made}; to{made}->y += {self.number(1, 9)};"
                    f" static_cast<Over *>(to{made})->pad = 1;",
                    f"if ({self.condition()}) {made} = Over({self.number(1, 9)});",
                ).replace(f"to{made}", self.name("to"))
            )
        i = f"{self.small()} & 7"
        self.made_number(
            self.choose(
                f"{made}.at({i})",
                f"under_of({made}, {i})",
                f"under_at(&{made}, {i})",
                f"under_in({made}, {i}) + {made}.ld",
                f"{made}.Under::y * 8 + {made}.off",
            )
        )

    def record_in_shared(self) -> None:
        at = self.index(64, 1)
        kind = self.number(0, 4)
        p = self.name("rp")
        if kind == 0:
            self.moved(f"counts[{at}].{self.choose('n', 'k')}")
        elif kind == 1:
            self.line(f"Count *{p} = &counts[{at}];")
            self.moved(f"{p}->n", f"{p}->k", f"(*{p}).n")
        elif kind == 2:
            self.line(f"Part &{p} = parts[{at}];")
            self.moved(f"{p}.c[{self.number(0, 2)}]", f"{p}.d", f"{p}.c[({self.known(1)} & 255) % 3u]")
        elif kind == 3:
            self.moved(f"parts[{at}].c[{self.number(0, 2)}]", f"(&parts[{at}].a)[{self.number(0, 1)}]")
        else:
            self.line(f"const int *{p} = parts[{at}].c;")
            self.line(f"acc += {p}[{self.number(0, 2)}] + {p}[0];")

    def local_fields(self) -> None:
        made = self.name("fields")
        self.line(f"Fields {made} = {{{self.choose('', '1', f'{self.small()}, {self.small()}')}}};")
        for _ in range(self.number(1, 3)):
            member = self.choose("a", "b", "c", "d")
            self.line(
                self.choose(
                    f"{made}.{member} = {self.known(1)};",
                    f"{made}.{member} += {self.number(1, 30)};",
                    f"{made}.{member}--;",
                    f"if ({self.condition()}) {made}.{member} ^= {self.number(1, 30)};",
                )
            )
        self.made_number(
            self.choose(
                f"{made}.a * 8 + {made}.b",
                f"{made}.c + 40",
                f"(int)({made}.d & 1023)",
                f"{made}.b << {made}.a",
            )
        )

    def local_union(self) -> None:
        made = self.name("mix")
        self.line(f"Mixed {made};")
        self.line(f"{made}.u = {self.known(2)};")
        self.line(
            self.choose(
                f"{made}.f.lo = {self.small()};",
                f"{made}.f.hi += {self.small()};",
                f"{made}.h[{self.choose('0', '1', 'lane & 1')}] = {self.known(1)};",
                f"{made}.h[1] ^= {made}.h[0];",
            )
        )
        self.made_number(
            self.choose(
                f"(int)({made}.u & 1023)",
                f"{made}.f.lo & 511",
                f"(int){made}.f.hi & 511",
                f"{made}.h[1] & 255",
            )
        )

    def by_size(self) -> None:
        type_ = self.choose("char", "short", "int", "long long", "unsigned char", "T", "unsigned long long")
        if type_ == "T":
            self.made_number(f"(int)sizeof(T) == 8 ? {self.small()} : sized((short)({self.small()}))")
        else:
            self.made_number(f"sized(({type_})({self.small()}))")

    def pack(self) -> None:
        a, b = self.small(), self.small()
        self.made_number(
            self.choose(
                f"summed({a}, {b}, 3)",
                f"summed({a})",
                f"ored({a}, 1, {b} << 1)",
                f"folded_at<0, 2, 1>({a})",
                f"counted({a}, {b}) + lane",
                f"summed((short)({a}), {b}, (unsigned char)7)",
            )
        )

    def ladder(self) -> None:
        made = self.name("m")
        if self.chance(30):
            self.made_number(f"laddered({self.small()})")
            return
        self.line(f"int {made} = {self.number(0, 9)};")
        word = "if"
        for _ in range(self.number(2, 4)):
            self.line(f"{word} ({self.condition()}) {{")
            self.line(
                self.choose(
                    f"{made} = {self.small()};", f"{made} += {self.number(1, 60)};", f"{made} ^= lane;"
                )
            )
            self.line("}")
            word = "else if"
        if self.chance(60):
            self.line(f"else {made} = {self.choose('lane', '2 * lane', '7')};")
        self.numbers.append(made)
        self.use(made)

    def nested_lambda(self) -> None:
        made, f, g = self.name("m"), self.name("f"), self.name("g")
        self.line(f"int {made} = {self.small()};")
        inner = self.choose(
            f"auto {g} = [&](int j) {{ {made} += j; return {made} ^ i; }}; return {g}(i) + {g}(2);",
            f"int z = i; auto {g} = [&]() {{ z += {made}; }}; {g}(); {g}(); return z;",
            f"auto {g} = [=](int j) {{ return j + {made} + i; }}; {made} = 1; return {g}(3);",
            f"if (i & 1) return i; auto {g} = [&](auto v) {{ {made} -= v; return v * 2; }}; return {g}(i);",
        )
        self.line(f"auto {f} = [&](int i) {{ {inner} }};")
        self.made_number(f"{f}({self.small()}) + 64")
        if self.chance(50):
            self.made_number(f"{f}({self.number(0, 9)}) + 64")
        self.line(f"{made} &= 255;")
        self.numbers.append(made)
        self.use(made)

    def wide_index(self) -> None:
        made = self.name("w")
        type_ = self.choose("unsigned long long", "long long", "size_t", "int64_t", "uint32_t")
        big = self.choose("0xfffffff0u", "0x7ffffff0", "(1ll << 40)", "4294967295ull", "0x80000000u", "65536")
        self.line(f"{type_} {made} = {self.small()};")
        for _ in range(self.number(1, 3)):
            self.line(
                self.choose(
                    f"{made} += {big};",
                    f"{made} = {made} * {self.choose('65537', '3u', '5ll', '0x10001ull')};",
                    f"{made} ^= {made} >> {self.number(1, 20)};",
                    f"{made} -= {self.small()};",
                    f"{made} = {made} << {self.number(1, 20)} | {made} >> {self.number(1, 20)};",
                )
                if not type_.startswith(("long", "int64"))
                else self.choose(
                    f"{made} += {self.number(1, 1 << 33)};", f"{made} = ({made} & 65535) * 65537;"
                )
            )
        self.made_number(
            self.choose(
                f"(int)({made} & 1023)",
                f"(int)({made} >> {self.number(1, 31)} & 255)",
                f"(int)({made} % 61u & 63)",
                f"(unsigned short){made} & 511",
                f"({made} > {big} ? 5 : lane)",
            )
        )

    def underflow(self) -> None:
        a, b = self.known(1), self.choose("3", "blockDim.y", "lane", "17u", "BM")
        made = self.name("m")
        self.line(f"unsigned {made} = (unsigned)({a} & 31) - {b};")
        if self.chance(50):
            self.line(
                f"if ({made} {self.choose('<', '>', '<=', '>=')} {self.choose('8u', '16', '0xfffffff8u')}) {{"
            )
            self.access()
            self.line("}")
        self.made_number(
            self.choose(
                f"({made} < 20u ? lane : 3)",
                f"(int)min({made}, 31u) * 2",
                f"(int)({made} >> 28) * 4",
                f"(int)({made} / 3 & 255)",
                f"(int)({made} % 37)",
                f"(int)max((int){made}, 0)",
                f"(int)({made} + {b}) * 2",
                f"(int)(((long long){made} + {b}) >> 4 & 511)",
            )
        )

    def rows(self) -> None:
        made = self.name("rows")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"float (*{made})[33] = reinterpret_cast<float (*)[33]>(t);")
            self.moved(
                f"picked({made}, {self.small()})[{self.index(32, 1)}]",
                f"({made} + 2)[{self.index(16, 1)}][lane]",
            )
        elif kind == 1:
            self.line(f"auto {made} = &w[{self.index_mod('BM')}];")
            self.moved(f"(*{made})[{self.index_mod('BM')}]")
        elif kind == 2:
            self.line(f"T (*{made})[BM + 1] = w;")
            self.line(f"{made} += {self.choose('1', 'threadIdx.y & 3', 'warp & 1')};")
            self.moved(
                f"{made}[{self.index(4, 1)}][{self.index_mod('BM')}]", f"(*{made})[{self.index_mod('BM')}]"
            )
        else:
            self.line(
                f"float (&{made})[1024] = *reinterpret_cast<float (*)[1024]>(t + {self.number(0, 64)});"
            )
            self.moved(f"{made}[{self.index(1024)}]")

    def pointer_of_lane(self) -> None:
        made, p = self.name("tab"), self.name("p")
        self.line(
            f"float *{made}[3] = {{t, t + {self.choose('1024', '264')}, t + {self.choose('2048', 'lane')}}};"
        )
        at = self.choose("lane % 3u", "(lane & 1)", "threadIdx.x % 3", "warp % 3", f"{self.known(1)} % 3u")
        if self.chance(50):
            self.line(f"float *{p} = {made}[{at}] + ({self.index(256, 1)});")
            self.moved(f"*{p}", f"{p}[{self.index(512, 1)}]")
            self.pointers.append(p)
        else:
            self.moved(f"{made}[{at}][{self.index(512, 1)}]")

    def chosen_array(self) -> None:
        a, b = self.draw.pick((("t", "t + 1024"), ("q[0]", "q[1]"), ("t", "q[0]"), ("q[0]", "(float *)c")))
        c = self.choose("warp", "(warp & 1)", "lane > 8", "(lane & 1)", self.condition())
        i = self.index(512, 1)
        self.moved(f"({c} ? {a} : {b})[{i}]", f"*({c} ? {a} + 1 : {b} + lane)", f"(({c}) ? {a} : {b})[{i}]")

    def halves(self) -> None:
        p, at = self.name("h"), self.index(512, 1)
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"__half *{p} = reinterpret_cast<__half *>(&duos[{at}]);")
            self.line(f"acc += __half2float({p}[{self.number(0, 1)}]);")
        elif kind == 1:
            self.line(f"duos[{at}].{self.choose('x', 'y')} = __float2half(acc);")
        elif kind == 2:
            self.line(f"unsigned short *{p} = reinterpret_cast<unsigned short *>(duos);")
            self.moved(f"{p}[{self.index(1024, 1)}]")
        else:
            self.line(f"__half &{p} = duos[{at}].y;")
            self.line(f"acc += __half2float({p});")

    def chained(self) -> None:
        a, b, c = self.name("m"), self.name("m"), self.name("m")
        self.line(f"int {a}, {b}, {c} = {self.number(0, 5)};")
        self.line(
            self.choose(
                f"{a} = {b} = {self.small()};",
                f"{a} = ({b} = {self.small()}) + 2, {c} = {a};",
                f"{a} = {b} = {c} += lane;",
            )
        )
        self.line(
            self.choose(f"({self.condition()} ? {a} : {b}) += 9;", f"({a} += 3) ^= 1;", f"++({b} += 4);", "")
        )
        self.numbers += [a, b, c]
        self.use(f"{a} * 2 + {b}")
        self.use(c)

    def array_of_records(self) -> None:
        made, i = self.name("ps"), self.name("i")
        self.line(f"Count {made}[3] = {{{{{self.small()}}}, {{2}}}};")
        self.line(f"for (int {i} = 0; {i} < 3; {i}++) {made}[{i}].add({self.choose(i, 'lane', '4')});")
        if self.chance(40):
            self.line(f"for (auto &each : {made}) each.n ^= {self.number(1, 9)};")
        self.made_number(f"{made}[{self.choose('0', '1', '2', 'lane % 3u', 'warp % 3')}].get() & 511")

    def passed_array(self) -> None:
        made = self.name("arr")
        self.line(f"int {made}[4] = {{{self.small()}, {self.small()}}};")
        self.line(
            self.choose(
                f"for (int &each : {made}) each += {self.number(1, 9)};",
                f"for (int *each = {made}; each != {made} + 4; ++each) *each = *each * 2 + 1;",
                f"{{ int *to = {made} + 1; to[lane & 1] = 40; *to++ = 3; *to += 2; }}",
                f"{{ auto set = [&](int at, int v) {{ {made}[at & 3] = v; }}; set(lane, 9); set(1, lane); }}",
                f"swap({made}[0], {made}[{self.choose('1', 'lane & 3')}]);",
            )
        )
        self.made_number(f"{made}[{self.choose('0', '1', '3', 'lane & 3')}]")

    def shadowed(self) -> None:
        made = self.name("m")
        self.line(f"int {made} = {self.small()};")
        self.line(
            f"{{ int {made} = lane * 2; {{ int {made} = 5; {made} += lane; }} {made}++; t[{made}] = acc; }}"
        )
        self.line(f"if (int {made} = {self.small()}; {made} > 8) t[{made} * 2] = acc; else t[{made}] = 1;")
        self.numbers.append(made)
        self.use(made)

    def do_loop(self, returns: bool) -> None:
        i, m = self.name("i"), self.name("m")
        self.line(f"int {i} = {self.choose('0', 'lane & 3', 'warp')}, {m} = {self.number(0, 9)};")
        self.line("do {")
        self.line(f"{m} += {self.choose('3', i, 'lane')};")
        self.line(f"if ({self.condition()}) {self.choose('break', 'break', 'continue')};")
        self.moved(f"t[({m} * {self.choose('1', '2', '32')} + {i}) & 4095]")
        if self.chance(30):
            self.line(f"if ({m} > {self.number(5, 90)}) break;")
        self.line(f"}} while (++{i} < {self.choose('4', '5', self.lanes() + ' + 2')});")
        self.numbers += [i, m]
        self.use(m)

    def falling_switch(self, returns: bool) -> None:
        m = self.name("m")
        self.line(f"int {m} = {self.number(0, 9)};")
        self.line(
            f"switch ({self.choose('lane & 7', 'warp', 'threadIdx.y & 7', self.deciding() + ' & 7', '5')}) {{"
        )
        for label in ("case 1: case 6", "case 0", "default", "case 4", "case 2"):
            self.line(f"{label}:")
            self.line(
                self.choose(
                    f"{m} = lane * {self.number(1, 5)};", f"{m} += {self.number(1, 60)};", f"{m} ^= 3;"
                )
            )
            if self.chance(25):
                self.moved(f"t[({m} * 2) & 4095]")
            self.line(self.choose("", "", "break;", f"if ({self.condition()}) break;"))
        self.line("}")
        self.numbers.append(m)
        self.use(m)

    def lambda_in_loop(self, returns: bool) -> None:
        i, m, f = self.name("i"), self.name("m"), self.name("f")
        self.line(f"int {m} = {self.small()};")
        self.line(f"auto {f} = [&](int x) {{ if (x > 2) return; {m} += x; t[({m} * 2) & 4095] = acc; }};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', self.lanes())}; {i}++) {{")
        self.line(
            self.choose(f"{f}({i});", f"if ({self.condition()}) {f}({i} + 1);", f"{f}({i} * 2); {m} ^= {i};")
        )
        self.line("}")
        self.numbers.append(m)
        self.use(m)

    def continued(self, returns: bool) -> None:
        i, m = self.name("i"), self.name("m")
        self.line(f"int {m} = lane;")
        self.line(
            f"for (int {i} = {self.choose('0', 'lane', 'tid & 7')}; {i} < {self.choose('6', '40')}; ) {{"
        )
        self.line(f"if ({self.condition()}) {{ {i} += {self.number(3, 9)}; {m} ^= 1; continue; }}")
        self.moved(f"t[({m} + {i} * 32) & 4095]")
        self.line(f"{i} += {self.choose('2', '8', 'warp + 3')};")
        self.line("}")
        self.numbers.append(m)
        self.use(m)


def wider_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `ordinary_program`, of these forms."""
    writer = WiderWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    writer.access()
    shared = ORDINARY_SHARED.format() + "__shared__ Count counts[64];\n__shared__ Part parts[64];\n"
    shared += "__shared__ __half2 duos[512];\n"
    head = CXX_HEAD + MODERN_HEAD + ORDINARY_HEAD + WIDER_HEAD + KERNEL.format() + shared
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", head)
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(unknown), 5)
    return Program(text, block, n, bm, type_, block_index=at if data or unknown else 0)
