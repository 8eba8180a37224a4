"""Block shapes, kernels and instances that a run-time value chooses: each way of host code is seen."""

from __future__ import annotations

import pytest
from host_code import blocks as sure_blocks

from smemlint.frontend import load
from smemlint.ir import Launch, Module
from smemlint.launch import infer, started_kernels
from smemlint.source import source_from_bytes

KERNELS = """
template <int W> __global__ void wide(float *p) { __shared__ float s[4096]; s[threadIdx.x * W] = p[0]; }
__global__ void a(float *p) { __shared__ float s[4096]; s[threadIdx.x] = p[0]; }
__global__ void b(float *p) { __shared__ float s[4096]; s[threadIdx.x * 2] = p[0]; }
"""


def module_of(host: str) -> Module:
    (module, *_) = load(source_from_bytes("/t/a.cu", (KERNELS + host).encode()))
    return module


def seen(host: str) -> set[tuple[str, int, bool]]:
    """(kernel, threads, whether that is sure) of every launch that host code shows."""
    module = module_of(host)
    started = started_kernels(module)
    return {
        (k.name, x.threads, not x.assumed)
        for k in module.kernels()
        if any(s.kernel.id == k.id for s in started)
        for x in infer(k, module, started)
    }


def sure(host: str) -> set[tuple[str, int]]:
    found = seen(host)
    assert all(known for _, _, known in found)
    return {(name, threads) for name, threads, _ in found}


def instances(host: str) -> set[tuple[int, object]]:
    """(threads, W) of `wide`."""
    module = module_of(host)
    kernel = next(k for k in module.kernels() if k.name == "wide")
    launches: tuple[Launch, ...] = infer(kernel, module, started_kernels(module))
    assert not any(x.assumed for x in launches)
    return {(x.threads, x.template["W"]) for x in launches}


def test_a_choice_between_two_sizes_is_both() -> None:
    assert sure("void run(float *p, int n) { dim3 block = n > 1024 ? 512 : 256; a<<<1, block>>>(p); }") == {
        ("a", 512),
        ("a", 256),
    }


def test_sizes_that_ifs_set_are_each_seen() -> None:
    host = """
    void run(float *p, int n) {
        int threads;
        if (n <= 128) threads = 128;
        else if (n <= 256) threads = 256;
        else threads = 512;
        a<<<1, threads>>>(p);
    }"""
    assert sure(host) == {("a", 128), ("a", 256), ("a", 512)}


def test_a_loop_that_doubles_up_to_a_run_time_size_gives_every_size() -> None:
    host = """
    void run(float *p, int n) {
        int threads = 32;
        while (threads < n && threads < 1024) threads *= 2;
        a<<<1, threads>>>(p);
    }"""
    assert sure(host) == {("a", 32 << i) for i in range(6)}


def test_a_function_that_returns_a_size_from_a_loop_gives_every_size() -> None:
    host = """
    int fit(int n) { for (int i = 64; i <= 512; i *= 2) if (n <= i) return i; return 1024; }
    void run(float *p, int n) { a<<<1, fit(n)>>>(p); }"""
    assert sure(host) == {("a", 64 << i) for i in range(5)}


def test_a_limit_is_no_choice_between_the_limit_and_anything() -> None:
    host = "void run(float *p, int n) { int t = n; if (t > 512) t = 512; a<<<1, t>>>(p); }"
    found = seen(host)
    assert ("a", 512, False) in found and ("a", 64, False) in found
    assert not any(known or threads > 512 for _, threads, known in found)


def test_where_one_way_has_a_size_and_another_any_nothing_is_sure() -> None:
    host = """
    void run(float *p, int n, int asked) {
        int threads = 256;
        if (asked) threads = n;
        a<<<1, threads>>>(p);
    }"""
    found = seen(host)
    assert {("a", 256, False), ("a", 64, False)} <= found
    assert not any(known for *_, known in found)


@pytest.mark.parametrize(
    "choice",
    [
        "int threads = usual != n ? n : usual;",
        "int threads = n == usual ? usual : n;",
        "int threads = n; if (threads == 0) threads = 96;",
        "int threads; if (usual != n) { threads = n; } else { threads = usual; }",
    ],
)
def test_a_number_that_is_compared_with_what_it_may_become_is_not_sure(choice: str) -> None:
    host = f"""
    int size(int);
    int main() {{ float *p = 0; int n = size(1), usual = 96;
        {choice}
        a<<<1, threads>>>(p);
    }}"""
    found = seen(host)
    assert len(found) > 1 and not any(known for *_, known in found)


