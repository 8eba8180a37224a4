"""Which further preprocessor configurations a file deserves.

The first configuration is that of a recent GPU with the user's macros. Where branches that it skips hold
shared memory, the conditions that guard them say which macros to switch; one further configuration is
proposed for each architecture that is asked for, and at most MAX_EXTRA for other macros.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile

from smemlint.frontend.text.conditions import (
    ARCHITECTURE,
    ARCHITECTURES,
    NOT_FOR_CUDA,
    Wish,
    merge,
    wish_for,
    wish_for_all,
)
from smemlint.frontend.text.coverage import INACTIVE, SkippedText, shared_tokens, uncovered
from smemlint.ir import Unparsed
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.blank import blank_literals, blanked

MAX_EXTRA = 2
_DIRECTIVE = pattern(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE
)

_LAUNCH = pattern(rb"(?:\b([A-Za-z_]\w*)\s*(?:<[^;{}<]*>\s*)?)?<<<")
_HAS_CUDA = pattern(
    r"_*(?:(?:(?!NO_|NOT_|DISABLE_)[A-Z0-9]+_)*(?:USES?|USING|WITH|HAVE|HAS|ENABLED?)_)?(?:CUDA|GPU)"
    r"(?:_(?:ENABLED?|SUPPORT(?:ED)?|AVAILABLE|FOUND))?_*"
)
_OFF = pattern(r"^[\s(]*(?:0|false)[\s)]*(?:&&|$)")
_ELSEWHERE = pattern(
    r"(?<![!\w])(?<!!defined)(?<!!defined\()(?:defined[\s(]*)?"
    rf"\b{NOT_FOR_CUDA}\w*(?:(?<![A-Z])HIP|ROCM|AMD|MUSA|SYCL|METAL|OPENCL)"
)
"""Of other platforms, unless a condition holds otherwise too (`defined(OLD) || defined(USE_HIP)`)."""
_COMPILER = pattern(r"\bdefined\s*\(\s*__(?:CUDACC|NVCC)__\s*\)|(?:\bdefined\s+)?\b__(?:CUDACC|NVCC)__")
_ALWAYS = pattern(r"^[\s(]*(?:1|true)[\s)]*(?:\|\||$)")
_ERROR = pattern(rb"^[ \t]*#[ \t]*error\b", re.MULTILINE)


def further_configurations(files: Iterable[SkippedText]) -> tuple[tuple[str, ...], ...]:
    """Configurations to parse besides the first, each a tuple of `NAME=VALUE`, `NAME` or `-NAME`
    (undefined)."""
    plans = _plans(wish for file in files for wish in _wishes(file))
    untried = {str(number) for number in ARCHITECTURES}
    kept = []
    left = MAX_EXTRA
    for plan in plans:
        number = plan.get(ARCHITECTURE)
        if number in untried:
            untried.remove(number)
        elif left:
            left -= 1
        else:
            continue
        kept.append(_spelled(plan))
    return tuple(kept)


def configurations_that_use(
    files: Iterable[SkippedText], names: Iterable[str]
) -> tuple[tuple[str, ...], ...]:
    """Configurations that bring back skipped code which calls or starts something of these names."""
    words = b"|".join(sorted(re.escape(name.encode()) for name in names if name))
    if not words:
        return ()
    used = re.compile(rb"\b(?:" + words + rb")\b(?=\s*(?:<<<|\(|<[^;{}]*>\s*(?:<<<|\()))")
    wishes = []
    for file in files:
        code = blank_literals(file.data) if file.skipped else b""
        inside = {}
        for start, end in file.skipped:
            inside.update({m.start(): start for m in used.finditer(code, start, end)})
        wishes += _wishes_for(file.data, inside)
    return _planned(wishes)[:1]


def configurations_that_include(files: Iterable[SkippedText], name: str) -> tuple[tuple[str, ...], ...]:
    """Configurations that bring back a skipped `#include` of a file (by its name without folders)."""
    include = rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:[^">\n]*/)?%s[">]'
    line = re.compile(include % re.escape(name.encode()), re.MULTILINE)
    wishes = []
    for file in files:
        inside = {}
        for start, end in file.skipped:
            inside.update({m.start(): start for m in line.finditer(file.data, start, end)})
        wishes += _wishes_for(file.data, inside)
    return _planned(wishes)[:1]


def configuration_without_errors(files: Iterable[SkippedText]) -> tuple[str, ...]:
    """Macros without which the files stop with `#error`, where only one of the alternatives can be meant:
    `#if defined(USE_CUDA) ... #elif defined(USE_HIP) ... #else #error`."""
    plan: Wish = {}
    for file in files:
        if b"error" not in file.data:
            continue
        for match in _ERROR.finditer(blank_literals(file.data)):
            if any(start <= match.start() < end for start, end in file.skipped):
                continue
            for conditions in guards_of(file.data, match.start()):
                failed = takewhile(lambda c: not c[1], reversed(conditions))
                ways = [wish for text, _ in failed if (wish := wish_for(text, True))]
                ways = [wish for wish in ways if not any(_is_defined(file.data, name) for name in wish)]
                joined = merge(plan, ways[0]) if len(ways) == 1 else None
                plan = plan if joined is None else joined
    return tuple(_spell(name, value) for name, value in plan.items())


def configuration_for_cuda(files: Iterable[SkippedText]) -> tuple[str, ...]:
    """Macros by which a build says that there is CUDA (`#ifdef USE_CUDA`), where the files skip text for want
    of them: whoever compiles a kernel has it."""
    files = [f for f in files if f.skipped]
    asked: dict[str, None] = {}
    for file in files:
        if b"CUDA" not in file.data and b"GPU" not in file.data:
            continue
        code = blank_literals(file.data)
        starts = {start for start, _ in file.skipped}
        for match in _DIRECTIVE.finditer(code):
            if match[1] in (b"else", b"endif", b"ifndef"):
                continue
            # what is skipped begins with the directive, or behind its line
            line = code.find(b"\n", match.end()) + 1
            if not any(match.start() <= start <= line for start in starts):
                continue
            text = match[2].decode("latin-1")
            wish = {text.split()[0]: "1"} if match[1] == b"ifdef" and text.split() else wish_for(text, True)
            names = [n for n, v in (wish or {}).items() if v == "1"]
            asked |= dict.fromkeys(n for n in names if _HAS_CUDA.fullmatch(n) or _beside_hip(n, code))
    return tuple(n for n in asked if not any(_is_defined(f.data, n) for f in files))


def _beside_hip(name: str, code: bytes) -> bool:
    """Whether a macro is the CUDA one of two: `#if defined(LIB_CUDA) ... #elif defined(LIB_ROCM)`."""
    prefix, cuda, rest = name.rpartition("CUDA")
    if not cuda or rest or not {"NO", "NOT", "DISABLE", "WITHOUT"}.isdisjoint(prefix.split("_")):
        return False
    return any((prefix + x).encode() in code for x in ("ROCM", "HIP"))


def _is_defined(data: bytes, name: str) -> bool:
    """Whether a text defines a macro itself, as include guards do."""
    return (
        re.search(rb"^[ \t]*#[ \t]*define[ \t]+%s\b" % re.escape(name.encode()), data, re.MULTILINE)
        is not None
    )


def _planned(wishes: Iterable[Wish]) -> tuple[tuple[str, ...], ...]:
    return tuple(_spelled(plan) for plan in _plans(wishes))


def _plans(wishes: Iterable[Wish]) -> list[Wish]:
    """Configurations that fulfil wishes, those that agree together."""
    plans: list[Wish] = []
    for wish in wishes:
        for number, plan in enumerate(plans):
            joined = merge(plan, wish)
            if joined is not None:
                plans[number] = joined
                break
        else:
            plans.append(dict(wish))
    return plans


def _spelled(plan: Wish) -> tuple[str, ...]:
    return tuple(_spell(name, value) for name, value in plan.items())


def drop_defines(data: bytes, names: Sequence[str]) -> bytes:
    """The text with its own `#define` and `#undef` of these macros blanked: a configuration has its way."""
    if not any(name.encode() in data for name in names):
        return data
    pattern = rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+(?:%s)\b(?:[^\n\\]|\\\r?\n|\\.)*"
    own = re.compile(pattern % b"|".join(re.escape(name.encode()) for name in names), re.MULTILINE)
    return own.sub(lambda found: blanked(found.group()), data)


def _spell(name: str, value: str | None) -> str:
    if value is None:
        return f"-{name}"
    return name if value == "1" else f"{name}={value}"


def _wishes(file: SkippedText) -> list[Wish]:
    """One wish for each skipped branch that macros can switch on with shared memory in it, or with launches
    of what no other code of the file starts."""
    if not file.skipped or b"__shared__" not in file.data:
        return []
    active = {token.offset for token in shared_tokens(file)}
    lost = [t.offset for t in shared_tokens(SkippedText(file.path, file.data, ())) if t.offset not in active]
    lost += _launches_left_out(file)
    inside = {
        offset: min(start for start, end in file.skipped if start <= offset < end)
        for offset in lost
        if any(start <= offset < end for start, end in file.skipped)
    }
    return _wishes_for(file.data, inside)


def _launches_left_out(file: SkippedText) -> list[int]:
    """Where skipped code starts kernels that the rest of the file does not start."""
    inside: list[tuple[bytes | None, int]] = []
    started: set[bytes | None] = set()
    for found in _LAUNCH.finditer(blank_literals(file.data)):
        at = found.end()
        if any(start <= at < end for start, end in file.skipped):
            inside.append((found.group(1), at))
        else:
            started.add(found.group(1))
    return [at for name, at in inside if name not in started]


def _wishes_for(data: bytes, lost: Mapping[int, int]) -> list[Wish]:
    """What switches each of the lost places on, as far as macros can. lost: as in `_guards`."""
    wishes = (wish_for_all(conditions) for conditions in dict.fromkeys(_guards(data, lost)))
    return [wish for wish in wishes if wish]


def guards_of(data: bytes, offset: int) -> list[tuple[tuple[str, bool], ...]]:
    """The conditions around one place, outermost first, each with the truth that it needs."""
    return _guards(data, {offset: -1})


def left_out(
    texts: Sequence[Sequence[SkippedText]], seen: Collection[tuple[str, int]]
) -> tuple[Unparsed, ...]:
    """What uncovered() finds, without the text that no CUDA compiler is meant to see: under `#if 0`, in the
    `#else` of `#if 1`, under the names of other platforms."""
    found = uncovered(texts, seen)
    none = {
        (text.path, offset)
        for text in {text.path: text for configuration in texts for text in configuration}.values()
        for offset in _meant_for_none(
            text.data, [u.place.offset for u in found if u.place.path == text.path and u.reason == INACTIVE]
        )
    }
    return tuple(u for u in found if (u.place.path, u.place.offset) not in none)


def _meant_for_none(data: bytes, offsets: Sequence[int]) -> list[int]:
    guards = _guards(data, dict.fromkeys(offsets, -1)) if offsets else []
    return [
        offset
        for offset, conditions in zip(sorted(offsets), guards, strict=False)
        if any(_is_never(text, holds) for text, holds in conditions)
    ]


def _is_never(text: str, holds: bool) -> bool:
    """Whether no CUDA compiler is meant to find that a condition holds, or that it fails."""
    if not holds:
        return _ALWAYS.search(text) is not None
    elsewhere = _ELSEWHERE.search(text) is not None and wish_for(_COMPILER.sub("1", text), True) is None
    return elsewhere or _OFF.search(text) is not None


def _guards(data: bytes, lost: Mapping[int, int]) -> list[tuple[tuple[str, bool], ...]]:
    """For each lost offset, the conditions that shut it out, outermost first, each with the truth it needs.

    lost: offset -> where the outermost skipped range around it begins. Conditions that were passed before
    (include guards among them) hold already and are left out.
    """
    if not lost:
        return []
    code = blank_literals(data)
    found: list[tuple[tuple[str, bool], ...]] = []
    stack: list[_Level] = []
    pending = sorted(lost)
    at = 0
    for match in _DIRECTIVE.finditer(code):
        while at < len(pending) and pending[at] < match.start():
            skipped = lost[pending[at]]
            found.append(tuple(c for level in stack if level.end > skipped for c in level.conditions))
            at += 1
        word = match.group(1).decode()
        text = re.sub(r"\\\r?\n", " ", match.group(2).decode("latin-1")).strip()
        if word in ("ifdef", "ifndef"):
            condition = f"defined({text.split()[0] if text else ''})"
            stack.append(_Level(match.end(), [(condition, word == "ifdef")]))
        elif word == "if":
            stack.append(_Level(match.end(), [(text, True)]))
        elif word == "endif" and stack:
            stack.pop()
        elif word in ("elif", "else") and stack:
            # Of earlier alternatives it is enough that they fail.
            level = stack[-1]
            level.end = match.end()
            last, truth = level.conditions.pop()
            level.conditions.append((last, not truth))
            if word == "elif":
                level.conditions.append((text, True))
    return found


@record
class _Level:
    """An open #if: where its latest directive ends, and what its branch needs."""

    end: int
    conditions: list[tuple[str, bool]]
