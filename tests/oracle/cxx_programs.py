"""Random kernels with what C does not have: references, templates, lambdas, methods, accessor macros."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.drawing import Draw, Program
from oracle.programs import Writer

CXX_HEAD = """#define FLOAT4(x) (reinterpret_cast<float4 *>(&(x))[0])
#define AT(r, k) t[(r) * 33 + (k)]
constexpr int kPad = 1;
template <int S> struct Tile {
  static constexpr int kStride = S + kPad;
  float *base;
  __device__ Tile(float *b, int o = 1) : base(b + o) {}
  __device__ float &at(int i, int j) { return base[i * kStride + j]; }
  __device__ float *row(int i) const { return base + i * S; }
  __device__ float &operator()(int i, int j) { return base[i * S + (i ^ j)]; }
  static __device__ int flat(int i, int j) { return i * kStride + j; }
};
struct Cursor { int x; int y; __device__ void move(int d) { x += d; y ^= d; } };
template <typename E> struct Ring {
  E *data;
  int head;
  __device__ E &next() { head = (head + 1) & 7; return data[head * 32]; }
};
struct Scaled { int by; int plus; __device__ int operator()(int i) const { return i * by + plus; } };
__device__ int hashed(unsigned long long x, int shift) {
  x ^= x >> 31;
  x *= 0x9E3779B97F4A7C15ull;
  return (int)(x >> shift);
}
enum Small : unsigned char { kOne = 1, kTwo, kMany = 40 };
enum class Far : long long { Near = 3, Away = 1LL << 33 };
struct Task { Small kind; Far at; short id; };
struct Inner { char tag; struct { short lo, hi; } ends; };
struct Outer : Inner { int more; Inner last; };
template <typename V, int N> struct List {
  V items[N];
  __device__ V *begin() { return items; }
  __device__ V *end() { return items + N; }
  __device__ V &operator[](int i) { return items[i]; }
};
__device__ int falls(int x, int m) {
  int r = 0;
  switch (m & 3) {
  case 3: r += x;
  case 2: r += 2;
    if (x & 4) break;
  case 1: r *= 3; return r & 63;
  default: r = x >> 1;
  }
  return r & 127;
}
template <typename P> __device__ P *shift(P *p, int k) { return p + k; }
template <int N> __device__ int wrapped(int i) { return i & (N - 1); }
template <typename V> __device__ V larger(V a, V b) { return a > b ? a : b; }
__device__ void bump(int &x, int by = 3) { x += by; }
__device__ void swap(int &a, int &b) { int c = a; a = b; b = c; }
__device__ int deep(int d, int i) { if (d == 0) return i; return deep(d - 1, i * 2 + 1); }
template <int W> __device__ float sum(const float *p) {
  float s = 0;
  for (int j = 0; j < W; j++) s += p[j];
  return s;
}
"""

KERNEL = """template <int BM, typename T> __global__ void k(float *out, int n) {{
extern __shared__ __align__(16) unsigned char pool[];
__shared__ T w[BM][BM + 1];
float *u = reinterpret_cast<float *>(pool);
double *g = reinterpret_cast<double *>(u + 512);
constexpr int kHalf = BM / 2;
__shared__ Task tasks[64];
__shared__ Outer outers[64];
__shared__ List<int, 9> lists[32];
"""


@dataclass(slots=True)
class CxxWriter(Writer):
    """Draws the additional forms besides those of C."""

    def place(self) -> tuple[str, bool]:
        kind = self.number(0, 15)
        if kind == 13:
            return f"tasks[{self.index(64, 1)}].id", True
        if kind == 14:
            member = self.choose("tag", "ends.lo", "ends.hi", "more", "last.ends.hi", "last.tag")
            return f"outers[{self.index(64, 1)}].{member}", True
        if kind == 15:
            return f"lists[{self.index(32, 1)}][{self.expr(1)} & 7]", True
        if kind <= 2:
            return f"w[{self.index_mod('BM')}][{self.index_mod('BM')}]", True
        if kind == 3:
            return f"u[{self.index(512)}]", True
        if kind == 4:
            return f"g[{self.index(256)}]", True
        if kind == 5:
            return f"Tile<{self.choose('32', '64', 'BM')}>(t).at({self.index(32)}, {self.index(32)})", True
        if kind == 6:
            return f"*shift(&t[{self.index(1024)}], {self.index(64, 1)})", True
        if kind == 7:
            return f"AT({self.index(32)}, {self.leaf()} & 31)", True
        if kind == 8:
            return f"(*reinterpret_cast<T *>(pool + ({self.index(256)}) * sizeof(T)))", True
        return super(CxxWriter, self).place()

    def index_mod(self, name: str) -> str:
        return f"(unsigned)({self.expr(2)}) % {name}"

    def leaf(self) -> str:
        if self.chance(12):
            return self.choose(
                "BM",
                "kHalf",
                "(int)sizeof(T)",
                "Tile<16>::kStride",
                "kPad",
                "(int)sizeof(Task)",
                "(int)kMany",
                "(int)Far::Near",
            )
        return super(CxxWriter, self).leaf()

    def expr(self, depth: int = 2) -> str:
        if depth and self.chance(12):
            a, known = self.expr(depth - 1), self.known(depth - 1)
            return self.choose(
                f"wrapped<64>({a})",
                f"wrapped<BM>({a})",
                f"larger<int>({known}, {self.known(0)})",
                f"larger((int)({known}), 5)",
                f"Tile<32>::flat({a} & 7, {self.leaf()})",
                f"static_cast<unsigned>({a})",
                f"deep({self.number(0, 3)}, {a} & 15)",
                f"falls({a}, {self.leaf()})",
            )
        return super(CxxWriter, self).expr(depth)

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(35):
            super(CxxWriter, self).statement(depth, returns)
            return
        writable = [v for v in self.numbers if v not in self.fixed and v.startswith("m")]
        kind = self.number(0, 22)
        if kind > 18:
            self.rows_and_records(kind)
        elif kind > 12:
            self.later_form(kind, depth, returns)
        elif kind == 0:
            made = self.name("m")
            self.line(f"int {made} = {self.expr(2)};")
            self.numbers.append(made)
        elif kind == 1 and writable:
            made = self.name("r")
            self.line(f"int &{made} = {self.choose(*writable)};")
            self.line(f"{made} += {self.expr(1)};")
        elif kind == 2 and writable:
            a, b = self.choose(*writable), self.choose(*writable)
            self.line(self.choose(f"bump({a});", f"bump({a}, {self.leaf()});", f"swap({a}, {b});"))
        elif kind == 3:
            made = self.name("f")
            place, plain = self.place()
            if plain:
                self.line(f"auto &{made} = {place};")
                self.line(self.choose(f"{made} = 1;", f"acc += {made};", f"{made} += 2;"))
        elif kind == 4:
            made = self.name("l")
            captured = self.leaf()
            self.line(f"auto {made} = [&](int a) {{ return a * {self.number(1, 5)} + {captured}; }};")
            result = self.name("m")
            self.line(f"int {result} = {made}({self.expr(1)}) + {made}(1);")
            self.numbers.append(result)
        elif kind == 5:
            made = self.name("l")
            self.line(f"auto {made} = [&](int i, float v) {{ t[i & 1023] = v; }};")
            self.line(f"{made}({self.expr(2)}, acc);")
        elif kind == 6:
            made = self.name("tile")
            self.line(f"Tile<{self.choose('32', 'BM', '48')}> {made}(t);")
            i, j = self.index(32, 1), self.index(32, 1)
            self.line(
                self.choose(
                    f"{made}.at({i}, {j}) = acc;",
                    f"acc += {made}.row({i})[{j}];",
                    f"{made}({i}, {j}) = 1;",
                    f"acc += sum<3>({made}.row({i}));",
                )
            )
        elif kind == 7:
            self.line(f"FLOAT4(t[({self.index(512)}) * 4]) = FLOAT4(u[({self.index(128)}) * 4]);")
        elif kind == 8:
            made = self.name("p")
            self.line(f"auto *{made} = shift(t, {self.index(512)});")
            self.pointers.append(made)
        elif kind == 9:
            made = self.name("cur")
            self.line(f"Cursor {made} = {{{self.leaf()}, {self.leaf()}}};")
            self.line(f"{made}.move({self.expr(1)});")
            self.numbers += [f"{made}.x", f"{made}.y"]
        elif kind == 10:
            made = self.name("ring")
            self.line(f"Ring<float> {made}{{t + ({self.index(256)}), {self.number(0, 7)}}};")
            self.line(f"for (int z = 0; z < 2; z++) {made}.next() = acc;")
        elif kind == 11:
            self.line(f"if constexpr (BM > {self.choose('8', '16', '64')}) {{")
            self.body(0, 1, returns)
            self.line("} else {")
            self.body(0, 1, returns)
            self.line("}")
        else:
            self.assembly()

    def later_form(self, kind: int, depth: int, returns: bool) -> None:
        """Copies that lambdas and functors keep, hashes, and loops and jumps of unusual forms."""
        writable = [v for v in self.numbers if v not in self.fixed and v.startswith("m")]
        if kind == 13 and writable:
            kept = self.choose(*writable)
            made, result = self.name("l"), self.name("m")
            self.line(f"auto {made} = [{self.choose('=', kept)}](int a) {{ return a + {kept}; }};")
            self.line(f"{kept} += {self.number(1, 9)};")
            self.line(f"int {result} = {made}({self.expr(1)});")
            self.numbers.append(result)
        elif kind == 14:
            made, result = self.name("scaled"), self.name("m")
            self.line(f"Scaled {made}{{{self.number(1, 5)}, {self.leaf()}}};")
            self.line(f"int {result} = {made}({self.expr(1)}) & 1023;")
            self.numbers.append(result)
        elif kind == 15:
            result = self.name("m")
            mask = self.choose("31", "255", "1023")
            self.line(
                f"int {result} = hashed({self.known(2)}, {self.choose('7', '33', '40', '52')}) & {mask};"
            )
            self.numbers.append(result)
        elif kind == 16:
            made = self.name("over")
            self.line(f"if ({self.condition()}) goto {made};")
            self.line("{")
            self.body(0, 2, returns)
            self.line("}")
            self.line(f"{made}: ;")
        elif kind == 17 and depth:
            made = self.name("w")
            self.line(f"int {made} = {self.number(0, 2)};")
            self.line("while (true) {")
            self.body(0, 2, returns)
            limit = self.choose(str(self.number(1, 4)), f"({self.known(0)} & 3)")
            self.line(f"if (++{made} > {limit}) break;")
            self.set_something()
            self.line("}")
        elif depth:
            made = self.name("j")
            start = self.choose("0", "threadIdx.x & 3")
            self.line(f"for (int {made} = {start}; {made} <= (int)(threadIdx.x & 7); {made}++) {{")
            self.numbers.append(made)
            self.fixed.add(made)
            self.body(0, 2, returns)
            self.numbers.remove(made)
            self.line("}")

    def rows_and_records(self, kind: int) -> None:
        """References to rows, loops over a range, records of nested and small members."""
        made = self.name("row")
        if kind == 19:
            self.line(f"auto &{made} = w[{self.index_mod('BM')}];")
            self.line(
                self.choose(f"{made}[{self.index_mod('BM')}] = 1;", f"acc += {made}[threadIdx.x % BM];")
            )
        elif kind == 20:
            at = self.index(32, 1)
            self.line(f"for (int {made} : lists[{at}]) acc += {made};")
        elif kind == 21:
            at, member = self.index(64, 1), self.choose("kind = kTwo", "at = Far::Away", "id = 4")
            self.line(f"tasks[{at}].{member};")
        else:
            value = self.name("m")
            self.line(f"Inner {made}{{1, {{(short)({self.expr(1)}), 7}}}};")
            self.line(f"int {value} = {made}.ends.{self.choose('lo', 'hi')} & 255;")
            self.numbers.append(value)

    def assembly(self) -> None:
        """Inline PTX on an address made by __cvta_generic_to_shared."""
        made = self.name("a")
        place = f"t[({self.index(512)}) * 4]"
        self.line(f"unsigned {made} = static_cast<unsigned>(__cvta_generic_to_shared(&{place}));")
        r = self.name("v")
        kind = self.number(0, 4)
        if kind == 0:
            self.line(f'float {r}; asm volatile("ld.shared.f32 %0, [%1];" : "=f"({r}) : "r"({made}));')
        elif kind == 1:
            self.line(
                f'asm volatile("st.shared.v4.f32 [%0+16], {{%1, %1, %1, %1}};" :: "r"({made}), "f"(acc));'
            )
        elif kind == 2:
            text = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
            self.line(f"unsigned {r}[4];")
            outputs = ", ".join(f'"=r"({r}[{i}])' for i in range(4))
            self.line(f'asm volatile("{text}" : {outputs} : "r"({made}));')
        elif kind == 3:
            text = "{ .reg .u32 q; add.u32 q, %0, %1; st.shared.f32 [q], %2; }"
            self.line(f'asm volatile("{text}" :: "r"({made}), "r"({self.number(0, 9)} * 4), "f"(acc));')
        else:
            self.line(f'unsigned {r}; asm("mov.u32 %0, %%laneid;" : "=r"({r}));')
            self.numbers.append(r)


def cxx_program(draw: Draw) -> Program:
    """A kernel `k<BM, T>(out, n)`: BM and T are in the launch's template arguments."""
    writer = CxxWriter(draw)
    block = writer.statements()
    writer.access()
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", CXX_HEAD + KERNEL.format())
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    return Program(text, block, writer.number(1, 9), bm, type_)
