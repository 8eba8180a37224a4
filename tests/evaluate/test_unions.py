"""Unions and classes inside functions, in templates too: clang hides the variable of an anonymous one."""

from __future__ import annotations

import pytest

from smemlint.api import Job, analyse_file


def seen(text: str) -> dict[str, tuple[int, float | None]]:
    """Width and ways of each access by its text."""
    report = analyse_file(Job("k.cu", text=text))
    return {a.expression: (a.width, a.ways) for k in report.kernels for a in k.accesses}


UNION = "__shared__ {}union {{ {} a[1024]; double b[64]; }};"
BODY = "a[threadIdx.x * 8] = 1; __syncthreads(); p[0] = b[threadIdx.x];"


@pytest.mark.parametrize("head", ["", "static ", "__align__(16) "])
@pytest.mark.parametrize("body", [f"{BODY}", f"__shared__ int s[32]; s[threadIdx.x] = 1; {BODY}"])
def test_a_union_without_a_name_is_not_shared_and_that_is_said(head: str, body: str) -> None:
    """Machine code has STL and LDL, or of `static` global loads: each was told as 8 ways, exact."""
    text = f"template <class T> __global__ void k(double *p) {{ {UNION.format(head, 'T')} {body} }}\n"
    text += "void go(double *p) { k<float><<<1, 32>>>(p); }\n"
    report = analyse_file(Job("k.cu", text=text))
    assert [a.expression for k in report.kernels for a in k.accesses] == ["s[threadIdx.x]"] * (
        "int s" in body
    )
    assert [n.code for k in report.kernels for n in k.notes] == ["unnamed-union"]
    assert report.kernels[0].shares.startswith("it declares") or report.kernels[0].accesses


@pytest.mark.parametrize(("type", "ways"), [("short", 2), ("char", 1)])
def test_members_of_a_union_without_a_name_are_one_object_of_the_thread(type: str, ways: float) -> None:
    text = "template <class T> __global__ void k(float *p) { union { int i; T h[4 / sizeof(T)]; }; "
    text += "__shared__ float s[1024]; s[threadIdx.x] = p[0]; i = threadIdx.x << 17; __syncthreads(); "
    text += f"p[threadIdx.x] = s[h[1]]; }}\nvoid go(float *p) {{ k<{type}><<<1, 32>>>(p); }}\n"
    assert seen(text)["s[h[1]]"] == (4, ways)


def test_a_class_in_a_function_template_is_laid_out_per_instance() -> None:
    text = """
template <class T> __global__ void k(T *p) {
    struct Pair { T first, second; };
    __shared__ Pair s[32];
    s[threadIdx.x].second = *p;
}
void go(float *p, double *q) { k<<<1, 32>>>(p); k<<<1, 32>>>(q); }
"""
    report = analyse_file(Job("k.cu", text=text))
    assert [(k.shared[0].bytes, a.width, a.ways) for k in report.kernels for a in k.accesses] == [
        (256, 4, 2),
        (512, 8, 2),
    ]


@pytest.mark.parametrize(
    "declared",
    [
        "union { float f[1024]; int i[1024]; } __shared__ s;",
        "union Both { float f[1024]; int i[1024]; } __shared__ other, s;",
        "struct { float f[1024]; } SHARED s;",
        "union { float f[1024]; int i[1024]; } static __shared__ s;",
    ],
)
def test_the_attribute_behind_the_braces_is_the_variables(declared: str) -> None:
    text = f"#define SHARED __shared__\n__global__ void k(float *p) {{ {declared} "
    text += "s.f[threadIdx.x * 8] = 1; __syncthreads(); p[0] = s.f[threadIdx.x]; }\n"
    text += "void go(float *p) { k<<<1, 32>>>(p); }\n"
    assert seen(text) == {"s.f[threadIdx.x * 8]": (4, 8), "s.f[threadIdx.x]": (4, 1)}


