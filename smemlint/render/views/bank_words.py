"""What the pictures of banks say in words, the same in the terminal, in SVG and in HTML."""

from __future__ import annotations

from smemlint.render.summary import count
from smemlint.rules.words import lanes_text, ways_text
from smemlint.system.visible import visible, visible_path
from smemlint.view.bankmap import BankMap
from smemlint.view.site import SiteView
from smemlint.view.typed import PATH as TYPED


def heading(view: SiteView) -> str:
    """Where the access stands and what it is."""
    expression = visible(" ".join(view.expression.split()))
    return (
        expression
        if view.path == TYPED
        else f"{visible_path(view.path)}:{view.line}:{view.column}  {expression}"
    )


def facts(view: SiteView) -> list[str]:
    """Kernel and launch, array, totals: one line each."""
    block = ", ".join(map(str, view.launch.block))
    origin = f" from {view.launch.origin}" if view.launch.origin else ""
    kernel = "" if view.path == TYPED else f"{view.launch.kernel}, "
    lines = [visible(f"{kernel}block ({block}){origin}")]
    if view.array is not None:
        pitch = f", row pitch {view.array.pitch} B" if view.array.pitch else ""
        lines.append(visible(f"{view.array.declared}{pitch}"))
    what = f"{view.op}, {view.width} B a lane"
    if view.width != view.written:
        what += f" (joined by the compiler; {view.written} B as written)"
    lines.append(what)
    lines.append(totals(view))
    return lines


def totals(view: SiteView) -> str:
    """The numbers of the whole access, over one block."""
    if view.cost.wavefronts is None or view.cost.ways is None:
        return f"{view.grade}: {visible(view.reason)}"
    low = view.cost.wavefronts_low if view.cost.wavefronts_low is not None else view.cost.wavefronts
    waves = (
        f"{view.cost.wavefronts:,}" if low == view.cost.wavefronts else f"{low:,}..{view.cost.wavefronts:,}"
    )
    ideal = view.cost.ideal or 0
    ways = ways_text(view.cost.ways)
    if low != view.cost.wavefronts and ideal:
        ways = f"{ways_text(low / ideal)}..{ways}"
    noun = "wavefront" if waves == "1" else "wavefronts"
    return (
        f"one block: {count(view.cost.requests, 'request')}, {waves} {noun}, {ideal:,} at best: "
        f"{ways}-way ({view.grade})"
    )


def request(view: SiteView, bank_map: BankMap) -> str:
    """Which request is drawn and what it costs."""
    warp = f"warp {bank_map.warp}, " if bank_map.warp is not None else ""
    visit = f"iteration {bank_map.visit} of 0..{view.visits - 1}, " if view.visits > 1 else ""
    waves = len(bank_map.passes)
    told = f"{warp}{visit}{count(waves, 'wavefront')}, {bank_map.ideal} at best"
    if not bank_map.exact and bank_map.low == bank_map.high:
        told += f"; it costs {bank_map.high}"
    elif not bank_map.exact:
        told += f"; the cost lies between {bank_map.low} and {bank_map.high}"
    return told


def remarks(view: SiteView, bank_map: BankMap) -> list[str]:
    """What the map alone does not show."""
    lines = []
    if view.rotated:
        lines.append("all lanes' addresses share a part that is not known: banks count from there")
    if view.parameter:
        lines.append(f"drawn for a value of `{visible(view.parameter)}` that costs the most")
    if bank_map.op == "cp.async" and bank_map.high != len(bank_map.passes):
        lines.append(
            "what a copy costs depends on where it reads global memory, too; drawn are the banks alone"
        )
    if bank_map.maybe:
        lines.append(f"{lanes_text(bank_map.maybe)} may be off; drawn as active")
    if bank_map.inactive:
        lines.append(f"{lanes_text(bank_map.inactive)} inactive")
    if bank_map.shared_words:
        lines.append(broadcast(bank_map))
    if bank_map.weight > 1:
        lines.append(f"this request runs {bank_map.weight:,} times in a block")
    return lines


def broadcast(bank_map: BankMap) -> str:
    """Which lanes get one word together."""
    shared = bank_map.shared_words
    word, lanes = next(iter(shared.items()))
    if len(shared) == 1:
        return f"broadcast: word {word} goes to {lanes_text(lanes)} at once"
    return f"broadcast: {len(shared)} words go to several lanes at once, word {word} to {lanes_text(lanes)}"


def phase(bank_map: BankMap, at: int) -> str:
    """The lanes that a wavefront can serve, where a request runs in phases; '' where all lanes go at once."""
    each = bank_map.passes[at]
    everybody = [*range(len(bank_map.used))]
    members = [lane for first, last in each.phase for lane in range(first, last + 1)]
    told = "" if members == everybody else lanes_text(members)
    if bank_map.op in ("cas loop", "cas loop load"):
        told = f"round {each.round}" + (f", {told}" if told else "")
    return told
