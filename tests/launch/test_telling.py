"""Whether other files may tell anything of a file's launches: asked before their host code is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from smemlint.api import analyse_file
from smemlint.frontend import ParseOptions, load, load_callers
from smemlint.ir import Module
from smemlint.launch import linking, started_kernels
from smemlint.launch.linking import link
from smemlint.launch.model import Started
from smemlint.launch.telling import may_tell
from smemlint.running.jobs import Job, Options
from smemlint.source import source_from_bytes

TENSOR = """
class Tensor {
public:
    Tensor();
    long size(int i) const;
    float *data() const;
private:
    void *held;
};
Tensor make(int n);
"""
KERNEL = """
__global__ void rows(float *out, int n) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < n; i += 64) s[i * n] = out[i];
    out[0] = s[n];
}
"""
DECLARED = """
struct Shape { int width, height; };
struct Plan {
    int width;
    Plan(int w) : width(w) {}
    void start(float *out) const;
};
void run(float *out, int n);
void run_all(const Tensor &x, float *out);
void run_shape(Shape shape, float *out);
void run_one_of(float *out, int n, bool wide);
void run_null(float *out, const int *mask);
int rows_of(int n);
"""
WRAPPERS = """
void run(float *out, int n) { rows<<<1, 64, n * sizeof(float)>>>(out, n); }
void run_all(const Tensor &x, float *out) {
    int n = x.size(0);
    rows<<<x.size(1), 64, n * sizeof(float)>>>(out, n);
}
void run_shape(Shape shape, float *out) { rows<<<1, 64, 4 * shape.width>>>(out, shape.width); }
void run_one_of(float *out, int n, bool wide) {
    int m = 0;
    if (wide) m = 96; else m = 32;
    rows<<<1, 64, 4 * m>>>(out, m);
}
void Plan::start(float *out) const { rows<<<1, 64, 4 * width>>>(out, width); }
"""


def calling(text: str) -> Module:
    """Another file, as it is read for what it says of the wrappers."""
    wanted = frozenset(("run", "run_all", "run_shape", "run_one_of", "Plan"))
    source = source_from_bytes("/t/caller.cpp", (TENSOR + DECLARED + text).encode())
    found = load_callers(source, ParseOptions(), wanted)
    assert found is not None
    return found


def parts(started: tuple[Started, ...]) -> set[tuple[object, ...]]:
    return {(s.block, s.grid, s.dynamic, tuple(sorted(s.arguments.items()))) for s in started}


def wrapper(name: str) -> Module:
    """The file with one of its wrappers alone."""
    start = WRAPPERS.index(f"void {name}(")
    end = WRAPPERS.find("\nvoid ", start + 1)
    text = TENSOR + DECLARED + KERNEL + WRAPPERS[start : end if end > 0 else None]
    return load(source_from_bytes("/t/rows.cu", text.encode()))[0]


def asked(name: str, caller: str) -> tuple[bool, bool]:
    """Whether a caller in another file may tell something of a wrapper's launch, and whether it does."""
    own = wrapper(name)
    program = link(own, [calling(caller)])
    kernels = frozenset(k.id for k in own.kernels())
    started = started_kernels(own, kernels=kernels)
    told = parts(started_kernels(program, kernels=kernels)) != parts(started)
    return may_tell(own, program, kernels, started), told


