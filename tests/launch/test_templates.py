"""Templates that are given templates, and variables that are templates, in kernels and where they start."""

from __future__ import annotations

import pytest

from smemlint.evaluate import evaluate
from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.score import score_all
from smemlint.source import source_from_bytes


def ways(text: str) -> list[tuple[int, list[float | None]]]:
    """(threads, ways of each access) of the only kernel, launch by launch."""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    launches = infer(kernel, module, started_kernels(module))
    assert not any(x.assumed for x in launches)
    return [(x.threads, [c.ways for c in score_all(evaluate(module, kernel, x))]) for x in launches]


def test_a_template_that_is_given_a_template_uses_its_instances() -> None:
    text = """
    template <int N> struct Twice { static constexpr int value = N * 2; int pad[N]; };
    template <template <int> class F> __global__ void k(float *p) {
        __shared__ float s[4096];
        __shared__ F<8> rows[64];
        s[threadIdx.x * F<2>::value] = p[0];
        rows[threadIdx.x].pad[0] = 1;
    }
    void run(float *p) { k<Twice><<<1, 64>>>(p); }"""
    assert ways(text) == [(64, [4, 8])]


def test_a_template_is_handed_on_and_deduced() -> None:
    text = """
    template <typename T> struct Sum { static constexpr int step = sizeof(T); };
    template <typename T, template <typename> class Op> __global__ void k(T *p, Op<T> op) {
        __shared__ T s[4096];
        s[threadIdx.x * Op<T>::step] = p[0];
    }
    template <typename T, template <typename> class Op> void launch(T *p) { k<T, Op><<<1, 32>>>(p, Op<T>()); }
    void run(float *p) { launch<float, Sum>(p); Sum<float> sum; k<<<1, 64>>>(p, sum); }"""
    assert ways(text) == [(32, [4]), (64, [4])]


def test_a_variable_template_has_the_value_of_its_instance() -> None:
    text = """
    template <typename T> struct Traits { static constexpr int value = 2; };
    template <typename T> constexpr int width = Traits<T>::value;
    template <> constexpr int width<double> = 8;
    template <typename T> inline constexpr int width<T *> = 16;
    template <typename T, int N = 3> constexpr bool big = sizeof(T) * N > 12;
    template <typename T> __global__ void k(T *p) {
        __shared__ float s[4096];
        s[threadIdx.x * width<T>] = 1;
        s[threadIdx.x * width<double>] = 1;
        s[threadIdx.x * (big<T> ? 4 : 1)] = 1;
        s[threadIdx.x * width<T *>] = 1;
    }
    template <typename T> void launch(T *p) { k<<<1, (32 * width<T>)>>>(p); }
    void run(float *p, double *q) { launch(p); launch(q); }"""
    # The first store of doubles is overwritten by the second, and never runs.
    assert ways(text) == [(64, [2, 8, 1, 16]), (256, [None, 8, 4, 16])]


def test_types_that_traits_choose_in_a_class_are_followed() -> None:
    text = """
    #include <type_traits>
    struct empty {};
    template <int N> struct Cta { static constexpr int threads = N; };
    template <typename A, typename B> struct Default {
        typedef typename std::conditional<!std::is_same<A, empty>::value, A, B>::type type;
        using plain = std::conditional_t<std::is_same_v<A, empty>, B, A>;
        using bare = typename std::conditional<std::is_same<A, empty>::value, B, A>::type;
    };
    template <typename P> __global__ void k(float *p) {
        __shared__ float s[4096];
        s[threadIdx.x * (P::threads / 32)] = p[0];
    }
    template <typename A> void run(float *p) {
        using D = Default<A, Cta<64>>;
        k<typename D::type><<<1, D::type::threads>>>(p);
        k<typename D::plain><<<1, 2 * D::plain::threads>>>(p);
        k<typename D::bare><<<1, 4 * D::bare::threads>>>(p);
    }
    void go(float *p) { run<empty>(p); run<Cta<128>>(p); }"""
    assert sorted(ways(text)) == [(64, [2]), (128, [2]), (128, [4]), (256, [2]), (256, [4]), (512, [4])]


