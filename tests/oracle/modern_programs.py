"""Random kernels in the style of production code: accessor classes with state, helpers that return early,
bit-fields, bindings, tables of pointers, predicated PTX, loops that lanes leave one after the other."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.cxx_programs import CXX_HEAD, KERNEL, CxxWriter
from oracle.drawing import Draw, Program

MODERN_HEAD = """struct Bits {
  unsigned a : 5; unsigned b : 11; int c : 7; unsigned char d : 3; unsigned long long e : 40;
};
struct __attribute__((packed)) Packed { char tag; int at; short id; };
struct Point { int x, y; short z; };
enum class Mode { Plain, Skewed, Swizzled };
template <typename V> struct Trait {
  static constexpr int kVec = 16 / sizeof(V); static constexpr int kPad = 1;
};
template <> struct Trait<short> { static constexpr int kVec = 8; static constexpr int kPad = 2; };
__device__ constexpr int log2_of(int x) { int r = 0; while (x > 1) { x >>= 1; r++; } return r; }
__device__ int stride_of(Mode m) {
  switch (m) { case Mode::Plain: return 32; case Mode::Skewed: return 33; default: break; }
  return 40;
}
struct Stage {
  float *base;
  int stage = 0, count = 0;
  __device__ explicit Stage(float *b) : base(b) {}
  __device__ float *now() const { return base + (stage & 1) * 512; }
  __device__ void advance(int by = 1) { if (by == 0) return; stage ^= 1; count += by; }
  __device__ bool full(int limit) const { return count >= limit; }
};
template <Mode M, int LD> struct View {
  float *p;
  static __device__ int at(int r, int c) {
    if constexpr (M == Mode::Swizzled) return r * LD + (c ^ (r & 7));
    else return r * (LD + (M == Mode::Skewed)) + c;
  }
  __device__ float &operator()(int r, int c) const { return p[at(r, c)]; }
};
using Swizzled = View<Mode::Swizzled, 32>;
__device__ void guarded(float *p, int i, int m) {
  if (m & 2) return;
  p[i & 511] = 1;
  if (i & 1) return;
  p[(i * 2) & 511] += 1;
}
__device__ int find(int x, int m) {
  for (int i = 0; i < 5; i++) {
    if ((x >> i) & m & 1) return i * 8;
    if (x < i) { x += 3; continue; }
    m ^= 1;
  }
  return x & 31;
}
__device__ float looked(const float *p, int i, int limit) {
  float sum = 0;
  while (i < limit) { if (i == 13) break; sum += p[i & 511]; i += 7; }
  return sum;
}
__device__ unsigned rotated(unsigned long long h, int k) {
  h = (h << (k & 63)) | (h >> ((64 - k) & 63));
  return (unsigned)(h ^ (h >> 32));
}
__device__ Point shifted(Point p, int d) { if (d == 0) return p; p.x += d; p.z ^= 1; return p; }
"""


@dataclass(slots=True)
class ModernWriter(CxxWriter):
    """Draws these forms besides those of C++."""

    def expr(self, depth: int = 2) -> str:
        if depth and self.chance(10):
            a = self.known(depth - 1)
            return self.choose(
                f"find({a}, {self.number(0, 7)})",
                f"(int)(rotated({a} + 77, {self.leaf() if not self.unknown else self.number(1, 60)}) & 127)",
                "log2_of(BM)",
                "Trait<T>::kVec",
                f"stride_of(static_cast<Mode>(({a}) & 3))",
                f"Swizzled::at(({a}) & 15, {self.leaf()} & 31)",
                "(int)sizeof(Packed)",
                f"(int)((1ULL << (({a}) & 63)) >> 5 & 63)",
            )
        return super(ModernWriter, self).expr(depth)

    def condition(self, depth: int = 1) -> str:
        if self.chance(12):
            warp = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32"
            lane = "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32"
            return self.choose(f"{warp} == 0", f"{warp} != 1", f"{lane} == 0", f"{lane} < 12", f"{lane} & 4")
        return super(ModernWriter, self).condition(depth)

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(35):
            super(ModernWriter, self).statement(depth, returns)
        elif self.chance(50):
            self.values(self.number(0, 8))
        elif self.chance(50):
            self.accesses(self.number(0, 8))
        elif depth:
            self.control(self.number(0, 6), returns)

    def whole_number(self, value: str) -> None:
        made = self.name("m")
        self.line(f"int {made} = {value};")
        self.numbers.append(made)

    def values(self, kind: int) -> None:
        made = self.name("v")
        if kind == 0:
            self.line(f"Bits {made} = {{}};")
            for member in (self.choose("a", "b"), self.choose("c", "d"), "e"):
                self.line(f"{made}.{member} = {self.expr(1)};")
            self.line(f"{made}.{self.choose('a', 'b', 'c')} += {self.number(1, 40)};")
            self.numbers += [f"{made}.a", f"{made}.c", f"(int){made}.e"]
        elif kind == 1:
            self.line(f"Packed {made} = {{1, {self.expr(1)}, (short)({self.leaf()})}};")
            self.line(f"((unsigned char *)&{made})[{self.number(1, 6)}] = {self.leaf()};")
            self.numbers += [f"{made}.at", f"{made}.id"]
        elif kind == 2:
            self.line(f"Point {made}{{(int)({self.expr(1)}), (int)({self.leaf()}), 5}};")
            x, y, z = (self.name("y") for _ in range(3))
            self.line(f"auto [{x}, {y}, {z}] = shifted({made}, {self.deciding()} & 3);")
            self.numbers += [x, y, z]
            self.fixed |= {x, y, z}
        elif kind == 3:
            self.line(f"const int {made}[4] = {{{self.leaf()}, {self.number(0, 40)}, 32, 33}};")
            self.whole_number(f"{made}[{self.expr(1)} & 3]")
        elif kind == 4:
            self.line(f"int {made} = {self.known(1)} & 31;")
            self.line(f"auto f{made} = [={self.choose('', ', &acc')}](int i) {{")
            self.line(f"if (i > {self.number(1, 9)}) return i + {made};")
            self.line(f"return {made} * 2;")
            self.line("};")
            self.line(f"{made} ^= 5;")
            self.whole_number(f"f{made}({self.expr(1)})")
        elif kind == 5:
            self.line(f"int {made} = 0, lo{made} = 0, hi{made} = 16;")
            self.line(f"while (lo{made} < hi{made}) {{")
            self.line(f"{made} = (lo{made} + hi{made}) / 2;")
            self.line(f"if ({made} * {made} > (int)({self.known(1)})) hi{made} = {made};")
            self.line(f"else lo{made} = {made} + 1;")
            self.line("}")
            self.numbers += [f"lo{made}", made]
            self.fixed |= {f"lo{made}", made}
        elif kind == 6:
            self.line(f"int {made} = 0;")
            self.line(f"for (unsigned b{made} = {self.known(1)} & 127; b{made}; b{made} &= b{made} - 1)")
            self.line(f"{made} += {self.choose('1', '3', f'(int)b{made}')};")
            self.numbers.append(made)
        elif kind == 7:
            self.line(f"int {made} = {self.leaf()};")
            self.line("do {")
            self.line(f"if ({self.condition()}) break;")
            self.line(f"{made} = {self.leaf()};")
            self.line(f"if ({self.condition()}) {{ {made} *= 2; break; }}")
            self.line(f"{made} += {self.number(1, 7)};")
            self.line("} while (0);")
            self.numbers.append(made)
        else:
            self.line(f"Cursor {made} = {{{self.leaf()}, {self.leaf()}}};")
            self.line(f"auto &[x{made}, y{made}] = {made};")
            self.line(f"x{made} += {self.number(1, 9)};")
            self.numbers += [f"{made}.x", f"{made}.y"]

    def accesses(self, kind: int) -> None:
        made = self.name("w")
        if kind == 0:
            base = self.choose("t", "t + 512", "u", *self.pointers)
            self.line(f"guarded({base}, {self.expr(1)}, {self.deciding()});")
        elif kind == 1:
            limit = self.number(8, 40)
            self.line(f"acc += looked(t, {self.known(1)} & 31, {limit});")
        elif kind == 2:
            self.line(f"Stage {made}({self.choose('t', 'u', 't + 1024')});")
            self.line(f"for (int i{made} = 0; i{made} < 3; i{made}++) {{")
            self.line(f"{made}.now()[{self.index(512, 1)}] = acc;")
            self.line(f"if ({made}.full({self.number(1, 3)})) break;")
            self.line(f"{made}.advance({self.choose('1', '2', f'({self.known(0)} & 1)')});")
            self.line("}")
            self.line(f"acc += {made}.now()[{self.index(512, 1)}];")
        elif kind == 3:
            mode = self.choose("Plain", "Skewed", "Swizzled")
            self.line(f"View<Mode::{mode}, {self.choose('32', 'BM')}> {made}{{t}};")
            self.line(f"{made}({self.index(32, 1)}, {self.leaf()} & 31) {self.choose('=', '+=')} 1;")
        elif kind == 4:
            self.line(f"float *{made}[2] = {{{self.choose('t', '&q[0][0]')}, t + 1024}};")
            self.line(f"{made}[{self.known(1)} & 1][{self.index(512, 1)}] = acc;")
            self.line(f"{made}[0] = {made}[1];")
            self.line(f"acc += {made}[0][{self.index(512, 1)}];")
        elif kind == 5:
            other = self.choose("t", "&q[0][0]")
            self.line(f"auto *{made} = {self.condition()} ? t + ({self.index(256, 1)}) : {other};")
            self.line(f"{made}[{self.index(512, 1)}] = acc;")
            self.pointers.append(made)
        elif kind == 6:
            self.predicated(made)
        elif kind == 7:
            lane = "(int)threadIdx.x"
            self.line(f"for (int o{made} = {self.choose('16', '8', 'BM')}; o{made} > 0; o{made} /= 2) {{")
            self.line(f"if ({lane} < o{made}) t[{lane}] += t[{lane} + o{made}];")
            self.line("}")
        else:
            self.line(f"auto {made} = [&](int r, int c) -> float * {{")
            self.line(f"if (r & {self.choose('1', '8')}) return &q[r & 31][c & 31];")
            self.line("return &t[(r * 33 + c) & 4095];")
            self.line("};")
            self.line(f"*{made}({self.expr(1)}, {self.leaf()}) = acc;")

    def predicated(self, made: str) -> None:
        """A store under a predicate of PTX, as libraries write them."""
        place = f"t[({self.index(512)}) * 4]"
        self.line(f"unsigned {made} = static_cast<unsigned>(__cvta_generic_to_shared(&{place}));")
        test = self.choose("ne", "eq", "lt", "ge")
        sign = self.choose("", "!")
        compared = f"setp.{test}.s32 p, %0, {self.number(0, 8)};"
        text = f"{{ .reg .pred p; {compared} @{sign}p st.shared.f32 [%1], %2; }}"
        self.line(f'asm volatile("{text}" :: "r"((int)({self.known(1)} & 15)), "r"({made}), "f"(acc));')

    def control(self, kind: int, returns: bool) -> None:
        made = self.name("g")
        if kind == 0:
            self.line(f"int {made} = {self.number(0, 2)};")
            self.line(f"again{made}: ;")
            self.line("{")
            self.body(0, 1, returns)
            self.line("}")
            self.line(f"if (++{made} < {self.choose('2', '3', f'({self.known(0)} & 3)')}) goto again{made};")
            self.numbers.append(made)
            self.fixed.add(made)
        elif kind == 1:
            self.line(f"switch (static_cast<Mode>({self.deciding()} & 3)) {{")
            for label in ("Mode::Plain", "Mode::Skewed"):
                self.line(f"case {label}: {{")
                self.body(0, 1, returns)
                self.set_something()
                self.line("}")
                self.line(self.choose("break;", ""))
            self.line(self.choose("default: acc += 1;", "default: break;"))
            self.line("}")
        elif kind == 2:
            self.line(f"for (int {made} = {self.known(0)} & 3; ; {made} += {self.choose('1', '2')}) {{")
            self.numbers.append(made)
            self.fixed.add(made)
            self.line(f"if ({made} > {self.number(3, 5)}) break;")
            self.body(0, 1, returns)
            self.line(f"if ({self.condition()}) {{")
            self.set_something()
            self.line(self.choose("break;", "continue;"))
            self.line("}")
            self.set_something()
            self.numbers.remove(made)
            self.line("}")
        elif kind == 3:
            self.line(f"for (int {made} = 0; {made} < 3; {made}++) {{")
            self.line(f"for (int n{made} = 0; n{made} < 4; n{made}++) {{")
            self.line(f"if (n{made} == {made} + {self.number(0, 2)}) break;")
            self.line(f"t[({made} * 32 + n{made} + {self.expr(1)}) & 4095] = acc;")
            self.line("}")
            self.line(f"if ({self.condition()}) continue;")
            self.body(0, 1, returns)
            self.line("}")
        elif kind == 4 and returns:
            self.line(f"if ({self.condition()}) {{")
            self.set_something()
            self.body(0, 1, returns)
            self.line(self.choose("return;", "return;", ""))
            self.line("}")
        elif kind == 5:
            self.line(f"if (const int {made} = {self.known(1)} & 7; {made} > {self.number(1, 4)}) {{")
            self.numbers.append(made)
            self.fixed.add(made)
            self.body(0, 1, returns)
            self.numbers.remove(made)
            self.line("}")
        else:
            self.line(f"int {made} = {self.known(1)} & 7;")
            self.line(f"while ({made}-- > 0) {{")
            self.body(0, 1, returns)
            self.line("}")


def modern_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `cxx_program`, of these forms."""
    writer = ModernWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    writer.access()
    head = CXX_HEAD + MODERN_HEAD + KERNEL.format()
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", head)
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(unknown), 5)
    return Program(text, block, n, bm, type_, block_index=at if data or unknown else 0)
