"""Each sentence that a reason can be, with what holds it against the text, the traces and all layouts."""

from __future__ import annotations

import re

from held_reasons import edited, numbers, texts, traces, work
from held_reasons.case import UNCHECKED, Case, Check

EXPRESSION = r"`(?P<expression>.+?)` on line (?P<line>\d+)"
NAME = r"`(?P<name>[^`]+)`"
LOSSES = r"(?:: )?(?P<losses>(?:line \d+ from \d+ to \d+(?:, )?)*)"
LAYOUT = r"(?P<pitch>a row pitch of )?`(?P<layout>[^`]+)`(?P<trimmed> without the padding)?"
CLAIMS: dict[str, Check] = {
    # The text.
    rf"{NAME} is used as a pointer(?: on line (?P<line>\d+))?": lambda c, m: (
        texts.as_pointer(c, m) if m["line"] else ""
    ),
    rf"{NAME} is passed on whole on line (?P<line>\d+), with its extents": texts.has("name"),
    r"`sizeof\((?P<name>[^`]+)\)` on line (?P<line>\d+) would change": texts.has("sizeof"),
    r"`sizeof` on line (?P<line>\d+) would change": texts.has("sizeof"),
    rf"a macro on line (?P<line>\d+) names {NAME}": texts.macro_names,
    rf"a macro names {NAME}": texts.macro_names,
    rf"{NAME} is declared outside a function": texts.outside,
    rf"no use of {NAME} stands in the text of its scope": texts.unused,
    r"line (?P<line>\d+) has non-ASCII text where the edit falls": texts.not_ascii,
    r"line (?P<line>\d+) is continued with a backslash": texts.continued,
    rf"{NAME} also serves line (?P<line>\d+)": texts.also_serves,
    rf"{NAME}, which gets `(?P<array>\w+)`, is also called with others": texts.also_called,
    r"an access of `(?P<array>\w+)` stands in the index of another one": texts.nested,
    rf"{NAME} stands in its own index": lambda c, m: "",
    rf"`(?P<expression>.+)` on line (?P<line>\d+) reaches {NAME} in a way that is not rewritten": texts.has(
        "expression"
    ),
    rf"no row pitch is seen in (?:all|the) indices of {NAME}": texts.no_pitch,
    r"`(?P<extent>\[.*\])` is not said as rows of `(?P<pitch>[^`]+)`": texts.not_rows,
    r"`(?P<text>.+)` is not read as (?:a )?C(?: expression)?": texts.not_c,
    r"what is added on line (?P<line>\d+) is not read as C": texts.not_c,
    r"the dynamic shared bytes on line (?P<line>\d+) are not read as C": traces.launch_line,
    r"the start of `(?P<name>[^`]+)` is not read as C": texts.names_part,
    r"an extent of a parameter is not read": texts.not_c,
    r"the pitch of a fragment is not read": texts.not_c,
    rf"the row pitch of `[^`]+` is {NAME}, known at the launch only": texts.at_launch,
    rf"{NAME} is known at the launch only, and set after `[^`]+`": texts.at_launch,
    rf"the declaration of {NAME} does not stand in the text as such": texts.not_at_place,
    rf"the extents of {NAME} do not stand at its declaration": texts.not_at_place,
    rf"{NAME} is declared again in the same scope": texts.twice,
    rf"{NAME} is declared in a file that was not given": texts.elsewhere,
    rf"{NAME} is declared by the macro `(?P<macro>\w+)`": texts.by_macro,
    rf"the size of {NAME} is not written at its declaration": texts.no_extent,
    rf"the function around {NAME} is not found in the text": texts.member,
    rf"the braces around {NAME} do not match": texts.unmatched,
    r"(?:the row index|an index|what is added) on line (?P<line>\d+) (?:must not|would) be evaluated twice": (
        texts.one_line(r"\+\+|--|\w\s*\(")
    ),
    r"the row index on line (?P<line>\d+) reads shared memory itself": texts.one_line(r"\[[^\]]*\["),
    r"`(?P<text>.+)` counts (?:parts of an element|rows of `\w+`)(?: on line (?P<line>\d+))?": lambda c, m: (
        ""
    ),
    rf"the rows of {NAME} are no power of two wide": texts.odd_rows,
    rf"the size of {NAME} is not known": lambda c, m: UNCHECKED + "no size is named",
    rf"the elements of {NAME} are swizzled apart": lambda c, m: "",
    rf"{NAME} points elsewhere in each thread": texts.by_each_thread,
    rf"{NAME} is seen as \d+-byte elements on line (?P<line>\d+)": texts.wide,
    rf"{NAME} would have to start \d+ bytes later": texts.names_part,
    rf"where the parts behind {NAME} start is not read": texts.names_part,
    rf"{NAME} is laid out by (?:`\w+`|a function) already(?:, and by one only)?": texts.laid_out,
    rf"the index {NAME} is also used on line (?P<line>\d+)": texts.has("name"),
    rf"{NAME}, which the row pitch is in, is also used on line (?P<line>\d+)": texts.has("name"),
    rf"{NAME} is a member of several structures in this file": texts.twice,
    rf"{NAME} is a member of a structure that this file does not declare": texts.member_of,
    rf"{NAME} is a pointer to a row of `(?P<array>\w+)`": texts.names_part,
    # Launches.
    rf"the size of {NAME} is given by a launch that this file does not show": traces.launch_elsewhere,
    rf"the size of {NAME} is given by the launch on line (?P<line>\d+), whose block is not known": (
        traces.unseen_launch
    ),
    rf"a launch gives {NAME} no bytes": traces.no_bytes,
    rf"the size of {NAME} is given at the launch": traces.size_at_launch,
    rf"the size of {NAME} is not known: what defines its extent was not read .*": traces.build_defines,
    rf"how large {NAME} is at the launch is not known": traces.size_unknown,
    r"the launch on line (?P<line>\d+) was not seen, and would get too few bytes": traces.unseen_launch,
    r"the dynamic shared bytes of the launch on line (?P<line>\d+) are not found": traces.launch_line,
    r"how many bytes more line (?P<line>\d+) has to ask for is not said by a formula": traces.not_a_number,
    r"line (?P<line>\d+) gives more than 48 KiB, and what allows the kernel so much is not found": (
        traces.much
    ),
    rf"{NAME} would start later, and not as much in all (?:instances|launches)": texts.names_part,
    rf"by how much {NAME} would start later is not said by a formula": texts.names_part,
    # Traces.
    rf"the address of {NAME} goes where analysis cannot follow": traces.escapes,
    rf"{EXPRESSION} is not resolved: (?P<why>.+)": traces.unresolved,
    rf"{EXPRESSION} depends on a value that the launch gives": traces.parametric,
    rf"{EXPRESSION} depends on data": traces.by_data,
    rf"{EXPRESSION} goes to one of (?P<ways>\d+) places, as run time decides": traces.several_ways,
    rf"{EXPRESSION} reaches (?P<width>\d+)-byte elements, "
    r"and elements of `\w+` have (?P<element>\d+) bytes": traces.narrow,
    r"lanes reach (?P<element>\d+)-byte elements member by member at any pitch": traces.structures,
    r"lanes that update the same word on line (?P<line>\d+) take turns in any layout": traces.takes_turns,
    r"what the copy on line (?P<line>\d+) costs follows from where it reads, in any layout": traces.by_source,
    rf"line (?P<line>\d+) reaches the part of {NAME} in another way": traces.another_way,
    rf"line (?P<line>\d+) goes through {NAME} and leaves its part of `\w+`": traces.leaves,
    rf"where {NAME} starts in `\w+` is no constant of the launch": traces.start_open,
    rf"{NAME} starts at byte (?P<start>\d+), which is not aligned for its accesses": traces.unaligned,
    # Numbers.
    rf"the best of (?P<tried>\d+) other layouts, {LAYOUT}, (?:costs as much|makes (?P<old>\d+) wavefronts "
    rf"(?P<new>\d+)){LOSSES}": numbers.best_of,
    rf"{LAYOUT} saves (?P<saved>\d+)(?: of (?:the kernel's )?(?P<kernel>\d+))? wavefronts"
    r"(?: and costs index arithmetic worth about (?P<work>\d+))?"
    r"(?P<blocks> and (?:costs )?\d+ of \d+ resident blocks per SM)?"
    rf"(?P<rest>; with more than .*?)?{LOSSES}": numbers.cheap,
    rf"{LAYOUT} would make (?P<old>\d+) wavefronts (?P<new>\d+); it takes (?P<more>\d+) B more than the "
    r"(?P<has>\d+) B that a block has already(?P<losses>)": numbers.no_room,
    r"its conflicts cost (?P<wasted>\d+) of the kernel's (?P<kernel>\d+) wavefronts, and no "
    r"layout that was tried costs less": numbers.small,
    r"each of (?P<tried>\d+) other layouts costs more": numbers.none_better,
    r"each of (?P<tried>\d+) other layouts takes (?P<width>\d+)-byte accesses apart, into which the compiler "
    r"joins neighbours, and costs more so": numbers.none_better,
    r"a swizzle would take its (?P<width>\d+)-byte accesses apart": numbers.apart,
    r"no other layout fits into the shared memory of a block(?: and keeps its \d+-byte accesses)?": (
        numbers.nothing_fits
    ),
    rf"no swizzle fits, and the size of {NAME} cannot be changed": numbers.fixed_size,
    r"rows are as wide as a launch says, and no padding helps at each width \((?P<widths>[\d, ]+)\)": (
        numbers.each_width
    ),
    rf"with {LAYOUT} a block no longer fits": lambda c, m: UNCHECKED + "the bytes are not named",
    # What the edited text shows.
    rf"{EXPRESSION} (?P<what>reaches other addresses|is joined with other neighbours than before|"
    r"keeps its conflict|loses its wide access|gets worse|is not resolved any more)": edited.check,
    rf"{NAME} has (?P<now>\d+) accesses after the edit, (?P<then>\d+) before": edited.check,
    rf"the accesses of {NAME} (?P<what>reach other addresses)": edited.check,
    rf"{NAME} (?P<what>keeps more conflicts)": edited.check,
    rf"{NAME} is not found again in the edited file": edited.check,
    r"the edited file shows other accesses of other arrays": edited.check,
    rf"{EXPRESSION} (?P<what>reaches another array|is not known exactly|runs in another way|"
    r"is run by other lanes|goes to a place of which a part is not known)": edited.check,
    rf"the accesses of {NAME} (?P<what>leave it|do not agree on a new layout)": edited.check,
    r"(?P<now>\d+) kernel instances are seen after the edit, (?P<then>\d+) before": numbers.counted,
    rf"{NAME} (?:is started in another way|declares other arrays) after the edit": numbers.counted,
    rf"with {NAME} as `(?P<as>[^`]+)`, (?P<inner>.+)": lambda c, m: with_constant(c, m),
    rf"no launch that was seen runs the use of {NAME} on line (?P<line>\d+)": texts.has("name"),
    r"the padding frees no access that a narrower one does not": edited.check,
    rf"{NAME} was not analysed again: .*": numbers.counted,
    r"the edited file was not analysed again": numbers.counted,
    r"part of an address is not known": lambda c, m: (
        "" if any(x.trace.alignment for x in c.sites) else "all addresses are known"
    ),
    r"after the edit .*": edited.check,
    # Work.
    r"the work for the fixes of this file, (?P<steps>\d+) steps, was used up": work.used_up,
    # As they are written before what ended the search is known.
    r"the work for the fixes of this file was used up(?: before a layout was proved)?": work.unnamed,
    r"the time for (?:the fixes of )?this file was over": work.time,
    # What stands behind another sentence.
    rf"{EXPRESSION}: (?P<why>.+)": traces.open_choice,
}
"""What a clause of a reason looks like as a whole -> its check."""
_SPLIT = re.compile(r"; (?:no row was padded: )?(?!it takes \d|with more than)")


def clauses(text: str) -> list[str]:
    """The sentences that a reason is made of."""
    current = ""
    for piece in re.split(r"(`[^`]*`)", text):
        current += piece.replace("; ", "\0") if not piece.startswith("`") else piece
    return _SPLIT.split(current.replace("\0", "; "))


def with_constant(case: Case, m: re.Match[str]) -> str:
    """A clause about the file in which a constant has another value."""
    text = edited.constant(case, m["name"], m["as"])
    other = next((found for p in CLAIMS if (found := re.fullmatch(p, m["inner"])) is not None), None)
    if other is None:
        return f"nothing checks `{m['inner']}`"
    if "what" not in other.groupdict():
        return UNCHECKED + "of another value of a constant only what an access does is checked"
    return edited.check(case, other, text)


def one(case: Case, clause: str) -> str:
    for pattern, check in CLAIMS.items():
        m = re.fullmatch(pattern, clause, flags=re.DOTALL)
        if m is not None:
            return check(case, m)
    return f"nothing checks `{clause}`"


def verdicts(case: Case) -> list[tuple[str, str]]:
    """Each clause of the reason of an array with what is wrong of it, '' where it is so."""
    return [(clause, one(case, clause)) for clause in clauses(case.text)]
