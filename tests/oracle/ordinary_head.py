"""What the kernels of ordinary C++ begin with: records, helpers, class templates, shared variables."""

ORDINARY_HEAD = """struct Flags { unsigned a : 5; unsigned b : 11; unsigned c : 16; int rest; };
struct __attribute__((packed)) Wire { unsigned char tag; int at; short id; unsigned char last; };
#pragma pack(push, 2)
struct Tight { char c; int v; double d; };
#pragma pack(pop)
union Cell { float f; unsigned u; unsigned char b[4]; unsigned short h[2]; };
struct Triple { float x, y, z; };
struct Named { char name[13]; };
struct Five { short v[5]; };
struct Seven { float m[7]; int k; double d; };
template <int N> struct Power { static constexpr int value = 2 * Power<N - 1>::value; };
template <> struct Power<0> { static constexpr int value = 1; };
template <typename E, int N> struct Pitch { static constexpr int value = N + 1; };
template <typename E> struct Pitch<E, 32> { static constexpr int value = 40; };
template <int N> struct Pitch<double, N> { static constexpr int value = N + 2; };
template <> struct Pitch<double, 32> { static constexpr int value = 36; };
template <typename E> struct Pitch<E *, 32> { static constexpr int value = 9; };
template <int R, int C, bool Padded> struct Plan {
  static constexpr int kRow = Padded ? C + 1 : C;
  static constexpr int kSize = R * kRow;
  static __device__ int at(int r, int c) { return (r % R) * kRow + c % C; }
};
template <int N> constexpr int kTwice = 2 * N;
constexpr int kSteps[8] = {1, 33, 2, 17, 64, 5, 40, 3};
template <int N> __device__ int folded(int x) {
  if constexpr (N == 0) return x;
  else return folded<N - 1>(x * 2 + N);
}
template <int I, int N> __device__ void unrolled(float *p, int at) {
  if constexpr (I < N) { p[(at + I * 33) & 1023] = I; unrolled<I + 1, N>(p, at); }
}
template <typename E> __device__ E *early(E *a, int i) {
  if (i < 3) return a;
  if (i & 4) return a + 2 * i;
  a += 7;
  return a + i;
}
__device__ float *chosen(float *a, float *b, int i) {
  for (int j = 0; j < 3; j++) { if ((i >> j) & 1) return j == 1 ? b : a; a += 32; }
  return b + 1;
}
__device__ void stepped(float *&p, int k) { p += k; if (k & 1) p += 32; }
__device__ bool touched(float *p, int i) { if (i & 8) return false; p[i & 511] = 1; return i & 1; }
__device__ int side(int &x) { x = x * 5 + 3; return x & 31; }
template <typename F> __device__ int applied(F f, int i) { return f(i) + f(i + 1); }
template <typename F> __device__ void each(int first, int last, F f) {
  for (int i = first; i < last; ++i) f(i);
}
struct Buffers {
  float *front, *back;
  int turns = 0;
  __device__ void flip() { float *x = front; front = back; back = x; ++turns; }
};
struct Walker {
  int at, step;
  __device__ Walker &walk(int k) { at += step * k; step ^= 3; return *this; }
  __device__ Walker &operator+=(int k) { at += k; return *this; }
  __device__ Walker &operator++() { at += step; return *this; }
  __device__ int peek(int k) const { return at + k * step; }
  __device__ int take() { int old = at; if (old & 2) { step++; return old; } at += step; return old + 1; }
};
struct Split { int q, r; };
__device__ Split divided(int x, int by) { Split s; s.q = x / by; s.r = x % by; return s; }
__device__ unsigned fnv(unsigned x) {
  unsigned h = 2166136261u;
  for (int i = 0; i < 4; i++) { h ^= x & 255; h *= 16777619u; x >>= 8; }
  return h;
}
__device__ uint64_t splitmix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}
__device__ int spread(int x) {
  x = (x | x << 4) & 0x0f0f;
  x = (x | x << 2) & 0x3333;
  return (x | x << 1) & 0x5555;
}
__device__ int gcd(int a, int b) { while (b) { int r = a % b; a = b; b = r; } return a; }
"""

ORDINARY_SHARED = """__shared__ Flags flags[128];
__shared__ Wire wires[128];
__shared__ Tight tights[64];
__shared__ Cell cells[512];
__shared__ Triple triples[256];
__shared__ Named names[128];
__shared__ Five fives[128];
__shared__ Seven sevens[64];
__shared__ union {{ float f[512]; int i[512]; double d[256]; struct {{ short a; char b; }} r[300]; }} both;
const int tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
const int lane = tid & 31, warp = tid >> 5;
"""
