"""Layouts of records against clang's own, on random records; how bit-fields and packed members are moved."""

from __future__ import annotations

import random

import pytest
from clang import cindex

from smemlint.api import Job, analyse_file
from smemlint.evaluate import Grade, evaluate
from smemlint.evaluate.types.layout import Types
from smemlint.frontend import load
from smemlint.ir import Launch, Literal, Part, RecordRef
from smemlint.source import source_from_bytes

SCALARS = ("char", "unsigned char", "short", "int", "unsigned", "long long", "float", "double")
UNITS = ("unsigned char", "unsigned short", "unsigned", "int", "unsigned long long")
SIZES = {"unsigned char": 8, "unsigned short": 16, "unsigned": 32, "int": 32, "unsigned long long": 64}


def random_records(seed: int, count: int = 40) -> str:
    """Structs, unions, bases, virtual functions, bit-fields, packing and alignment of all kinds."""
    pick = random.Random(seed)
    lines = ["struct E0 {}; struct E1 {};"]
    made: list[str] = []
    for i in range(count):
        body = []
        union = pick.random() < 0.1
        for j in range(pick.randint(0, 5)):
            kind = pick.random()
            if kind < 0.3:
                unit = pick.choice(UNITS)
                width = pick.choice((0, pick.randint(1, SIZES[unit]), pick.randint(1, SIZES[unit])))
                body.append(f"{unit} {f'm{i}_{j}' if width else ''} : {width};")
            elif kind < 0.45 and made:
                body.append(f"{pick.choice(made)} m{i}_{j};")
            elif kind < 0.5:
                mark = pick.choice(("", "[[no_unique_address]] "))
                body.append(f"{mark}E{pick.randint(0, 1)} m{i}_{j};")
            else:
                align = pick.choice(("", "", "", "alignas(8) "))
                extent = pick.choice(("", "", "[3]"))
                body.append(f"{align}{pick.choice(SCALARS)} m{i}_{j}{extent};")
        bases = [] if union else pick.sample([*made[-6:], "E0", "E1"], pick.choice((0, 0, 0, 1, 2)))
        bases = [b for b in bases if not b.startswith("U")][:2]
        if not union and pick.random() < 0.15:
            body.append(f"virtual void f{i}();")
        if pick.random() < 0.2:
            body.insert(0, f"{'U' if union else 'S'}{i}();")
            if union:
                body.pop(0)
        mark = pick.choice(("", "", "", "", "__attribute__((packed)) ", "alignas(16) "))
        name = f"{'U' if union else 'S'}{i}"
        head = f"{'union' if union else 'struct'} {mark}{name}{' : ' + ', '.join(bases) if bases else ''}"
        pack = pick.choice((0, 0, 0, 0, 1, 2, 4))
        text = f"{head} {{ {' '.join(body)} }};"
        lines.append(f"#pragma pack(push, {pack})\n{text}\n#pragma pack(pop)" if pack else text)
        if not (bases and {"E0", "E1"} & set(bases)) or pick.random() < 0.5:
            made.append(name)
    return "\n".join(lines)


def with_uses(text: str, names: list[str]) -> str:
    declared = "\n".join(f"__shared__ {n} s_{n}[2];" for n in names)
    uses = "".join(f"o[0] = sizeof(s_{n}[0]);" for n in names)
    return f"{text}\n__global__ void k(float *o) {{\n{declared}\n{uses}\n}}\n"