def test_specialisations_of_a_class_template_that_is_only_declared_are_used() -> None:
    text = """
    namespace {
    template <typename T> struct SharedMemory;
    template <> struct SharedMemory<float> {
        __device__ float *get() { extern __shared__ float s_float[]; return s_float; }
    };
    template <> struct SharedMemory<double> {
        __device__ double *get() { extern __shared__ double s_double[]; return s_double; }
    };
    }
    template <typename T> __global__ void k(T *p) {
        SharedMemory<T> shared;
        T *s = shared.get();
        s[threadIdx.x * (8 / sizeof(T))] = p[0];
    }
    void run(float *p, double *q) { k<<<1, 64, 4096>>>(p); k<<<1, 32, 4096>>>(q); }"""
    assert sorted(ways(text)) == [(32, [1]), (64, [2])]


def test_a_member_template_of_a_class_template_is_the_type_that_its_arguments_make() -> None:
    text = """
    template <typename T> struct Storage {
        template <int N, typename Dummy> struct Of;
        template <typename Dummy> struct Of<2, Dummy> {
            __device__ static T *get() { __shared__ T two[128]; return two; }
        };
        template <typename Dummy> struct Of<4, Dummy> {
            __device__ static T *get() { __shared__ T four[256]; return four; }
        };
        template <int N> struct Step { enum { value = N * 2 }; };
    };
    template <typename T, int N> __global__ void k(T *p) {
        T *s = Storage<T>::template Of<N, void>::get();
        s[threadIdx.x * N] = p[0];
        s[threadIdx.x * Storage<T>::template Step<N>::value] = p[1];
    }
    void run(float *p) { k<float, 2><<<1, 64>>>(p); k<float, 4><<<1, 64>>>(p); }"""
    assert sorted(ways(text)) == [(64, [2, 4]), (64, [4, 8])]


def test_a_member_alias_template_is_put_in() -> None:
    text = """
    template <int NT_, int VT_> struct Tune {
        enum { NT = NT_, VT = VT_ };
        template <int V> using with = Tune<NT_, V>;
    };
    template <typename P> __global__ void k(float *p) {
        typedef typename P::template with<4> Q;
        __shared__ float s[Q::NT * Q::VT];
        s[threadIdx.x * Q::VT] = p[0];
    }
    void run(float *p) { k<Tune<64, 2>><<<1, 64>>>(p); }"""
    assert ways(text)[0] == (64, [4])


def test_numbers_of_a_class_that_the_launcher_is_given_are_arguments_of_the_kernel() -> None:
    text = """
    template <typename T, int N> constexpr int step() { return sizeof(T) == 2 ? N : 1; }
    template <typename T, int N, int S> struct Config {
        static constexpr int threads = N;
        static constexpr int stride = step<T, S>();
        enum { count = S * 2 };
        typedef T Type;
    };
    using Small = Config<short, 64, 4>;
    template <typename T, int N, int S, int C> __global__ void k(T *p) {
        __shared__ float s[N * C];
        s[threadIdx.x * S] = p[0];
        s[threadIdx.x * C] = p[0];
    }
    template <typename C> void launch(T *p) {
        k<typename C::Type, C::threads, C::stride, C::count><<<1, C::threads>>>(p);
    }
    void run(void *p) { launch<Small>((short *)p); launch<Config<float, 32, 2>>((float *)p); }"""
    assert ways(text.replace("launch(T *p)", "launch(typename C::Type *p)")) == [(64, [4, 8]), (32, [1, 4])]


