"""What templates leave open is what C++ finds: of several things of one name the one around, macros as they
are there, members of bases and of classes within classes.

The ways are those of the indices that the same functions give on the host, computed from their values.
"""

from __future__ import annotations

from smemlint.api import Job, analyse_file

CODE = """
// enumerations of one name in two places
namespace one { enum class Layout { Row, Col }; template <class T, Layout L> struct View {
static __device__ int at(int t) { return L == Layout::Row ? t : t * 32; } };
template <class T> __device__ int idx(int t) { return View<T, Layout::Row>::at(t); } }
namespace two { enum class Layout { Col, Row }; template <class T, Layout L> struct View {
static __device__ int at(int t) { return int(L) == 1 ? t : t * 32; } };
template <class T> __device__ int idx(int t) { return View<T, Layout::Row>::at(t); }
template <class T> __device__ int idx2(int t) { return View<T, Layout::Col>::at(t) + int(Layout::Row); }
}
struct P1 { enum { Rows = 32, Cols = 1 }; enum class M { A, B }; }; struct P2 { enum {
Rows = 2, Cols = 33 }; enum class M { B, A }; };
template <class P> __device__ int byPolicy(int t) {
return t * P::Rows + (P::M::A == typename P::M(0) ? 0 : t * P::Cols); }
template <class P, int N = P::Rows> struct Sized { static constexpr int n = N;
template <class Q> static __device__ int at(int t) { return t * n + t * Q::Cols; } };
// variable templates of one name
namespace one { template <class T> constexpr int pitch = 32; template <> constexpr int pitch<float> = 1;
template <class T, int N> constexpr int scaled = pitch<T> * N; }
namespace two { template <class T> constexpr int pitch = 2; template <> constexpr int pitch<float> = 16;
template <class T, int N> constexpr int scaled = pitch<T> * N * 2; }
template <class T> __device__ int vt1(int t) { return t * one::pitch<T>; }
template <class T> __device__ int vt2(int t) { return t * two::pitch<T>; }
namespace two { template <class T> __device__ int vt(int t) { return t * pitch<T>; }
template <class T> __device__ int vs(int t) { return t * scaled<T, 1>; } } namespace one {
template <class T> __device__ int vt(int t) { return t * pitch<T>; }
template <class T> __device__ int vs(int t) { return t * scaled<T, 4>; } }
struct Holder { template <class T> static constexpr int k = sizeof(T) * 4;
template <class T> static constexpr int m = 1; }; template <> constexpr int Holder::m<double> = 32;
struct Holder2 { template <class T> static constexpr int k = sizeof(T) * 8; };
template <class T, class H> __device__ int inner(int t) { return t * H::template k<T>; }
template <class T> __device__ int innerm(int t) { return t * Holder::m<T>; }
// macros that change
#define PITCH 33
template <int N> struct Fixed { static constexpr int ld = N; };
template <class T> __device__ int m1(int t) { return t * Fixed<PITCH>::ld + sizeof(T); }
template <class T> __device__ int m1b(int t) { return t * Fixed<sizeof(T) * PITCH / 4>::ld; }
#undef PITCH
#define PITCH 32
template <class T> __device__ int m2(int t) { return t * Fixed<PITCH>::ld + sizeof(T); }
template <class T> __device__ int m2b(int t) { return t * Fixed<sizeof(T) * PITCH / 4>::ld; }
#undef PITCH
#define PITCH(x) ((x) * 4)
template <class T> __device__ int m3(int t) { return t * Fixed<PITCH(sizeof(T))>::ld; }
#define IDX(r, c) r * 8 + c
template <class T> __device__ int m4(int t) {
return Fixed<IDX(1 + sizeof(T), 2)>::ld * t + IDX(t + 1, 0) * 2; }
// local types of one name
template <class T> __device__ int lt1(int t) { struct Row { T v[32]; }; return t * sizeof(Row) / 4; }
template <class T> __device__ int lt2(int t) { struct Row { T v[33]; }; using E = short;
return t * sizeof(Row) / 4 * (sizeof(E) / 2); } template <class T> __device__ int lt3(int t) {
using Row = T; using E = int; return t * sizeof(Row) * sizeof(E) / 4; }
template <class T> __device__ int lc1(int t) { constexpr int n = sizeof(T) * 8; return Fixed<n>::ld * t;
} template <class T> __device__ int lc2(int t) { constexpr int n = sizeof(T) * 8 + 1; {
constexpr int n = 2; t = t * Fixed<n>::ld; } return Fixed<n>::ld * t / 2; }
constexpr int n = 3; template <class T, int n> __device__ int sh1(int t) { return Fixed<n>::ld * t; }
template <class T> __device__ int sh2(int t) { return Fixed<n + sizeof(T) - 4>::ld * t; }
template <class T> __device__ int sh3(int n) { return Fixed<::n * sizeof(T)>::ld * n; }
// base members in templates
template <class T> struct B0 { static constexpr int ld = 32; enum { half = 16 }; using type = T;
__device__ int f(int t) const { return t * 2; } int m = 4;
template <int N> __device__ int g(int t) const { return t * N; } };
template <class T> struct B1 : B0<T> { using B0<T>::m; using Base = B0<T>;
__device__ int a(int t) const { return t * this->ld; } __device__ int b(int t) const {
return t * Base::half; } __device__ int c(int t) const { return this->f(t) * m; }
__device__ int d(int t) const { return this->template g<8>(t) + Base::f(t); }
__device__ int e(int t) const {
return t * sizeof(typename Base::type) * sizeof(typename B0<short>::type); } };
template <class T> __device__ int bb(int t, int k) { B1<T> x; const auto &y = x; switch (k) {
case 0: return y.a(t); case 1: return y.b(t); case 2: return y.c(t); case 3: return y.d(t);
default: return x.e(t); } }
template <class T> struct B2 : B1<T> { static constexpr int ld = 1; __device__ int q(int t) const {
return t * ld + this->a(t) + t * B1<T>::ld; } };
template <class T> __device__ int bq(int t) { return B2<T>().q(t); }
template <class T> struct Outer { struct Inner { static constexpr int k = sizeof(T) * 2;
template <int N> struct Deep { static constexpr int z = N * k; using type = T; }; };
template <class U> using Of = typename Outer<U>::Inner; };
template <class T> __device__ int nest(int t) {
return t * Outer<T>::Inner::k + t * Outer<T>::Inner::template Deep<2>::z + t * Outer<char>::template Of<T>::k;
}
template <class... Ts> __device__ int packs(int t) { constexpr int sizes[] = {int(sizeof(Ts))...};
return t * (sizes[0] + ... + sizeof(Ts)) + t * sizeof...(Ts) * sizes[sizeof...(Ts) - 1]; }
template <class T, class = void> struct Has { static constexpr int v = 32; };
template <class T> struct Has<T, std::void_t<typename T::yes>> { static constexpr int v = 1; };
struct Yes { using yes = int; }; struct No {};
template <class T> __device__ int has(int t) { return t * Has<T>::v; }
"""
WAYS = {
    "one::idx<float>(t)": 1,
    "two::idx<float>(t)": 1,
    "two::idx2<float>(t)": 32,
    "Sized<P1>::at<P2>(t)": 1,
    "Sized<P2>::template at<P1>(t)": 1,
    "vt1<float>(t)": 1,
    "vt2<float>(t)": 16,
    "vt1<int>(t)": 32,
    "vt2<int>(t)": 2,
    "two::vt<float>(t)": 16,
    "one::vt<float>(t)": 1,
    "two::vs<char>(t)": 4,
    "one::vs<float>(t)": 4,
    "inner<float, Holder>(t)": 16,
    "inner<float, Holder2>(t)": 32,
    "innerm<double>(t)": 32,
    "innerm<float>(t)": 1,
    "m1<float>(t)": 1,
    "m2<float>(t)": 32,
    "m1b<float>(t)": 1,
    "m2b<float>(t)": 32,
    "m3<char>(t)": 4,
    "m4<float>(t)": 4,
    "lt1<float>(t)": 32,
    "lt2<float>(t)": 1,
    "lt3<float>(t)": 4,
    "lc1<float>(t)": 32,
    "lc2<float>(t)": 1,
    "sh1<float, 32>(t)": 32,
    "sh2<float>(t)": 1,
    "sh3<float>(t)": 4,
    "bb<float>(t, 0)": 32,
    "bb<float>(t, 1)": 16,
    "bb<float>(t, 2)": 8,
    "bb<float>(t, 3)": 2,
    "bb<float>(t, 4)": 8,
    "bq<float>(t)": 1,
    "nest<float>(t)": 32,
    "nest<short>(t)": 16,
    "(packs<char, short, double>(t))": 4,
    "(packs<float>(t))": 4,
    "has<Yes>(t)": 1,
    "has<No>(t)": 32,
}


def test_names_in_templates_mean_what_stands_around() -> None:
    """Enumerations, variable templates, local classes of one name in two places: each was taken for the first
    of its name, exact. Macros with arguments and variable templates of classes had no number."""
    kernels = [
        f"__global__ void k{i}(float *p) {{ __shared__ float s[8192]; const int t = threadIdx.x; "
        f"s[({e}) & 8191] = p[t]; __syncthreads(); p[t] = s[t]; }}\n"
        for i, e in enumerate(WAYS)
    ]
    launches = "".join(f"k{i}<<<1, 32>>>(p); " for i in range(len(WAYS)))
    text = CODE + "".join(kernels) + f"void go(float *p) {{ {launches}}}\n"
    names = {f"k{i}": e for i, e in enumerate(WAYS)}
    found = {
        names[k.name]: (a.ways, a.grade)
        for k in analyse_file(Job("k.cu", text=text)).kernels
        for a in k.accesses
        if a.op == "store"
    }
    assert found == {e: (ways, "exact") for e, ways in WAYS.items()}
