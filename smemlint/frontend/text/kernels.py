"""Kernels as the text shows them: what did not reach the tree at all must not be lost in silence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from smemlint.frontend.text.conditions import wish_for
from smemlint.frontend.text.configurations import guards_of
from smemlint.frontend.text.coverage import DROPPED, INACTIVE, SkippedText, active_code, place_in
from smemlint.ir import Unparsed
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.source.blank import blank_literals
from smemlint.source.per_text import per_text
from smemlint.source.tokens import literals

_KERNEL = pattern(rb"(?<!\w)__global__(?!\w)")
MATTERS = pattern(rb"__global__|__shared__|<<<|cudaLaunch\w*Kernel|cuLaunchKernel|cudaGraph\w*KernelNode")
"""Code with one of these is lowered, whatever calls it."""
LAUNCHES = pattern(rb"<<<|[lL]aunch\w*Kernel|cudaGraph\w*KernelNode")
"""What starts kernels, or is a project's own function that does (`launchSumKernel`)."""
_INSTANTIATES = pattern(rb"(?<![\w:.>])template\s+(?!(?:class|struct|union)\b)[^<\s]")
_SAYS_SHARED = pattern(
    rb"(?<!\w)(?:__shared__(?!\w)|[A-Z0-9_]*(?:SHARED|SMEM)[A-Z0-9_]*(?:\s*\(|\s+[A-Za-z_])"
    rb"|S(?:hared|mem)(?!Ptr)[A-Z]\w*\s*<)"
)
_HEAD = pattern(
    rb"(?:\A|[;{}>])\s*(?:(?:static|inline|extern)\s+)*(?!__)([A-Z_][A-Z0-9_]*[A-Z][A-Z0-9_]*)(?=[\s(])(?!\s*[=;,)>])"
)
"""A name in capitals where a function's definition may begin."""
_OF_THREADS = pattern(rb"(?<!\w)(?:threadIdx|__sync\w+)(?!\w)")
_NAMES_SHARED = pattern(
    rb"(?<!\w)(?:[A-Z0-9_]*(?:SHARED|SMEM)[A-Z0-9_]*|__shared__|\w*[sS]hared(?!_?[pP]tr)\w*)(?!\w)"
)
_NAMES_KERNEL = pattern(rb"KERNEL|GLOBAL")
_NO_KERNEL = pattern(rb"DEVICE|HOST|INLINE|_HDI?\Z|_DEV\Z|_FUNC\Z")
_BRACE = pattern(rb"[{};]")
_SCOPE = pattern(rb"(?<!\w)(?:namespace|struct|class|union|enum)(?!\w)")
_LOOPS = ("for", "while", "if", "switch")
UNNAMED = "`{}` before it, or what is given to clang for it, is in no text that was read: it may be a kernel"
_STEP = pattern(rb"[(){};]|[A-Za-z_]\w*")
_QUALIFIERS = pattern(rb"(?:__\w+__|\w*(?:BOUNDS|bounds)\w*|alignas|decltype)\Z")
QUOTED = "its text is a string that is compiled at run time: not analysed"
_IN_A_STRING = pattern(rb'R"|"[^"\n]*__global__')
_JOINED = pattern(r"[\s\\]*|\s*(?:<<|\+)(?:[^;{}\"]{0,200}(?:<<|\+))?\s*")
MAX_HEAD = 6000
"""Bytes from `__global__` to the kernel's body."""


@record(frozen=True, slots=True)
class TextKernel:
    """A kernel's definition: its name's offset, and where its text begins and ends, all in bytes."""

    name: str
    at: int
    start: int
    end: int


@per_text
def may_matter(text: bytes) -> bool:
    """Whether a text holds anything that lowering begins at. Many files include the same headers."""
    if MATTERS.search(text) or LAUNCHES.search(text):
        return True
    return bool(_INSTANTIATES.search(text) and _INSTANTIATES.search(blank_literals(text)))


def kernels_in(code: bytes) -> list[TextKernel]:
    """Definitions of kernels in code without comments, literals and directives."""
    found: list[TextKernel] = []
    for match in _KERNEL.finditer(code):
        if found and match.start() < found[-1].end:
            continue
        kernel = _definition(code, match.start(), match.end())
        if kernel is not None:
            found.append(kernel)
    return found


