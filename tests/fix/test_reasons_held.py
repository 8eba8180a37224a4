"""Every sentence that a reason can be is checked by something that does not search, and lies are found.

The reasons of every test of this room are held the same way (conftest.py); here are the fixtures, kernels for
reasons that no other test meets, and that each sentence of the package has a check.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from held_reasons.case import UNCHECKED, Case
from held_reasons.claims import CLAIMS, clauses, one, verdicts

import smemlint.fix
from smemlint.api import Job
from smemlint.fix.model import Refusal
from smemlint.fix.refusals import REASONS
from smemlint.running import pipeline
from smemlint.running.schedule import FixWork

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(p.name for p in (ROOT / "fixtures").glob("*.cu"))
HEAD = "__global__ void k(float *o, const float *in, int n) {\n    int tx = threadIdx.x, ty = threadIdx.y;\n"
RUN = "}\nvoid run(float *o, const float *in, int n) { k<<<1, dim3(32, 32)>>>(o, in, n); }\n"
TILE = "    t[ty][tx] = in[ty * 32 + tx]; __syncthreads(); o[ty * 32 + tx] = t[tx][ty];\n"
COLUMN = "    t[tx * 32 + ty] = in[tx]; __syncthreads(); o[ty * 32 + tx] = t[ty * 32 + tx];\n"
FLAT = "    __shared__ float t[1024];\n"
BRANCH = "    float *p = t; if (n > 3) p = t + 32;\n    p[tx * 32] = in[tx]; o[tx] = p[tx * 32 + ty % 2];\n"
KERNELS = {
    "declared-in-macro": (
        "#define TILE(n) __shared__ float n[32][32]\n" + HEAD + "    TILE(t);\n" + TILE + RUN,
        "typedef float Tile[32][32];\n" + HEAD + "    __shared__ Tile t;\n" + TILE + RUN,
    ),
    "declared-twice": (
        HEAD + "    __shared__ float t[32][32];\n" + TILE + "    { int t[2]; t[0] = n; o[tx] = *t; }\n" + RUN,
    ),
    "escapes": ("__device__ void take(float *);\n" + HEAD + FLAT + "    take(t);\n" + COLUMN + RUN,),
    "passed-on": (
        "__device__ void fill(float *p) { p[threadIdx.x * 32 + threadIdx.y] = 0; }\n"
        + HEAD + FLAT + "    fill(t); fill(o);\n" + COLUMN + RUN,
        HEAD + FLAT + BRANCH + RUN,
        HEAD + "    __shared__ float4 t[256];\n    ((float *)t)[ty % 8 * 128 + tx * 4] = in[tx];\n"
        "    __syncthreads(); o[ty * 32 + tx] = ((float *)t)[tx * 4];\n" + RUN,
    ),
    "data-dependent": (
        HEAD + FLAT + "    *(float2 *)&t[((int)in[tx] & 511) * 2] = make_float2(0, 0);\n" + COLUMN + RUN,
    ),
    "run-time-stride": (
        HEAD + FLAT + "    *(float2 *)&t[tx * n * 2] = make_float2(in[tx], 0);\n" + COLUMN + RUN,
    ),
    "size-elsewhere": (
        HEAD.replace("void k", "void __launch_bounds__(1024) k")
        + "    extern __shared__ float t[];\n    t[tx * 33 + ty * 2] = in[tx]; o[tx] = t[tx * 48];\n}\n",
    ),
    "no-place-for-helper": (HEAD + FLAT + "    if (n > 3) {\n" + COLUMN + RUN.replace("run", "main"),),
    "used-in-macro": (
        "#define PUT(i, v) t[i] = v\n" + HEAD + FLAT + "    PUT(tx * 32 + ty, 0); o[tx] = t[ty];\n" + RUN,
    ),
    "no-better-layout": (
        HEAD + "    __shared__ float t[1024]; int row = tx / 4, at = row * 64 + tx % 4 * 4;\n"
        "    unsigned p = __cvta_generic_to_shared(&t[row * 16 + (tx + tx / 8) % 4 * 4]);\n"
        '    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(p), "l"(in + at));\n'
        '    asm volatile("cp.async.wait_all;"); __syncthreads(); o[tx] = t[tx];\n'
        "}\nvoid run(float *o, const float *in, int n) { k<<<8, 128>>>(o, in, n); }\n",
    ),
    "not-worth-it": (
        HEAD + "    __shared__ float t[64], u[64];\n    for (int i = 0; i < 2000; ++i) u[tx] += in[i];\n"
        "    if (ty == 0) t[tx * 2] = u[tx];\n    o[tx] = t[tx] + u[tx];\n" + RUN,
    ),
}  # fmt: skip


def cases_of(path: Path) -> list[Case]:
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    return [Case(fix, found) for fix in found.suggestions.values() if fix.refused is not None]


@cache
def of_fixture(name: str) -> list[Case]:
    return cases_of(ROOT / "fixtures" / name)


def sentences() -> Iterator[tuple[str, str]]:
    """(module, text) of every reason in the package that is written at once, each number or name as 7."""
    package = Path(smemlint.fix.__file__).parent
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "Refusal"
                and len(node.args) == 2
            ):
                text = node.args[1]
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                said = "".join(str(p.value) if isinstance(p, ast.Constant) else "7" for p in parts)
                if re.sub(r"[\W\d]", "", said):
                    yield path.name, said


def test_each_sentence_has_a_check() -> None:
    found = list(sentences())
    assert len(found) > 90
    free = (
        "7; no row was padded: 7",
        "7, and no layout that was tried costs less",
        "7 on line 7",
        "7, and elements of `7` have 7 bytes",
        "the size of `7` is not known: 7",
    )
    for module, said in found:
        parts = [part for part in clauses(said) if re.sub(r"[\W\d]", "", part)]
        for part in () if said in free else parts:
            spelled = (part, re.sub("^7", "`7` on line 7", part), part.removesuffix("7"))
            asked = [p for p in CLAIMS if any(re.fullmatch(p, each) for each in spelled)]
            assert asked, f"{module}: nothing checks `{part}`"


@pytest.mark.parametrize("name", FILES)
def test_what_is_said_of_the_fixtures_is_so(name: str) -> None:
    for case in of_fixture(name):
        for said, why in verdicts(case):
            known = why.startswith(UNCHECKED) and name == "loops.cu"
            assert not why or known, f"{case.name}: {said}: {why}"


@pytest.mark.parametrize(("code", "text"), [(c, t) for c, texts in KERNELS.items() for t in texts])
def test_a_reason_is_given_and_so(tmp_path: Path, code: str, text: str) -> None:
    (tmp_path / "a.cu").write_text(text, encoding="utf-8")
    cases = cases_of(tmp_path / "a.cu")
    (case,) = [c for c in cases if c.name == "t"]
    assert case.fix.refused is not None and case.fix.refused.code == code, case.text
    assert all(not why for _, why in verdicts(case)), verdicts(case)


LIES = [
    ("transpose_narrow.cu", r"(\d+) wavefronts", lambda n: n + 1),
    ("bitonic.cu", r"saves (\d+)", lambda n: n + 2),
    ("fft.cu", r"saves (\d+)", lambda n: n - 1),
    ("scan.cu", r"line \d+ from \d+ to (\d+)", lambda n: n + 1),
    ("device_functions.cu", r"saves (\d+)", lambda n: 2 * n),
]


@pytest.mark.parametrize(("name", "number", "other"), LIES)
def test_a_number_that_is_not_so_is_found(name: str, number: str, other: Callable[[int], int]) -> None:
    tried = 0
    for case in of_fixture(name):
        told = re.search(number, case.text)
        if told is None or any(why for _, why in verdicts(case)):
            continue
        start, end = told.span(1)
        assert case.fix.refused is not None
        lie = case.text[:start] + str(other(int(told[1]))) + case.text[end:]
        fix = replace(case.fix, refused=Refusal(case.fix.refused.code, lie))
        assert any(why and not why.startswith(UNCHECKED) for _, why in verdicts(Case(fix, case.found))), lie
        tried += 1
    assert tried


FALSE = [
    "each of 9 other layouts costs more",
    "no other layout fits into the shared memory of a block",
    "`t` is used as a pointer on line 3",
    "`t` is declared outside a function",
    "a macro names `t`",
    "`n` also serves line 3",
    "`t` is declared again in the same scope",
    "the extents of `t` do not stand at its declaration",
    "the declaration of `t` does not stand in the text as such",
    "`t` is declared in a file that was not given",
    "the size of `t` is not written at its declaration",
    "no use of `t` stands in the text of its scope",
    "the function around `t` is not found in the text",
    "the address of `t` goes where analysis cannot follow",
    "the size of `t` is given at the launch",
    "how large `t` is at the launch is not known",
    "the size of `t` is given by a launch that this file does not show",
    "`t[tx][ty]` on line 4 depends on data",
    "`t[tx][ty]` on line 4 depends on a value that the launch gives",
    "`t[tx][ty]` on line 4 is not resolved: its address is not known",
    "`t[tx][ty]` on line 4 goes to one of 2 places, as run time decides",
    "`t[tx][ty]` on line 4 reaches 2-byte elements, and elements of `t` have 4 bytes",
    "`t[tx][ty]` on line 4 gets worse",
    "`t[tx][ty]` on line 4 keeps its conflict",
    "`t[tx][ty]` on line 4 reaches other addresses",
    "lanes that update the same word on line 4 take turns in any layout",
    "what the copy on line 4 costs follows from where it reads, in any layout",
    "line 3 has non-ASCII text where the edit falls",
    "line 3 is continued with a backslash",
    "`sizeof(t)` on line 4 would change",
    "the launch on line 6 was not seen, and would get too few bytes",
    "its conflicts cost 1 of the kernel's 5 wavefronts, and no layout that was tried costs less",
    "`t[32][33]` saves 991 of the kernel's 1056 wavefronts",
    "`t[32][33]` saves 992 of the kernel's 1056 wavefronts",
    "`t[32][33]` would make 1056 wavefronts 64; it takes 128 B more than the 4096 B that a block has already",
    "the best of 4 other layouts, `t[32][33]`, costs as much",
    "no swizzle fits, and the size of `t` cannot be changed",
    "the braces around `t` do not match",
    "no such reason",
]


@pytest.mark.parametrize("lie", FALSE)
def test_a_claim_that_is_not_so_is_found(tmp_path: Path, lie: str) -> None:
    """Of a tile whose padding by one column frees everything: `t[32][33]` makes 1056 wavefronts 64."""
    path = tmp_path / "a.cu"
    path.write_text(HEAD + "    __shared__ float t[32][32];\n" + TILE + RUN, encoding="utf-8")
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    (fix,) = found.suggestions.values()
    assert fix.code == "t[32][33]" and (fix.before, fix.after) == (1056, 64)
    wrong = one(Case(replace(fix, refused=Refusal("", lie)), found), lie)
    assert wrong and not wrong.startswith(UNCHECKED), wrong


def test_every_reason_has_its_check_in_the_docs() -> None:
    text = (ROOT / "docs" / "dev" / "evaluation-fixes.md").read_text(encoding="utf-8")
    table = text.split("### What holds each reason")[1].split("\n### ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE) == list(REASONS)


WORKED = HEAD + "    __shared__ float t[32][32];\n" + TILE + RUN


def worked(path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> Case:
    monkeypatch.setattr("smemlint.running.schedule.FIX_WORK", steps)
    path.write_text(WORKED, encoding="utf-8")
    (case,) = cases_of(path)
    assert case.fix.refused is not None and case.fix.refused.code == "out-of-time"
    return case


@pytest.mark.other_work
def test_the_work_that_was_used_up_is_counted_a_second_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = worked(tmp_path / "a.cu", monkeypatch, 300)
    assert verdicts(case) == [(case.text, "")]
    more = replace(case.fix, refused=Refusal("out-of-time", re.sub(r"\d+", "999", case.text)))
    assert verdicts(Case(more, case.found))[0][1]


@pytest.mark.other_work
def test_work_that_was_not_done_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FixWork, "take", lambda work, steps: setattr(work, "left", 0))
    case = worked(tmp_path / "a.cu", monkeypatch, 10**6)
    assert "were done" in verdicts(case)[0][1]


def test_a_search_that_its_time_ended_does_not_blame_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FixWork, "over", lambda work: True)
    path = tmp_path / "a.cu"
    path.write_text(WORKED, encoding="utf-8")
    found = pipeline.examine(Job(str(path)), str)
    assert isinstance(found, pipeline.Examined)
    (fix,) = found.suggestions.values()
    assert fix.refused == Refusal("not-proved", "the edited file was not analysed again")