@pytest.mark.parametrize("seed", range(6))
def test_records_lie_as_clang_lays_them(seed: int) -> None:
    text = random_records(seed)
    unit = cindex.Index.create().parse("r.cpp", ["-std=c++20"], [("r.cpp", text)])
    assert not [d for d in unit.diagnostics if d.severity >= 3], text
    truth = {
        c.spelling: c
        for c in unit.cursor.get_children()
        if c.kind in (cindex.CursorKind.STRUCT_DECL, cindex.CursorKind.UNION_DECL)
    }
    source = with_uses(text, list(truth))
    (module, *_) = load(source_from_bytes("k.cu", source.encode()))
    types = Types(module, lambda e, _: e.value if isinstance(e, Literal) else None)
    wrong = []
    for name, cursor in truth.items():
        layout = types.layout(RecordRef(name))
        if layout is None:
            wrong.append(f"{name}: no layout")
            continue
        found = (layout.size, layout.align)
        if found != (cursor.type.get_size(), cursor.type.get_align()):
            wrong.append(f"{name}: {found}, not {cursor.type.get_size(), cursor.type.get_align()}")
        for member in cursor.get_children():
            if member.kind == cindex.CursorKind.FIELD_DECL and member.spelling:
                at, t = layout.fields[member.spelling]
                start = 8 * at + (t.start if isinstance(t, Part) else 0)
                if start != member.get_field_offsetof():
                    wrong.append(f"{name}.{member.spelling}: {start}, not {member.get_field_offsetof()}")
    assert not wrong, "\n".join([source, *wrong])


def moved(record: str, statement: str) -> list[tuple[str, int, list[int]]]:
    """op, width and the first lanes' offsets of each access."""
    body = f"__shared__ R r[64];\nint t = threadIdx.x;\n{statement}"
    text = f"{record}\n__global__ void k(int *o, int n) {{\n{body}\n}}"
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert all(trace.grade is Grade.EXACT for trace in traces)
    return sorted(
        (trace.site.op, trace.site.width, row.tolist()[:2]) for trace in traces for row in trace.offsets
    )


def test_a_packed_member_is_moved_byte_by_byte() -> None:
    """As nvcc 13 does: STS.U8 [R+1], [R+2], [R+3], [R+4]."""
    found = moved("struct __attribute__((packed)) R { char a; int b; short c; double d; };", "r[t].b = o[t];")
    assert found == [("store", 1, [at, at + 15]) for at in (1, 2, 3, 4)]


def test_a_member_under_a_limit_of_alignment_is_moved_in_pieces_of_it() -> None:
    """As nvcc 13 does: LDS.U16 [R+2], [R+4]."""
    record = "#pragma pack(push, 2)\nstruct R { char a; int b; char c; double d; };\n#pragma pack(pop)"
    assert moved(record, "o[t] = r[t].b;") == [("load", 2, [2, 18]), ("load", 2, [4, 20])]


def test_a_bit_field_is_stored_with_its_neighbours() -> None:
    """As nvcc 13 does: LDS [R], STS [R] for part of a word; STS.U8 for a whole byte."""
    record = "struct R { unsigned a : 3, b : 7, c : 22; unsigned d : 8, e : 24; };"
    assert moved(record, "r[t].b = o[t];") == [("load", 4, [0, 8]), ("store", 4, [0, 8])]
    assert moved(record, "o[t] = r[t].c;") == [("load", 4, [0, 8])]
    assert moved(record, "r[t].d = o[t];") == [("store", 1, [4, 12])]


def test_a_long_bit_field_reads_the_half_that_it_needs() -> None:
    """As nvcc 13 does: LDS [R+8] for 30 low bits; LDS [R+4], STS.64 [R] to store 40 bits."""
    record = "struct R { unsigned long long k : 40; unsigned long long v : 30; };"
    assert moved(record, "o[t] = r[t].v;") == [("load", 4, [8, 24])]
    assert moved(record, "r[t].k = o[t];") == [("load", 4, [4, 20]), ("store", 8, [0, 16])]