def _definition(code: bytes, start: int, at: int) -> TextKernel | None:
    """The kernel whose `__global__` ends at `at`; None for a mere declaration."""
    word: re.Match[bytes] | None = None
    name: re.Match[bytes] | None = None
    parentheses = braces = 0
    for step in _STEP.finditer(code, at):
        token = step.group()
        if token == b"(":
            if parentheses == 0 and braces == 0 and name is None and word is not None:
                name = None if _QUALIFIERS.match(word.group()) else word
            parentheses += 1
        elif token == b")":
            parentheses -= 1
        elif token == b"{" and (parentheses == 0 or braces):
            braces += 1
        elif token == b"}":
            braces -= 1
            if braces <= 0:
                return _kernel(name, start, step.end())
        elif token == b";" and braces == 0 and parentheses == 0:
            return None
        elif parentheses == 0 and braces == 0:
            word = step
        if braces == 0 and step.end() - start > MAX_HEAD:
            return None
    return _kernel(name, start, len(code)) if braces else None


def _kernel(name: re.Match[bytes] | None, start: int, end: int) -> TextKernel | None:
    return TextKernel(name.group().decode(), name.start(), start, end) if name is not None else None


def lost_kernels(
    texts: Iterable[Sequence[SkippedText]], functions: Collection[int], unparsed: Iterable[Unparsed]
) -> tuple[Unparsed, ...]:
    """Kernels of the main file that no configuration brought to the tree, or whose shared memory none did,
    named by their `text`.

    texts: as for uncovered(). functions: the offsets of the names of functions that were lowered. unparsed:
    what uncovered() found; of branches that nothing switches on, only kernels with some of that are lost.
    """
    texts = tuple(texts)
    data: dict[str, bytes] = {}
    active: dict[int, TextKernel] = {}
    for configuration in texts:
        for text in configuration:
            data[text.path] = text.data
            if b"__global__" in text.data:
                for kernel in kernels_in(active_code(text.data, text.skipped)):
                    active.setdefault(kernel.at, kernel)
    found: list[Unparsed] = []
    for path, content in data.items():
        if b"__global__" not in content:
            continue
        seen = set(functions)
        missing = [k for k in active.values() if not any(k.start <= o < k.end for o in seen)]
        found += [_unparsed(k, path, content, DROPPED) for k in missing]
        hidden = [u.place.offset for u in unparsed if u.reason == INACTIVE]
        if not hidden:
            continue
        saying = saying_shared(texts)
        for kernel in kernels_in(active_code(content, ())):
            inside = [o for o in hidden if kernel.start <= o < kernel.end]
            known = kernel.at in active or any(kernel.start <= o < kernel.end for o in seen)
            if inside and not (known and kernel.at in saying):
                found.append(_unparsed(kernel, path, content, INACTIVE + _what_it_needs(content, inside[0])))
    found += [kernel for path, content in data.items() for kernel in _quoted(path, content)]
    return tuple(sorted(found, key=lambda u: (u.place.path, u.place.offset)))


def possible_kernels(
    path: str, configurations: Sequence[Sequence[SkippedText]], functions: Collection[int]
) -> tuple[Unparsed, ...]:
    """Functions that begin with a macro which no text defines (`GPU_KERNEL void f(...) {`), and whose body
    shares memory or waits for other threads. functions: offsets of the names of those that were lowered."""
    data = {t.path: t.data for texts in configurations for t in texts}
    own = data.get(path, b"")
    if not (_OF_THREADS.search(own) or _NAMES_KERNEL.search(own)):
        return ()
    found: dict[int, Unparsed] = {}
    for text in (t for texts in configurations for t in texts if t.path == path):
        code = active_code(own, text.skipped)
        for macro, kernel in _behind_macros(code):
            if kernel.at in found or any(kernel.start <= o < kernel.end for o in functions):
                continue
            defines = re.compile(rb"#[ \t]*define[ \t]+" + macro + rb"(?!\w)")
            if not any(defines.search(other) for other in data.values()):
                found[kernel.at] = _unparsed(kernel, path, own, UNNAMED.format(macro.decode()))
    return tuple(found.values())


