"""Tables of pointers to kernels, however they are filled: an unknown index may mean each of them."""

from __future__ import annotations

import pytest

from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNEL = """
template <int W> __global__ void wide(float *p) { __shared__ float s[4096]; s[threadIdx.x * W] = p[0]; }
using Fn = void (*)(float *);
"""


def instances(host: str) -> tuple[set[object], bool]:
    """The numbers that `wide` is started with, and whether they are sure."""
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNEL + host).encode()))
    (kernel,) = [k for k in module.kernels() if k.name == "wide"]
    launches = infer(kernel, module, started_kernels(module))
    return {x.template.get("W") for x in launches}, not any(x.assumed for x in launches)


FILLED_BY = {
    "a function that is handed the table": """
    void fill(Fn *t) { t[0] = wide<1>; t[1] = wide<2>; t[2] = wide<4>; }
    void run(float *p, int i) { Fn t[3]; fill(t); t[i]<<<1, 32>>>(p); }
    """,
    "a class template that calls itself": """
    template <int N> struct Fill { static void go(Fn *t) { t[N] = wide<N>; Fill<N / 2>::go(t); } };
    template <> struct Fill<0> { static void go(Fn *t) {} };
    void run(float *p, int i) { Fn t[5]; Fill<4>::go(t); t[i]<<<1, 32>>>(p); }
    """,
    "a list of a pack": """
    template <int... Ns> void go(float *p, int i) { Fn t[] = {&wide<Ns>...}; t[i]<<<1, 32>>>(p); }
    void run(float *p, int i) { go<1, 2, 4>(p, i); }
    """,
    "an array that is returned": """
    #include <array>
    template <int... Ns> std::array<Fn, sizeof...(Ns)> make() { return {wide<Ns>...}; }
    void run(float *p, int i) { static const auto t = make<1, 2, 4>(); t[i]<<<1, 32>>>(p); }
    """,
    "a member of a class template": """
    template <int... Ns> struct Table { static constexpr Fn of[] = {&wide<Ns>...}; };
    void run(float *p, int i) { Table<1, 2, 4>::of[i]<<<1, 32>>>(p); }
    """,
    "a fold over a pack": """
    template <int... Ns> void fill(Fn *t) { ((t[Ns] = wide<Ns>), ...); }
    void run(float *p, int i) { Fn t[5]; fill<1, 2, 4>(t); t[i]<<<1, 32>>>(p); }
    """,
}


@pytest.mark.parametrize("way", FILLED_BY)
def test_each_kernel_of_a_table_is_started_that_is_filled_by(way: str) -> None:
    assert instances(FILLED_BY[way]) == ({1, 2, 4}, True)


TABLE = "#include <map>\nstatic const std::map<int, Fn> table = {{1, wide<1>}, {2, &wide<2>}};\n"


@pytest.mark.parametrize(
    "start",
    [
        "table.at(n)<<<1, 32>>>(p);",
        "auto at = table.find(n); if (at != table.end()) at->second<<<1, 32>>>(p);",
    ],
)
def test_a_map_outside_functions_starts_what_it_holds_whatever_the_key(start: str) -> None:
    assert instances(f"{TABLE} void run(float *p, int n) {{ {start} }}") == ({1, 2}, True)
    known = "void go(float *p) { wide<8><<<1, 32>>>(p); }"
    assert instances(f"{TABLE} void run(float *p, int n) {{ {start} }} {known}") == ({1, 2, 8}, True)


def test_a_known_index_means_one_kernel() -> None:
    host = """
    template <int N> struct Fill { static void go(Fn *t) { t[N] = wide<N>; Fill<N - 1>::go(t); } };
    template <> struct Fill<0> { static void go(Fn *t) { t[0] = wide<0>; } };
    void run(float *p) { Fn t[5]; Fill<4>::go(t); t[4]<<<1, 32>>>(p); }
    """
    assert instances(host) == ({4}, True)


def test_a_kernel_is_no_sure_target_where_others_may_be_meant() -> None:
    """The one that is named in full beside one of a template that nobody is seen to ask for."""
    host = """
    Fn chosen(int);
    template <int N> Fn of() { return wide<N>; }
    void run(float *p, int i) { Fn k = chosen(i); k<<<1, 32>>>(p); }
    Fn other() { return wide<2>; }
    """
    _, sure = instances(host)
    assert not sure


