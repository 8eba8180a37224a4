"""Objects and members of classes as template arguments: `Tile<Config{32, 1}>`, `total<&P::x>(p, i)`."""

from __future__ import annotations

import pytest

from smemlint.evaluate import Grade, Trace, evaluate
from smemlint.frontend import load
from smemlint.ir import Launch
from smemlint.launch import started_kernels
from smemlint.running.instances import spelled
from smemlint.source import source_from_bytes

MEMBERS = """
struct P { float x, y, z; int n; __device__ float get() const { return y; } };
template <class T> struct Pair { T first, second; };
template <float P::*F> __device__ float total(const P *p, int i) { return p[i].*F; }
template <auto F> __device__ float any(const P *p, int i) { return (p + i)->*F; }
template <auto F> struct Of { __device__ float operator()(const P &p) const { return p.*F; } };
template <class R, class T> struct Held { T R::*f;
    __device__ T operator()(const R &r) const { return r.*f; } };
template <float (P::*G)() const> __device__ float call(const P *p, int i) { return (p[i].*G)(); }
template <class F> __device__ float applied(F f, const P *p, int i) { return f(p[i]); }
template <class T, T Pair<T>::*F> __device__ T part(const Pair<T> *p, int i) { return p[i].*F; }
template <class F> struct Stats { F f; __device__ float at(const P *p, int i) const { return f(p[i]); } };
"""
READ = {
    "o[t] = total<&P::y>(p, t);": (16, 4),
    "o[t] = any<&P::z>(p, t);": (16, 8),
    "Of<&P::y> f; o[t] = f(p[t]);": (16, 4),
    "Held<P, float> f{&P::z}; o[t] = f(p[t]);": (16, 8),
    "o[t] = call<&P::get>(p, t);": (16, 4),
    "o[t] = applied(Of<&P::y>{}, p, 2 * t);": (32, 4),
    "constexpr auto m = &P::y; o[t] = any<m>(p, t);": (16, 4),
    "o[t] = part<float, &Pair<float>::second>(q, t);": (8, 4),
    "Stats<Of<&P::z>> s; o[t] = s.at(p, t);": (16, 8),
}


def _started(text: str) -> tuple[Launch, Trace]:
    """The one launch of a program and the one access of its kernel."""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (started,) = (s for s in started_kernels(module) if s.template or not s.kernel.template)
    launch = Launch(started.block, template=started.template)
    (trace,) = evaluate(module, started.kernel, launch).traces
    return launch, trace


@pytest.mark.parametrize("template", ["", "template <class T> "])
@pytest.mark.parametrize("body", READ)
def test_members_are_template_arguments(body: str, template: str) -> None:
    text = f"""{MEMBERS} {template}__global__ void k(float *o) {{
        __shared__ P p[64]; __shared__ Pair<float> q[64]; const int t = threadIdx.x; {body}
    }}
    int main() {{ k{"<float>" if template else ""}<<<1, 32>>>(nullptr); }}"""
    _, trace = _started(text)
    stride, first = READ[body]
    assert trace.grade is Grade.EXACT
    assert trace.site.width == 4
    offsets = trace.offsets.ravel().tolist()
    assert [o - offsets[0] for o in offsets] == [stride * t for t in range(32)]
    assert offsets[0] % stride == first


OBJECTS = """
enum class Order { kRows, kColumns };
struct Shape {
    int m, n; Order order = Order::kRows; int pad = 0;
    __host__ __device__ constexpr int pitch() const { return (order == Order::kRows ? n : m) + pad; }
    __host__ __device__ constexpr int at(int r, int c) const {
        return order == Order::kRows ? r * pitch() + c : c * pitch() + r;
    }
};
template <Shape S> struct Tile {
    float v[(S.m > S.n ? S.m : S.n) * S.pitch()];
    __device__ float &operator()(int r, int c) { return v[S.at(r, c)]; }
};
template <Shape S> __device__ void put(Tile<S> &tile, int r, int c) { tile(r, c) = 1; }
constexpr Shape kWide{32, 32};
constexpr Shape kPadded{.m = 32, .n = 32, .pad = 1};
template <Shape S> struct Step { static constexpr int k = 1; };
template <> struct Step<Shape{4, 4}> { static constexpr int k = 8; };
template <> struct Step<kPadded> { static constexpr int k = 16; };
"""
LAUNCHED = {
    "k<kWide><<<1, 32>>>();": ("Shape{32, 32, 0, 0}", 128),
    "k<kPadded><<<1, 32>>>();": ("Shape{32, 32, 0, 1}", 132),
    "k<Shape{32, 64}><<<1, 32>>>();": ("Shape{32, 64, 0, 0}", 256),
    "k<Shape{16, 32, Order::kColumns}><<<1, 32>>>();": ("Shape{16, 32, 1, 0}", 4),
    "start<kWide>();": ("Shape{32, 32, 0, 0}", 128),
    "start<Shape{.m = 32, .n = 8, .pad = 1}>();": ("Shape{32, 8, 0, 1}", 36),
}