def test_a_variable_behind_the_braces_without_the_attribute_is_the_threads_own() -> None:
    text = "__global__ void k(float *p) { union { float f; int i; } s; s.f = *p; "
    text += "__shared__ float a[32]; a[threadIdx.x] = s.f; }\nvoid go(float *p) { k<<<1, 32>>>(p); }\n"
    assert seen(text) == {"a[threadIdx.x]": (4, 1)}


def test_variables_of_a_kernel_that_a_macro_makes_are_not_those_behind_the_braces_before_it() -> None:
    kernel = "#define K(name, T) __global__ void name(T *p) { __shared__ T s[64]; int t = threadIdx.x * 2; "
    text = kernel + "s[t] = p[t]; p[t] = s[t]; }\nK(k, float)\nK(k2, float)\n"
    text += "void go(float *p) { k2<<<1, 32>>>(p); }\n"
    kernels = analyse_file(Job("k.cu", text=text)).kernels
    assert [[v.name for v in k.shared] for k in kernels] == [["s"], ["s"]]
    assert max(a.ways for a in kernels[1].accesses) == 2


@pytest.mark.parametrize("union", ["union Alias {{ {} }}; Alias", "using Alias = union {{ {} }}; Alias"])
@pytest.mark.parametrize("size", ["enum {{ BYTES = {} }};", "static constexpr int BYTES = {};"])
def test_a_union_in_a_class_template_knows_the_constants_of_the_class(union: str, size: str) -> None:
    members = "typename BytesToType<BYTES>::Type all; T each[N];"
    text = f"""
template <int BYTES> struct BytesToType {{}};
template <> struct BytesToType<8> {{ using Type = uint2; }};
template <typename T, int N> struct Vec {{
    {size.format("N * sizeof(T)")}
    {union.format(members)} data;
}};
template <typename T> __global__ void k(const Vec<T, 2> *p, T *q) {{
    __shared__ Vec<T, 2> s[32][33];
    s[threadIdx.x][threadIdx.y] = p[threadIdx.x];
    __syncthreads();
    q[threadIdx.x] = s[threadIdx.y][threadIdx.x].data.each[1];
}}
void go(Vec<float, 2> *p, float *q) {{ k<float><<<1, dim3(32, 4)>>>(p, q); }}
"""
    # 33 pairs of words a row: 16 lanes of a store meet each bank once; lanes of a load step by two words
    assert seen(text) == {
        "s[threadIdx.x][threadIdx.y]": (8, 1),
        "s[threadIdx.y][threadIdx.x].data.each[1]": (4, 2),
    }


@pytest.mark.parametrize(
    ("type", "member", "width", "ways"),
    [
        ("Both<float, 8>", "tile[threadIdx.x / 4][threadIdx.x % 4]", 4, 1),
        ("Both<double, 9>", "tile[threadIdx.x / 4][threadIdx.x % 4]", 8, 1),
        ("Both<short, 4 + 4>", "tile[threadIdx.x / 4][threadIdx.x % 4]", 2, 1),
        ("Both<Two<float>>", "tile[threadIdx.x / 4][threadIdx.x % 4].a", 4, 2),
        ("Both<float>", "keys[threadIdx.x * 2 + 1]", 4, 2),
    ],
)
def test_a_union_template_has_its_arguments_outside_of_templates(
    type: str, member: str, width: int, ways: float
) -> None:
    text = "template <class T> struct Two { T a, b; };\n"
    text += "template <class T, int N = 8> union Both { T tile[N][4]; int keys[64]; };\n"
    text += f"__global__ void k(float *p) {{ __shared__ {type} s; p[0] = s.{member}; }}\n"
    text += "void go(float *p) { k<<<1, 32>>>(p); }\n"
    assert seen(text) == {f"s.{member}": (width, ways)}


POINTERS = """
union View {{ float *x; float4 *x4; char *bytes; unsigned long long number; }};
struct Both {{ union {{ float *x; int4 *x4; }}; int n; }};
__global__ void k(float *p) {{
    __shared__ __align__(16) float s[1024]; {} __syncthreads(); p[threadIdx.x] = s[threadIdx.x];
}}
void go(float *p) {{ k<<<1, 32>>>(p); }}
"""