def test_a_class_is_made_of_numbers_that_another_class_tells() -> None:
    text = """
    template <int N, int P> struct Rows { int of[N][P]; };
    template <int P> struct Config { static constexpr int rows = 64, pitch = P; };
    template <typename C> __global__ void k(float *p) {
        __shared__ Rows<C::rows, C::pitch> s;
        s.of[threadIdx.x][0] = p[0];
    }
    void run(float *p) { k<Config<32>><<<1, 64>>>(p); k<Config<33>><<<1, 64>>>(p); }"""
    assert ways(text) == [(64, [32]), (64, [1])]


def test_a_function_of_a_class_gives_an_argument_of_the_kernel() -> None:
    text = """
    template <typename T> struct Policy { static constexpr int items() { return 16 / sizeof(T); } };
    template <typename T, int N> __global__ void k(T *p) {
        __shared__ float s[4096];
        s[threadIdx.x * N] = p[0];
    }
    template <typename T> void one(T *p) { k<T, Policy<T>::items()><<<1, 64>>>(p); }
    template <typename T> void other(T *p) { using P = Policy<T>; k<T, P::items()><<<1, 32>>>(p); }
    void run(float *p, double *q) { one(p); other(q); }"""
    assert ways(text) == [(64, [4]), (32, [2])]


def test_a_variable_of_the_environment_is_not_set() -> None:
    text = """
    __global__ void k(float *p) {
        __shared__ float s[4096];
        s[threadIdx.x * 2] = p[0];
    }
    static int number(const char *name, int other) {
        const char *said = std::getenv(name);
        return said ? atoi(said) : other;
    }
    void run(float *p) { k<<<1, number("THREADS", 64)>>>(p); }"""
    assert ways(text) == [(64, [2])]


def test_a_method_that_is_instantiated_tells_the_instance_of_its_class() -> None:
    text = """
    template <class T, int N> __global__ void k(T *p) {
        __shared__ T s[N * 2];
        s[threadIdx.x * 2] = p[0];
    }
    template <class T, int N> struct Finder { void init(T *p); void find(T *p, int n); };
    template <class T, int N> void Finder<T, N>::init(T *p) { auto t = N / 2; k<T, N><<<4, t>>>(p); }
    template <class T, int N> void Finder<T, N>::find(T *p, int n) { for (int i = 0; i < n; i++) init(p); }
    template void Finder<double, 128>::find(double *p, int n);
    template void Finder<short, 64>::find(short *p, int n);
    """
    assert ways(text) == [(64, [2.0]), (32, [1.0])]


@pytest.mark.parametrize(
    "lambda_",
    [
        "[&](auto &&tile) { using T = std::decay_t<decltype(tile)>; each<T><<<1, T::size>>>(p); }",
        "[&](const auto &tile) { each<std::remove_cvref_t<decltype(tile)>><<<1, tile.size>>>(p); }",
        "[&](auto &tile) { each<std::remove_reference_t<decltype(tile)>><<<1, 128>>>(p); }",
        "[&](auto tile) { each<decltype(tile)><<<1, 128>>>(p); }",
    ],
)
def test_the_type_of_what_a_generic_lambda_is_given_is_an_argument(lambda_: str) -> None:
    text = f"""
    template <int N> struct Tile {{ static constexpr int size = N; }};
    template <class T> __global__ void each(float *p) {{
        __shared__ float s[T::size * 32];
        s[threadIdx.x * T::size / 16] = p[0];
    }}
    void go(float *p) {{ Tile<128> tile; auto start = {lambda_}; start(tile); }}
    """
    assert ways(text) == [(128, [8])]