def test_what_was_decided_once_stays_decided() -> None:
    host = """
    void run(float *p, bool big) {
        int threads = 64, factor = 1;
        if (big) threads = 128;
        if (big) factor = 2;
        a<<<1, threads * factor>>>(p);
    }"""
    assert sure(host) == {("a", 64), ("a", 256)}


def test_a_pointer_to_one_of_two_kernels_starts_both() -> None:
    assert sure("void run(float *p, bool big) { auto k = big ? &a : &b; k<<<1, 96>>>(p); }") == {
        ("a", 96),
        ("b", 96),
    }
    host = """
    using Kernel = void (*)(float *);
    Kernel choose(int mode) {
        switch (mode) { case 0: return a; case 1: return b; default: return nullptr; }
    }
    void run(float *p, int mode) { Kernel k = choose(mode); k<<<1, 160>>>(p); }"""
    assert sure(host) == {("a", 160), ("b", 160)}


def test_kernel_and_size_that_are_chosen_together_stay_together() -> None:
    host = """
    void run(float *p, int n) {
        void (*k)(float *) = a;
        int threads = 64;
        if (n > 1000) { k = b; threads = 512; }
        k<<<1, threads>>>(p);
    }"""
    assert sure(host) == {("a", 64), ("b", 512)}


def test_a_table_of_kernels_starts_each_with_its_own_row() -> None:
    host = """
    struct Entry { const char *name; void (*kernel)(float *); int threads; };
    static const Entry entries[] = {{"a", a, 64}, {"b", b, 256}};
    void run(float *p, int i) { entries[i].kernel<<<1, entries[i].threads>>>(p); }"""
    assert sure(host) == {("a", 64), ("b", 256)}
    plain = """
    typedef void (*Kernel)(float *);
    static const Kernel kernels[] = {a, b};
    void run(float *p, int i) { kernels[i]<<<1, 32>>>(p); }"""
    assert sure(plain) == {("a", 32), ("b", 32)}


def test_a_container_of_kernels_may_start_each_of_them() -> None:
    host = """
    #include <map>
    void run(float *p, int i) {
        static const std::map<int, void (*)(float *)> kernels = {{1, a}, {2, b}};
        kernels.at(i)<<<1, 64>>>(p);
    }"""
    assert sure(host) == {("a", 64), ("b", 64)}


def test_a_kernel_that_is_not_declared_is_no_pointer_to_another() -> None:
    host = """
    void (*kept)(float *) = a;
    void run(float *p) { elsewhere<<<1, 64>>>(p); }"""
    assert seen(host) == set()


def test_a_generic_lambda_is_called_for_each_constant() -> None:
    host = """
    void run(float *p, int h) {
        auto launch = [&](auto n) { constexpr int N = decltype(n)::value; wide<N><<<1, 4 * N>>>(p); };
        if (h == 32) launch(std::integral_constant<int, 32>{});
        else launch(std::integral_constant<int, 64>{});
    }"""
    assert instances(host) == {(128, 32), (256, 64)}
    converted = """
    template <typename F> void dispatch(int h, F f) {
        if (h <= 32) f(std::integral_constant<int, 32>{});
        else if (h <= 64) f(std::integral_constant<int, 64>{});
        else f(std::integral_constant<int, 128>{});
    }
    void run(float *p, int h) {
        dispatch(h, [&](auto n) { constexpr int N = n; wide<N><<<1, 2 * N>>>(p); });
    }"""
    assert instances(converted) == {(64, 32), (128, 64), (256, 128)}


def test_an_instance_of_a_class_that_is_asked_for_launches_with_its_numbers() -> None:
    host = """
    template <int W, int T> struct Launcher {
        void run(float *p) { wide<W><<<1, T>>>(p); }
        static void twice(float *p) { wide<2 * W><<<1, T>>>(p); }
    };
    template struct Launcher<8, 128>;
    template class Launcher<3, 64>;"""
    assert instances(host) == {(128, 8), (128, 16), (64, 3), (64, 6)}


def test_an_instance_of_a_class_that_is_asked_for_can_be_used_as_well() -> None:
    host = """
    template <int W> struct Launcher {
        int threads = 32 * W;
        void run(float *p) { wide<W><<<1, threads>>>(p); }
    };
    template struct Launcher<4>;
    void use(float *p) { Launcher<4> launcher; launcher.run(p); }"""
    assert instances(host) == {(128, 4)}


