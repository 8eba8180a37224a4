"""Random kernels in the style of libraries: ring buffers and pipelines with a start that is computed, results
of shuffles and votes as indices, guards whose destructors store, lambdas that capture `this`, operators of
records in shared memory, tables, unnamed bit-fields, volatile views."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.cxx_programs import CXX_HEAD, KERNEL
from oracle.drawing import Draw, Program
from oracle.modern_programs import MODERN_HEAD
from oracle.odd_programs import ODD_HEAD
from oracle.ordinary_head import ORDINARY_HEAD, ORDINARY_SHARED
from oracle.template_programs import TEMPLATE_HEAD, TemplateWriter
from oracle.wider_programs import WIDER_HEAD

LIBRARY_HEAD = """template <int N> struct RingView {
  float *p; int start;
  __device__ float &at(int i) const { return p[(start + i) % N]; }
  __device__ float &masked(int i) const { return p[(start + i) & (N - 1)]; }
  __device__ float &wrapped(int i) const { int k = start + i; if (k >= N) k -= N; return p[k]; }
  __device__ void advance(int by) { start = (start + by) % N; }
};
struct Stages {
  int size, index = 0, phase = 0, count = 0;
  __device__ Stages &operator++() { ++count; if (++index == size) { index = 0; phase ^= 1; } return *this; }
  __device__ Stages operator++(int) { Stages old = *this; ++*this; return old; }
  __device__ Stages ahead(int k) const { Stages r = *this; for (int i = 0; i < k; ++i) ++r; return r; }
};
struct Closing {
  float *p; int i;
  __device__ Closing(float *q, int j) : p(q), i(j & 511) {}
  __device__ ~Closing() { p[i] = 1; }
};
struct Tally {
  int &n; int by;
  __device__ Tally(int &m, int b) : n(m), by(b) {}
  __device__ ~Tally() { n += by; }
};
__device__ int closed(float *p, int x) {
  Closing first(p, x);
  for (int i = 0; i < 3; i++) {
    Closing inner(p + 512, x + 32 * i);
    if (x & (1 << i)) continue;
    if (i == 2) return x + i;
    Closing last(p + 1024, x * 2 + i);
  }
  return 5;
}
struct Worker {
  float *p; int lane, turn;
  __device__ void put(int i) { p[(i + turn++ * 32) & 1023] = 1; }
  __device__ int run(int x) {
    auto one = [this](int i) { put(i ^ lane); return turn; };
    auto two = [this, x](int i) { turn += i; p[(turn * x) & 1023] = 2; };
    int r = one(x) + one(2 * x);
    two(r & 7);
    return (r + turn) & 63;
  }
};
struct Vec {
  float x, y, z;
  __device__ Vec &operator+=(const Vec &o) { x += o.x; y += o.y; z += o.z; return *this; }
  __device__ float dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
  __device__ float &operator[](int i) { return (&x)[i]; }
};
struct Holes {
  unsigned a : 5; unsigned : 3; unsigned b : 7; unsigned : 0; signed int c : 6; int : 4; unsigned d : 9;
};
template <typename F, typename... A> __device__ void over(F f, A... a) { (f(a), ...); }
template <int... I> __device__ constexpr int sum_of() { return (0 + ... + I); }
template <typename... I> __device__ int asked(int x, I... i) {
  int r = 0; (void)((++r, x > i) && ...); return r;
}
template <typename... I> __device__ int met(int x, I... i) {
  int r = 0; ((x < i && (r += i, true)) || ...); return r;
}
template <typename... T> __device__ void rolled(int i, int k, T *...p) {
  ((p[(i * k) & 127] = p[i & 127] + 1), ...);
}
template <typename... T> __device__ void stepped(T &...x) { ((x += 3), ...); }
struct Copied {
  int v, n;
  __device__ Copied(int x) : v(x & 255), n(0) {}
  __device__ Copied(const Copied &o) : v(o.v + 3), n(o.n + 1) {}
  __device__ Copied(Copied &&o) : v(o.v), n(o.n) { o.v = o.v / 2; }
};
struct Keeper { Copied a; int w; };
__device__ int taken(Copied c) { c.v += c.n * 16; return c.v; }
struct Counts { int a; int b = a * 2; int c{b + 1}; __device__ Counts(int x) : a(x & 63) {} };
constexpr int kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
__device__ int decoded(int i, int w, int p) { return i / w * p + i % w; }
"""

LIBRARY_SHARED = "__shared__ Vec vecs[128];\n"


@dataclass(slots=True)
class LibraryWriter(TemplateWriter):
    """Draws these forms besides the odd ones."""

    def statement(self, depth: int, returns: bool = True) -> None:
        if not self.chance(60):
            super(LibraryWriter, self).statement(depth, returns)
            return
        forms = (
            self.ring,
            self.ring,
            self.ring_loop,
            self.stages,
            self.guards,
            self.guarded_loop,
            self.worker,
            self.record_operators,
            self.holes,
            self.bound_array,
            self.index_list,
            self.decoded_index,
            self.table,
            self.volatile_view,
            self.nested_continue,
            self.skipping_fold,
            self.copies,
            self.member_initialisers,
            self.null_pointers,
            self.lambda_copies,
            self.hops,
            self.grids,
            self.sums,
            self.place_lambdas,
            self.narrow_lambdas,
            self.handed_on,
            self.own_pointers,
            self.cells,
            self.points,
            self.two_bases,
            self.hidden_methods,
            self.packs_in_loops,
        )
        exchanges = (self.shuffled, self.voted, self.matched) if depth == 2 else ()
        forms += exchanges * 2
        forms[self.number(0, len(forms) - 1)]()

    def start(self) -> str:
        """Where a ring begins."""
        return self.choose(
            self.number_text(), "n", "n * 4", "n + 7", "(int)blockIdx.x * 8", "warp * 32", self.small()
        )

    def number_text(self) -> str:
        return str(self.number(0, 200))

    def packs_in_loops(self) -> None:
        k, m, z = self.name("k"), self.name("m"), self.name("z")
        own = self.choose("t + 512", "t + 64")
        self.line(f"int {m} = {self.small()}; float {z} = 0;")
        bound = self.choose("8", "3", "40", self.lanes())
        self.line(f"for (int {k} = 0; {k} < {bound}; {k}++) {{")
        self.line(f"stepped({self.choose(f'{z}, {m}', f'{m}, {z}')});")
        place = self.choose("lane", "tid", m)
        self.line(f"rolled({place}, {self.choose(k, m, f'{k} * 4')}, {self.choose('t', own, f't, {own}')});")
        self.line("}")
        self.kept(m)

    def ring(self) -> None:
        made, size = self.name("ring"), self.choose("32", "64", "128", "256", "96", "100", "24")
        self.line(f"RingView<{size}> {made}{{t + {self.choose('0', '64', '1')}, {self.start()}}};")
        i = self.choose("lane", "tid", "lane * 3", "lane / 2", "lane * 33", f"({self.small()})", "31 - lane")
        power = int(size) & (int(size) - 1) == 0
        self.moved(f"{made}.at({i})", f"{made}.{'masked' if power else 'at'}({i})")
        if self.chance(40):
            self.line(f"{made}.advance({self.choose('32', '5', 'n', self.small())});")
            self.moved(f"{made}.at({i})")
        if self.chance(30):
            self.line(f"{made}.start %= {size};")
            self.moved(f"{made}.wrapped(lane % {size})")

    def ring_loop(self) -> None:
        i, head = self.name("i"), self.name("head")
        size = self.choose("128", "256", "96")
        start = self.choose("0", "32", self.start())
        self.line(f"int {head} = {start};")
        self.line(f"for (int {i} = 0; {i} < {self.bound()}; {i}++) {{")
        self.moved(f"t[({head} + {self.choose('lane', 'tid', 'lane * 2')}) % {size}]")
        step = self.choose("32", "16", "5", "lane")
        self.line(
            self.choose(
                f"{head} = ({head} + {step}) % {size};",
                f"{head} += {step}; if ({head} >= {size}) {head} -= {size};",
                f"{head} = {head} + {step} >= {size} ? 0 : {head} + {step};",
            )
        )
        self.line("}")
        self.line(f"{head} &= 511;")
        # conditions on the block's place, and on a size, are taken to hold, on purpose
        if "blockIdx" not in start and not (self.unknown and start.startswith("n")):
            self.numbers.append(head)
        self.use(head)

    def stages(self) -> None:
        made, i = self.name("st"), self.name("i")
        count = self.choose("3", "4", "2")
        self.line(f"Stages {made}{{{count}}};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '6', 'n', self.lanes())}; {i}++) {{")
        self.moved(f"t[{made}.index * {self.choose('128', '130')} + lane * {self.choose('1', '2')}]")
        self.line(
            self.choose(
                f"++{made};", f"auto old = {made}++; t[(old.index + {made}.phase * 32 + lane) & 4095] = acc;",
                f"if ({self.condition()}) ++{made};", f"{made} = {made}.ahead(2);",
            )
        )  # fmt: skip
        self.line("}")
        self.made_number(f"{made}.count * 4 + {made}.index + {made}.phase")

    def guards(self) -> None:
        kind = self.number(0, 2)
        if kind == 0:
            self.made_number(f"closed(t, {self.small()}) & 255")
        elif kind == 1:
            made = self.name("g")
            self.line(f"{{ Closing {made}(t, {self.small()}); {made}.i ^= {self.number(1, 9)};")
            if self.chance(50):
                self.line(f"if ({self.condition()}) {{ Closing {made}b(t + 64, {made}.i); acc += 1; }}")
            self.line("}")
        else:
            m = self.name("m")
            self.line(f"int {m} = {self.small()};")
            self.line(
                f"{{ Tally ta({m}, {self.number(1, 9)}); Tally tb({m}, lane); t[({m} * 2) & 1023] = acc; }}"
            )
            self.kept(m)

    def guarded_loop(self) -> None:
        i, m, made = self.name("i"), self.name("m"), self.name("g")
        self.line(f"int {m} = {self.small()};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', '4', self.lanes())}; {i}++) {{")
        self.line(
            self.choose(
                f"Tally {made}({m}, {i} + 1);", f"Closing {made}(t, {m} + {i} * 32);",
                f"Tally {made}({m}, {self.number(1, 9)}); Closing {made}c(t, {m});",
            )
        )  # fmt: skip
        self.line(f"if ({self.condition()}) {self.choose('continue', 'break', 'continue')};")
        self.moved(f"t[({m} * {self.choose('1', '32')} + lane) & 4095]")
        self.line("}")
        self.kept(m)

    def worker(self) -> None:
        made = self.name("work")
        self.line(f"Worker {made}{{t + {self.choose('0', '1024')}, lane, {self.small()}}};")
        self.made_number(f"{made}.run({self.small()})")
        self.made_number(f"{made}.turn & 255")

    def record_operators(self) -> None:
        a, b = self.index(128, 1), self.index(128, 1)
        kind = self.number(0, 3)
        if kind == 0:
            to, by = self.name("v"), self.name("v")
            self.line(f"Vec &{to} = vecs[{a}]; const Vec &{by} = vecs[{b}]; {to} += {by};")
        elif kind == 1:
            by = self.name("v")
            self.line(f"const Vec &{by} = vecs[{b}]; acc += {by}.dot({by});")
        elif kind == 2:
            to = self.name("v")
            self.line(f"Vec &{to} = vecs[{a}];")
            self.moved(f"{to}[{self.choose('0', '2', 'lane % 3')}]")
        else:
            v = self.name("v")
            self.line(f"Vec {v} = vecs[{a}]; {v} += {v}; vecs[{b}] = {v};")

    def holes(self) -> None:
        made = self.name("holes")
        self.line(f"Holes {made}{{}};")
        for _ in range(self.number(2, 4)):
            member = self.choose("a", "b", "c", "d")
            self.line(
                self.choose(
                    f"{made}.{member} = {self.known(1)};", f"{made}.{member} += {self.number(1, 60)};",
                    f"if ({self.condition()}) {made}.{member} ^= {self.number(1, 30)};",
                )
            )  # fmt: skip
        self.made_number(
            self.choose(f"{made}.a * 8 + {made}.b", f"{made}.c + 40", f"{made}.d", f"{made}.b ^ {made}.d")
        )

    def bound_array(self) -> None:
        arr, a, b = self.name("arr"), self.name("a"), self.name("b")
        self.line(f"int {arr}[2] = {{{self.small()}, {self.small()}}};")
        mark = self.choose("", "&")
        self.line(f"auto {mark}[{a}, {b}] = {arr};")
        self.line(self.choose(f"{a} += 3;", f"{arr}[1] ^= 5;", f"{b} = {a} + 1;", ""))
        self.made_number(f"{a} + {b} * 2 + {arr}[{self.choose('0', '1', 'lane & 1')}]")

    def index_list(self) -> None:
        m, i = self.name("m"), self.name("i")
        self.line(f"int {m} = {self.small()};")
        numbers = self.choose("0, 3, 5", "1, 2", "7, 0, 33, 4")
        body = self.choose(
            f"t[({i} * 33 + lane) & 4095] = acc;", f"{m} += {i};",
            f"if ({i} > 2) return; t[({m} + {i} * 32) & 4095] = acc; {m} ^= {i};",
        )  # fmt: skip
        self.line(f"over([&](int {i}) {{ {body} }}, {numbers});")
        self.kept(m)
        self.made_number(f"sum_of<{numbers}>() * lane")

    def decoded_index(self) -> None:
        i = self.name("i")
        w = self.choose("24", "16", "(int)blockDim.x", "5", "33")
        step = self.choose("(int)blockDim.x", "32", "40")
        self.line(f"for (int {i} = {self.choose('tid', 'lane', 'threadIdx.x')}; {i} < 120; {i} += {step})")
        self.moved(
            f"t[decoded({i}, {w}, {w} + 1)]", f"t[({i} / {w}) * {w} + {i} % {w}]",
            f"t[({i} % {w}) * 33 + {i} / {w}]",
        )  # fmt: skip

    def table(self) -> None:
        at = self.choose("lane & 7", "tid & 7", "warp & 7", f"({self.small()}) & 7")
        self.made_number(f"kOrder[{at}] * {self.choose('1', '33', '8')} + {self.choose('lane / 8', '0')}")

    def volatile_view(self) -> None:
        made = self.name("vol")
        self.line(f"volatile float *{made} = t + {self.choose('0', 'warp * 64', '3')};")
        i = self.index(512, 1)
        self.line(
            self.choose(
                f"{made}[{i}] = acc;", f"acc += {made}[{i}];", f"{made}[{i}] += {made}[{self.index(512, 1)}];"
            )
        )

    def nested_continue(self) -> None:
        i, j, m = self.name("i"), self.name("j"), self.name("m")
        self.line(f"int {m} = {self.small()};")
        self.line(f"for (int {i} = 0; {i} < {self.choose('3', self.lanes())}; {i}++) {{")
        self.line(f"if ({self.condition()}) {{ {m} += {i}; continue; }}")
        self.line(f"for (int {j} = {self.choose('0', i)}; {j} < {self.choose('3', '4')}; {j}++) {{")
        self.line(f"if (({j} ^ {m}) & {self.choose('1', '2')}) continue;")
        self.line(f"if ({self.condition()}) {self.choose('break;', '{ ' + m + ' ^= 3; continue; }')}")
        self.moved(f"t[({m} * {self.choose('1', '2')} + {i} * 64 + {j} * 32) & 4095]")
        self.line("}")
        self.line(f"{m} += {self.choose('1', 'lane')};")
        self.line("}")
        self.kept(m)

    def skipping_fold(self) -> None:
        function = self.choose("asked", "met")
        self.made_number(
            f"{function}({self.small()}, {self.choose('3, 40, 9', '12, lane', 'tid, 5, 60')}) & 255"
        )

    def copies(self) -> None:
        a, b = self.name("ca"), self.name("cb")
        self.line(f"Copied {a}({self.small()});")
        self.line(
            self.choose(
                f"Copied {b} = {a};", f"Copied {b} = std::move({a});", f"Copied {b}(taken({a}));",
                f"Keeper {b}k{{{a}, lane}}; Keeper {b}o = {b}k; Copied {b} = {b}o.a;",
                f"Copied {b}[2] = {{{a}, Copied(lane)}}; {b}[1].v += {b}[0].v;",
            )
        )  # fmt: skip
        self.made_number(f"({a}.v + {self.choose(f'{a}.n', f'taken({a})')}) & 511")

    def member_initialisers(self) -> None:
        made = self.name("mi")
        self.line(f"Counts {made}({self.small()});")
        self.line(self.choose(f"{made}.a += 5;", ""))
        self.made_number(f"({made}.a + {made}.b * {self.choose('1', '2')} + {made}.c) & 511")

    def null_pointers(self) -> None:
        p = self.name("np")
        if self.chance(30):
            self.line(f"float *{p} = {self.condition()} ? t + {self.choose('0', 'lane')} : nullptr;")
            made = f"(({self.small()}) & 31) + ({p} ? {self.choose('1', 'lane')} : {self.number(2, 40)})"
            self.made_number(f"{made} + 16 * ({p} == t)")
            return
        self.line(f"float *{p} = nullptr;")
        where = self.choose(
            "lane < 20", "warp == 0", "lane & 1", "(tid > 40)", f"({self.condition()}) && lane > 3"
        )
        self.line(f"if ({where}) {p} = t + {self.choose('0', '64', 'lane')};")
        test = self.choose(p, f"{p} != nullptr", f"nullptr != {p}")
        self.line(f"if ({test}) {p}[{self.index(512, 1)}] = acc;")
        if self.chance(40):
            self.line(f"if (!{p})")
            self.moved(f"t[{self.index(512, 1)}]")

    def lambda_copies(self) -> None:
        f, g = self.name("f"), self.name("g")
        self.line(f"auto {f} = [held = {self.small()}]() mutable {{ return held += {self.number(1, 9)}; }};")
        self.line(self.choose(f"{f}();", ""))
        self.line(f"auto {g} = {f}; {self.choose(f'{g}();', f'{f}();')}")
        self.made_number(f"({f}() + {g}() * 2) & 511")

    def shuffled(self) -> None:
        value = f"(int)({self.small()})"
        text = self.choose(
            f"__shfl_sync(0xffffffffu, {value}, {self.choose('0', '3', 'lane ^ 1', 'lane / 2')})",
            f"__shfl_up_sync(0xffffffffu, {value}, {self.choose('1', '4')})",
            f"__shfl_down_sync(~0u, {value}, {self.choose('1', '2')}, {self.choose('8', '16', '32')})",
            f"__shfl_xor_sync(~0u, {value}, {self.choose('1', '5', '16')})",
            f"__shfl_sync(~0u, {value}, lane & 3, {self.choose('4', '8')})",
        )
        made = self.made_number(text)
        if self.chance(40):
            o = self.name("o")
            self.line(f"for (int {o} = 16; {o} > 0; {o} >>= 1) {made} += __shfl_xor_sync(~0u, {made}, {o});")
            self.use(f"{made} + lane")
            self.line(f"{made} &= 255;")

    def voted(self) -> None:
        mask = self.name("mask")
        self.line(f"unsigned {mask} = __ballot_sync(0xffffffffu, {self.condition()});")
        self.made_number(
            self.choose(
                f"__popc({mask} & ((1u << lane) - 1))", f"__ffs({mask}) + lane", f"({mask} >> lane & 1) * 33",
                f"__popc({mask})", f"32 - __clz({mask})",
            )
        )  # fmt: skip
        if self.chance(30):
            self.line(f"if (__{self.choose('any', 'all')}_sync(~0u, {self.condition()})) {{")
            self.access()
            self.line("}")

    def matched(self) -> None:
        value = f"({self.small()}) {self.choose('% 5', '/ 4', '& 3')}"
        self.made_number(
            self.choose(
                f"__ffs(__match_any_sync(~0u, {value})) - 1",
                f"__popc(__match_any_sync(~0u, {value})) * lane",
                f"(int)(__reduce_add_sync(~0u, (unsigned)({value})) & 255)",
                f"__reduce_max_sync(~0u, {value}) * 33 + lane",
            )
        )


def library_program(draw: Draw, data: bool = False, unknown: bool = False) -> Program:
    """As `odd_program`, of these forms."""
    writer = LibraryWriter(draw, data=data, unknown=unknown)
    block = writer.statements()
    writer.access()
    shared = ORDINARY_SHARED.format() + "__shared__ Count counts[64];\n__shared__ Part parts[64];\n"
    shared += "__shared__ __half2 duos[512];\n" + LIBRARY_SHARED
    head = CXX_HEAD + MODERN_HEAD + ORDINARY_HEAD + WIDER_HEAD + ODD_HEAD + LIBRARY_HEAD
    head += TEMPLATE_HEAD + KERNEL.format()
    text = writer.kernel().replace("__global__ void k(float *out, int n) {\n", head + shared)
    bm = draw.pick((8, 16, 32))
    type_ = draw.pick(("float", "double", "short"))
    n, at = writer.number(1, 9), writer.number(int(unknown), 5)
    return Program(text, block, n, bm, type_, block_index=at if data or unknown else 0)
