"""Random forms in class templates, whose operators and results clang leaves open, and what lambdas and packs
hand on by reference."""

from __future__ import annotations

from dataclasses import dataclass

from oracle.odd_programs import OddWriter

TEMPLATE_HEAD = """template <typename E> struct Hop {
  E *p; int step;
  __device__ E &operator*() const { return *p; }
  __device__ Hop &operator++() { p += step; return *this; }
  __device__ Hop operator++(int) { Hop old = *this; ++*this; return old; }
  __device__ Hop &operator+=(int k) { p += k * step; return *this; }
  __device__ E &operator[](int i) const { return p[i * step]; }
};
template <typename E> struct Line { E *p; __device__ E &operator[](int i) const { return p[i]; } };
template <typename E, int LD> struct Grid {
  E *d; int turn = 0;
  __device__ Grid(E *q) : d(q) {}
  __device__ Line<E> operator[](int r) const { return Line<E>{d + r * LD}; }
  __device__ Grid &self() { return *this; }
  __device__ E &operator()(int r, int c) { ++turn; return (*this)[r][c]; }
  __device__ void put(int r, int c) { self()(r, c) = 1; (*this)[c & 15][r & 15] = 2; }
  template <typename F> __device__ void each(int r, F &&f) {
    for (int i = 0; i < 3; i++) f((*this)[r + i][i], i);
  }
};
template <typename E> struct Spot {
  E *p;
  __device__ E get() const { return p[0]; }
  __device__ Spot &operator=(E v) { p[0] = v; return *this; }
  __device__ Spot &operator+=(E v) { *this = get() + v; return *this; }
  __device__ Spot &operator-=(E v) { p += 33; return *this = v; }
};
template <typename C, typename E> __device__ void put(C c, E v) { c = v; }
template <typename E> struct Spots {
  E *d; int step;
  __device__ Spots(E *q, int n) : d(q), step(n) {}
  __device__ Spot<E> at(int i) const { return Spot<E>{d + i * step}; }
};
template <typename E> struct TwoSpots {
  Spots<E> first, second; int base;
  __device__ TwoSpots(E *q, int n) : first(q, n), second(q + 64, n + 1), base(n) {}
  __device__ void fill(int i, E v) { first.at(i) = v; second.at((i + base) & 15) += v; }
};
struct Refs { float &x, &y; };
struct Points {
  float *d; int apart;
  __device__ Refs operator[](int i) { return Refs{d[i], d[i + apart]}; }
};
struct ByRow { int r; };
struct ByColumn { int c; };
struct RowIndex { __device__ int at(ByRow i) const { return i.r + 64; } };
struct ColumnIndex { __device__ int at(ByColumn i) const { return (i.c & 31) * 32; } };
struct Indices : RowIndex, ColumnIndex { using RowIndex::at; using ColumnIndex::at; };
template <int N> struct Sums {
  int at; int held[N] = {}; int order[N]{3, 1};
  __device__ Sums(int x) : at(x & 63) {}
  __device__ int next(int i) { held[i & 1] += at; return (held[0] + order[1] * held[1] + order[0]) & 255; }
};
struct Bare { __device__ int at(int i) const { return (i & 255) * 2 + 1; } };
struct Clad : Bare { __device__ int at(int i) const { return (i & 15) * 32; } };
struct Stride { int n; __device__ int at(int i) const { return (i & 31) * n; } };
struct Offset : Stride { int m; __device__ int at(int i) const { return Stride::at(i) + m; } };
__device__ int through(const Bare &u, int i) { return u.at(i); }
__device__ int through(const Stride *h, int i) { return h->at(i); }
template <int P> struct Ledge {};
template <typename E, typename P> struct Ledged { static constexpr int ld = 16; };
template <typename E, int P> struct Ledged<E, Ledge<P>> {
  static constexpr int ld = 32 + P;
  static __device__ int at(int r, int c) { return (r & 15) * ld + c; }
};
template <typename F, typename A> __device__ void handed(F f, A &&a) { f(std::forward<A>(a)); }
template <typename F, typename... A> __device__ void shared_out(F f, A &...a) { f(a...); }
struct Own {
  int v; int *p;
  __device__ Own(int x) : v(x & 63), p(&v) {}
  __device__ Own(const Own &o) : v(o.v), p(&v) {}
  __device__ void inc(int by) { *p += by; }
};
"""


