"""What is told of a fix: what to do, what it buys, why it is not safe or not written."""

from __future__ import annotations

from smemlint.fix.model import Suggestion


def advice(fix: Suggestion | None) -> tuple[str, ...]:
    """The lines, `fix [*]: ...` first; none without a fix."""
    if fix is None:
        return ()
    if fix.refused is not None and fix.refused.code == "no-better-layout":
        return (f"no fix: {fix.refused.text}",)
    gained = (f"gain: {text}",) if (text := gain(fix)) else ()
    if fix.edits is not None and fix.safe:
        return (f"fix [*]: {fix.words}", *gained)
    if fix.edits is not None:
        return (f"fix [unsafe]: {fix.words}; {fix.unsafe_because}", *gained)
    if fix.refused is not None:
        return (f"fix: {fix.words}", *gained, f"no edit: {fix.refused.text}")
    return (f"fix: {fix.words}", *gained)


def gain(fix: Suggestion) -> str:
    """What a layout does to the kernel as a whole, '' where none is known."""
    if fix.kernel is None or not fix.kernel[0]:
        return ""
    before, after = fix.kernel
    percent = round(100 * after / before) - 100
    text = f"{before} shared-memory wavefronts of the kernel a block become {after} ({percent:+d} %)"
    if fix.blocks_per_sm is not None:
        text += f"; resident blocks per SM {fix.blocks_per_sm[0]} -> {fix.blocks_per_sm[1]}"
    return text