@pytest.mark.parametrize(
    ("body", "width", "ways"),
    [
        ("View v; v.x = s; v.x4[threadIdx.x] = float4();", 16, 1),
        ("View v = {s}; View w = v; w.x4[threadIdx.x * 2] = float4();", 16, 2),
        ("View v; v.bytes = (char *)s; v.x[threadIdx.x * 4] = 1;", 4, 4),
        ("View v; v.x = s; v.number += 64; v.x[threadIdx.x * 2] = 1;", 4, 2),
        ("Both b; b.x = s; b.x4[threadIdx.x] = int4();", 16, 1),
        ("float *x = s; float4 *x4; memcpy(&x4, &x, 8); x4[threadIdx.x] = float4();", 16, 1),
        ("float *x = s; float4 *x4 = *(float4 **)&x; x4[threadIdx.x] = float4();", 16, 1),
    ],
)
def test_a_pointer_that_is_read_through_another_member_has_that_ones_type(
    body: str, width: int, ways: float
) -> None:
    """Each lane moves 16 bytes, or 4: 32 lanes in 4 passes, or 1, if they lie in a row."""
    found = seen(POINTERS.format(body))
    assert next(iter(found.values())) == (width, ways)
    assert len(found) == 2


VECTORS = """
struct Pair {{ union {{ int x, r; }}; union {{ int y, g; }}; }};
template <class T> struct Vec4 {{ union {{ struct {{ T x, y, z; }}; T e[3]; }}; T w; }};
template <class T> union Vec3 {{ struct {{ T x, y, z; }}; T e[3]; }};
__global__ void k(float *p) {{
    __shared__ float s[1024]; int t = threadIdx.x; {}; p[t] = s[at];
}}
void go(float *p) {{ k<<<1, 32>>>(p); }}
"""


@pytest.mark.parametrize(
    "body",
    [
        "Pair v{{t}, {1}}; int at = v.x * 4 + v.y",
        "Pair v = {t, 1}; int at = v.r * 4 + v.g",
        "Vec4<int> v{{{t, 2, 3}}, 1}; int at = v.e[0] * 4 + v.w",
        "Vec4<int> v = {2, t, 3, 1}; int at = v.y * 4 + v.w",
        "Vec3<int> v = {2, t, 3}; int at = v.y * 4 + v.z",
        "Vec3<int> v{{2, t, 3}}; int at = v.e[1] * 4 + v.z",
    ],
)
def test_a_list_in_braces_gives_a_member_without_a_name_one_value(body: str) -> None:
    """`union { int x, r; }` takes one value of a list, for its first member. Lanes read every fourth word."""
    assert list(seen(VECTORS.format(body)).values()) == [(4, 4)]


def test_an_element_that_is_of_no_type_is_unknown() -> None:
    """`std::conditional_t<..., void>` of a float that the kernel is tried with: nothing launches it."""
    kernel = analyse_file(
        Job(
            "k.cu",
            text="""
            #include <type_traits>
            #include <cuda_fp16.h>
            template <typename T> using Twice = std::conditional_t<std::is_same_v<T, half>, half2, void>;
            template <typename T> union Pack { uint4 data; T elems[8]; Twice<T> pairs[4]; };
            template <typename T> __device__ uint4 add(const Pack<T> &lhs, const Pack<T> &rhs) {
              Pack<T> sum;
              for (int i = 0; i < 4; i++) sum.pairs[i] = __hadd2(lhs.pairs[i], rhs.pairs[i]);
              return sum.data;
            }
            template <typename T> __global__ void gather(uint4 *out, const uint4 *in) {
              extern __shared__ int rows[];
              rows[threadIdx.x] = 255 - threadIdx.x;
              __syncthreads();
              Pack<T> a, b;
              a.data = in[rows[threadIdx.x]];
              b.data = in[rows[threadIdx.x ^ 1]];
              out[threadIdx.x] = add(a, b);
            }
            """,
        )
    ).kernels[0]
    assert [a.ways for a in kernel.accesses] == [1, 1, 1]
