"""The CUDA source of the probe: for each instruction a kernel that holds it many times, a line for each.

Each copy takes the offsets of its lanes from a table, so that one launch measures as many patterns as there
are copies; Nsight Compute counts by instruction, and the line tells the copy.
"""

from __future__ import annotations

from dataclasses import dataclass

COPIES = 64
"""Patterns a launch."""

_HEAD = """\
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#define BYTES 49152
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \\
    fprintf(stderr, "%s\\n", cudaGetErrorString(e)); exit(1); } } while (0)
#define ON ".reg .pred p; setp.ge.s32 p, %1, 0; "
#define BEGIN extern __shared__ __align__(128) unsigned char s[]; \\
    const int lane = threadIdx.x; unsigned r = 0; (void)source; \\
    for (int i = lane; i < BYTES / 4; i += 32) ((unsigned *)s)[i] = i; \\
    __syncwarp(); const unsigned base = (unsigned)__cvta_generic_to_shared(s); (void)base;
#define END out[lane] = r;
"""


@dataclass(frozen=True, slots=True)
class Instruction:
    """op, width, matrices: as `smemlint.banks` names it. code: CUDA of one copy, `o` is the lane's offset.
    masks: whether lanes may be off."""

    name: str
    op: str
    width: int
    code: str
    matrices: int = 1
    masks: bool = True


def _load(width: int) -> Instruction:
    kind, registers, names = {
        1: ("u8", "b32 x;", "x"),
        2: ("u16", "b32 x;", "x"),
        4: ("b32", "b32 x;", "x"),
        8: ("v2.b32", "b32 x, y;", "{x, y}"),
        16: ("v4.b32", "b32 x, y, z, w;", "{x, y, z, w}"),
    }[width]
    words = registers[4:-1].split(", ")
    zero = " ".join(f"mov.b32 {x}, 0;" for x in words)
    add = " ".join(f"xor.b32 %0, %0, {x};" for x in words)
    text = f'{{ .reg .{registers} {zero} " ON "@p ld.shared.{kind} {names}, [%2]; {add} }}'
    code = f'asm volatile("{text}" : "+r"(r) : "r"(o), "r"(base + o));'
    return Instruction(f"LD{width}", "load", width, code)


def _store(width: int) -> Instruction:
    kind, names = {
        1: ("u8", "%0"),
        2: ("u16", "%0"),
        4: ("b32", "%0"),
        8: ("v2.b32", "{%0, %0}"),
        16: ("v4.b32", "{%0, %0, %0, %0}"),
    }[width]
    code = (
        f'asm volatile("{{ " ON "@p st.shared.{kind} [%2], {names}; }}" '
        ':: "r"(lane), "r"(o), "r"(base + o) : "memory");'
    )
    return Instruction(f"ST{width}", "store", width, code)


def _matrix(count: int, store: bool, transposed: bool) -> Instruction:
    registers = ["x", "y", "z", "w"][:count]
    names = ", ".join(registers)
    trans = ".trans" if transposed else ""
    shape = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
    declared = f".reg .b32 {names};"
    if store:
        moves = " ".join(f"mov.b32 {x}, %0;" for x in registers)
        text = f"{{ {declared} {moves} stmatrix.{shape} [%1], {{{names}}}; }}"
        code = f'asm volatile("{text}" :: "r"(lane), "r"(base + o) : "memory");'
    else:
        add = " ".join(f"xor.b32 %0, %0, {x};" for x in registers)
        text = f"{{ {declared} ldmatrix.{shape} {{{names}}}, [%1]; {add} }}"
        code = f'asm volatile("{text}" : "+r"(r) : "r"(base + o) : "memory");'
    name = f"{'STM' if store else 'LDM'}{count}{'T' if transposed else ''}"
    return Instruction(name, "stmatrix" if store else "ldmatrix", 16, code, count, masks=False)


def _copy(width: int) -> Instruction:
    code = (
        f'asm volatile("{{ " ON "@p cp.async.ca.shared.global [%2], [%0], {width}; }}" '
        f':: "l"(source + lane * {width}), "r"(o), "r"(base + o) : "memory");'
    )
    return Instruction(f"CPA{width}", "cp.async", width, code)


