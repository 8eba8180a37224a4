"""What kernels in the style of production code begin with: helpers, accessors, records."""

PRODUCTION_HEAD = """struct Pointing {
  int *to;
  __device__ Pointing &by(int k) { *to += k; return *this; }
};
struct Divider {
  int by, shift; unsigned magic;
  __device__ Divider(int d) : by(d), shift(0), magic(0) {
    while ((1 << shift) < d) ++shift;
    magic = (unsigned)((1ull << 32) * ((1ull << shift) - d) / d + 1);
  }
  __device__ int div(int n) const { return (int)((__umulhi(n, magic) + n) >> shift); }
  __device__ void operator()(int &q, int &r, int n) const { q = div(n); r = n - q * by; }
};
template <typename E, int N> struct Strided {
  E *p; const int *steps;
  __device__ Strided<E, N - 1> operator[](int i) const {
    return Strided<E, N - 1>{p + i * steps[0], steps + 1};
  }
};
template <typename E> struct Strided<E, 1> {
  E *p; const int *steps;
  __device__ E &operator[](int i) const { return p[i * steps[0]]; }
};
template <typename D> struct Located {
  __device__ int at(int r, int c) const { return static_cast<const D *>(this)->place(r, c) & 1023; }
  __device__ int twice(int r, int c) const {
    const D &d = static_cast<const D &>(*this);
    return at(r, c) + d.place(c, r) % 32;
  }
  __device__ void set(int by) { static_cast<D *>(this)->ld += by; }
};
struct ByRows : Located<ByRows> {
  int ld;
  __device__ ByRows(int l) : ld(l) {}
  __device__ int place(int r, int c) const { return r * ld + c; }
};
struct Turned : Located<Turned> {
  int ld = 3;
  __device__ int place(int r, int c) const { return (r ^ ld) * 32 + (c ^ (r & 7)); }
};
struct Shape { int size[3]; int step[3]; };
__device__ int unravelled(int i, const Shape &s) {
  int at = 0;
#pragma unroll
  for (int d = 2; d >= 0; --d) {
    const int q = i / s.size[d];
    at += (i - q * s.size[d]) * s.step[d];
    i = q;
  }
  return at;
}
__device__ int resized(Shape s, int i, int by) {
  s.size[2] += by; s.step[i & 1] ^= by;
  return unravelled(i, s);
}
__device__ void placed(int i, int w, int *r, int *c) { *r = i / w; *c = i % w; }
struct RowCol { int r, c; };
__device__ RowCol found_at(int i, int w) {
  if (i < w) return {0, i};
  RowCol x;
  x.r = i / w; x.c = i - x.r * w;
  return x;
}
__device__ bool tried(int i, int &to) {
  if (i % 3 == 0) return false;
  to = i * 2 & 127;
  if (i & 4) { to++; return false; }
  return true;
}
__device__ int scanned(float *p, int x) {
  for (int i = 0; ; i++) {
    if (i > 3) return -1;
    if ((x >> i) & 1) continue;
    p[(x + i * 32) & 511] = 1;
    if (x & (2 << i)) return i + 1;
  }
}
__device__ bool inside(int x, int y, int w, int h) { return x >= 0 && y >= 0 && x < w && y < h; }
__device__ void exchange(float *&a, float *&b) { float *x = a; a = b; b = x; }
struct Even {
  int v;
  __device__ operator int() const { return v * 2; }
};
struct Handle { float *p; __device__ operator float *() const { return p; } };
struct Two { float *from, *to; __device__ Two turned() const { return Two{to, from}; } };
__device__ unsigned xorshift(unsigned &s) { s ^= s << 13; s ^= s >> 17; s ^= s << 5; return s; }
__device__ unsigned pcg(uint64_t &state) {
  const uint64_t old = state;
  state = old * 6364136223846793005ull + 1442695040888963407ull;
  const unsigned x = (unsigned)(((old >> 18) ^ old) >> 27);
  const int by = (int)(old >> 59);
  return (x >> by) | (x << ((-by) & 31));
}
__device__ uint64_t murmur(uint64_t h) {
  h ^= h >> 33; h *= 0xff51afd7ed558ccdull; h ^= h >> 33; h *= 0xc4ceb9fe1a85ec53ull;
  return h ^ (h >> 33);
}
enum Style : unsigned { kNone = 0, kSkew = 1, kTurn = 2, kWide = 4 };
template <int Flags> __device__ int flagged(int r, int c) {
  int at = r * 32 + c;
  if (Flags & kSkew) at += r;
  if constexpr ((Flags & kTurn) != 0) at = c * 33 + r;
  return Flags & kWide ? at * 2 : at;
}
template <int N> struct Stepper {
  static constexpr int count = N + Stepper<N - 1>::count;
  static __device__ void run(float *p, int at) {
    p[(at + N * 33) & 1023] = N;
    Stepper<N - 1>::run(p, at ^ N);
  }
};
template <> struct Stepper<0> {
  static constexpr int count = 2;
  static __device__ void run(float *p, int at) { p[at & 511] = 1; }
};
struct __attribute__((packed)) Frame8 { unsigned char kind; unsigned char at[3]; int sum; };
struct Job { int kind; union { int whole; struct { short lo, hi; } half; } is; unsigned char more[4]; };
"""

PRODUCTION_SHARED = """__shared__ Frame8 frames[64];
__shared__ Job jobs[64];
"""
