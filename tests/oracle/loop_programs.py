"""Random loops: where the counter lives, how it goes on, where the loop asks, how lanes leave it.

A loop is put together from a counter (a number of some width, a member, an element, what a reference or a
pointer leads to, a bit-field, an object with methods, an iterator), a range (up, down, by factors, by bits)
and a form (`for`, `while`, `do`, `goto`, a step in the condition).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from oracle.cxx_programs import CXX_HEAD, KERNEL
from oracle.drawing import Draw, Program
from oracle.library_programs import LIBRARY_HEAD, LIBRARY_SHARED, LibraryWriter
from oracle.modern_programs import MODERN_HEAD
from oracle.odd_programs import ODD_HEAD
from oracle.ordinary_head import ORDINARY_HEAD, ORDINARY_SHARED
from oracle.template_programs import TEMPLATE_HEAD
from oracle.wider_programs import WIDER_HEAD

LOOP_HEAD = """struct Turn { int from; struct { int at; short left; } now; };
struct Digit { unsigned low : 3; unsigned at : 9; };
struct Steps {
  int at, last, by;
  __device__ bool more() const { return at < last; }
  __device__ explicit operator bool() const { return at < last; }
  __device__ void next() { at += by; }
  __device__ Steps &operator++() { at += by; return *this; }
  __device__ int take() { int old = at; at += by; return old; }
};
struct Span {
  int first, last, by;
  struct Place {
    int at, by;
    __device__ int operator*() const { return at; }
    __device__ Place &operator++() { at += by; return *this; }
    __device__ bool operator!=(const Place &o) const { return at < o.at; }
  };
  __device__ Place begin() const { return Place{first, by}; }
  __device__ Place end() const { return Place{last, by}; }
};
__device__ int after(int i, int by) { return i + by; }
__device__ void step_on(int &i, int by) { i += by; }
__device__ bool go_on(int &i, int last) { if (i >= last) return false; ++i; return true; }
__device__ int walked(float *p, int n, int by) {
  int turns = 0;
  while (n-- > 0) { *p = 1; p += by; turns++; }
  return turns;
}
__device__ int halved(float *p, int n) {
  int i = 0;
  do { p[(n + i * 32) & 1023] = 1; n >>= 1; } while (n && ++i);
  return i;
}
template <int N> __device__ int rolled_up(float *p, int at) {
  int sum = 0;
#pragma unroll
  for (int i = 0; i < N; i++) { if ((at >> i) & 1) continue; p[(at + i * 32) & 1023] = 1; sum += i; }
  return sum;
}
template <typename F> __device__ void count_to(int n, F f) { for (int i = 0; i != n; ++i) f(i); }
template <int I, int N, typename F> __device__ void each_of(F f) {
  if constexpr (I < N) { f(I); each_of<I + 1, N>(f); }
}
"""

Step = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Counter:
    """text: the lvalue that counts. wide: whether it holds any int."""

    text: str
    wide: bool = True


@dataclass(frozen=True, slots=True)
class Range:
    """What a counter goes through: where it starts, whether it goes on, and the statement that steps it."""

    start: str
    test: str
    step: str


@dataclass(slots=True)
class LoopWriter(LibraryWriter):
    """Draws these loops besides what libraries do. sizes: counters that begin with an unknown size."""

    sizes: set[str] = field(default_factory=set)

    def statement(self, depth: int, returns: bool = True) -> None:
        if depth == 0 or not self.chance(55):
            super(LoopWriter, self).statement(depth, returns)
            return
        forms = (self.counted, self.counted, self.counted, self.object_loop, self.called_loop, self.nest)
        forms[self.number(0, len(forms) - 1)](depth, returns)

    # Counters

    def counter(self, start: str) -> Counter:
        made = self.name("i")
        kind = self.number(0, 9)
        if kind <= 2:
            self.line(f"int {made} = {start};")
            return Counter(made)
        if kind == 3:
            self.line(f"{self.choose('short', 'long long', 'int16_t')} {made} = {start};")
            return Counter(made)
        if kind == 4:
            self.line(f"{self.choose('unsigned', 'uint16_t', 'size_t')} {made} = {start};")
            return Counter(made, wide=False)
        if kind == 5:
            self.line(f"Turn {made}{{lane, {{{start}, 3}}}};")
            return Counter(f"{made}.now.at")
        if kind == 6:
            # As in `begin`: a bound that nobody knows leaves no lane's own number out.
            at = self.choose("0", "1", "1" if self.unknown else "warp & 1")
            self.line(f"int {made}[2] = {{7, 9}};")
            self.line(f"{made}[{at}] = {start};")
            return Counter(f"{made}[{at}]")
        if kind == 7:
            self.line(f"int {made}h = {start}; int &{made} = {made}h;")
            return Counter(made)
        if kind == 8:
            self.line(f"int {made}h = {start}; int *{made} = &{made}h;")
            return Counter(f"(*{made})")
        self.line(f"Digit {made}{{}}; {made}.at = {start};")
        return Counter(f"{made}.at", wide=False)

    def bound(self) -> str:
        return self.choose(
            str(self.number(2, 6)),
            str(self.number(2, 9)),
            self.lanes(),
            f"{self.lanes()} + 2",
            "n",
            f"({self.deciding()} & 3) + 1",
            "(int)blockDim.z + 2",
            "BM / 4",
            f"min(n, {self.number(2, 6)})" if not self.unknown else "4",
        )

    def begin(self) -> str:
        if self.unknown:  # a bound that nobody knows is taken to leave no lane out, on purpose
            return self.choose("0", "1", "2")
        return self.choose("0", "0", "0", "1", "lane & 3", "warp", "threadIdx.y & 3", "tid % 3")

    def up(self, c: Counter) -> Range:
        by = self.choose("1", "1", "2", "3")
        text = c.text
        test = self.choose(
            f"{text} < BOUND",
            f"{text} <= BOUND",
            f"BOUND > {text}",
            f"{text} < BOUND && {text} < 7",
            f"!({text} >= BOUND)",
        )
        one = (f"{text}++", f"++{text}") if by == "1" else ()
        plain = (f"{text} += {by}", f"{text} = {text} + {by}", f"{text} = after({text}, {by})", *one)
        return Range(self.begin(), test.replace("BOUND", f"(int)({self.bound()})"), self.choose(*plain))

    def down(self, c: Counter) -> Range:
        text = c.text
        bound = self.bound()
        start = f"({bound}) + {self.choose('0', '1')}"
        if self.unknown and bound == "n":
            self.sizes.add(c.text)
        if not c.wide:
            return Range(start, f"{text} > 0", self.choose(f"{text}--", f"--{text}", f"{text} -= 1"))
        tests = (f"{text} > 0", f"{text} >= 0", f"{text} >= 1")
        test = self.choose(*tests, *(() if self.unknown else (f"{text} > (lane & 1)",)))
        return Range(
            start, test, self.choose(f"{text}--", f"--{text}", f"{text} -= 2", f"{text} = {text} - 3")
        )

    def by_factor(self, c: Counter) -> Range:
        text = c.text
        if self.chance(50):
            end = self.choose("16", "33", "(int)blockDim.x", "BM", "64")
            step = self.choose(
                f"{text} *= 2", f"{text} <<= 1", f"{text} = {text} * 2 + 1", f"{text} += {text}"
            )
            return Range(
                self.choose("1", "2", "(lane & 1) + 1"), f"{text} {self.choose('<', '<=')} {end}", step
            )
        start = self.choose("16", "(int)blockDim.x / 2", "BM", "64", "lane", "tid")
        test = self.choose(f"{text} > 0", f"{text} > 2", f"{text} >= 1", f"{text} != 0")
        return Range(start, test, self.choose(f"{text} >>= 1", f"{text} /= 2", f"{text} = {text} / 4"))

    def by_bits(self, c: Counter) -> Range:
        text = c.text
        kind = self.number(0, 2)
        if kind == 0:
            return Range(f"({self.known(1)}) & 127", text, f"{text} &= {text} - 1")
        if kind == 1:
            return Range("lane & 7", f"{text} < {self.choose('20', '40')}", f"{text} += {text} & 1 ? 5 : 8")
        return Range("(lane & 3) + 1", f"{text} < 40", f"{text} += {text} & -{text}")

    def span(self, c: Counter) -> Range:
        kind = self.number(0, 9)
        if kind <= 5:
            return self.up(c)
        if kind <= 7:
            return self.down(c)
        return self.by_factor(c) if kind == 8 or not c.wide else self.by_bits(c)

    # Loops

    def by_lane(self) -> str:
        """A step that differs from lane to lane, where the end is known."""
        return "2" if self.unknown else "(lane & 1) + 1"

    def places(self, read: str) -> None:
        """An access at what a counter says."""
        factor = self.choose("32", "33", "64", "1", "2", "4")
        self.moved(
            f"t[({read} * {factor} + lane) & 4095]",
            f"t[({read} * {factor} + lane) & 4095]",
            f"t[({read} + tid * {self.number(1, 5)}) & 4095]",
            f"q[{read} & 31][lane]",
            f"q[lane][({read}) & 31]",
            f"c[({read} * lane) & 1023]",
            f"e[({read} * {factor} + lane) & 511]",
            f"b[({read} * {factor} + lane) & 2047]",
        )

    def inside(self, read: str, depth: int, returns: bool, step: str = "") -> None:
        """What a loop runs. step: what has to run before an iteration is left by `continue`; '' for none, and
        none at all where it is None."""
        self.numbers.append(read)
        self.fixed.add(read)
        if self.chance(80):
            self.places(read)
        for _ in range(self.number(0, 2)):
            if self.chance(35):
                self.line(f"if ({self.leaving(read)}) {{")
                self.set_something()
                self.line(self.choose("break;", f"{step} continue;", "break;"))
                self.line("}")
            else:
                self.body(depth - 1, 1, returns)
        if self.chance(30):
            self.places(read)
        self.numbers.remove(read)

    def leaving(self, read: str) -> str:
        return self.choose(
            self.condition(),
            f"{read} == {self.number(1, 5)}",
            f"{read} > {self.lanes() if read not in self.sizes else self.number(0, 3)}",
            f"({read} ^ lane) & 1",
            f"lane > 12 && {read} >= 2",
        )

    def counted(self, depth: int, returns: bool) -> None:
        place = len(self.lines)
        c = self.counter("START")
        declared = self.lines[place:]
        del self.lines[place:]
        r = self.span(c)
        for text in declared:
            self.line(text.replace("START", r.start))
        forms = (self.for_form, self.while_form, self.do_form, self.endless_form, self.goto_form)
        forms[self.number(0, len(forms) - 1)](c, r, depth, returns)
        self.numbers.append(c.text)
        self.fixed.add(c.text)
        self.use(f"({c.text} & 63)")

    def for_form(self, c: Counter, r: Range, depth: int, returns: bool) -> None:
        if self.chance(30):
            self.line("#pragma unroll" + self.choose("", " 1", " 2", " 4"))
        self.line(f"for (; {r.test}; {r.step}) {{")
        self.inside(c.text, depth, returns)
        self.line("}")

    def while_form(self, c: Counter, r: Range, depth: int, returns: bool) -> None:
        kind = self.number(0, 3)
        if kind == 0 and c.wide and r.step == f"{c.text}--":
            self.line(f"while ({c.text}-- > 0) {{")
            self.inside(c.text, depth, returns)
        elif kind == 1:
            self.line(f"while ({r.test}) {{")
            self.line(f"{r.step};")
            self.inside(c.text, depth, returns)
        else:
            self.line(f"while ({r.test}) {{")
            self.inside(c.text, depth, returns, f"{r.step};")
            self.line(f"{r.step};")
        self.line("}")

    def do_form(self, c: Counter, r: Range, depth: int, returns: bool) -> None:
        self.line("do {")
        if self.chance(50):
            self.inside(c.text, depth, returns)
            self.line(f"}} while ({r.step}, {r.test});")
        else:
            self.inside(c.text, depth, returns, f"{r.step};")
            self.line(f"{r.step};")
            self.line(f"}} while ({r.test});")

    def endless_form(self, c: Counter, r: Range, depth: int, returns: bool) -> None:
        self.line(self.choose("for (;;) {", "while (true) {", "while (1) {"))
        late = self.chance(30)
        if not late:
            self.line(f"if (!({r.test})) break;")
        self.inside(c.text, depth, returns, f"{r.step};" + (f" if (!({r.test})) break;" if late else ""))
        self.line(f"{r.step};")
        if late:
            self.line(f"if (!({r.test})) break;")
            if self.chance(50):
                self.places(c.text)
        self.line("}")

    def goto_form(self, c: Counter, r: Range, depth: int, returns: bool) -> None:
        label = self.name("top")
        self.line(f"{label}: ;")
        self.line(f"if ({r.test}) {{")
        self.numbers.append(c.text)
        self.fixed.add(c.text)
        self.places(c.text)
        self.body(0, 1, returns)
        self.numbers.remove(c.text)
        self.line(f"{r.step};")
        self.line(f"goto {label};")
        self.line("}")

    def object_loop(self, depth: int, returns: bool) -> None:
        """A loop that an object counts."""
        made = self.name("steps")
        first, last, by = self.begin(), self.bound(), self.choose("1", "2", "3")
        kind = self.number(0, 5)
        if kind == 0:
            x = self.name("x")
            self.line(f"for (int {x} : Span{{(int)({first}), (int)({last}), {by}}}) {{")
            self.inside(x, depth, returns)
            self.line("}")
            return
        self.line(f"Steps {made}{{(int)({first}), (int)({last}), {by}}};")
        read = f"{made}.at"
        if kind == 1:
            self.line(f"for (; {made}.more(); {made}.next()) {{")
        elif kind == 2:
            self.line(f"for (; {made}; ++{made}) {{")
        elif kind == 3:
            self.line(f"while ({made}.more()) {{")
            read = self.name("x")
            self.line(f"const int {read} = {made}.take();")
        elif kind == 4:
            self.line(f"while ({made}) {{")
            self.line(f"++{made};")
        else:
            self.line(f"auto {made}f = [&]() {{ return {made}.at < {made}.last; }};")
            self.line(f"auto {made}g = [&](int by) {{ {made}.at += by; }};")
            self.line(f"for (; {made}f(); {made}g({self.choose('1', by, self.by_lane())})) {{")
        self.inside(read, depth, returns)
        self.line("}")
        self.made_number(f"{made}.at & 63")

    def called_loop(self, depth: int, returns: bool) -> None:
        """A loop in a function, or that a function drives."""
        m = self.name("m")
        kind = self.number(0, 6)
        if kind == 0:
            at = f"({self.small()})"
            self.made_number(
                f"walked(t + {at}, (int)({self.bound()}), {self.choose('32', '33', '2', 'lane')})"
            )
        elif kind == 1:
            self.made_number(f"halved(t + {self.choose('0', '512')}, {self.known(1)} & 127)")
        elif kind == 2:
            self.made_number(f"rolled_up<{self.number(1, 6)}>(t, {self.known(1)} & 63)")
        elif kind in (3, 4):
            self.line(f"int {m} = {self.small()};")
            x = self.name("x")
            body = self.choose(
                f"t[({m} + {x} * 32) & 4095] = acc; {m} += {x};",
                f"if (({x} ^ lane) & 1) return; t[({m} * 2) & 4095] = acc; {m}++;",
                f"{m} ^= {x} + 1; acc += t[({m} * 4 + lane) & 4095];",
            )
            bound = f"count_to((int)({self.bound()}), " if kind == 3 else f"each_of<0, {self.number(1, 5)}>("
            self.line(f"{bound}[&](int {x}) {{ {body} }});")
            self.kept(m)
        elif kind == 5:
            self.line(f"int {m} = {self.begin()};")
            self.line(f"while (go_on({m}, (int)({self.bound()}))) {{")
            self.inside(m, depth, returns)
            self.line("}")
            self.use(m)
        else:
            x = self.name("x")
            self.line(f"int {m} = 0;")
            self.line(f"auto {m}f = [&](int {x}) {{ {m} += {x}; return {m} < (int)({self.bound()}); }};")
            self.line(f"while ({m}f({self.choose('1', '2', self.by_lane())})) {{")
            self.inside(m, depth, returns)
            self.line("}")
            self.use(m)

    def nest(self, depth: int, returns: bool) -> None:
        """Loops in each other that share what they count by."""
        i, j = self.name("i"), self.name("j")
        outer = self.choose(
            f"for (int {i} = 2; {i} <= {self.choose('8', '16', 'BM')}; {i} *= 2) {{",
            f"for (int {i} = {self.begin()}; {i} < {self.number(2, 4)}; {i}++) {{",
            f"for (int {i} = {self.choose('16', '8')}; {i} > 1; {i} >>= 1) {{",
            f"for (int {i} = 0; {i} < {self.number(20, 90)}; {i} += {self.number(8, 40)}) {{",
        )
        inner = self.choose(
            f"for (int {j} = {i} / 2; {j} > 0; {j} /= 2) {{",
            f"for (int {j} = {i}; {j} < {i} + 3; {j}++) {{",
            f"for (int {j} = 0; {j} < min({i}, {self.choose('3', self.lanes())}); {j}++) {{",
            f"for (int {j} = {i}; {j}-- > 0 && {j} > {i} - 4; ) {{",
            f"for (int {j} = lane % ({i} + 1); {j} < {i} && {j} < 6; {j} += {self.choose('1', '2')}) {{",
        )
        self.line(outer)
        if self.chance(30):
            self.places(i)
        self.line(inner)
        other = self.choose(f"(lane ^ {j})", f"(lane + {j})", f"(tid ^ {j})")
        if self.chance(40):
            self.line(f"if ({other} > {self.choose('lane', 'tid', '20')} && (lane & {i}) == 0) {{")
            self.moved(f"t[{other} & 4095]", f"t[({other} * {self.choose('2', '33')}) & 4095]")
            self.line("}")
        self.inside(f"({i} + {j})", depth - 1, returns)
        self.line("}")
        if self.chance(40):
            self.line(f"if ({self.leaving(i)}) {self.choose('break', 'continue')};")
        self.line("}")


def loop_head() -> str:
    """What such a kernel begins with, up to its shared variables."""
    head = CXX_HEAD + MODERN_HEAD + ORDINARY_HEAD + WIDER_HEAD + ODD_HEAD + LIBRARY_HEAD
    return head + TEMPLATE_HEAD + LOOP_HEAD + KERNEL.format()


def loop_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `library_program`, with these loops."""
    writer = LoopWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    writer.access()
    shared = ORDINARY_SHARED.format() + "__shared__ Count counts[64];\n__shared__ Part parts[64];\n"
    shared += "__shared__ __half2 duos[512];\n" + LIBRARY_SHARED
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", loop_head() + shared)
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(unknown), 5)
    return Program(text, block, n, bm, type_, block_index=at if data or unknown else 0)