@dataclass(slots=True)
class TemplateWriter(OddWriter):
    """Draws these forms; they are called by name."""

    def hops(self) -> None:
        made, step = self.name("hop"), self.choose("1", "32", "33", "5")
        self.line(f"Hop<float> {made}{{t + ({self.index(512, 1)}), {step}}};")
        self.line(
            self.choose(
                f"{made}++;",
                f"++{made}; ++{made};",
                f"{made} += lane & 3;",
                f"if ({self.condition()}) {made}++;",
            )
        )
        self.moved(f"*{made}", f"{made}[{self.choose('2', 'lane & 7')}]")
        if self.chance(40):
            i = self.name("i")
            self.line(f"for (int {i} = 0; {i} < {self.choose('3', self.lanes())}; {i}++) *{made}++ = acc;")
            self.moved(f"*{made}")

    def grids(self) -> None:
        made, ld = self.name("grid"), self.choose("32", "33", "40")
        self.line(f"Grid<float, {ld}> {made}(t + {self.choose('0', '64')});")
        r, c = f"(({self.small()}) & 31)", self.choose("lane", "lane & 15", "warp & 15")
        kind = self.number(0, 3)
        if kind == 0:
            self.line(f"{made}.put({r}, {c});")
        elif kind == 1:
            self.moved(f"{made}[{r}][{c}]", f"{made}({r}, {c})", f"{made}.self()[{r}][{c}]")
        elif kind == 2:
            m = self.name("m")
            self.line(f"int {m} = {self.small()};")
            self.line(f"{made}.each({r}, [&](float &x, int i) {{ x = acc; {m} += i; }});")
            self.kept(m)
        else:
            self.line(f"if ({self.condition()}) {made}({r}, 3) = acc;")
        self.made_number(f"{made}.turn * 3 + lane")

    def sums(self) -> None:
        made = self.name("sums")
        self.line(f"Sums<{self.choose('2', '3')}> {made}({self.small()});")
        self.line(self.choose(f"{made}.next(lane);", f"{made}.held[1] = 4;", ""))
        self.made_number(f"{made}.next({self.choose('0', '1', 'tid')})")

    def place_lambdas(self) -> None:
        f, i = self.name("f"), self.name("i")
        a, b = f"t[({i} * 2) & 1023]", f"t[({i} + {self.number(0, 64)}) & 1023]"
        self.line(f"auto {f} = [&](int {i}) -> float & {{ return {self.condition()} ? {a} : {b}; }};")
        self.moved(f"{f}({self.small()})")
        if self.chance(40):
            self.line(f"auto {f}b = [&](int {i}) -> float & {{ return {f}({i} * 3); }};")
            self.moved(f"{f}b(lane)")

    def narrow_lambdas(self) -> None:
        f = self.name("f")
        narrow = self.choose("unsigned char", "signed char", "short", "bool")
        self.line(f"auto {f} = [](int x) -> {narrow} {{ return x * {self.choose('3', '70', '700')}; }};")
        self.made_number(f"{f}({self.small()}) & 255")

    def handed_on(self) -> None:
        m, o = self.name("m"), self.name("m")
        self.line(f"int {m} = {self.small()}; int {o} = lane;")
        self.line(
            self.choose(
                f"handed([&](int &b) {{ b += {o}; }}, {m});",
                f"shared_out([](int &a, int &b) {{ b += a; a ^= 3; }}, {o}, {m});",
                f"if ({self.condition()}) handed([](int &b) {{ b *= 2; }}, {m});",
            )
        )
        self.kept(m)
        self.made_number(f"{o} + 2 * ({m} & 31)")

    def own_pointers(self) -> None:
        a, b = self.name("own"), self.name("own")
        self.line(f"Own {a}({self.small()}); {a}.inc({self.number(1, 9)});")
        self.line(self.choose(f"Own {b} = {a};", f"Own {b}({a});", f"Own &{b} = {a};"))
        self.line(self.choose(f"{b}.inc(lane);", f"*{b}.p = 7;", f"if ({self.condition()}) {a}.inc(3);"))
        self.made_number(f"({a}.v + {b}.v * 2) & 255")

    def cells(self) -> None:
        made, step = self.name("spots"), self.choose("1", "2", "32", "33")
        kind = self.choose("Spots", "TwoSpots")
        self.line(f"{kind}<float> {made}(t + {self.choose('0', '64', 'warp')}, {step});")
        i = f"(({self.small()}) & 15)"
        cell = f"{made}.{'' if kind == 'Spots' else self.choose('first.', 'second.')}at({i})"
        form = self.choose(
            f"{cell} = acc;",
            f"{cell} += acc;",
            f"{cell} -= acc;",
            f"put({cell}, acc);",
            f"acc += {cell}.get();",
        )
        self.line(f"if ({self.condition()}) {form}" if self.chance(30) else form)
        if kind == "TwoSpots":
            self.line(f"{made}.fill({i}, acc);")

    def points(self) -> None:
        made = self.name("points")
        self.line(f"Points {made}{{t + {self.number(0, 64)}, {self.choose('32', '33', '256')}}};")
        self.moved(f"{made}[{self.small()} & 255].{self.choose('x', 'y')}")
        if self.chance(40):
            one = self.name("point")
            self.line(f"Refs {one} = {made}[lane * {self.choose('1', '2', '4')}];")
            self.moved(f"{one}.{self.choose('x', 'y')}")

    def hidden_methods(self) -> None:
        made, i = self.name("clad"), f"({self.small()})"
        kind = self.number(0, 2)
        if kind == 0:
            self.line(f"Clad {made}; const Bare &{made}u = {made};")
            self.made_number(self.choose(f"{made}.at{i}", f"{made}u.at{i}", f"through({made}, {i})"))
        elif kind == 1:
            self.line(
                f"Offset {made}; {made}.n = {self.choose('1', '2', '33')}; {made}.m = {self.small()} & 63;"
            )
            self.line(f"Stride &{made}h = {made}; {made}h.n += {self.choose('0', '1', 'warp & 1')};")
            self.made_number(self.choose(f"{made}.at{i}", f"{made}h.at{i}", f"through(&{made}, {i})"))
        else:
            self.made_number(f"Ledged<float, Ledge<{self.choose('0', '1', '4')}>>::at({i}, lane & 31)")

    def two_bases(self) -> None:
        made = self.name("indices")
        self.line(f"Indices {made};")
        kind = self.choose("ByRow", "ByColumn")
        self.made_number(f"{made}.at({kind}{{{self.small()} & 63}})")