def test_members_of_an_object_that_nobody_makes_are_what_its_class_says() -> None:
    host = """
    class Operator {
        const int threads = 192;
        dim3 block{64, 2};
    public:
        void run(float *p) { a<<<1, threads>>>(p); }
        void other(float *p) { b<<<1, block>>>(p); }
    };"""
    assert sure(host) == {("a", 192), ("b", 128)}
    constructed = """
    struct Plan {
        int warps, threads;
        Plan(int n) : warps(6), threads(32 * warps) {}
        void run(float *p) const { a<<<1, threads>>>(p); }
    };"""
    assert sure(constructed) == {("a", 192)}


def test_a_default_of_a_launcher_is_tried_first_and_is_not_sure() -> None:
    module = module_of("void run(float *p, int threads = 96) { a<<<1, threads>>>(p); }")
    kernel = next(k for k in module.kernels() if k.name == "a")
    found = infer(kernel, module, started_kernels(module))
    assert found[0].threads == 96 and len(found) > 2
    assert all(x.assumed for x in found)


def test_every_instance_of_a_function_that_is_asked_for_launches_also_where_it_was_declared_before() -> None:
    host = """
    template <typename T, int W> void launch(T *p);
    template <typename T, int W> void launch(T *p) { wide<W><<<1, 32 * W>>>(p); }
    template void launch<float, 2>(float *);
    template void launch<float, 3>(float *);
    template void launch<float, 4>(float *);"""
    assert instances(host) == {(64, 2), (96, 3), (128, 4)}


def test_host_code_of_pytorch_leads_to_the_launch() -> None:
    host = """
    #include <torch/extension.h>
    template <typename T> __global__ void sum(at::PackedTensorAccessor32<T, 2, at::RestrictPtrTraits> x) {
        __shared__ T s[256];
        s[threadIdx.x] = x[0][threadIdx.x];
    }
    torch::Tensor run(torch::Tensor x) {
        auto out = torch::empty({x.size(0), 4}, torch::dtype(torch::kFloat32).device(x.device()));
        auto flat = out.narrow(0, 0, 1).contiguous();
        AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "sum", ([&] {
            using acc_t = at::acc_type<scalar_t, true>;
            sum<acc_t><<<1, 64, 0, at::cuda::getCurrentCUDAStream().stream()>>>(
                flat.packed_accessor32<acc_t, 2, at::RestrictPtrTraits>());
        }));
        return flat;
    }"""
    module = module_of(host)
    started = started_kernels(module)
    assert {(s.kernel.name, s.block[0], getattr(s.template["T"], "name", "")) for s in started} == {
        ("sum", 64, "float"),
        ("sum", 64, "double"),
    }


def test_the_overload_that_fits_the_arguments_is_started() -> None:
    overloads = """
    __global__ void many(float *p) { __shared__ float s[32]; s[threadIdx.x] = p[0]; }
    __global__ void many(double *p) { __shared__ double s[32]; s[threadIdx.x] = p[0]; }
    __global__ void many(int *p, int n) { __shared__ int s[32]; s[threadIdx.x * n] = p[0]; }
    template <typename T> void launch(T *p) { many<<<1, 64>>>(p); }
    template <typename T> void launch2(T *p) { many<<<1, 96>>>(p, 4); }
    """

    def started(host: str) -> list[tuple[str, int, bool]]:
        return [
            (
                str(getattr(getattr(s.kernel.parameters[0].type, "to", None), "name", "")),
                s.block[0] or 0,
                s.guessed,
            )
            for s in started_kernels(module_of(overloads + host))
        ]

    assert started("void run(double *p, int *i) { launch(p); launch2(i); }") == [
        ("double", 64, False),
        ("int", 96, False),
    ]
    assert sorted(started("")) == [("double", 64, True), ("float", 64, True), ("int", 96, False)]


def test_a_long_function_on_the_way_to_a_launch_is_followed() -> None:
    padding = "\n".join(f"        int unused{i} = n + {i};" for i in range(200))
    host = f"""
    template <typename T> void last(T *p, int threads) {{ a<<<1, threads>>>(p); }}
    template <typename T> void middle(T *p, int n) {{
{padding}
        last(p, 96);
    }}
    void first(float *p, int n) {{ middle(p, n); }}"""
    assert sure(host) == {("a", 96)}


