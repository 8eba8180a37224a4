"""Random kernels of forms that were told wrong where programs were written to find that: loops that call what
changes their state late, conditions that declare, lanes that leave one by one, members that are references,
functions that return references, distances of pointers, traits, functions in loops that return early."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.cxx_programs import CXX_HEAD, KERNEL
from oracle.drawing import Draw, Program
from oracle.modern_programs import MODERN_HEAD
from oracle.ordinary_head import ORDINARY_HEAD, ORDINARY_SHARED
from oracle.wider_programs import WIDER_HEAD, WiderWriter

ODD_HEAD = """__device__ void late(int &x, int i, int from) { if (i < from) return; x += 3; x ^= i; }
__device__ int drawn(int &x, int by) { x -= by; return x > 0 ? x & 31 : 0; }
__device__ int &larger_of(int &a, int &b) { return a > b ? a : b; }
struct Context { float *at; int pitch; int cursor; };
struct Writer {
  Context &context; int &turn;
  __device__ Writer(Context &c, int &t) : context(c), turn(t) {}
  __device__ void put(int i) { context.at[(context.cursor++ * context.pitch + i) & 1023] = 1; }
  __device__ int next(int by) { turn += by; return turn & 31; }
};
struct Late {
  int at = 3, seen = 0;
  __device__ void step(int i) { if (i > 1) at += 5; seen++; }
  __device__ void run(int n, float *p) { for (int i = 0; i < n; i++) { step(i); p[at & 511] = 1; } }
};
__device__ int leafed(float *p, int x) {
  if (x & 1) return -1;
  p[(x * 2) & 511] = 1;
  for (int i = 0; i < 3; i++) { if (((x >> i) & 3) == 3) return i; p[(x + i * 32) & 511] = 2; }
  return 40;
}
__device__ int middle(float *p, int x, int &count) {
  for (int i = 0; i < 3; i++) {
    int r = leafed(p, x + i);
    if (r < 0) continue;
    count++;
    if (r == 40) return r + i;
    if (r < 2) break;
    x += r;
  }
  return x & 63;
}
template <typename E> __device__ int pitched() {
  if constexpr (sizeof(E) == 4) return 33;
  else if constexpr (sizeof(E) == 8) return 17;
  else return 66;
}
template <typename E> struct Chosen {
  E *base;
  __device__ E &operator()(int r, int c) const {
    if constexpr (std::is_same<E, double>::value) return base[r * pitched<E>() + (c >> 1)];
    else if constexpr (std::is_floating_point<E>::value) return base[r * pitched<E>() + c];
    else if constexpr (sizeof(E) == 1 && std::is_unsigned<E>::value) return base[r * pitched<E>() + 4 * c];
    else return base[c * pitched<E>() + r];
  }
};
"""

ODD_BLOCKS = (
    (45, 1, 1), (12, 5, 1), (20, 3, 1), (7, 3, 3), (50, 1, 1), (24, 4, 1), (33, 3, 1), (3, 11, 1), (5, 5, 5),
    (32, 1, 1), (96, 1, 1), (16, 4, 1), (31, 1, 1), (65, 1, 1),
)  # fmt: skip


@dataclass(slots=True)
class OddWriter(WiderWriter):
    """Draws these forms besides the wider ones."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(60):
            super(OddWriter, self).statement(depth, returns)
            return
        forms = (
            self.late_call,
            self.left_by_lane,
            self.switch_declares,
            self.while_declares,
            self.late_method,
            self.reference_members,
            self.reference_returned,
            self.comma,
            self.distance,
            self.backwards,
            self.negative_remainder,
            self.called_in_loop,
            self.chosen_trait,
            self.pointer_chain,
            self.guarded_store,
            self.switch_in_do,
        )
        forms[self.number(0, len(forms) - 1)]()

    def statements(self) -> tuple[int, int, int]:
        super(OddWriter, self).statements()
        return self.draw.pick(ODD_BLOCKS)

    def bound(self) -> str:
        """How often a loop runs: a number, one of the lane, of the launch, or of data."""
        return self.choose("4", "5", self.lanes(), f"{self.lanes()} + 1", f"({self.deciding()} & 3) + 1", "n")

    def kept(self, made: str) -> None:
        """A number that goes on."""
        self.line(f"{made} &= 511;")
        self.numbers.append(made)
        self.use(made)

    def late_call(self) -> None:
        m, i = self.name("m"), self.name("i")
        self.line(f"int {m} = {self.small()};")
        start = self.choose("0", "1")
        body = self.choose(
            f"late({m}, {i}, {self.number(1, 2)});",
            f"late({m}, {i}, 1); t[({m} * 2) & 4095] = acc;",
            f"on({i});",
            f"if ({i} > 1) {m} += 5; t[{m} & 4095] = acc;",
        ).replace("on(", f"on{m}(")
        if f"on{m}(" in body:
            self.line(f"auto on{m} = [&](int j) {{ if (j < 2) return; {m} += j; t[{m} & 1023] = acc; }};")
        self.line(f"for (int {i} = {start}; {i} < {self.bound()}; ++{i}) {{ {body} }}")
        self.kept(m)

    def left_by_lane(self) -> None:
        m, i = self.name("m"), self.name("i")
        self.line(f"int {i} = {self.choose('0', 'warp', '1')}, {m} = {self.number(0, 9)};")
        end = f"{self.lanes()} + {self.choose('1', '2', f'({self.deciding()} & 1)')}"
        way = self.number(0, 2)
        self.line(("for (;;) {", "while (true) {", "do {")[way])
        if way < 2:
            self.line(f"if ({i} > {end}) break;")
        self.line(f"{m} += {self.choose('3', i, 'lane')};")
        if self.chance(50):
            self.line(f"if ({self.condition()}) {{ {i}++; {m} ^= 1; continue; }}")
        self.moved(f"t[({m} * {self.choose('1', '32')}) & 4095]")
        self.line(f"{i}++;")
        self.line(f"}} while ({i} < {end});" if way == 2 else "}")
        self.numbers.append(i)
        self.use(f"{i} * {self.choose('1', '32', '33')}")
        self.kept(m)

    def switch_declares(self) -> None:
        m, x = self.name("m"), self.name("x")
        self.line(f"int {m} = {self.number(0, 9)};")
        value = f"{self.known(1)} & {self.choose('3', '7', '15')}"
        self.line(f"switch (int {x} = {value}; {x}{self.choose('', ' >> 1')}) {{")
        for label in ("case 1", "case 0: case 3", self.choose("default", "case 2")):
            self.line(f"{label}: {m} += {self.choose(x, f'{x} * 2', '7')};")
            self.line(self.choose(f"t[({m} * 2) & 4095] = acc;", ""))
            self.line(self.choose("break;", "", f"if ({self.condition()}) break;"))
        self.line("}")
        self.kept(m)

    def while_declares(self) -> None:
        m, x = self.name("m"), self.name("x")
        self.line(f"int {m} = {self.known(1)} & {self.choose('15', '31')};")
        if self.chance(50):
            self.line(f"while (int {x} = drawn({m}, {self.number(5, 9)})) {{")
        else:
            self.line(
                f"for (int i{x} = 0; int {x} = {self.choose('3', self.lanes() + ' + 1')} - i{x}; i{x}++) {{"
            )
        self.line(
            self.choose("", f"if ({x} == 2) continue;", f"if ({self.condition()}) {{ {m} ^= 2; break; }}")
        )
        self.moved(f"t[({x} * {self.choose('1', '32')} + lane) & 4095]")
        self.line("}")
        self.kept(m)

    def late_method(self) -> None:
        made, i = self.name("late"), self.name("i")
        self.line(f"Late {made}{{{self.choose('', '7', 'lane')}}};")
        self.line(
            self.choose(
                f"{made}.run({self.bound()}, t);",
                f"for (int {i} = 0; {i} < {self.bound()}; {i}++) {made}.step({i});",
            )
        )
        self.made_number(f"({made}.at * 2 + {made}.seen) & 255")

    def reference_members(self) -> None:
        c, w, turn = self.name("c"), self.name("w"), self.name("turn")
        start, pitch = self.choose("0", "1024"), self.choose("32", "33")
        self.line(f"Context {c}{{t + {start}, {pitch}, {self.small()}}};")
        self.line(f"int {turn} = {self.small()};")
        self.line(f"Writer {w}({c}, {turn});")
        self.line(f"{w}.put({self.choose('lane', 'threadIdx.x & 31')});")
        self.line(
            self.choose(
                f"{c}.pitch += 1;", f"{turn} *= 2;", f"if ({self.condition()}) {c}.cursor = 3;",
                f"{w}.context.pitch = 40;",
            )
        )  # fmt: skip
        self.line(f"{w}.put({w}.next({self.choose('1', 'lane', '3')}));")
        self.numbers.append(turn)
        self.use(f"{turn} + {c}.cursor")
        self.line(f"{turn} &= 255;")

    def reference_returned(self) -> None:
        a, b = self.name("m"), self.name("m")
        self.line(f"int {a} = {self.small()}, {b} = {self.choose('20', self.small())};")
        for _ in range(self.number(1, 3)):
            self.line(
                self.choose(
                    f"larger_of({a}, {b}) += 7;", f"larger_of({a}, {b}) %= 37;",
                    f"larger_of({a}, {b}) <<= 1;",
                    f"({a} += 2, {b}) ^= 1;", f"({self.condition()} ? {a} : {b}) -= {a} & 3;",
                )
            )  # fmt: skip
        self.kept(a)
        self.kept(b)

    def comma(self) -> None:
        i, j = self.name("i"), self.name("j")
        self.line(f"int {i} = {self.choose('0', 'lane & 3')}, {j} = {self.choose('31', 'lane', '16')};")
        kind = self.number(0, 2)
        if kind == 0:
            self.line(f"for (; {i} < {j}; ++{i}, {j} -= 3) t[({i} * 32 + {j}) & 4095] = acc;")
        elif kind == 1:
            self.line(f"t[({i}++, {i} * 33 + {j}) & 4095] = acc;")
            self.line(f"if ({j}++, {j} & 1) t[({j} * 2) & 4095] = acc; else {i} += 4;")
        else:
            self.line(f"while ({j} -= 5, {j} > 3) {{ t[({j} + {i} * 32) & 4095] = acc; {i}++; }}")
        self.kept(i)
        self.line(f"{j} &= 63;")
        self.numbers.append(j)
        self.use(j)

    def distance(self) -> None:
        a, b = self.name("p"), self.name("p")
        self.line(f"float *{a} = t + ({self.small()}), *{b} = &t[3 * ({self.small()}) + 2];")
        self.made_number(
            self.choose(
                f"(int)({b} - {a}) + 128", f"(int)({b} - t) / 2", f"({a} < {b} ? 5 : lane)",
                f"(int)({a} - {b}) % 8 + 8", f"(int)((char *){b} - (char *)t) & 255",
            )
        )  # fmt: skip

    def backwards(self) -> None:
        i, made = self.name("i"), self.name("p")
        kind = self.number(0, 2)
        if kind == 0:
            step = self.choose("1", "7", "BM")
            self.line(f"for (int {i} = 31 - ({self.small()} & 7); {i} >= 0; {i} -= {step})")
            self.line(f"{{ t[({i} * 33 + lane) & 4095] = acc; }}")
        elif kind == 1:
            self.line(f"float *{made} = t + 1023;")
            self.moved(f"{made}[-({self.small()} * {self.choose('1', '2', '32')}) & ~0]")
        else:
            self.line(f"int {i} = {self.choose('-2', '-33', '-1')};")
            self.moved(f"t[2200 + {i} * (lane + warp)]")

    def negative_remainder(self) -> None:
        a = f"({self.small()} - {self.choose('20', '7', 'lane')})"
        self.made_number(
            self.choose(
                f"{a} % 8 + 8", f"{a} / 3 + 30", f"({a} >> 2) + 30", f"{a} % -5 + 9", f"{a} / -4 + 20",
                f"({a} % 4 + 4) % 4 * 33", f"(int)((long long){a} * 1000003 % 31) + 31", f"{a} & 7",
                f"(int)((unsigned){a} % 13u)",
            )
        )  # fmt: skip

    def called_in_loop(self) -> None:
        c, i, r = self.name("count"), self.name("i"), self.name("r")
        self.line(f"int {c} = 0;")
        self.line(f"for (int {i} = 0; {i} < {self.choose('2', '3', self.lanes())}; {i}++) {{")
        self.line(f"int {r} = middle(t + 512, {self.small()} * ({i} + 1), {c});")
        self.line(f"if ({r} > {self.choose('50', '41', '8')}) {{ t[({r} + {i}) & 4095] = acc; break; }}")
        self.line(f"{c} += {r};")
        self.line("}")
        self.kept(c)

    def chosen_trait(self) -> None:
        kinds = (("float", "t"), ("double", "e"), ("unsigned char", "b"), ("T", "w[0]"))
        type_, array = self.draw.pick(kinds)
        made = self.name("chosen")
        self.line(f"Chosen<{type_}> {made}{{{array}}};")
        self.moved(f"{made}({self.index(4, 1)}, {self.index(4, 1)})")

    def pointer_chain(self) -> None:
        made = self.name("p")
        a, b = self.choose("warp == 0", "lane < 8", self.condition()), self.choose("lane & 1", "warp == 1")
        self.line(f"float *{made} = {a} ? t : {b} ? t + 515 : {self.choose('t + 1024', '&t[lane * 32]')};")
        self.moved(f"{made}[{self.index(512, 1)}]")
        self.moved(f"*({a} ? &{made}[1] : {b} ? {made} : t + lane)")

    def guarded_store(self) -> None:
        i = self.index(1024, 1)
        self.line(
            self.choose(
                f"({self.condition()}) && (t[{i}] = acc);", f"({self.condition()}) || (t[{i}] = acc);",
                f"lane > 20 && (c[{i}] = 8);",
            ).replace("= acc)", "= acc, true)").replace("= 8)", "= 8, true)")
        )  # fmt: skip

    def switch_in_do(self) -> None:
        go, m = self.name("go"), self.name("m")
        self.line(f"int {go} = {self.choose('3', '4', 'lane & 3')}, {m} = {self.small()};")
        self.line("do {")
        self.line(f"switch ({go}) {{ case 3: {m} += {self.number(1, 9)};")
        self.moved(f"t[({m} * {go}) & 4095]")
        self.line(f"continue; case 1: {self.choose('break;', f'if ({self.condition()}) break;')}")
        self.line(f"default: {m} ^= {go}; }}")
        self.line(f"t[({m} + {go} * 32) & 4095] = acc;")
        self.line(f"}} while (--{go} > 0);")
        self.kept(m)


def odd_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `wider_program`, of these forms."""
    writer = OddWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    writer.access()
    shared = ORDINARY_SHARED.format() + "__shared__ Count counts[64];\n__shared__ Part parts[64];\n"
    shared += "__shared__ __half2 duos[512];\n"
    head = CXX_HEAD + MODERN_HEAD + ORDINARY_HEAD + WIDER_HEAD + ODD_HEAD + KERNEL.format() + shared
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", head)
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(unknown), 5)
    return Program(text, block, n, bm, type_, block_index=at if data or unknown else 0)