@pytest.mark.parametrize("call", LAUNCHED)
def test_objects_are_template_arguments(call: str) -> None:
    text = f"""{OBJECTS}
    template <Shape S> __global__ void k() {{ __shared__ Tile<S> tile; put<S>(tile, threadIdx.x, 0); }}
    template <Shape S> void start() {{ k<S><<<1, 32>>>(); }}
    int main() {{ {call} }}"""
    launch, trace = _started(text)
    name, stride = LAUNCHED[call]
    assert spelled(launch.template["S"]) == name
    assert trace.grade is Grade.EXACT
    assert trace.offsets.ravel().tolist() == [stride * t for t in range(32)]


SPECIAL = """
struct Cfg { int m, n; int k = 1; };
constexpr Cfg kFour{4, 4};
template <Cfg C> struct Of { static constexpr int k = C.m; };
template <> struct Of<Cfg{4, 4}> { static constexpr int k = 16; };
struct Q { int x, y; };
template <int Q::*F> struct At { static constexpr int k = 2; };
template <> struct At<&Q::y> { static constexpr int k = 4; };
template <Cfg C> __device__ int f() { return C.m; }
template <> __device__ int f<Cfg{4, 4}>() { return 8; }
template <Cfg C> __device__ int of() { return Of<C>::k; }
"""


@pytest.mark.parametrize(
    ("number", "step"),
    [
        ("Of<Cfg{4, 4}>::k", 16),
        ("Of<kFour>::k", 16),
        ("Of<Cfg{4, 4, 2}>::k", 4),
        ("Of<Cfg{2, 4}>::k", 2),
        ("At<&Q::y>::k", 4),
        ("At<&Q::x>::k", 2),
        ("f<kFour>()", 8),
        ("f<Cfg{2, 4}>()", 2),
        ("of<kFour>()", 16),
    ],
)
def test_specialisations_for_an_object_or_member_are_taken(number: str, step: int) -> None:
    text = f"""{SPECIAL} __global__ void k() {{ __shared__ float s[1024]; s[threadIdx.x * {number}] = 1; }}
    int main() {{ k<<<1, 32>>>(); }}"""
    _, trace = _started(text)
    assert trace.grade is Grade.EXACT
    assert trace.offsets.ravel().tolist() == [4 * step * t for t in range(32)]


USED = {
    "Tile<kWide> tile; __shared__ Tile<kPadded> s; s(t, 0) = 1;": 132,
    "__shared__ Tile<Shape{32, 16}> s; s(t, 0) = 1;": 64,
    "__shared__ Tile<kWide> s; put(s, t, 0);": 128,
    "__shared__ Tile<kWide> s; put<kWide>(s, t, 0);": 128,
    "__shared__ float s[999]; s[t * Step<Shape{4, 4}>::k] = 1;": 32,
    "__shared__ float s[999]; s[t * Step<Shape{.m = 32, .n = 32, .pad = 1}>::k] = 1;": 64,
    "__shared__ float s[999]; s[t * Step<kWide>::k] = 1;": 4,
}


@pytest.mark.parametrize("body", USED)
def test_objects_are_template_arguments_of_types(body: str) -> None:
    text = f"""{OBJECTS} __global__ void k() {{ const int t = threadIdx.x; {body} }}
    int main() {{ k<<<1, 32>>>(); }}"""
    _, trace = _started(text)
    assert trace.grade is Grade.EXACT
    assert trace.offsets.ravel().tolist() == [USED[body] * t for t in range(32)]