PACKS = {
    "a function that hands on what is left": (
        "template <int N, int... Ns> void run(float *p) "
        "{ k<N><<<1, 64>>>(p); if constexpr (sizeof...(Ns) > 0) run<Ns...>(p); }",
        "run<1, 2, 4>(p);",
    ),
    "one that asks first": (
        "template <int N, int... Ns> bool run(float *p, int n) { "
        "if (n == N) { k<N><<<1, 64>>>(p); return true; }"
        " if constexpr (sizeof...(Ns) > 0) return run<Ns...>(p, n); return false; }",
        "run<1, 2, 4>(p, n);",
    ),
    "overloads": (
        "template <int N> void run(float *p) { k<N><<<1, 64>>>(p); }"
        "template <int N, int M, int... Ns> void run(float *p) { k<N><<<1, 64>>>(p); run<M, Ns...>(p); }",
        "run<1, 2, 4>(p);",
    ),
    "a lambda that is handed on": (
        "template <int N, int... Ns, class F> void each(F f) { f(std::integral_constant<int, N>{});"
        " if constexpr (sizeof...(Ns) > 0) each<Ns...>(f); }",
        "each<1, 2, 4>([&](auto c) { k<decltype(c)::value><<<1, 64>>>(p); });",
    ),
    "a lambda template": (
        "template <class F, int N, int... Ns> bool each(int n, F &&f) { if (n == N) { "
        "f.template operator()<std::integral_constant<int, N>>(); return true; }"
        " if constexpr (sizeof...(Ns) > 0) return each<F, Ns...>(n, std::forward<F>(f)); return false; }"
        "template <int... Ns> struct Of { int n; };"
        "template <class F, int... Ns> bool choose(Of<Ns...> of, F &&f) "
        "{ return each<F, Ns...>(of.n, std::forward<F>(f)); }",
        "auto f = [&]<class C>() { k<C::value><<<1, 64>>>(p); }; choose(Of<1, 2, 4>{n}, std::move(f));",
    ),
}


@pytest.mark.parametrize("name", PACKS)
def test_a_pack_that_is_handed_on_is_each_of_its_numbers(name: str) -> None:
    launcher, call = PACKS[name]
    text = f"""
    template <int N> __global__ void k(float *p) {{ __shared__ float s[4096]; s[threadIdx.x * N] = p[0]; }}
    {launcher}
    void go(float *p, int n) {{ {call} }}"""
    assert sorted(ways(text)) == [(64, [1]), (64, [2]), (64, [4])]


def test_a_pack_is_not_its_first_number() -> None:
    text = """
    template <int N> __global__ void k(float *p) { __shared__ float s[4096]; s[threadIdx.x * N] = p[0]; }
    template <int... Ns> void count(float *p) { k<sizeof...(Ns)><<<1, 64>>>(p); }
    template <int N, int... Ns> void rest(float *p) { count<Ns...>(p); }
    void go(float *p) { rest<8, 8, 8>(p); }"""
    assert ways(text) == [(64, [2])]


@pytest.mark.parametrize("argument", ["B::value ? 4 : 2", "B() ? 4 : 2", "(b ? 4 : 2)", "b ? b ? 4 : 1 : 2"])
def test_a_choice_is_an_argument_of_a_template(argument: str) -> None:
    text = f"""
    template <int N> __global__ void k(float *p) {{ __shared__ float s[4096]; s[threadIdx.x * N] = p[0]; }}
    template <class F> void choose(bool b, F f) {{ if (b) f(std::true_type()); else f(std::false_type()); }}
    void go(float *p, bool on) {{
        choose(on, [&](auto tag) {{
            using B = decltype(tag);
            constexpr bool b = B::value;
            k<{argument}><<<1, 64>>>(p);
        }});
    }}"""
    assert sorted(ways(text)) == [(64, [2]), (64, [4])]


BOTH = """
namespace lib {
    template <int N> struct Two {}; template <int N> struct Many {};
    template <int N> __global__ void k(float *p) {
        __shared__ float s[4096];
        s[threadIdx.x * N] = p[0];
    }
    template <int N> void build(Two<N> &t, float *p) { k<N><<<1, 64>>>(p); }
    namespace detail {
        template <int N> void build(Many<N> &m, float *p) { Two<N> t; build(t, p); }
    }
    template <int N> void build(Many<N> &m, float *p) { detail::build(m, p); }
}
"""


