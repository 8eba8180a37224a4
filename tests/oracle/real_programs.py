"""Random kernels put together from what real kernels do one after the other: tiles that are loaded, used and
loaded again, reductions, scans, sorts, halos, histograms, transposes, butterflies, wavefronts, memory carved
from one buffer, warps with roles, tables, branches by an argument, with barriers between.
"""

from __future__ import annotations

from dataclasses import dataclass

from oracle.drawing import Draw, Program
from oracle.library_programs import LIBRARY_SHARED
from oracle.loop_programs import LoopWriter, loop_head
from oracle.ordinary_head import ORDINARY_SHARED

REAL_HEAD = """#define IDX(r, c, ld) ((r) * (ld) + (c))
#define PADDED(i) ((i) + ((i) >> 5))
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
__constant__ int kTaps[8] = {0, 3, 1, 7, 2, 6, 5, 4};
__constant__ unsigned char kZigzag[16] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
__device__ const short kOffsets[4][2] = {{0, 1}, {1, 0}, {-1, 2}, {2, -1}};
template <typename E, int R, int C> __device__ void fill_tile(E (&tile)[R][C], int first, int step) {
  for (int i = first; i < R * C; i += step) tile[i / C][i % C] = E(1);
}
template <int LD, typename E> __device__ void copy_rows(E *to, const E *from, int r, int c) {
#pragma unroll
  for (int i = 0; i < 4; i++) to[(r + i * 4) * LD + c] = from[(r + i * 4) * LD + c];
}
template <int B, int M, int S> struct Swizzle {
  static constexpr int mask = ((1 << B) - 1) << (M + S);
  static __device__ int at(int x) { return x ^ ((x & mask) >> S); }
};
template <int M, int S> struct Swizzle<0, M, S> { static __device__ int at(int x) { return x; } };
template <int R, int C> struct RowMajor {
  static constexpr int size = R * C;
  __device__ int operator()(int r, int c) const { return r * C + c; }
};
template <int R, int C> struct ColumnMajor {
  static constexpr int size = R * C;
  __device__ int operator()(int r, int c) const { return c * R + r; }
};
template <int R, int C, int P> struct PaddedRows {
  static constexpr int size = R * (C + P);
  __device__ int operator()(int r, int c) const { return r * (C + P) + c; }
};
template <typename E, typename L> struct Tensor {
  E *p; L layout;
  __device__ E &operator()(int r, int c) const { return p[layout(r, c)]; }
  __device__ E *row(int r) const { return &p[layout(r, 0)]; }
};
template <typename E, int W> struct alignas(sizeof(E) * W) Chunk {
  E v[W];
  __device__ E &operator[](int i) { return v[i]; }
};
struct Buffer {
  unsigned char *at;
  template <typename E> __device__ E *take(int count) {
    E *p = reinterpret_cast<E *>(at);
    at += (count * sizeof(E) + 15) / 16 * 16;
    return p;
  }
};
struct Storage {
  alignas(16) float a[2][16][20];
  short index[96];
  union { float wide[64]; int narrow[64]; unsigned short half[128]; } mix;
  double sums[8];
};
__device__ int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }
__device__ int clamped(int i, int low, int high) { return min(max(i, low), high); }
__device__ unsigned bits_of(unsigned x, int from, int count) { return (x >> from) & ((1u << count) - 1); }
__device__ int reversed(int x, int bits) { return (int)(__brev((unsigned)x) >> (32 - bits)); }
__device__ int morton(int x, int y) {
  int r = 0;
  for (int i = 0; i < 4; i++) r |= ((x >> i) & 1) << (2 * i) | ((y >> i) & 1) << (2 * i + 1);
  return r;
}
"""

REAL_SHARED = """__shared__ T as[BM][BM + 1];
__shared__ float bs[2][32][36];
__shared__ float cube[4][6][33];
__shared__ int2 keyed[256];
__shared__ unsigned short us[1024];
__shared__ float4 quads[128];
__shared__ long long ll[256];
__shared__ float stage[3][512];
const int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
const int tx = threadIdx.x, ty = threadIdx.y;
"""