def test_far_apart_elements_of_data_cost_no_more_than_their_number() -> None:
    """Would the bytes between them be gone through, this took minutes."""
    host = """
    void run(float *p, int i) {
        char *text = (char *)malloc(2000000000);
        text[0] = 'a';
        text[1900000000] = 0;
        int n = text[i];
        wide<1><<<1, n ? 64 : 32>>>(p);
    }
    """
    assert instances(host)[0] == {1}


@pytest.mark.parametrize(
    "type_", ["std::map<int, Fn>", "std::unordered_map<int, std::function<void(float *)>>"]
)
def test_a_map_outside_functions_starts_what_the_instances_that_it_holds_start(type_: str) -> None:
    host = "template <int W> void go(float *p) { wide<W><<<1, 32>>>(p); }"
    host += f"static const {type_} table = {{{{1, go<1>}}, {{2, go<2>}}}};"
    host += "void run(float *p, int i) { auto at = table.find(i); if (at != table.end()) at->second(p); }"
    assert instances(host) == ({1, 2}, True)


def test_what_several_tables_hold_is_started_by_each() -> None:
    host = "#include <map>\ntemplate <int W> void go(float *p) { wide<W><<<1, 32>>>(p); }"
    host += "static const Fn row[] = {go<1>, go<2>};"
    host += "static const std::map<int, Fn> table = {{4, go<4>}, {8, [](float *p) { go<8>(p); }}};"
    host += "void run(float *p, int i) { row[i](p); }"
    host += "void look(float *p, int i) { auto at = table.find(i); if (at != table.end()) at->second(p); }"
    assert instances(host) == ({1, 2, 4, 8}, True)


ADAPTERS = """
enum Kind { SUM, MIN };
template <Kind K, class T> __global__ void fold(T *p) { __shared__ T s[1024]; s[threadIdx.x] = p[0]; }
template <Kind K, class T> struct Adapter {
    static int call(float *p, int threads) {
        if (threads == 0) threads = 512;
        fold<K, T><<<1, threads>>>((T *)p);
        return 0;
    }
};
using Call = RUNS;
template <Kind K, template <Kind, class> class A> Call by_type(int type) {
    if (type == 0) { return A<K, float>::call; } else if (type == 1) { return A<K, double>::call; }
    return nullptr;
}
template <template <Kind, class> class A> Call chosen(Kind kind, int type) {
    if (kind == SUM) return by_type<SUM, A>(type);
    if (kind == MIN) return by_type<MIN, A>(type);
    return nullptr;
}
"""
RUNS = ["int (*)(float *, int)", "std::function<int(float *, int)>"]


def folds(runs: str, host: str) -> list[tuple[object, object, int, bool]]:
    """Kind, type and threads of each launch, and whether it is sure."""
    text = ADAPTERS.replace("RUNS", runs) + host
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    return [(x.template.get("K"), str(x.template.get("T")), x.block[0], not x.assumed) for x in found]


@pytest.mark.parametrize("runs", RUNS)
def test_functions_that_layers_of_templates_choose_are_all_told(runs: str) -> None:
    host = "void go(float *p, Kind kind, int type) { Call run = chosen<Adapter>(kind, type);"
    found = folds(runs, f"{host} if (!run) return; run(p, 128); }}")
    assert {(kind, "double" in type_) for kind, type_, _, _ in found} == {
        (kind, double) for kind in (0, 1) for double in (False, True)
    }
    assert {(threads, sure) for _, _, threads, sure in found} == {(128, True)}


@pytest.mark.parametrize("runs", RUNS)
def test_a_block_that_may_be_any_is_so_for_each_function_that_is_chosen(runs: str) -> None:
    host = "void go(float *p, Kind kind, int type, int threads) { Call run = chosen<Adapter>(kind, type);"
    found = folds(runs, f"{host} if (!run) return; if (threads == 64) threads = 512; run(p, threads); }}")
    assert len({(kind, type_) for kind, type_, _, _ in found}) == 4
    assert not any(sure for _, _, _, sure in found)


@pytest.mark.parametrize("name", ["Entry<%d>::go", "&Entry<%d>::go"])
def test_the_address_of_a_static_method_is_of_the_instance_of_its_class(name: str) -> None:
    # `&` makes no pointer to a member of it: what it calls is made of the arguments of its class.
    entry = "template <int W> struct Entry { static void go(float *p) { wide<W><<<1, 32>>>(p); } };"
    one, two, four = (name % w for w in (1, 2, 4))
    table = f"static const Fn runs[] = {{{one}, {two}, nullptr, {four}}};"
    chosen = f"i == 1 ? {one} : i == 2 ? {two} : {four}"
    assert instances(f"{entry} {table} void run(float *p, int i) {{ if (runs[i]) runs[i](p); }}") == (
        {1, 2, 4},
        True,
    )
    assert instances(f"{entry} void run(float *p, int i) {{ Fn go = {chosen}; go(p); }}") == ({1, 2, 4}, True)