@pytest.mark.parametrize(
    ("record", "field", "access"),
    [
        ("unsigned kind : 4, cell : 20, x : 1;", "x", ("load", 1, [3, 7])),
        ("unsigned kind : 16, x : 1;", "x", ("load", 2, [2, 6])),
        ("unsigned kind : 8, x : 1;", "x", ("load", 4, [0, 4])),
        ("unsigned kind : 16, x : 16;", "x", ("load", 2, [2, 6])),
        ("int kind : 24, x : 8;", "x", ("load", 4, [0, 4])),
    ],
)
def test_of_a_bit_field_at_the_end_of_its_unit_only_the_end_is_read(
    record: str, field: str, access: tuple[str, int, list[int]]
) -> None:
    """As nvcc 13 does: LDS.U8 [R+3], LDS.U16 [R+2], LDS [R], LDS.U16 [R+2]; LDS [R] where it has a sign."""
    assert moved(f"struct R {{ {record} }};", f"o[t] = r[t].{field};") == [access]


@pytest.mark.parametrize(
    ("assigned", "read", "truth"),
    [
        ("x.a = t", "x.a", lambda t: t & 7),
        ("x.s = t", "x.s + 16", lambda t: (t + 16) % 32),
        ("x.a = t; x.b = 5 * t", "x.b * 8 + x.a", lambda t: (5 * t & 127) * 8 + (t & 7)),
        ("x.a = 6; x.a += t", "x.a", lambda t: (6 + t) & 7),
        ("x.a = t; x.a++", "x.a", lambda t: (t + 1) & 7),
        (
            "x.k = t * 0x9e3779b97f4a7c15ull",
            "x.k >> 30",
            lambda t: (t * 0x9E3779B97F4A7C15) % (1 << 40) >> 30,
        ),
    ],
)
def test_a_bit_field_holds_as_many_bits_as_it_has(assigned: str, read: str, truth: object) -> None:
    text = f"""struct X {{ unsigned a : 3; unsigned b : 7; int s : 5; unsigned long long k : 40; }};
    __global__ void k(int *o) {{ __shared__ float s[4096]; unsigned t = threadIdx.x; X x;
    {assigned}; s[{read}] = 1; }}"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    (trace,) = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    assert trace.grade is Grade.EXACT and trace.alignment == 0
    assert [int(o) // 4 for o in trace.offsets[0]] == [truth(t) for t in range(32)]  # type: ignore[operator]


def test_an_array_of_the_library_is_its_elements() -> None:
    text = """#include <array>
    __global__ void k(float *o) { __shared__ std::array<float, 33> a[32]; __shared__ float s[4096];
    int t = threadIdx.x; a[t][t & 3] = 1; std::array<int, 4> q = {1, 2, 3};
    s[q[t & 3] * t] = 1; o[t] = a[t].back(); }"""
    (module,) = load(source_from_bytes("k.cu", text.encode()))
    traces = evaluate(module, module.kernels()[0], Launch((32, 1, 1))).traces
    factors = (1, 2, 3, 0)
    assert [trace.offsets[0].tolist() for trace in traces] == [
        [4 * (33 * t + (t & 3)) for t in range(32)],
        [4 * factors[t & 3] * t for t in range(32)],
        [4 * (33 * t + 32) for t in range(32)],
    ]


@pytest.mark.parametrize(("type", "width"), [("float", 8), ("double", 16)])
def test_a_complex_number_of_thrust_is_moved_at_once(type: str, width: int) -> None:
    """As nvcc 13.0 does for sm_90: LDS.64 and STS.64, of doubles LDS.128 and STS.128."""
    text = f"""
#include <thrust/complex.h>
__global__ void k(const thrust::complex<{type}> *a, thrust::complex<{type}> *b) {{
    __shared__ thrust::complex<{type}> s[17];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    s[threadIdx.x] -= a[0] * b[threadIdx.x];
}}
void go(thrust::complex<{type}> *a, thrust::complex<{type}> *b) {{ k<<<1, 16>>>(a, b); }}
"""
    report = analyse_file(Job("k.cu", text=text))
    assert [(a.op, a.width) for k in report.kernels for a in k.accesses] == [
        ("store", width),
        ("load", width),
        ("store", width),
    ]