REAL_BLOCKS = (
    (32, 1, 1), (32, 1, 1), (64, 1, 1), (64, 1, 1), (32, 2, 1), (16, 2, 1), (8, 8, 1), (16, 4, 1), (8, 4, 1),
    (8, 4, 2), (96, 1, 1), (128, 1, 1), (4, 8, 1), (16, 16, 1),
)  # fmt: skip


@dataclass(slots=True)
class RealWriter(LoopWriter):
    """Draws these phases, with all other forms between."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(70):
            super(RealWriter, self).statement(depth, False)
            return
        simple = (
            self.layouts, self.chunks, self.storage, self.carved, self.tables, self.borders, self.keys,
            self.counters, self.swizzles, self.bits, self.vectors_at, self.cubes, self.three_stages,
        )  # fmt: skip
        phases = (
            self.tile_loop, self.flat_copy, self.reduction, self.scan, self.bitonic, self.halo,
            self.histogram, self.transpose, self.butterflies, self.wavefront, self.roles, self.by_argument,
            self.counted_votes, self.register_tile,
        )  # fmt: skip
        forms = simple if depth < 2 else phases + simple
        forms[self.number(0, len(forms) - 1)]()

    def statements(self) -> tuple[int, int, int]:
        super(RealWriter, self).statements()
        return self.draw.pick(REAL_BLOCKS)

    def unless_unknown(self, *options: str) -> tuple[str, ...]:
        """Sizes in guards: those that nobody knows are taken to be large enough, on purpose."""
        return () if self.unknown else options

    def sync(self) -> None:
        self.line("__syncthreads();")

    def spread(self) -> tuple[str, str]:
        """A row and a column that a thread takes from its number."""
        w = self.choose("8", "16", "32", "BM", "4")
        return self.draw.pick(
            (
                (f"(tid / {w})", f"(tid % {w})"),
                (f"(tid % {w})", f"(tid / {w})"),
                ("ty", "tx"),
                ("tx", "ty"),
                ("(lane >> 3)", "(lane & 7)"),
                ("(lane / 4 + warp * 8)", "(lane % 4 * 2)"),
                ("(warp * 4 + (lane & 3))", "(lane >> 2)"),
            )
        )

    # Phases

    def tile_loop(self) -> None:
        k0, k = self.name("k"), self.name("k")
        last = self.choose("2 * BM", "BM", "3 * BM", *self.unless_unknown("m", "CEIL_DIV(m, BM) * BM"))
        buffer = self.choose("0", f"({k0} / BM & 1)", f"({k0} >> 4) % 2")
        self.line(f"for (int {k0} = 0; {k0} < {last}; {k0} += BM) {{")
        r, c = self.spread()
        self.line(
            self.choose(
                "fill_tile(as, tid, threads);",
                f"as[{r} % BM][{c} % BM] = T({k0});",
                "if (tx < BM && ty < BM) as[ty][tx] = T(1);",
                "for (int i = 0; i < BM; i += blockDim.y) as[(ty + i) % BM][tx % BM] = 1;",
            )
        )
        self.line(f"bs[{buffer}][{r} & 31][{c} & 31] = acc;")
        if self.chance(40):
            limit = self.choose("40", "BM", *self.unless_unknown("m", "n * 8"))
            self.line(f"if ({k0} + {c} < {limit}) bs[{buffer}][{c} & 31][{r} & 31] += 1;")
        self.sync()
        if self.chance(50):
            self.line("#pragma unroll")
        self.line(f"for (int {k} = 0; {k} < {self.choose('BM', '8', '4')}; {k}++) {{")
        self.line(
            self.choose(
                f"acc += as[ty % BM][{k} % BM] * bs[{buffer}][{k}][tx & 31];",
                f"acc += bs[{buffer}][{r} & 31][{k}] * bs[{buffer}][{k}][{c} & 31];",
                f"acc += as[{k} % BM][{r} % BM];",
            )
        )
        self.line("}")
        self.sync()
        self.line("}")

    def flat_copy(self) -> None:
        i = self.name("i")
        size = self.choose("256", "300", "BM * 17", *self.unless_unknown("m", "n * 32"))
        step = self.choose("threads", "threads", "(int)blockDim.x", "(int)blockDim.x * 2")
        self.line(f"for (int {i} = {self.choose('tid', 'tx', 'tid * 2')}; {i} < {size}; {i} += {step}) {{")
        self.moved(
            f"(&bs[0][0][0])[{i} & 2047]",
            f"bs[0][{i} / 36 % 32][{i} % 36]",
            f"t[IDX({i} / 32, {i} % 32, {self.choose('33', '32', 'm & 63')}) & 4095]",
            f"t[PADDED({i}) & 4095]",
            f"us[{i} * 2 & 1023]",
            f"stage[{i} / 512 % 3][{i} % 512]",
        )
        if self.chance(30):
            self.line(f"if ({i} + {step} >= {size}) acc += t[({i} * 2) & 4095];")
        self.line("}")
        self.sync()

    def reduction(self) -> None:
        s = self.name("s")
        kind = self.number(0, 4)
        half = self.choose("threads / 2", "blockDim.x / 2", "64", "16")
        if kind == 0:
            last, step = self.choose("0", "32", "1"), self.choose(">>= 1", "/= 2")
            self.line(f"for (int {s} = {half}; {s} > {last}; {s} {step}) {{")
            self.line(f"if (tid < {s}) t[tid] += t[tid + {s}];")
            self.sync()
            self.line("}")
        elif kind == 1:
            self.line(f"for (unsigned {s} = 1; {s} < threads; {s} *= 2) {{")
            self.line(
                self.choose(
                    f"if (tid % (2 * {s}) == 0) t[tid] += t[tid + {s}];",
                    f"int i{s} = 2 * {s} * tid; if (i{s} < threads) t[i{s}] += t[i{s} + {s}];",
                    f"if ((tid & (2 * {s} - 1)) == 0) t[tid] = fmaxf(t[tid], t[tid + {s}]);",
                )
            )
            self.sync()
            self.line("}")
        elif kind == 2:
            self.line(f"if (tid < 32) {{ volatile float *v{s} = t;")
            for by in (32, 16, 8, 4, 2, 1):
                self.line(f"v{s}[tid] += v{s}[tid + {by}];")
            self.line("}")
        elif kind == 3:
            self.line(
                f"for (int {s} = 16; {s} > 0; {s} >>= 1) acc += __shfl_down_sync(0xffffffffu, acc, {s});"
            )
            self.line("if (lane == 0) stage[0][warp] = acc;")
            self.sync()
            self.line("if (warp == 0) acc = lane < threads / 32 ? stage[0][lane] : 0;")
        else:
            self.line(f"int {s} = threads;")
            self.line(f"while ({s} > 1) {{")
            self.line(f"const int h{s} = ({s} + 1) / 2;")
            self.line(f"if (tid + h{s} < {s}) t[tid] += t[tid + h{s}];")
            self.line(f"{s} = h{s};")
            self.sync()
            self.line("}")

    def scan(self) -> None:
        d, o = self.name("d"), self.name("o")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"int in{d} = 0, to{d} = 1;")
            self.line(f"for (int {d} = 1; {d} < threads; {d} <<= 1) {{")
            self.line(f"to{d} = 1 - to{d}; in{d} = 1 - to{d};")
            mine, other = f"stage[in{d}][tid]", f"stage[in{d}][tid - {d}]"
            self.line(f"stage[to{d}][tid] = tid >= {d} ? {mine} + {other} : {mine};")
            self.sync()
            self.line("}")
        elif kind == 1:
            ai, bi = f"{o} * (2 * tid + 1) - 1", f"{o} * (2 * tid + 2) - 1"
            pad = self.choose("PADDED", "")
            self.line(f"int {o} = 1;")
            self.line(f"for (int {d} = {self.choose('threads', '64', '128')} >> 1; {d} > 0; {d} >>= 1) {{")
            self.sync()
            self.line(f"if (tid < {d}) {{")
            self.line(f"int a{d} = {ai}; int b{d} = {bi};")
            self.line(f"t[{pad}(b{d})] += t[{pad}(a{d})];")
            self.line("}")
            self.line(f"{o} *= 2;")
            self.line("}")
            self.line(f"if (tid == 0) t[{pad}({o} - 1)] = 0;")
            if self.chance(60):
                self.line(f"for (int {d} = 1; {d} < {self.choose('threads', '64')}; {d} *= 2) {{")
                self.line(f"{o} >>= 1;")
                self.sync()
                self.line(f"if (tid < {d} && {o} > 0) {{ int a = {ai}, b = {bi};")
                self.line(f"float x{d} = t[{pad}(a)]; t[{pad}(a)] = t[{pad}(b)]; t[{pad}(b)] += x{d}; }}")
                self.line("}")
        elif kind == 2:
            self.line(f"int {o} = tid & 7;")
            self.line(f"for (int {d} = 1; {d} < 32; {d} *= 2) {{")
            self.line(f"int y{d} = __shfl_up_sync(~0u, {o}, {d}); if (lane >= {d}) {o} += y{d};")
            self.line("}")
            self.use(f"({o} & 255)")
        else:
            self.line(f"for (int {d} = 1; {d} <= {self.choose('16', '32')}; {d} <<= 1) {{")
            self.line(f"float x{d} = 0; if (lane >= {d}) x{d} = t[tid - {d}];")
            self.line("__syncwarp();")
            self.line(f"t[tid] += x{d};")
            self.line("}")
        self.sync()

    def bitonic(self) -> None:
        k, j, other = self.name("k"), self.name("j"), self.name("p")
        size = self.choose("threads", "32", "64", "16")
        self.line(f"for (int {k} = 2; {k} <= {size}; {k} {self.choose('<<= 1', '*= 2')}) {{")
        self.line(f"for (int {j} = {k} {self.choose('>> 1', '/ 2')}; {j} > 0; {j} >>= 1) {{")
        self.line(f"int {other} = {self.choose(f'tid ^ {j}', f'tid + {j} - 2 * (tid & {j})')};")
        self.line(f"if ({other} > tid) {{")
        self.line(
            self.choose(
                f"float a{j} = t[tid], b{j} = t[{other}]; t[tid] = fminf(a{j}, b{j});"
                f" t[{other}] = fmaxf(a{j}, b{j});",
                f"if ((tid & {k}) == 0) {{ t[tid] = t[{other}]; }} else {{ t[{other}] = acc; }}",
                f"keyed[tid & 255].x = keyed[{other} & 255].y;",
            )
        )
        self.line("}")
        self.sync()
        self.line("}")
        self.line("}")

    def halo(self) -> None:
        pitch = self.choose("34", "33", "40", "(int)blockDim.x + 2", "BM + 2")
        few = self.choose("2", "4", *self.unless_unknown("n"))
        self.line(f"t[IDX(ty + 1, tx + 1, {pitch})] = acc;")
        for side in (
            f"if (tx == 0) t[IDX(ty + 1, 0, {pitch})] = 1;",
            f"if (tx == (int)blockDim.x - 1) t[IDX(ty + 1, tx + 2, {pitch})] = 1;",
            "if (ty == 0) t[tx + 1] = 1;",
            f"if (tx < {few} && ty < 2) t[IDX(ty * 3, tx, {pitch})] = 2;",
        ):
            if self.chance(60):
                self.line(side)
        self.sync()
        dy, dx = self.name("dy"), self.name("dx")
        kind = self.number(0, 2)
        if kind == 0:
            self.line(f"for (int {dy} = -1; {dy} <= 1; {dy}++)")
            self.line(f"for (int {dx} = {self.choose('-1', '0')}; {dx} <= 1; ++{dx})")
            self.line(f"acc += t[IDX(ty + 1 + {dy}, tx + 1 + {dx}, {pitch})];")
        elif kind == 1:
            self.line(f"for (int {dy} = -{self.choose('2', '3')}; {dy} < 3; {dy}++)")
            last = self.choose("7", "n", "31")
            self.line(f"acc += t[clamped(ty + {dy}, 0, {last}) * {pitch} + mirrored(tx + {dy}, 30)];")
        else:
            self.line(f"for (int {dx} = 0; {dx} < 4; {dx}++)")
            self.line(f"acc += t[IDX(ty + 2 + kOffsets[{dx}][0], tx + 2 + kOffsets[{dx}][1], {pitch})];")
        self.sync()

    def histogram(self) -> None:
        i = self.name("i")
        bins = self.choose("64", "32", "100", "256")
        base = self.choose("", f"warp % 4 * {bins} + ")
        self.line(f"for (int {i} = tid; {i} < {bins}{self.choose(' * 2', '')}; {i} += threads) c[{i}] = 0;")
        self.sync()
        if self.data:
            bin_ = self.choose(f"us[tid & 1023] % {bins}", f"(unsigned)c[tid & 1023] % {bins}")
        else:
            bin_ = f"({self.small()}) % {bins}"
        self.line(f"for (int {i} = 0; {i} < {self.choose('1', '3', 'n')}; {i}++)")
        kind = self.choose("Add", "Max", "Or", "Inc", "Sub", "Min", "Exch")
        value = self.choose("1", "lane", "i2".replace("i2", i))
        place = f"c[({base}{bin_}) & 1023]"
        if kind == "Inc":
            self.line(f"atomicInc((unsigned *)&{place}, 77u);")
        else:
            self.line(f"atomic{kind}(&{place}, {value});")
        self.sync()
        if self.data and self.chance(60):
            at = self.name("at")
            place, by = self.choose("0", "warp", "lane & 3"), self.choose("1", "lane")
            self.line(f"int {at} = atomicAdd(&c[{place}], {by}) & 511;")
            self.line(f"t[{at}] = acc;")
        elif self.data:
            self.line(f"if (atomicCAS(&c[{self.index(1024, 1)}], 0, tid) == 0) t[tid & 511] = 1;")
        elif self.chance(50):
            self.line("if (atomicAdd(&c[warp], 1) >= 0) acc += 1;")

    def transpose(self) -> None:
        j, pad = self.name("j"), self.choose("32", "33", "36")
        step = self.choose("8", "4", "(int)blockDim.y")
        row = self.choose(f"((ty + {j}) & 31)", f"(ty + {j}) % 32")
        head = f"for (int {j} = 0; {j} < 32; {j} += {step})"
        self.line(f"{head} t[(ty + {j}) * {pad} + (tx & 31)] = acc;")
        self.sync()
        self.line(f"{head} acc += t[(tx & 31) * {pad} + {row}];")
        self.sync()

    def butterflies(self) -> None:
        s, half, pos = self.name("s"), self.name("half"), self.name("pos")
        self.line(f"for (int {s} = 0; {s} < {self.choose('5', '6', '4')}; {s}++) {{")
        self.line(f"int {half} = 1 << {s};")
        at = self.choose(
            f"(tid >> {s} << ({s} + 1)) + (tid & ({half} - 1))",
            f"(tid / {half}) * {half} * 2 + tid % {half}",
        )
        self.line(f"int {pos} = {at};")
        one, two = f"t[{pos} & 2047]", f"t[({pos} + {half}) & 2047]"
        self.line(
            self.choose(
                f"float x{s} = {one}, y{s} = {two}; {one} = x{s} + y{s}; {two} = x{s} - y{s};",
                f"quads[{pos} & 127].x += quads[({pos} + {half}) & 127].y;",
                f"e[{pos} & 511] = e[({pos} + {half}) & 511];",
            )
        )
        self.sync()
        self.line("}")
        self.moved("t[reversed(tid & 255, 8)]", "e[reversed(tid & 127, 7) * 2]", "t[reversed(lane, 5) * 33]")

    def wavefront(self) -> None:
        d, i, j = self.name("d"), self.name("i"), self.name("j")
        w = self.choose("8", "16", "12")
        self.line(f"for (int {d} = 0; {d} < 2 * {w} - 1; {d}++) {{")
        self.line(f"int {i} = tid, {j} = {d} - tid;")
        self.line(f"if ({i} < {w} && {j} >= 0 && {j} < {w}) {{")
        pitch = self.choose(w, "33", f"({w} + 1)")
        at, above = f"{i} * {pitch} + {j}", f"({i} - 1) * {pitch} + {j}"
        last = f"stage[({d} + 2) % 3][{i}]"
        self.line(
            self.choose(
                f"t[{at}] = fmaxf({i} > 0 ? t[{above}] : 0.0f, {j} > 0 ? t[{at} - 1] : 0.0f);",
                f"stage[{d} % 3][{i}] = {last} + ({i} ? stage[({d} + 1) % 3][{i} - 1] : 0);",
            )
        )
        self.line("}")
        self.sync()
        self.line("}")

    def roles(self) -> None:
        self.line(f"if (warp == {self.choose('0', '1', 'threads / 32 - 1')}) {{")
        self.body(1, 1, False)
        self.line(self.choose("} else if (warp < 2) {", "} else if (warp & 1) {", "} else {"))
        self.body(1, 1, False)
        self.line("}")
        self.sync()

    def by_argument(self) -> None:
        """Both ways of a branch that an argument takes, perhaps with a barrier in each."""
        test = self.choose("n == 3", "m > 40", "flag", "n & 1", "!flag", "wide < 9", "m % 32 == 0")
        barrier = self.chance(50)
        self.line(f"if ({test}) {{")
        self.body(1, 1, False)
        if barrier:
            self.sync()
        self.places("tx")
        self.line("} else {")
        self.places("ty")
        if barrier:
            self.sync()
        self.body(1, 1, False)
        self.line("}")
        if self.chance(40):
            p = self.name("p")
            self.line(f"float *{p} = {test} ? t + m : stage[{self.choose('0', '1')}];")
            self.moved(f"{p}[tid & 255]", f"{p}[(lane * 33) & 255]")

    def counted_votes(self) -> None:
        made = self.name("votes")
        kind = self.choose("count", "or", "and")
        self.line(f"int {made} = __syncthreads_{kind}({self.condition()});")
        self.numbers.append(made)
        self.fixed.add(made)
        self.use(f"({made} & 255)")
        if self.chance(50):
            self.line(f"if ({made} > {self.number(0, 30)})")
            self.places("tx")

    def register_tile(self) -> None:
        m, i, k = self.name("reg"), self.name("i"), self.name("k")
        rows = self.choose("4", "2")
        r, c = self.spread()
        self.line(f"float {m}[{rows}], {m}b[{rows}][2];")
        self.line(f"for (int {k} = 0; {k} < {self.choose('4', '8')}; {k}++) {{")
        self.line("#pragma unroll")
        self.line(f"for (int {i} = 0; {i} < {rows}; ++{i})")
        a = self.choose(f"bs[{k} & 1][({r} + {i}) & 31][{k}]", f"t[(({r} * {rows} + {i}) * 33 + {k}) & 4095]")
        b = self.choose(f"bs[0][{k}][({c} + {i} * 8) & 31]", f"t[({k} * 64 + {c} * {rows} + {i}) & 4095]")
        self.line(f"{{ {m}[{i}] = {a}; {m}b[{i}][0] = {b}; {m}b[{i}][1] = {m}[{i}]; }}")
        self.line(f"for (int {i} = 0; {i} < {rows}; ++{i}) acc += {m}[{i}] * {m}b[{i}][{k} & 1];")
        self.line("}")

    # Single forms

    def layouts(self) -> None:
        made = self.name("tensor")
        layout = self.choose(
            "RowMajor<16, 32>", "ColumnMajor<16, 32>", "PaddedRows<16, 32, 1>", "PaddedRows<BM, BM, 4>"
        )
        r, c = self.spread()
        at = self.choose("0", "warp * 512", f"{layout}::size")
        self.line(f"Tensor<float, {layout}> {made}{{t + {at}, {{}}}};")
        self.moved(
            f"{made}({r} & 15, {c} & 15)", f"{made}({c} & 15, {r} & 15)", f"{made}.row({r} & 15)[{c} & 15]"
        )

    def chunks(self) -> None:
        type_, w = self.choose("float", "int", "short", "unsigned char", "T"), self.choose("2", "4")
        made = self.name("chunk")
        r, c = self.spread()
        at = f"(({r}) * {self.choose('16', '9', '8')} + ({c})) & 127"
        memory = self.choose("pool", "t", "quads")
        self.line(f"auto &{made} = reinterpret_cast<Chunk<{type_}, {w}> *>({memory})[{at}];")
        self.moved(f"{made}[{self.choose('0', '1', 'lane & 1')}]", f"{made}.v[1]")

    def storage(self) -> None:
        made = self.name("store")
        self.line(f"Storage &{made} = *reinterpret_cast<Storage *>(pool);")
        r, c = self.spread()
        self.moved(
            f"{made}.a[{self.choose('0', 'warp & 1', 'n & 1')}][{r} & 15][{c} % 20]",
            f"{made}.index[tid % 96]",
            f"{made}.mix.wide[({r} * 4 + {c}) & 63]",
            f"{made}.mix.half[tid & 127]",
            f"{made}.sums[lane & 7]",
            f"{made}.mix.narrow[lane * 2]",
        )

    def carved(self) -> None:
        a, b, d = self.name("ca"), self.name("cb"), self.name("cd")
        size = self.choose("n * 16", "64", "BM * 4", "(m & 127)", "threads")
        kind = self.number(0, 2)
        if kind == 0:
            self.line(f"Buffer {d}{{pool}};")
            self.line(f"float *{a} = {d}.take<float>({size});")
            type_ = self.choose("short", "double", "T")
            self.line(f"{type_} *{b} = {d}.take<{type_}>({size});")
        elif kind == 1:
            self.line(f"int *{a} = (int *)pool;")
            self.line(f"float *{b} = (float *)&{a}[{size}];")
        else:
            self.line(f"double *{a} = reinterpret_cast<double *>(pool);")
            self.line(f"unsigned char *{b} = (unsigned char *)({a} + {size});")
        self.moved(f"{a}[{self.index(128, 1)}]")
        self.moved(f"{b}[{self.index(128, 1)}]", f"{b}[tid]", f"{b}[lane * 4]")

    def tables(self) -> None:
        self.made_number(
            self.choose(
                "kTaps[lane & 7] * 33",
                "kZigzag[tid & 15] * 8 + lane / 16",
                "kTaps[(lane >> 2) & 7] + kZigzag[lane & 15] * 32",
                "(kOffsets[lane & 3][0] + 1) * 32 + kOffsets[warp & 3][1] + 2",
            )
        )

    def borders(self) -> None:
        a = f"({self.small()} - {self.choose('8', '3', *self.unless_unknown('n'))})"
        self.made_number(
            self.choose(
                f"clamped({a}, 0, {self.choose('15', '31', 'm & 63')})",
                f"mirrored({a}, 20)",
                f"max(min({a}, 31), 0) * 33",
                f"({a} < 0 ? 0 : {a} > 30 ? 30 : {a}) * 2",
                f"min((unsigned){a}, 40u)",
                f"abs({a}) * 4",
                f"(({a}) % 16 + 16) % 16 * 32 + lane",
            )
        )

    def keys(self) -> None:
        at = self.index(256, 1)
        made = self.name("key")
        self.line(
            self.choose(
                f"keyed[{at}] = make_int2(lane, {self.small()});",
                f"int2 {made} = keyed[{at}]; acc += {made}.x + {made}.y;",
                f"keyed[{at}].{self.choose('x', 'y')} = tid;",
                f"quads[{self.index(128, 1)}].{self.choose('x', 'z', 'w')} = acc;",
                f"float4 {made} = quads[{self.index(128, 1)}];"
                f" acc += {made}.x + {made}.y + {made}.z + {made}.w;",
                f"ll[{at}] = (long long)tid << 33;",
                f"us[{self.index(1024, 1)}] = (unsigned short)tid;",
            )
        )

    def counters(self) -> None:
        """Integers of mixed widths and signs that index."""
        a, b = self.name("m"), self.name("m")
        t1, t2 = (
            self.choose("short", "unsigned char", "char", "int64_t", "unsigned"),
            self.choose("int", "size_t", "uint16_t"),
        )
        self.line(f"{t1} {a} = ({t1})({self.small()});")
        self.line(f"{t2} {b} = {a} * {self.choose('3', '7u', 'n')} + {self.choose('lane', 'tid', 'm')};")
        self.line(self.choose(f"{b} -= {a};", f"{b} <<= {a} & 3;", f"{a} += {b} & 15;", f"{b} ^= {a};", ""))
        self.made_number(f"(int)({b} & 1023) + ({a} & 7)")

    def swizzles(self) -> None:
        kind = self.choose("Swizzle<3, 2, 3>", "Swizzle<2, 3, 3>", "Swizzle<0, 4, 3>", "Swizzle<3, 3, 3>")
        r, c = self.spread()
        self.moved(f"t[{kind}::at(({r}) * 32 + ({c})) & 4095]", f"t[{kind}::at(tid * 4) & 4095]")

    def bits(self) -> None:
        a = self.small()
        self.made_number(
            self.choose(
                f"(int)bits_of({a}, {self.number(0, 3)}, {self.number(1, 5)})",
                f"morton(lane & 7, {self.choose('lane >> 3', 'warp', 'ty')})",
                f"reversed({a} & 31, 5)",
                f"(int)(__funnelshift_l({a}, {a}, lane) & 255)",
                f"31 - __clz({a} | 1)",
                f"__popc({a}) * 32 + __ffs({a})",
                f"(int)((1u << ({a} & 7)) - 1) & 127",
            )
        )

    def vectors_at(self) -> None:
        r, c = self.spread()
        type_, w = self.draw.pick((("float4", 4), ("float2", 2), ("int4", 4), ("double2", 4)))
        ld = self.choose("64", "68", "36", "32")
        place = f"*reinterpret_cast<{type_} *>(&t[(({r}) % 32 * {ld} + ({c}) % 8 * {w})])"
        made = self.name("v")
        self.line(f"{type_} {made} = {place};")
        members = "xyzw"[: int(type_[-1])]
        self.line("acc += " + " + ".join(f"{made}.{each}" for each in members) + ";")
        if self.chance(50):
            self.line(f"{place} = {made};")

    def cubes(self) -> None:
        z, y = self.choose("warp & 3", "threadIdx.z & 3", "n & 3"), self.choose("ty % 6", "(lane >> 3)", "5")
        p = self.name("plane")
        kind = self.number(0, 2)
        if kind == 0:
            self.moved(f"cube[{z}][{y}][lane]", f"cube[lane & 3][{y}][{self.choose('0', 'lane')}]")
        elif kind == 1:
            self.line(f"float (*{p})[33] = cube[{z}];")
            self.moved(f"{p}[{y}][lane]", f"(*({p} + 1))[lane]")
        else:
            self.line(f"auto &{p} = cube[{z}];")
            self.moved(f"{p}[{y}][lane]", f"(&{p}[0][0])[(lane * {self.number(1, 4)}) & 127]")

    def three_stages(self) -> None:
        i, s = self.name("i"), self.name("stage")
        self.line(f"int {s} = {self.choose('0', '1', 'n % 3')};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', 'n', '7')}; {i}++) {{")
        self.line(f"stage[{s}][{self.choose('tid & 511', '(lane * 2)', '(tid * 33) & 511')}] = acc;")
        self.sync()
        self.line(
            self.choose(
                f"{s} = ({s} + 1) % 3;",
                f"if (++{s} == 3) {s} = 0;",
                f"{s} = {s} == 2 ? 0 : {s} + 1;",
                f"{s} = {s} ^ 1;",
            )
        )
        self.line(f"acc += stage[{s}][tid & 511];")
        self.line("}")


def real_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `loop_program`, with these phases; the kernel takes more arguments."""
    return started(RealWriter(draw, data=data, unknown=unknown))


SIZE = 1_000_003
"""Of the problem: far above any index."""


def started(writer: RealWriter, head: str = "", shared: str = "") -> Program:
    """The kernel that a writer draws and how it is started. head, shared: what stands in front of the kernel,
    and what it declares, besides."""
    block = writer.statements()
    writer.access()
    shared = (
        ORDINARY_SHARED.format()
        + "__shared__ Count counts[64];\n__shared__ Part parts[64];\n"
        + ("__shared__ __half2 duos[512];\n" + LIBRARY_SHARED + REAL_SHARED + shared)
    )
    begun = "template <int BM, typename T> __global__"
    before = loop_head().replace(begun, REAL_HEAD + head + begun)
    before = before.replace(
        "k(float *out, int n)", "k(float *out, int n, int m, bool flag, long long wide, int size)"
    )
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", before + shared)
    draw = writer.draw
    bm = draw.pick((8, 8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(writer.unknown), 5)
    sizes = (1, 16, 32, 33, 48, 64, 100)
    more = {"m": draw.pick(sizes), "flag": writer.number(0, 1), "wide": writer.number(0, 20), "size": SIZE}
    block_index = at if writer.data or writer.unknown else 0
    return Program(text, block, n, bm, type_, block_index=block_index, more=more)