def _swap(width: int) -> Instruction:
    """Written down: a profiler counts what the toolkit's headers make of atomicCAS on a line of theirs."""
    bits, letter = 8 * width, "r" if width == 4 else "l"
    kind = "unsigned" if width == 4 else "unsigned long long"
    code = (
        f'{kind} old = 0; asm volatile("{{ .reg .pred p; setp.ge.s32 p, %1, 0; '
        f'@p atom.shared.cas.b{bits} %0, [%2], %3, %4; }}" : "+{letter}"(old) : "r"(o), "r"(base + o), '
        f'"{letter}"(({kind})3), "{letter}"(({kind})(4 + lane)) : "memory"); r ^= (unsigned)old;'
    )
    return Instruction(f"CAS{width}", "cas", width, code)


def _plain(name: str, op: str, width: int, code: str) -> Instruction:
    return Instruction(name, op, width, f"if (o >= 0) {{ {code} }}")


INSTRUCTIONS: tuple[Instruction, ...] = (
    *map(_load, (1, 2, 4, 8, 16)),
    *map(_store, (1, 2, 4, 8, 16)),
    *(_matrix(n, False, t) for n in (1, 2, 4) for t in (False, True)),
    *(_matrix(n, True, t) for n in (1, 2, 4) for t in (False, True)),
    *map(_copy, (4, 8, 16)),
    _plain("ADD4", "atomic", 4, "r ^= atomicAdd((unsigned *)(s + o), 3u + lane);"),
    _plain("ADDV4", "atomic", 4, "atomicAdd((unsigned *)(s + o), 3u + lane);"),
    _plain("MAX4", "atomic", 4, "r ^= atomicMax((unsigned *)(s + o), 3u + lane);"),
    _plain("EXCH4", "atomic", 4, "r ^= atomicExch((unsigned *)(s + o), 3u + lane);"),
    _plain("EXCH8", "atomic", 8, "r ^= (unsigned)atomicExch((unsigned long long *)(s + o), 3ull + lane);"),
    _plain("INC4", "increment", 4, "atomicAdd((unsigned *)(s + o), 1u);"),
    _swap(4),
    _swap(8),
    _plain("LOOP4", "cas loop", 4, "atomicAdd((float *)(s + o), 1.0f + lane);"),
)


def source() -> tuple[str, dict[str, int]]:
    """The program, and the line of the first copy of each instruction."""
    lines = _HEAD.splitlines()
    first: dict[str, int] = {}
    for each in INSTRUCTIONS:
        lines.append(f"#define {each.name}(i) {{ const int o = t[(i) * 32 + lane]; {each.code} }}")
    for each in INSTRUCTIONS:
        lines.append(
            f"__global__ void probe_{each.name}(const int *t, unsigned *out, const char *source) {{ BEGIN"
        )
        first[each.name] = len(lines) + 1
        lines += [f"{each.name}({copy})" for copy in range(COPIES)]
        lines.append("END }")
    return "\n".join([*lines, *_main()]) + "\n", first


def _main() -> list[str]:
    """Reads a file: for each instruction the number of launches, then their tables."""
    runs = [f"    run(probe_{each.name}, file, out, source);" for each in INSTRUCTIONS]
    return [
        "typedef void Kernel(const int *, unsigned *, const char *);",
        "static void run(Kernel *kernel, FILE *file, unsigned *out, const char *source) {",
        "    int launches = 0;",
        "    if (fread(&launches, 4, 1, file) != 1) exit(2);",
        f"    std::vector<int> host(launches * {COPIES} * 32);",
        "    if (fread(host.data(), 4, host.size(), file) != host.size()) exit(2);",
        "    int *t;",
        "    CHECK(cudaMalloc(&t, host.size() * 4));",
        "    CHECK(cudaMemcpy(t, host.data(), host.size() * 4, cudaMemcpyHostToDevice));",
        "    for (int n = 0; n < launches; n++)",
        f"        kernel<<<1, 32, BYTES>>>(t + n * {COPIES} * 32, out, source);",
        "    CHECK(cudaDeviceSynchronize());",
        "    CHECK(cudaFree(t));",
        "}",
        "int main(int, char **arguments) {",
        "    unsigned *out; char *source;",
        "    CHECK(cudaMalloc(&out, 4096));",
        "    CHECK(cudaMalloc(&source, 4096));",
        "    CHECK(cudaMemset(source, 0, 4096));",
        '    FILE *file = fopen(arguments[1], "rb");',
        "    if (!file) return 2;",
        *runs,
        "    return 0;",
        "}",
    ]