def _behind_macros(code: bytes) -> Iterator[tuple[bytes, TextKernel]]:
    """Definitions outside functions that begin with a name in capitals and may share memory."""
    bodies: list[tuple[int, int]] | None = None
    for match in _HEAD.finditer(code):
        macro = match.group(1)
        if _NO_KERNEL.search(macro):
            continue
        kernel = _definition(code, match.start(1), match.start(1))
        if kernel is None or kernel.name in _LOOPS or not _may_share(code, macro, kernel):
            continue
        bodies = _bodies(code) if bodies is None else bodies
        if any(start < kernel.start < end for start, end in bodies):
            continue
        if b"__global__" not in code[kernel.start : code.find(b"{", kernel.at)]:
            yield macro, kernel


def _bodies(code: bytes) -> list[tuple[int, int]]:
    """Where the outermost bodies of functions begin and end."""
    found: list[tuple[int, int]] = []
    inside: list[bool] = []  # of each open brace, whether it is a body's
    begun = last = 0
    for match in _BRACE.finditer(code):
        if match.group() == b"}":
            if inside and inside.pop() and not any(inside):
                found.append((begun, match.start()))
        elif match.group() == b"{":
            head = code[last : match.start()]
            is_body = b")" in head and _SCOPE.search(head) is None
            if is_body and not any(inside):
                begun = match.start()
            inside.append(is_body)
        last = match.end()
    return found


def _may_share(code: bytes, macro: bytes, kernel: TextKernel) -> bool:
    """Whether what begins with a macro is, by its body, for threads that share memory."""
    shares = _NAMES_SHARED.search(code, kernel.start, kernel.end) is not None
    for_threads = _OF_THREADS.search(code, kernel.start, kernel.end) is not None
    waits = for_threads and b"__sync" in code[kernel.start : kernel.end]
    return waits or (shares and (for_threads or _NAMES_KERNEL.search(macro) is not None))


def _quoted(path: str, data: bytes) -> list[Unparsed]:
    """Kernels with shared memory in strings, which a program compiles as it runs."""
    if b"__shared__" not in data or b"__global__" not in data or not _IN_A_STRING.search(data):
        return []
    text = data.decode("latin-1")
    found: list[Unparsed] = []
    for start, end in _strings(text):
        code = data[start:end].replace(b"\\n", b"  ").replace(b'"', b" ")
        if b"__global__" in code and b"__shared__" in code:
            kernels = [k for k in kernels_in(code) if b"__shared__" in code[k.start : k.end]]
            moved = [replace(k, at=start + k.at) for k in kernels]
            found += [_unparsed(k, path, data, QUOTED) for k in moved]
    return found


def _strings(text: str) -> list[tuple[int, int]]:
    """Where strings begin and end; those that follow each other directly, or are put together with what
    stands between them (`<< "__global__ void " << name << "("`), are one."""
    found: list[tuple[int, int]] = []
    for token in literals(text):
        if token.kind not in ("string", "raw"):
            continue
        if found and _JOINED.fullmatch(text, found[-1][1], token.start):
            found[-1] = found[-1][0], token.end
        else:
            found.append((token.start, token.end))
    return found


def saying_shared(texts: Iterable[Sequence[SkippedText]]) -> frozenset[int]:
    """Offsets of the names of kernels whose text, in some configuration, says `__shared__`, or has a macro or
    a class template that is named after it (`SHARED_TILE(float, t)`, `LIB_SHARED float s[64];`,
    `lib::SharedArray<float, 64> s;`)."""
    found: set[int] = set()
    for configuration in texts:
        for text in configuration:
            if b"__global__" in text.data and _SAYS_SHARED.search(text.data):
                code = active_code(text.data, text.skipped)
                found |= {k.at for k in kernels_in(code) if _SAYS_SHARED.search(code, k.start, k.end)}
    return frozenset(found)


def _unparsed(kernel: TextKernel, path: str, data: bytes, reason: str) -> Unparsed:
    return Unparsed(place_in(path, data, kernel.at, len(kernel.name)), kernel.name, reason)


def _what_it_needs(data: bytes, offset: int) -> str:
    """The condition that no macro of a configuration brings about, in words; '' where there is none."""
    for text, holds in (c for guard in guards_of(data, offset) for c in guard):
        if wish_for(text, holds) is None:
            return f": it needs `{text}`" + ("" if holds else " to be false")
    return ""
