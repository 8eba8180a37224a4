"""What keeps an edit from being safe: anything that was not seen, or not seen exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence

from smemlint.evaluate.model import Grade
from smemlint.fix.model import Refusal, TextEdit
from smemlint.fix.search.candidates import Skew, Swizzle, Trimmed
from smemlint.fix.search.choices import locate
from smemlint.fix.search.divided import divides
from smemlint.fix.search.judge import Option
from smemlint.fix.search.members import Instance, only_source_open
from smemlint.fix.search.registers import tile_kept
from smemlint.fix.text.called import calls_of
from smemlint.fix.text.source import Source, Use
from smemlint.ir import Place
from smemlint.score.model import KernelAnalysis

_COMPARE = frozenset(("-", "<", ">", "<=", ">=", "==", "!="))
_HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc")


def instance_name(analysis: KernelAnalysis) -> str:
    """A kernel instance as a reader tells it from others: "`k` for T = double under (32, 8)"."""
    arguments = ", ".join(f"{name} = {value}" for name, value in analysis.template_arguments.items())
    block = "x".join(map(str, analysis.launch.block))
    return f"`{analysis.kernel.name}`{f' for {arguments}' if arguments else ''} in blocks of {block}"


def stale_comment(source: Source, edits: Sequence[TextEdit]) -> str:
    """The comment beside an edit that speaks of sizes or conflicts and may no longer hold, in words; '' none.

    A helper that is inserted brings lines of its own.
    """
    for edit in edits:
        start = source.line_start(edit.offset)
        end = source.text.find("\n", edit.end_offset)
        rest = source.text[edit.end_offset : end if end >= 0 else len(source.text)]
        comment = re.search(r"//.*|/\*.*", rest)
        if "\n" in edit.replacement or comment is None or not source.text[start : edit.offset].strip():
            continue
        if re.search(r"\d|pad|pitch|stride|bank|conflict", comment.group(), re.IGNORECASE):
            return f"the comment on line {source.line_of(edit.offset)} may no longer hold"
    return ""


def harmed(option: Option, instances: Sequence[Instance]) -> str:
    """The instance that pays most for what others gain, '' when none does."""
    losses = [
        (sum(after) - sum(m.before for m in i.members), i)
        for after, i in zip(option.after, instances, strict=True)
    ]
    loss, instance = max(losses, key=lambda pair: pair[0])
    if loss <= 0:
        return ""
    before = sum(m.before for m in instance.members)
    return f"{instance_name(instance.analysis)} goes from {before} to {before + loss} wavefronts"


def rescheduled(option: Option, instances: Sequence[Instance]) -> str:
    """The kernel that computed indices may slow down, with the reason; "" when there is none.

    Measured: behind other swizzled indices, kernels with a tile in registers ran at 0.95 to 1.35 times their
    speed with all wavefronts as promised. Nor is an index that is computed anew safe where integer work may
    be what takes the kernel's time.
    """
    if not isinstance(option.layout, Swizzle | Trimmed | Skew):
        return ""
    kept = tile_kept([i.analysis for i in instances])
    if kept is not None:
        return f"{instance_name(kept)} keeps a tile in registers; what nvcc makes of its loop may change"
    busy = next((i.analysis.kernel for i in instances if divides(i.analysis.kernel)), None)
    if busy is not None:
        return f"`{busy.name}` divides integers for the indices of a loop, which may be what takes its time"
    return ""


def open_questions(instances: Sequence[Instance], analyses: Sequence[KernelAnalysis], main: str) -> str:
    """What keeps an edit from being safe, '' when nothing does.

    analyses: of all kernels of the file, among them instances of which nothing more is known than that they
    were cut short. main: the file whose launches are known.
    """
    kernels = {(i.analysis.kernel.place.path, i.analysis.kernel.place.offset) for i in instances}
    for analysis in analyses:
        if (analysis.kernel.place.path, analysis.kernel.place.offset) in kernels and analysis.notes:
            return f"{instance_name(analysis)} was analysed in part: {analysis.notes[0].text}"
    for instance in instances:
        array = instance.array
        if array.dynamic and instance.piece is None:
            return f"the size of `{array.name}` is given at the launch"
        if instance.piece is not None and instance.piece.open:
            return instance.piece.open
        launch, kernel = instance.analysis.launch, instance.analysis.kernel.name
        if launch.assumed:
            told = "depends on the arguments of the program" if "block" in launch.defaults else "is assumed"
            return f"the block shape of `{kernel}` {told}"
        path = array.place.path
        if path != (main or instance.analysis.kernel.place.path) or path.endswith(_HEADERS):
            name = array.place.path.rpartition("/")[2]
            return f"`{array.name}` is declared in {name}, which other files may include"
        for each in instance.members:
            site = each.conflict.site
            if only_source_open(each.conflict.trace):
                return f"what `{site.expression}` on line {site.place.line} costs depends on where it reads"
            why = each.conflict.trace.reason
            if why is not None and why.code == "joined-or-not":
                return (
                    f"whether the compiler joins `{site.expression}` on line {site.place.line} is not known"
                )
            if each.conflict.trace.ways > 1:
                return f"where `{site.expression}` on line {site.place.line} goes is decided at run time"
            if each.conflict.grade is not Grade.EXACT or each.conflict.trace.maybe is not None:
                return f"which lanes run `{site.expression}` on line {site.place.line} is not known exactly"
    return ""


def not_evaluated(instances: Sequence[Instance], source: Source) -> str:
    """The first use of the array that no launch runs, as far as was seen, or that makes a number of its
    address; '' when there is none."""
    at = locate(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return ""
    for use in at.uses:
        if use.context != "sizeof" and _is_compared(source, use):
            return f"a number is made of the address of `{at.name}` on line {use.line}"
    unread = unread_use(instances, source)
    return f"no launch that was seen runs the use of `{at.name}` on line {unread.line}" if unread else ""


def unread_use(instances: Sequence[Instance], source: Source) -> Use | None:
    """The first use of the array in the text at which no access was evaluated."""
    at = locate(instances[0], {source.path: source})
    if isinstance(at, Refusal):
        return None
    places = [
        place
        for instance in instances
        for conflict in instance.analysis.conflicts
        if conflict.site.array == instance.array.id
        for place in (conflict.site.place, *conflict.site.via)
        if place.path == source.path
    ]
    for use in at.uses:
        if (use.context != "subscript" and use.viewed is None) or use.address:
            continue
        calls = None if _in_one(use, places) else calls_of(source, use, at.scope)
        if calls == [] or not all(_in_one(u, places) for u in (calls or [use])):
            return use
    return None


def _in_one(use: Use, places: Sequence[Place]) -> bool:
    """Whether a use stands in a place that an access was seen to have."""
    return any(p.offset < use.end and use.offset < p.end_offset for p in places)


def _is_compared(source: Source, use: Use) -> bool:
    """Whether the address of an element, or of the array, is compared or subtracted, or what it is taken
    from is: `&t[1][0] - &t[0][0]`."""
    code = source.code
    first, last = source.index_at(use.offset) - 1, source.index_at(use.end)
    if use.context == "subscript" and not use.address:
        return False
    if use.address:
        first -= 1
    elif code[first].text == "&":  # `a & t[0]` is no address
        return False
    while code[first].text == "(" and code[last].text == ")":
        first, last = first - 1, last + 1
    cast = code[first].text == ">" and code[first - 1].text == "*"  # `reinterpret_cast<float4 *>(t)`
    return (code[first].text in _COMPARE and not cast) or code[last].text in _COMPARE