TOLD = {
    "a literal": ("run", "void go(float *p) { run(p, 48); }"),
    "a sum of known numbers": (
        "run",
        "void go(float *p) { const int k = 4; run(p, 12 * k + sizeof(int)); }",
    ),
    "an enumerator": ("run", "enum { ROWS = 48 }; void go(float *p) { run(p, ROWS); }"),
    "a local that is set later": ("run", "void go(float *p) { int n; n = 48; run(p, n); }"),
    "a caller of the caller": (
        "run",
        "static void middle(float *p, int n) { run(p, n); } void go(float *p) { middle(p, 48); }",
    ),
    "what a function gives back": (
        "run",
        "int rows_of(int n) { return 2 * n; } void go(float *p) { run(p, rows_of(24)); }",
    ),
    "what is set through a reference": (
        "run",
        "static void fill(int &n) { n = 48; } void go(float *p) { int n = 0; fill(n); run(p, n); }",
    ),
    "what is set through a pointer": (
        "run",
        "static void fill(int *n) { *n = 48; } void go(float *p) { int n; fill(&n); run(p, n); }",
    ),
    "one of two": ("run", "void go(float *p, const Tensor &x) { run(p, x.size(0) > 3 ? 48 : 48); }"),
    "an element of an array": ("run", "void go(float *p) { int n[2] = {48, 96}; run(p, n[1]); }"),
    "an element of a container": (
        "run",
        "#include <vector>\nvoid go(float *p) { std::vector<int> v; v.push_back(48); run(p, v[0]); }",
    ),
    "the size of a container": (
        "run",
        "#include <vector>\nvoid go(float *p) { std::vector<int> v(48); run(p, v.size()); }",
    ),
    "a loop's counter": ("run", "void go(float *p) { for (int n = 16; n < 64; n *= 2) run(p, n); }"),
    "a lambda's argument": ("run", "void go(float *p) { auto f = [&](int n) { run(p, n); }; f(48); }"),
    "a structure's member": (
        "run_shape",
        "void go(float *p) { Shape s; s.width = 48; s.height = 2; run_shape(s, p); }",
    ),
    "a structure that is listed": (
        "run_shape",
        "void go(float *p) { Shape s = {48, 2}; run_shape(s, p); }",
    ),
    "an object's constructor": ("Plan::start", "void go(float *p) { Plan plan(48); plan.start(p); }"),
    "which way a condition goes": ("run_one_of", "void go(float *p, int n) { run_one_of(p, n, true); }"),
}
UNTOLD = {
    "a size of an object of the library": (
        "run",
        "void go(float *p, const Tensor &x) { run(p, x.size(0)); }",
    ),
    "a product with one": ("run", "void go(float *p, const Tensor &x) { run(p, 4 * x.size(0) + 1); }"),
    "an object of the library": ("run_all", "void go(float *p, const Tensor &x) { run_all(x, p); }"),
    "an object that the library makes": ("run_all", "void go(float *p) { run_all(make(48), p); }"),
    "a function of such a size": (
        "run",
        "int rows_of(int n) { return 2 * n; } void go(float *p, const Tensor &x) { run(p, "
        "rows_of(x.size(0))); }",
    ),
    "a parameter that nobody gives": ("run", "void go(float *p, int n) { run(p, n); }"),
    "a structure of such sizes": (
        "run_shape",
        "void go(float *p, const Tensor &x) { Shape s = {int(x.size(0)), int(x.size(1))}; run_shape(s, p); }",
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_what_a_caller_tells_may_be_told(case: str) -> None:
    assert asked(*TOLD[case]) == (True, True)


@pytest.mark.parametrize("case", UNTOLD)
def test_what_no_caller_knows_is_told_by_none(case: str) -> None:
    assert asked(*UNTOLD[case]) == (False, False)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs whose host code is run, by their files."""
    made: list[str] = []
    run = linking.started_kernels

    def counted(m: Module, **rest: object) -> tuple[Started, ...]:
        made.append(m.path)
        return run(m, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(linking, "started_kernels", counted)
    return made


def dynamic(folder: Path, **files: str) -> set[int | None]:
    """The sizes of the dynamic shared memory with which the kernel of rows.cu is started."""
    (folder / "Makefile").write_text("all:\n")
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text)
    report = analyse_file(Job(str(folder / "rows.cu"), Options(suggest=False)))
    return {k.launch.dynamic for k in report.kernels}


RUN = TENSOR + KERNEL + "void run(float *out, int n) { rows<<<1, 64, n * sizeof(float)>>>(out, n); }\n"
MIDDLE = "void run(float *p, int n);\nvoid middle(float *p, int n) { run(p, n); }\n"


def test_a_number_that_is_passed_two_files_away_is_found(tmp_path: Path, runs: list[str]) -> None:
    last = "void middle(float *p, int n);\nint main() { middle(0, 48); }\n"
    assert dynamic(tmp_path, rows_dot_cu=RUN, middle_dot_cpp=MIDDLE, main_dot_cpp=last) == {192}
    assert len(runs) > 1


def test_nothing_is_run_for_callers_that_know_no_size(tmp_path: Path, runs: list[str]) -> None:
    last = (
        TENSOR
        + "void middle(float *p, int n);\nvoid go(float *p, const Tensor &x) { middle(p, x.size(0)); }\n"
    )
    assert dynamic(tmp_path, rows_dot_cu=RUN, middle_dot_cpp=MIDDLE, main_dot_cpp=last) == {None}
    assert runs == [str(tmp_path / "rows.cu")]
