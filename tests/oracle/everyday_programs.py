"""Random forms of everyday code that no other drawing has: macros that loop and access, overloads, operators
of vectors outside of classes, vectors of indices, shared arrays in functions and templates, records with
methods that lie in shared memory, cooperative groups, long loops, rows by bytes, unions of vectors, names in
namespaces, branches by template arguments."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.drawing import Draw, Program
from oracle.real_programs import RealWriter, started

EVERYDAY_HEAD = """#define REP(i, n) for (int i = 0; i < (n); ++i)
#define PUT(i, v) do { t[(i) & 4095] = (v); } while (0)
#define LOAD2(a, b, i) a = t[(i) & 4095]; b = t[((i) + 32) & 4095]
#define SWAP(type, a, b) { type held_ = a; a = b; b = held_; }
#define AT2(p, r, c) (*(float *)((char *)(p) + (r) * kPitchBytes + (c) * sizeof(float)))
#define STEP(k) acc += t[(lane * (k) + 7) & 4095]; if (lane > (k)) PUT(lane * (k), acc)
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))
typedef float row_t[33];
typedef unsigned int word;
namespace detail {
constexpr int kWidth = 24;
__device__ int folded(int i) { return i % kWidth * 2; }
template <typename E> struct Traits { using Index = int; static constexpr int step = 32 / sizeof(E); };
template <> struct Traits<double> { using Index = long long; static constexpr int step = 5; };
namespace inner { __device__ int folded(int i) { return i ^ (i >> 3); } }
}
constexpr int kPitchBytes = 132;
__device__ float4 operator+(const float4 &a, const float4 &b) {
  return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ int2 operator*(int2 a, int k) { return make_int2(a.x * k, a.y * k); }
__device__ int2 operator+(int2 a, int2 b) { return make_int2(a.x + b.x, a.y + b.y); }
__device__ int2 &operator+=(int2 &a, int b) { a.x += b; a.y -= b; return a; }
__device__ bool operator<(const int2 &a, const int2 &b) { return a.x == b.x ? a.y < b.y : a.x < b.x; }
__device__ int place_of(float *p, int i) { return i * 2; }
__device__ int place_of(int *p, int i) { return i * 3 + 1; }
__device__ int place_of(double *p, int i) { return i + 8; }
__device__ void poke(float *p, int i) { p[i & 511] = 1; }
__device__ void poke(double *p, int i) { p[(i * 2) & 255] = 1; }
__device__ float *scratch(int i) { __shared__ float kept[256]; return kept + (i & 127); }
template <int N, typename E> __device__ E summed_up(E v, int tid) {
  __shared__ E partial[N];
  if (tid < N) partial[tid] = v;
  __syncthreads();
  E sum = 0;
  for (int i = 0; i < 4; i++) sum += partial[(tid * (N / 16) + i) % N];
  __syncthreads();
  return sum;
}
template <typename E, int R, int C> struct Board {
  E cells[R][C + 1];
  int used[R];
  __device__ E &at(int r, int c) { return cells[r % R][c % C]; }
  __device__ void clear(int first, int step) {
    for (int i = first; i < R * C; i += step) at(i / C, i) = 0;
    if (first < R) used[first] = 0;
  }
  __device__ int take(int r) { return atomicAdd(&used[r % R], 1); }
};
union Quad { float4 v; float f[4]; };
struct Boxes { int2 low, high; __device__ int wide() const { return high.x - low.x; } };
template <typename G> __device__ int leads(const G &g, int x) { return g.thread_rank() == 0 ? x : x + 32; }
"""

EVERYDAY_SHARED = """__shared__ Board<float, 8, 32> board;
__shared__ Board<short, 4, 24> small_board;
__shared__ row_t rows_of[16];
__shared__ Boxes boxes[32];
"""


@dataclass(slots=True)
class EverydayWriter(RealWriter):
    """Draws these forms, with all others between."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(70):
            super(EverydayWriter, self).statement(depth, returns)
            return
        forms = (
            self.macros, self.macros, self.vector_indices, self.overloads, self.vector_operators, self.boards,
            self.byte_rows, self.quads_of, self.names, self.by_template, self.typed_rows, self.flags_of,
            self.running_index, self.wide_offsets, self.said,
        )  # fmt: skip
        outer = (self.in_functions, self.groups, self.groups, self.long_loop, self.pointer_loop)
        forms += outer if depth == 2 else ()
        forms[self.number(0, len(forms) - 1)]()

    def macros(self) -> None:
        i, a, b = self.name("i"), self.name("x"), self.name("y")
        at = f"({self.small()})"
        kind = self.number(0, 5)
        if kind == 0:
            self.line(f"REP({i}, {self.choose('3', '4', self.lanes())}) PUT({at} + {i} * 32, acc);")
        elif kind == 1:
            self.line(
                f"float {a}, {b}; LOAD2({a}, {b}, {at} * {self.choose('1', '4')} + lane); acc += {a} * {b};"
            )
        elif kind == 2:
            self.line(f"int {a} = {at}, {b} = lane * 2; SWAP(int, {a}, {b}) t[{a}] = acc;")
            self.numbers += [a, b]
        elif kind == 3:
            self.line(f"if ({self.condition()}) PUT({at}, 1); else PUT({at} * 2, acc);")
        elif kind == 4:
            self.line(f"STEP({self.number(1, 5)}); STEP({self.number(6, 33)});")
        else:
            self.made_number(
                f"({at} + lane) % (int)COUNT_OF({self.choose('e', 'c', 'rows_of', 'board.used')})"
            )

    def vector_indices(self) -> None:
        p = self.name("pos")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"const uint3 {p} = threadIdx;")
            self.made_number(f"(int)({p}.y * {self.choose('32', '33')} + {p}.x)")
        elif kind == 1:
            self.line(f"int2 {p} = make_int2({self.small()}, tid);")
            self.line(
                self.choose(f"{p}.x += {p}.y;", f"{p} += 3;", f"{p} = {p} * 2 + make_int2(1, lane);", "")
            )
            self.made_number(f"({p}.x * {self.choose('1', '32')} + {p}.y) & 1023")
        elif kind == 2:
            self.line(f"const dim3 {p}({self.choose('8', '16', 'BM')}, 2);")
            self.made_number(f"(int)(tid / {p}.x * ({p}.x + {p}.z) + tid % {p}.x)")
        else:
            a = self.name("box")
            self.line(f"Boxes {a}{{{{lane, 2}}, make_int2({self.small()}, tid)}};")
            self.line(self.choose(f"{a}.low = {a}.high * 2;", f"{a}.high.x += 7;", f"boxes[lane] = {a};"))
            self.made_number(f"({a}.wide() + 64 + {a}.low.y) & 255")

    def vector_operators(self) -> None:
        v = self.name("v")
        a, b = self.index(128, 1), self.index(128, 1)
        kind = self.number(0, 2)
        if kind == 0:
            self.line(f"float4 {v} = quads[{a}] + quads[{b}]; quads[{a}] = {v} + {v};")
        elif kind == 1:
            self.line(f"const float4 {v} = reinterpret_cast<float4 *>(t)[{a}]; quads[{b}] = {v} + {v};")
        else:
            self.line(f"int2 {v} = keyed[{a}], {v}b = keyed[{b}];")
            self.line(f"keyed[{a}] = {v} * 2 + {v}b;")

    def overloads(self) -> None:
        p, i = self.choose("t", "c", "e"), f"({self.small()})"
        self.moved(f"{p}[place_of({p}, {i}) & 511]")
        if self.chance(50):
            self.line(f"poke({self.choose('t', 'e', 't + 512', 'e + 64')}, {i});")

    def in_functions(self) -> None:
        kind = self.number(0, 2)
        if kind == 0:
            self.moved(
                f"scratch({self.small()})[{self.choose('0', 'lane', 'lane * 4')}]",
                f"*scratch({self.small()})",
            )
        else:
            n = self.choose("32", "64", "48", "BM * 2")
            value = self.choose("acc", "(double)acc", "tid")
            self.line(f"acc += summed_up<{n}>({value}, tid);")

    def boards(self) -> None:
        which = self.choose("board", "small_board")
        r, c = self.spread()
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"{which}.clear(tid, threads);")
        elif kind == 1:
            self.moved(f"{which}.at({r}, {c})", f"{which}.at({c}, {r})", f"{which}.used[lane & 3]")
        elif kind == 2:
            self.line(f"{which}.take({self.choose('lane', 'warp', r)});")
        else:
            b = self.name("b")
            self.line(f"auto &{b} = {which};")
            self.moved(f"{b}.cells[{r} & 3][{c} % 24]")

    def byte_rows(self) -> None:
        r, c = self.spread()
        if self.chance(50):
            self.moved(f"AT2(t, ({r}) & 15, ({c}) & 31)")
        else:
            p, pitch = self.name("p"), self.choose("132", "128", "(BM * 4)", "kPitchBytes")
            self.line(f"float *{p} = (float *)((char *)t + (({r}) & 15) * {pitch});")
            self.moved(f"{p}[({c}) & 31]", f"{p}[lane]")

    def quads_of(self) -> None:
        q, i = self.name("quad"), self.name("i")
        self.line(f"Quad {q}; {q}.v = quads[{self.index(128, 1)}];")
        apart, factor = self.choose("32", "33", "1"), self.choose("1", "4")
        self.line(
            f"for (int {i} = 0; {i} < 4; {i}++) t[({i} * {apart} + lane * {factor}) & 4095] = {q}.f[{i}];"
        )

    def names(self) -> None:
        i = f"({self.small()})"
        self.made_number(
            self.choose(
                f"detail::folded({i})",
                f"detail::inner::folded({i})",
                f"(int)typename detail::Traits<T>::Index({i} * detail::Traits<T>::step)",
                f"{i} * detail::Traits<{self.choose('float', 'double', 'char')}>::step",
                f"(int)(word({i}) * 2654435761u >> 27)",
                "detail::kWidth * lane + (int)sizeof(row_t) / 4",
            )
        )

    def by_template(self) -> None:
        """What a template argument decides, by `if` and by `switch`."""
        if self.chance(50):
            self.line(f"if ({self.choose('BM == 8', 'BM > 8', 'sizeof(T) == 4', 'BM % 16 == 0')}) {{")
            self.places("lane")
            self.line("} else {")
            self.places("tid")
            self.line("}")
            return
        m = self.name("m")
        self.line(f"int {m} = lane;")
        self.line(f"switch ({self.choose('BM', '(int)sizeof(T)', 'BM / 8')}) {{")
        self.line(f"case 8: {m} *= 3; {self.choose('break;', '')}")
        self.line(f"case 2: {m} += 40; break;")
        self.line(f"default: {m} = {m} * 2 + 1; }}")
        self.use(m)

    def typed_rows(self) -> None:
        p = self.name("rows")
        kind = self.number(0, 2)
        if kind == 0:
            self.moved(
                "rows_of[warp & 15][lane]", "rows_of[lane & 15][warp]", "(*(rows_of + (ty & 15)))[tx & 31]"
            )
        elif kind == 1:
            self.line(f"row_t *{p} = rows_of + {self.choose('0', '(warp & 3)', '4')};")
            self.line(f"{p}++;")
            self.moved(f"{p}[{self.choose('0', 'lane & 7', '2')}][lane]", f"(*{p})[{self.small()} & 31]")
        else:
            self.line(f"row_t &{p} = rows_of[{self.choose('lane & 15', 'ty & 15', '3')}];")
            self.moved(f"{p}[{self.small()} & 31]", f"{p}[0]")

    def flags_of(self) -> None:
        ok = self.name("ok")
        self.line(f"bool {ok} = {self.condition()};")
        self.line(
            self.choose(
                f"{ok} &= {self.condition()};",
                f"{ok} |= lane > 20;",
                f"{ok} ^= (lane & 1);",
                f"{ok} = !{ok};",
            )
        )
        self.line(f"if ({ok}) {{")
        self.places("lane")
        self.line("}")
        self.made_number(
            self.choose(f"{ok} * 32 + lane", f"(lane > 3) - (lane < 2) + {ok} + 1", f"!!{ok} << 4")
        )

    def running_index(self) -> None:
        k, p = self.name("k"), self.name("p")
        kind = self.number(0, 3)
        start = f"({self.small()})"
        if kind == 0:
            self.line(f"int {k} = {start};")
            self.line(f"t[{k}++] = acc; t[{k}++] = 1; t[--{k}] += 2;")
            self.numbers.append(k)
        elif kind == 1:
            self.line(f"float *{p} = t + {start} * 2;")
            self.line(f"*{p}++ = acc; *++{p} = 1; acc += *--{p}; {p}[-1] = 3;")
        elif kind == 2:
            self.line(f"int {k} = {start};")
            self.line(f"t[{k} += 33] = acc; t[{k} ^= 1] += t[{k} + 64];")
        else:
            self.line(f"float *{p} = &t[{start}], *{p}e = {p} + {self.choose('64', '3')};")
            self.line(f"if ({p} + 40 < {p}e) {p} += 32; else {p}e[-2] = acc;")
            self.moved(f"{p}[({p}e - {p}) & 63]")

    def wide_offsets(self) -> None:
        o = self.name("off")
        r, c = self.spread()
        type_ = self.choose("size_t", "ptrdiff_t", "unsigned", "long long", "uint64_t")
        self.line(f"{type_} {o} = ({type_})({r}) * {self.choose('33', '32', 'm')} + {c};")
        if type_ in ("ptrdiff_t", "long long"):
            self.moved(f"(t + 2048)[-({o} & 1023)]", f"t[{o} & 4095]")
        else:
            self.moved(f"t[{o} & 4095]", f"t[({o} << 1) % 4096]")

    def said(self) -> None:
        self.line(self.choose("assert(tid < 2048);", 'if (tid == 0) printf("%d\\n", n);', "__syncwarp();"))
        self.places("lane")

    def groups(self) -> None:
        g, block = self.name("tile"), self.name("block")
        size = self.choose("4", "8", "16", "32")
        self.line(f"auto {block} = cooperative_groups::this_thread_block();")
        self.line(f"auto {g} = cooperative_groups::tiled_partition<{size}>({block});")
        rank = f"(int){g}.thread_rank()"
        self.made_number(
            self.choose(
                f"{rank} * 33 + (int){g}.meta_group_rank()",
                f"(int){g}.meta_group_rank() * {self.choose('32', '40')} + {rank}",
                f"(int){block}.thread_rank() / (int){g}.size() * 4",
                f"leads({g}, {self.small()})",
            )
        )
        value = f"(int)({self.small()})"
        by = self.choose("1", "2")
        self.made_number(
            self.choose(
                f"{g}.shfl({value}, 0)",
                f"{g}.shfl_down({value}, {by})",
                f"{g}.shfl_xor({value}, {by})",
                f"__popc({g}.ballot({self.condition()}))",
                f"{g}.any({self.condition()}) * 32 + lane",
            )
        )
        if self.chance(50):
            o = self.name("o")
            self.line(f"for (int {o} = {g}.size() / 2; {o} > 0; {o} /= 2) acc += {g}.shfl_down(acc, {o});")
        self.line(f"if ({g}.thread_rank() == {self.choose('0', '1')}) stage[0][{g}.meta_group_rank()] = acc;")
        self.line(f"{block}.sync();")

    def long_loop(self) -> None:
        i = self.name("i")
        head = self.choose(
            f"for (int {i} = lane; {i} < {self.choose('1024', '700')}; {i} += 32)",
            f"for (int {i} = 0; {i} < {self.choose('100', '128', '200')}; {i}++)",
            f"for (int {i} = {self.choose('127', '99')}; {i} >= 0; {i} -= {self.choose('1', '2')})",
            f"for (unsigned {i} = tid * 4; {i} < 2048; {i} += threads * 4)",
        )
        self.line(f"{head} {{")
        if self.chance(40):
            self.line(f"if ({self.choose(f'({i} & 7) == 3', f'{i} > 60', f'{i} % 5 == lane % 5')}) continue;")
        self.places(f"(int){i}")
        if self.chance(30):
            self.line(f"if ({self.choose(f'{i} == 77', f'{i} > lane * 8 + 40')}) break;")
        self.line("}")

    def pointer_loop(self) -> None:
        p, e = self.name("p"), self.name("end")
        step = self.choose("32", "64", "33", "threads")
        first = self.choose("lane", "tid", "tid * 2")
        kind = self.number(0, 2)
        if kind == 0:
            last = self.choose("256", "300")
            self.line(f"for (float *{p} = t + {first}, *{e} = t + {last}; {p} < {e}; {p} += {step}) {{")
        elif kind == 1:
            self.line(
                f"float *{p} = t + {first}; const float *const {e} = {p} + {self.choose('128', '100')};"
            )
            self.line(f"for (; {p} != {e} && {p} < {e}; {p} += {step}) {{")
        else:
            self.line(f"float *{p} = &t[1000 + {first}];")
            self.line(f"while (({p} -= {step}) > t + 700) {{")
        self.moved(f"*{p}", f"{p}[1]", f"{p}[32]")
        self.line("}")


def everyday_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `real_program`, with these forms."""
    writer = EverydayWriter(draw, data=data, unknown=unknown)
    return started(writer, EVERYDAY_HEAD, EVERYDAY_SHARED)