@pytest.mark.parametrize(
    "each",
    [
        "int done[] = {(wide<Ns><<<1, 32>>>(p), 0)...}; (void)done;",
        "int done[] = {0, (go<Ns>(p), 0)...}; (void)done;",
        "(void)std::initializer_list<int>{(i == Ns ? (go<Ns>(p), 0) : 0)...};",
        "bool any = false; (void)std::initializer_list<int>{(i == Ns && (any = true, go<Ns>(p), 0))...};",
        "for (int n : std::initializer_list<int>{go<Ns>(p)...}) i += n;",
    ],
)
def test_a_list_that_is_made_for_what_its_elements_do(each: str) -> None:
    # How a pack was gone through before there were folds.
    called = "template <int N> int go(float *p) { wide<N><<<1, 32>>>(p); return N; }"
    host = f"""
    #include <initializer_list>
    {called if "go<" in each else ""}
    template <int... Ns> void all(float *p, int i) {{ {each} }}
    void run(float *p, int i) {{ all<1, 2, 4>(p, i); }}
    """
    assert instances(host) == ({1, 2, 4}, True)


@pytest.mark.parametrize(
    "registered",
    [
        "struct Registrar { Registrar(const char *name, Fn f) { registry()[name] = f; } };"
        "\n#define REGISTER(name, W) static Registrar registered_##W(name, go<W>)\n"
        'REGISTER("one", 1); REGISTER("four", 4);',
        "template <int W> struct Registrar {"
        " explicit Registrar(const char *name) { registry()[name] = go<W>; } };"
        'static Registrar<1> one("one"); static Registrar<4> four("four");',
    ],
)
def test_what_registers_itself_by_a_macro_or_a_class_template_is_started(registered: str) -> None:
    host = f"""
    #include <map>
    #include <string>
    template <int W> void go(float *p) {{ wide<W><<<1, 32>>>(p); }}
    std::map<std::string, Fn> &registry() {{ static std::map<std::string, Fn> kept; return kept; }}
    {registered}
    int run(const std::string &name, float *p) {{
        auto it = registry().find(name);
        if (it == registry().end()) return 1;
        it->second(p);
        return 0;
    }}
    """
    assert instances(host) == ({1, 4}, True)


def test_instances_of_a_class_that_a_table_of_lambdas_makes() -> None:
    host = """
    #include <map>
    #include <memory>
    #include <string>
    struct Plugin { virtual ~Plugin() = default; virtual void enqueue(float *p) = 0; };
    template <int W> struct Wide : Plugin { void enqueue(float *p) override { wide<W><<<1, 32>>>(p); } };
    using Make = std::unique_ptr<Plugin> (*)();
    std::map<std::string, Make> makers = {
        {"one", [] { return std::unique_ptr<Plugin>(new Wide<1>()); }},
        {"four", [] { return std::unique_ptr<Plugin>(new Wide<4>()); }},
    };
    void run(const std::string &name, float *p) { auto made = makers.at(name)(); made->enqueue(p); }
    """
    assert instances(host) == ({1, 4}, True)


LAMBDAS = """
#include <functional>
#include <string>
#include <unordered_map>
static const std::unordered_map<std::string, std::function<void(float *)>> table = {
    {"one", [](float *p) { wide<1><<<1, 32>>>(p); }}, {"two", [](float *p) { wide<2><<<1, 32>>>(p); }}};
"""


@pytest.mark.parametrize(
    "call",
    [
        "table.at(name)(p);",
        "auto at = table.find(name); if (at != table.end()) at->second(p);",
        "const auto &f = table.at(name); f(p);",
    ],
)
def test_a_lambda_is_looked_up_by_text_that_is_not_known(call: str) -> None:
    assert instances(f"{LAMBDAS} void run(const std::string &name, float *p) {{ {call} }}") == ({1, 2}, True)


def test_a_table_is_made_of_a_pack_in_two_braces() -> None:
    host = """
    #include <array>
    #include <utility>
    template <size_t... I> constexpr std::array<Fn, sizeof...(I)> table(std::index_sequence<I...>) {
        return {{&wide<(1 << I)>...}};
    }
    void run(float *p, int i) {
        static constexpr auto all = table(std::make_index_sequence<3>{});
        all[i]<<<1, 32>>>(p);
    }"""
    assert instances(host) == ({1, 2, 4}, True)