def test_a_block_that_grows_until_the_rows_fit_is_each_of_its_sizes() -> None:
    host = """
    #include <algorithm>
    inline dim3 block_size(int ilp, unsigned long long dim) {
        unsigned long long size = 1;
        unsigned long long most = std::min(dim / ilp, (unsigned long long)1024);
        while (size < (most / 2)) size *= 2;
        size = std::max(size, (unsigned long long)32);
        return dim3(size);
    }
    void run(float *p, long n) { a<<<1, block_size(sizeof(float4) / sizeof(float), n)>>>(p); }"""
    assert sure(host) == {("a", 32), ("a", 64), ("a", 128), ("a", 256), ("a", 512)}


def test_a_loop_that_may_not_run_is_no_default() -> None:
    host = """
    void run(float *p, unsigned bits) {
        int passes = 0;
        while (bits > 0) { bits >>= 2; passes++; }
        for (int i = 0; i < passes; i++) a<<<1, 64>>>(p);
    }"""
    assert sure(host) == {("a", 64)}


def test_functions_of_a_table_are_run_with_what_they_are_given() -> None:
    host = """
    static void run_a(float *p, int threads) { a<<<1, threads>>>(p); }
    static void run_b(float *p, int threads) { b<<<1, threads / 2>>>(p); }
    struct Bench { const char *name; void (*run)(float *, int); };
    static const Bench all[] = {{"a", run_a}, {"b", &run_b}};
    int main() { for (int i = 0; i < 2; i++) all[i].run(0, 128 << i); }"""
    assert sure(host) == {("a", 128), ("b", 128)}


def test_a_local_table_of_host_templates_is_run_under_each_instance() -> None:
    host = """
    template <typename T> void run_wide(T *p, unsigned n) { wide<sizeof(T)><<<n / 256, 256>>>((float *)p); }
    template <typename T> void run_none(T *, unsigned) {}
    template <typename T> void compare(unsigned size, unsigned *order) {
        typedef void (*Timed)(T *, unsigned);
        Timed all[2] = {&run_none<T>, &run_wide<T>};
        T *d;
        for (int x = 0; x < 2; x++) all[order[x]](d, size);
    }
    int main(int argc, char **argv) {
        unsigned order[2];
        switch (atoi(argv[1])) {
            case 1: compare<float>(1 << 20, order); break;
            case 2: compare<double>(1 << 20, order); break;
        }
    }"""
    assert instances(host) == {(256, 4), (256, 8)}


@pytest.mark.parametrize("head", ["struct Sim { typedef float T;", "template <typename T> struct Sim {"])
def test_methods_that_nothing_here_calls_start_the_instances_that_they_name(head: str) -> None:
    found = seen(
        head
        + """
      void apply(int q, T *p) const {
        switch (q) { case 1: at<1>(p); break; case 2: at<2>(p); break; case 3: this->template at<4>(p); }
      }
      template <int W> void at(T *p) const { wide<W><<<1, 64>>>((float *)p); }
      void other(int n) { for (int i = 0; i < n; i++) other(i); }
    };"""
    )
    assert found == {("wide", 64, True)}
    module = module_of(
        head
        + """ void apply(int q, T *p) const { if (q == 1) at<1>(p); else at<2>(p); }
      template <int W> void at(T *p) const { wide<W><<<1, 64>>>((float *)p); } };"""
    )
    assert [s.template for s in started_kernels(module)] == [{"W": 1}, {"W": 2}]


def test_instances_are_seen_also_where_the_steps_do_not_reach_for_every_way() -> None:
    cases = "".join(f"case {n}: run<{n}>(q, p); break;" for n in range(1, 7))
    module = module_of(
        f"""
    int work(int q) {{ int x = q; for (int i = 0; i < 40; i++) for (int k = 0; k < 40; k++) x += i * k ^ x;
      return x; }}
    template <int W> void run(int q, float *p) {{ wide<W><<<work(q), 64>>>(p); }}
    void start(int q, float *p) {{ switch (q) {{ {cases} }} }}"""
    )
    assert [s.template for s in started_kernels(module)] == [{"W": n} for n in range(1, 7)]


def test_a_number_that_stands_for_none_is_asked_for_as_well() -> None:
    host = """
    int run(float *p, int rows, int group = -1) {
        int blocks = (group == -1) ? -1 : group / 16;
        if (rows == 8 && blocks == -1) wide<1><<<1, 32>>>(p);
        else if (rows == 8 && blocks == 4) wide<2><<<1, 64>>>(p);
        else if (rows == 16 && blocks == -1) wide<3><<<1, 128>>>(p);
        else return 1;
        return 0;
    }
    void plain(float *p, int g) { if (g != -1) wide<4><<<1, 96>>>(p); else wide<5><<<1, 160>>>(p); }"""
    assert instances(host) == {(32, 1), (64, 2), (128, 3), (96, 4), (160, 5)}


