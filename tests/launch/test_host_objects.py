"""What host code says of blocks by way of objects: members, constructors, `new`."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file
from smemlint.frontend import load
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes
from tests.launch.test_host import blocks, launches


def test_settings_that_a_class_makes_itself_are_tried_where_its_object_comes_from_elsewhere() -> None:
    settings = """
    struct Shape { unsigned short blocks, threads; };
    struct Settings {
        int rounds;
        Shape first;
        Settings() { rounds = 3; first.blocks = 64; first.threads = 192; }
    };
    struct Other { int threads = 96; };
    """
    member = """
    class Runner {
        Settings settings;
        float *p;
    public:
        Runner(const Settings given) : settings(given) {}
        void run() { sum<<<settings.first.blocks, settings.first.threads>>>(p, p); }
    };"""
    found = launches(settings + member)
    assert (192, 1, 1) in {x.block for x in found} and all(x.assumed for x in found)
    found = launches(settings + "void run(Other other, float *p) { sum<<<1, other.threads>>>(p, p); }")
    assert (96, 1, 1) in {x.block for x in found} and all(x.assumed for x in found)


def test_sizes_that_a_class_begins_with_at_zero_are_set_before_it_runs() -> None:
    code = """
    class Layer {
        int size = 0, threads = 96;
        bool wide = false;
        void resize(int n) { size = n; wide = n > 100; }
        void run(float *p) {
            if (wide) sum<<<size, 192>>>(p, p); else sum<<<size, threads>>>(p, p);
        }
    };"""
    found = launches(code)
    assert {x.block for x in found} == {(192, 1, 1), (96, 1, 1)}
    assert all(x.grid[0] is None for x in found)


def test_an_object_made_with_new_has_what_its_constructor_gives_it() -> None:
    classes = """
    class Plan {
    public:
        Plan(int blocks, int threads = 128) : blocks(blocks), threads(threads) {}
        void run(float *p) { sum<<<blocks, threads>>>(p, p); }
    private:
        int blocks, threads;
    };
    """
    assert blocks(classes + "int main() { Plan *plan = new Plan(4, 96); plan->run(0); }") == [96]
    assert blocks(classes + "int main() { auto plan = new Plan(4); plan->run(0); delete plan; }") == [128]
    tile = "struct Tile { int width = 16, height = 8; };"
    [launch] = launches(
        tile + "int main() { Tile *t = new Tile; sum<<<1, dim3(t->width, t->height)>>>(0, 0); }"
    )
    assert launch.block == (16, 8, 1)
    case = "block = new dim3(%s); sum<<<*grid, *block>>>(0, 0); break;"
    main = f"""
    template <int W, int H> void start(int way, int n) {{
        dim3 *grid = new dim3(n / H, 1), *block;
        switch (way) {{
        case 1: {case % "W, H, 1"}
        case 2: {case % "32"}
        }}
    }}
    void run(int way, int n) {{ start<8, 4>(way, n); }}"""
    assert {x.block for x in launches(main)} == {(8, 4, 1), (32, 1, 1)}


def test_an_array_made_with_new_is_not_an_object() -> None:
    found = launches("int main() { int *sizes = new int[4]; sum<<<1, *sizes>>>(0, 0); }")
    assert all(x.assumed for x in found)


MEMBERS = """
struct Size { int x, y; };
struct Base { int rows; Base(int n) : rows(n) {} };
struct Runner : Base {
    int given = 1, derived, through, part, stepped = 62, other[64];
    Size size, whole;
    double weights[64][64];
    Runner();
    void init() { derived = 2 * given; }
    void run();
};
void fill(int *n, int from) { *n = 2 * from; }
Runner::Runner() : Base(16) {
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            for (int l = 0; l < 64; l++) weights[i][j] += i * l;
    given = 32;
    init();
    fill(&through, given);
    size.x = 96;
    size.y = 4;
    Size copied = {128, 2};
    whole = copied;
    ++stepped;
    ++stepped;
}
"""


@pytest.mark.parametrize(
    ("shape", "threads"),
    [
        ("given", 32), ("derived", 64), ("through", 64), ("size.x * 2", 192), ("whole.x", 128), ("rows", 16),
        ("stepped", 64), ("given + size.y", 36),
    ],
)  # fmt: skip
def test_a_constructor_runs_as_far_as_launches_depend_on_what_it_sets(shape: str, threads: int) -> None:
    text = f"{MEMBERS}\nvoid Runner::run() {{ sum<<<1, {shape}>>>(0, 0); }}"
    (launch,) = launches(text)
    assert (launch.block, launch.assumed) == ((threads, 1, 1), False)


@pytest.mark.parametrize(
    "setter",
    [
        "void set(int n) { threads = n; }",
        "void set(int n) { this->threads = n; }",
        "void widen() { threads *= 2; }",
        "bool read(Stream &in) { return in.next(&threads); }",
    ],
)
def test_what_another_method_sets_may_be_anything_and_what_none_sets_is_as_the_constructor_leaves_it(
    setter: str,
) -> None:
    code = """
    class Layer {
        int threads, fixed;
    public:
        Layer() : threads(64), fixed(96) {}
        %s
        bool is_wide() const { return threads == 256 && fixed >= threads; }
        void run(float *p) { sum<<<1, threads>>>(p, p); }
        void run_fixed(float *p) { sum<<<1, fixed>>>(p, p); }
    };"""
    found = launches(code % setter)
    assert {x.block for x in found if not x.assumed} == {(96, 1, 1)}
    assert len({x.block for x in found}) > 2
    assert {x.block for x in launches(code % "")} == {(64, 1, 1), (96, 1, 1)}


def test_a_size_that_code_around_a_class_sets_may_be_anything() -> None:
    code = """
    struct Plan { int pitch = 1; void run(float *p) { sum<<<1, 32 * pitch>>>(p, p); } };
    """
    assert {x.block for x in launches(code)} == {(32, 1, 1)}
    assert len({x.block for x in launches(f"{code}void widen(Plan &plan) {{ plan.pitch = 4; }}")}) > 1


def test_a_member_of_a_base_that_the_base_sets_may_be_anything() -> None:
    code = """
    class Base { protected: int wide; public: Base() : wide(2) {} %s };
    struct Layer : Base { Layer() : Base() {} void run(float *p) { sum<<<1, 32 * wide>>>(p, p); } };"""
    assert {x.block for x in launches(code % "")} == {(64, 1, 1)}
    assert len({x.block for x in launches(code % "void set(int n) { wide = n; }")}) > 1


@pytest.mark.parametrize(
    "host",
    [
        "uint3 block = {16, 4, 2}; sum<<<1, block>>>(p, p);",
        "uint3 block = make_uint3(16, 4, 2); sum<<<1, block>>>(p, p);",
        "uint3 block; block.x = 16; block.y = 4; block.z = 2; sum<<<1, dim3(block)>>>(p, p);",
    ],
)
def test_a_block_of_three_unsigned_numbers_has_all_three(host: str) -> None:
    (found,) = launches(f"void run(float *p) {{ {host} }}")
    assert found.block == (16, 4, 2)


@pytest.mark.parametrize("library", ["", "std::vector<float> data;"])
def test_an_object_that_is_given_what_is_not_known_holds_nothing_it_began_with(library: str) -> None:
    code = f"""
    struct Settings {{ int shape[2] = {{0, 0}}; int threads = 96; {library} }};
    Settings read(const char *path);
    int main(int argc, char **argv) {{
        Settings given;
        try {{ given = read(argv[1]); }} catch (...) {{ return 2; }}
        sum<<<1, given.threads>>>(nullptr, nullptr);
    }}"""
    assert (96, 1, 1) not in {x.block for x in launches(code) if not x.assumed}


def test_an_extent_beside_which_the_other_follows_is_tried_wide_as_well() -> None:
    kernel = "__global__ void k(float *p) { extern __shared__ float s[]; s[threadIdx.x] = *p; }"

    def shapes(host: str) -> set[tuple[int, int, int]]:
        text = f"{kernel} struct T {{ int size(int); }}; void run(T t, float *p) {{ {host} }}"
        (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
        return {x.block for x in infer(module.kernels()[0], module, started_kernels(module))}

    tied = shapes("int n = t.size(1); dim3 block(n, max(1, 256 / n)); k<<<1, block, 4096>>>(p);")
    assert {(64, 4, 1), (128, 2, 1), (32, 8, 1), (16, 16, 1)} <= tied
    assert max(x for x, _, _ in shapes("k<<<1, dim3(t.size(1), t.size(2)), 4096>>>(p);")) == 32


def test_a_pointer_of_an_object_is_not_null_because_its_constructor_made_it_so() -> None:
    text = """__global__ void k(const float *in, float *out) {
        __shared__ float s[512];
        if (in != nullptr) s[threadIdx.x * 4] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x]; }
    struct G { float *in, *out; G(); void size(int n); void run(); };
    G::G() { in = 0L; out = 0L; }
    void G::size(int n) { cudaMalloc(&in, n); cudaMalloc(&out, n); }
    void G::run() { k<<<1, 128>>>(in, out); }"""
    (kernel,) = analyse_file(Job("k.cu", text=text)).kernels
    assert [(a.op, a.ways, a.grade) for a in kernel.accesses] == [("store", 4, "exact"), ("load", 1, "exact")]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("threads = n > 9 ? 192 : 64;", {192, 64}),
        ("threads = LARGE; if (n) threads = small;", {192, 64}),
        ("this->threads = 96;", {96}),
        ("threads = n;", None),
        ("threads = 64; threads += 32;", None),
        ("threads = 64; fill(&threads);", None),
    ],
)
def test_a_member_has_the_numbers_that_other_methods_set(sets: str, expected: set[int] | None) -> None:
    text = f"""
    #define LARGE (2 * 96)
    #undef LARGE
    #define LARGE 192
    const int small = 64;
    void fill(int *n);
    class Solver {{
        int threads;
    public:
        Solver() : threads(0) {{}}
        void setup(int n) {{ {sets} }}
        void run(float *p) {{ sum<<<1, threads>>>(p, p); }}
    }};"""
    found = launches(text)
    assert ({x.block[0] for x in found} if not any(x.assumed for x in found) else None) == expected


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ("void setup(Plan *p) { p->threads = 192; p->blocks = 3; }", {192}),
        ("void a() { plan->threads = 0; } void b(int n) { plan->threads = n ? 96 : 64; }", {96, 64}),
        ("struct Other { int threads; }; void setup(Other *p) { p->threads = 192; }", None),
        ("void setup(Plan *p, int n) { p->threads = n; }", None),
        ("void setup(Plan *p) { p->threads = 96; Plan other = {64, 2}; *p = other; }", None),
    ],
)
def test_a_member_of_a_structure_has_the_numbers_that_others_set(
    sets: str, expected: set[int] | None
) -> None:
    text = f"""
    struct Plan {{ int threads, blocks; float *data; }};
    static Plan *plan;
    {sets}
    void run(Plan *p) {{ sum<<<p->blocks, p->threads>>>(p->data, p->data); }}
    void go() {{ run(plan); }}"""
    found = launches(text)
    assert ({x.block[0] for x in found} if not any(x.assumed for x in found) else None) == expected


CLASSES = """
struct Base {
    virtual int threads() const = 0;
    void run(float *p) { sum<<<1, threads()>>>(p, p); }
};
struct Small : Base { int threads() const override { return 96; } };
struct Large : Base { int threads() const override { return 192; } };
"""


@pytest.mark.parametrize(
    ("host", "expected", "sure"),
    [
        ("void go(float *p) { Small s; s.run(p); Large().run(p); }", {96, 192}, True),
        ("void go(Base &b, float *p) { b.run(p); }", {96}, False),
        ("void go(Base *b, float *p) { b->run(p); }", {96}, False),
        ("Base &base(); void go(float *p) { base().run(p); }", {96}, False),
        ("Small *small(); void go(float *p) { small()->run(p); }", {96}, True),
    ],
    ids=["made here", "by reference", "by pointer", "from elsewhere", "of a class that none is below"],
)
def test_a_virtual_function_is_that_of_the_class_which_the_object_is_of(
    host: str, expected: set[int], sure: bool
) -> None:
    found = launches(CLASSES + host)
    told = {x.block[0] for x in found if not x.assumed}
    assert told == expected if sure else not told
    assert sure or len(found) > len(expected)


@pytest.mark.parametrize(
    "before", ["void set(int n) { threads = n; }", "struct S { S(int n) { threads = n; } };"]
)
def test_a_number_of_the_program_that_others_set_is_what_it_began_with_or_any_other(before: str) -> None:
    found = launches(f"int threads = 96; {before} void go(float *p) {{ sum<<<1, threads>>>(p, p); }}")
    assert (96, 1, 1) in [x.block for x in found]
    assert all(x.assumed for x in found) and len(found) > 1


def test_a_number_of_the_program_that_its_start_leaves_alone_is_tried_first() -> None:
    host = "int threads = 96; void parse(int c, char **v) { if (c > 1) threads = atoi(v[1]); }"
    host += "void go(float *p) { sum<<<1, threads>>>(p, p); }"
    host += "int main(int c, char **v) { parse(c, v); go(nullptr); }"
    first = launches(host)[0]
    assert (first.block[0], first.origin) == (96, "a.cu:8 without arguments")


PLANS = """
#include <functional>
#include <map>
#include <memory>
#include <string>
template <int W> __global__ void wide(float *p) { __shared__ float s[4096]; s[threadIdx.x * W] = p[0]; }
struct Plan { virtual ~Plan() {} virtual void go(float *p) = 0; };
template <int W> struct Impl : Plan {
    int blocks_, threads_;
    Impl(int blocks, int threads) : blocks_(blocks), threads_(threads) {}
    void go(float *p) override { wide<W><<<blocks_, threads_>>>(p); }
};
"""


@pytest.mark.parametrize(
    "start",
    [
        "void run(float *p, int n) { Plan *q = n > 9 ? (Plan *)new Impl<1>(n, 64) : new Impl<2>(n, 128);"
        " q->go(p); }",
        "void run(float *p, int n) { auto *a = new Impl<1>(n, 64); a->go(p);"
        " std::unique_ptr<Plan> b(new Impl<2>{n, 128}); b->go(p); }",
        "using Make = std::function<Plan *(int)>;"
        "static std::map<std::string, Make> makers = {"
        '{"one", [](int n) -> Plan * { return new Impl<1>(n, 64); }},'
        '{"two", [](int n) -> Plan * { return new Impl<2>(n, 128); }}};'
        "void run(const std::string &name, float *p, int n) {"
        " std::unique_ptr<Plan> q(makers.at(name)(n)); q->go(p); }",
    ],
)
def test_an_object_of_a_class_template_of_numbers_keeps_what_its_constructor_is_given(start: str) -> None:
    """clang lists the numbers of `new Impl<2>(n, 128)` as if they were the length of an array."""
    (module, *_) = load(source_from_bytes("/t/a.cu", (PLANS + start).encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert {(x.threads, x.template["W"], x.assumed) for x in found} == {(64, 1, False), (128, 2, False)}


@pytest.mark.parametrize("held", ["std::unique_ptr<Impl> impl_", "Impl *impl_"])
def test_an_aggregate_is_made_by_new_with_braces(held: str) -> None:
    text = f"""
    #include <memory>
    __global__ void k(float *p) {{ extern __shared__ float s[]; s[threadIdx.x] = p[0]; }}
    class Runner {{
    public:
        explicit Runner(int threads);
        void run(float *p);
    private:
        struct Impl;
        {held};
    }};
    struct Runner::Impl {{ int threads; void go(float *p) {{ k<<<1, threads>>>(p); }} }};
    Runner::Runner(int threads) : impl_(new Impl{{threads}}) {{}}
    void Runner::run(float *p) {{ impl_->go(p); }}
    int main() {{ Runner r(224); r.run(nullptr); }}"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    found = infer(kernel, module, started_kernels(module))
    assert [(x.threads, x.assumed) for x in found] == [(224, False)]


def test_a_loop_goes_over_a_braced_list_of_objects() -> None:
    text = """
    template <int W> __global__ void wide(float *p) { __shared__ float s[4096]; s[threadIdx.x * W] = p[0]; }
    struct Shape { int blocks, threads; };
    template <class T> void all(float *p) {
        for (T s : {T{1, 32}, T{2, 96}}) wide<1><<<s.blocks, s.threads>>>(p);
    }
    void run(float *p) {
        for (const auto &s : {Shape{1, 64}, Shape{2, 128}}) wide<1><<<s.blocks, s.threads>>>(p);
        for (auto kernel : {wide<1>, wide<2>}) kernel<<<1, 256>>>(p);
        all<Shape>(p);
    }"""
    (module, *_) = load(source_from_bytes("/t/a.cu", text.encode()))
    (kernel,) = module.kernels()
    found = {(x.threads, x.template["W"]) for x in infer(kernel, module, started_kernels(module))}
    assert found == {(64, 1), (128, 1), (256, 1), (256, 2), (32, 1), (96, 1)}