def test_a_call_that_a_template_leaves_open_may_mean_what_its_arguments_bring_in() -> None:
    """The function of the inner namespace called itself."""
    assert ways(BOTH + "int main() { lib::Many<4> m; build(m, 0); }") == [(64, [4])]


def test_a_call_without_objects_means_what_is_found_in_its_own_namespace() -> None:
    text = """
    template <int N> __global__ void k(float *p) { __shared__ float s[4096]; s[threadIdx.x * N] = p[0]; }
    namespace lib {
        template <class T> void go(T *p, int) { k<2><<<1, 64>>>(p); }
        namespace detail {
            template <class T> void go(T *p, long) { k<4><<<1, 64>>>(p); }
            template <class T> void run(T *p) { go(p, 1); }
        }
    }
    int main() { lib::detail::run((float *)0); }"""
    assert ways(text)[0] == (64, [4])


TASKS = """
enum class Kind { base, diag };
template <Kind K, int P, int Pitch> struct Task {
    static constexpr int threads = P;
    static __device__ void compute(float *p) {
        __shared__ float s[P * Pitch];
        s[threadIdx.x * Pitch] = p[0];
        if constexpr (K == Kind::diag) s[threadIdx.x] = p[1];
    }
};
template <class A> __global__ __launch_bounds__(A::threads) void go(float *p) { A::compute(p); }
template <template <int> class A, class... Args> void dispatch(int m, Args... args) {
    if (constexpr int pitch = 2; m <= pitch) {
        using Chosen = A<pitch>;
        go<Chosen><<<1, Chosen::threads>>>(args...);
    } else if (constexpr int pitch = 4; m <= pitch) {
        using Chosen = A<pitch>;
        go<Chosen><<<1, A<1>::threads>>>(args...);
    } else {
        go<A<8>><<<1, A<8>::threads>>>(args...);
    }
}
"""
ALIASES = """
template <int Pitch> using Base = Task<Kind::base, 64, Pitch>;
template <int Pitch> using Diag = Task<Kind::diag, 128, Pitch>;
"""


@pytest.mark.parametrize(
    ("start", "aliases"),
    [
        ("void run(float *p, int m) { dispatch<Base>(m, p); dispatch<Diag>(m, p); }", ALIASES),
        ("void run(float *p, int m) { N::dispatch<N::Base>(m, p); dispatch<N::Diag>(m, p); }", ""),
        (
            "#define RUN(kind) void run_##kind(float *p, int m) { dispatch<kind>(m, p); }\n"
            "RUN(Base)\nRUN(Diag)",
            ALIASES,
        ),
    ],
)
def test_an_alias_template_is_given_as_a_template(start: str, aliases: str) -> None:
    text = (
        TASKS + aliases + start
        if aliases
        else f"namespace N {{ {TASKS} {ALIASES} }} using namespace N; {start}"
    )
    assert sorted(ways(text)) == sorted(
        [(64, [pitch]) for pitch in (2, 4, 8)] + [(128, [pitch, 1]) for pitch in (2, 4, 8)]
    )


def test_a_macro_is_given_a_template() -> None:
    """`reduce<Max>` in a macro's body stood for the launcher as a template that nobody instantiates."""
    text = """
    template <class T> struct Add { static constexpr int step = 1; };
    template <class T> struct Max { static constexpr int step = 4; };
    template <class T, class Op> __global__ void k(T *p) {
        __shared__ T s[4096];
        s[threadIdx.x * Op::step] = p[0];
    }
    template <template <class> class Op> void reduce(float *p) { k<float, Op<float>><<<1, 64>>>(p); }
    #define DECLARE(name, op) void reduce_##name##_cuda(float *p) { return reduce<op>(p); }
    DECLARE(add, Add)
    DECLARE(max, Max)"""
    assert ways(text) == [(64, [1]), (64, [4])]