def test_what_an_assert_calls_is_started() -> None:
    host = """
    struct Net { float *p; bool run(int n) { wide<2><<<n, 64>>>(p); return true; } };
    int main(int argc, char **argv) { Net net; assert(net.run(7)); }"""
    assert instances(host) == {(64, 2)}


def test_what_the_first_iteration_starts_is_seen_where_the_steps_do_not_reach_further() -> None:
    host = """
    int work(int q) { int x = q; for (int i = 0; i < 40; i++) for (int k = 0; k < 40; k++) x += i * k ^ x;
      return x; }
    void run(float *p, int outer, int inner) {
        for (int i = 0; i < outer; i++)
            for (int k = 0; k < inner; k++) {
                wide<1><<<work(i), 64>>>(p);
                int blocks = work(work(work(work(work(work(work(work(k))))))));
                wide<2><<<blocks, 128>>>(p);
            }
    }"""
    assert instances(host) == {(64, 1), (128, 2)}


def test_an_object_that_new_makes_is_as_its_constructor_leaves_it() -> None:
    host = """
    struct Shape { unsigned short blocks, threads; };
    struct Shapes { Shape first, second;
        Shapes() { first.blocks = 4; first.threads = 256; second.blocks = 8; second.threads = 128; } };
    struct Trimmer { Shapes shapes; bool ok = false; Trimmer(const Shapes s) : shapes(s) {}
        void trim(float *p) { a<<<shapes.first.blocks, shapes.first.threads>>>(p); } };
    struct Solver { Trimmer trimmer; int n; Solver(const Shapes s, int count) : trimmer(s) { n = count; }
        void solve(float *p) {
            trimmer.trim(p);
            b<<<1, trimmer.shapes.second.threads>>>(p); } };
    typedef Solver Context;
    Context *create(int threads) { Shapes s; s.second.threads = threads; return new Context(s, 3); }
    int solve_all(Context *c, int n) { for (int i = 0; i < n; i++) c->solve(0); return n; }
    int main(int argc, char **argv) { Context *c = create(96); solve_all(c, argc); delete c; }"""
    assert sure(host) == {("a", 256), ("b", 96)}


def test_a_class_is_known_by_its_other_name_as_well() -> None:
    host = """
    template <int T> struct Runner { float *p; void run() { a<<<1, T>>>(p); } };
    using Small = Runner<64>;
    void start(Small *r) { r->run(); }
    int main() { Small s; start(&s); }"""
    assert sure(host) == {("a", 64)}


def test_a_shape_that_the_label_of_a_switch_rules_out_is_not_started() -> None:
    host = """
    #define ROUNDED(n) ((n) > 16 ? 32 : (n) > 8 ? 16 : 8)
    void run(float *p, int n) {
        const dim3 threads(ROUNDED(n), 64 / ROUNDED(n));
        switch (n) {
            case 6: wide<6><<<1, threads>>>(p); break;
            case 12: wide<12><<<1, threads>>>(p); break;
            case 30: wide<30><<<1, threads>>>(p); break;
        }
    }"""
    module = module_of(host)
    kernel = next(k for k in module.kernels() if k.name == "wide")
    found = {(x.template["W"], x.block, x.assumed) for x in infer(kernel, module, started_kernels(module))}
    assert found == {(6, (8, 8, 1), False), (12, (16, 4, 1), False), (30, (32, 2, 1), False)}


def test_conditions_on_one_number_are_held_against_each_other() -> None:
    host = """
    void run(float *p, int n) {
        int threads = 64, bytes = 0;
        if (n > 100) threads = 128;
        if (n < 50) bytes = 16;
        a<<<1, threads, bytes>>>(p);
    }"""
    module = module_of(host)
    found = {(s.block[0], s.dynamic) for s in started_kernels(module)}
    assert found == {(64, 0), (64, 16), (128, 0)}


def test_a_long_function_that_sets_what_launches_name_is_followed() -> None:
    padding = "  // " + "x" * 90 + "\n"
    setting = "void set_up() {\n" + padding * 40 + "  threads = 128;\n}\n"
    caller = "void begin() {\n" + padding * 40 + "  set_up();\n}\n"
    main = "int main() { begin(); a<<<1, threads>>>(0); }\n"
    assert sure("int threads;\n" + setting + caller + main) == {("a", 128)}


@pytest.mark.parametrize(
    "end",
    [
        'throw "no";', "exit(1);", "{ puts(0); abort(); }", "assert(false);", 'TORCH_CHECK(false, "no");',
        'AT_ERROR("no");', 'LIB_CHECK(false, "no");',
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "choice",
    [
        "int t = 0; switch (n) { case 5: t = 64; break; case 6: t = 96; break; default: %s }",
        "int t = 0; if (n == 5) t = 64; else if (n == 6) t = 96; else %s",
        "int t = pick(n);",
        "int t = n * 32; if (n < 2 || n > 3) %s",
    ],
)
def test_a_way_that_ends_the_program_starts_nothing(choice: str, end: str) -> None:
    pick = f"int pick(int n) {{ switch (n) {{ case 5: return 64; case 6: return 96; default: {end} }} }}"
    choice = choice.replace("%s", end)
    assert sorted(sure_blocks(f"{pick} void start(int n) {{ {choice} sum<<<1, t>>>(0, 0); }}")) == [64, 96]


def test_conditions_before_a_switch_are_held_against_its_labels() -> None:
    host = """
    int rows(int n) { if (n <= 1024) return 4; else if (n == 2048) return 8; else return 64; }
    void run(float *p, int n) {
        int threads = n / rows(n);
        switch (n) {
            case 256: wide<256><<<1, threads>>>(p); break;
            case 2048: wide<2048><<<1, threads>>>(p); break;
        }
    }"""
    module = module_of(host)
    kernel = next(k for k in module.kernels() if k.name == "wide")
    found = {(x.template["W"], x.block[0], x.assumed) for x in infer(kernel, module, started_kernels(module))}
    assert found == {(256, 64, False), (2048, 256, False)}


def test_a_switch_on_what_a_function_gives_that_is_not_read_may_take_any_case() -> None:
    host = """
    int main(int argc, char **argv) {
        switch (atoi(argv[1])) {
            case 1: wide<4><<<1, 32>>>(0); break;
            case 2: wide<4><<<1, 64>>>(0); break;
        }
    }"""
    assert instances(host) == {(32, 4), (64, 4)}


@pytest.mark.parametrize(
    "threads",
    [
        "int threads = 64; if (n > 1024) threads = 1024; else if (n > 512) threads = 512;"
        " else if (n > 256) threads = 256; else if (n > 128) threads = 128; else if (n > 96) threads = 96;",
        "int threads = n > 1024 ? 1024 : n > 512 ? 512 : n > 256 ? 256 : n > 128 ? 128 : n > 96 ? 96 : 64;",
    ],
)
def test_of_a_long_chain_of_sizes_each_one_is_a_block(threads: str) -> None:
    # What comes last in the chain makes no difference before what comes first is settled.
    main = "void run(float *p, int n) { %s a<<<1, threads>>>(p); }"
    assert sure(main % threads) == {("a", n) for n in (64, 96, 128, 256, 512, 1024)}


SPECIFICATION = """
struct Specification { void (*kernel)(float *); int threads; size_t bytes; };
"""


@pytest.mark.parametrize(
    "choose",
    [
        "Specification s; if (n > 9) { s.kernel = a; s.threads = 128; }"
        " else { s.kernel = b; s.threads = 64; }"
        " s.bytes = 0; return s;",
        "Specification s = {}; if (n > 9) s = {a, 128, 0}; else s = {b, 64, 0}; return s;",
        "if (n > 9) return {a, 128, 0}; Specification s = {}; s.threads = 64; s.kernel = b; return s;",
    ],
)
def test_a_function_returns_a_kernel_with_its_block(choose: str) -> None:
    for used in (
        "Specification s = choose(n); if (!s.kernel) return; s.kernel<<<1, s.threads, s.bytes>>>(p);",
        "void (*kernel)(float *) = choose(n).kernel; kernel<<<1, choose(n).threads>>>(p);",
        "const Specification &s = choose(n); s.kernel<<<1, s.threads>>>(p);",
    ):
        main = f"Specification choose(int n) {{ {choose} }} void run(float *p, int n) {{ {used} }}"
        found = sure(SPECIFICATION + main)
        assert {("a", 128), ("b", 64)} <= found, used
        if "choose(n).t" not in used:
            assert len(found) == 2
