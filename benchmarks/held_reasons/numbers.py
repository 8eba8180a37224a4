"""Claims about numbers, held against layouts that are enumerated (by_force)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from held_reasons import by_force as force
from held_reasons.case import UNCHECKED, WORTH, Case

CLEARLY = 0.9
"""What all accesses together must come to where one of them gets worse."""
INTEGER_WORK = 2
"""Wavefronts a request that computing an index anew costs at most."""


def whole(case: Case) -> int:
    """Wavefronts of the kernels, a loop of unknown length as so many iterations."""
    result = 0.0
    for a in case.analyses:
        known = sum(
            value * float(force.LONG) ** depth
            for c in a.conflicts
            for depth, load in enumerate(c.loads)
            for value in (load.wavefronts,)
        )
        result += known
    return round(result)


def before(case: Case) -> int | None:
    if case.requests is None:
        return None
    sums = [[each.cost(lambda at: at, each.unknown) for each in of] for of in case.requests]
    if any(n is None for of in sums for n in of):
        return None
    return sum(n or 0 for of in sums for n in of)


def losses(case: Case, after: Sequence[Sequence[int]]) -> dict[int, tuple[int, int]]:
    """By line: what accesses that get worse cost before and after."""
    found: dict[int, tuple[int, int]] = {}
    for of, costs in zip(case.requests or (), after, strict=True):
        for each, new in zip(of, costs, strict=True):
            old = each.cost(lambda at: at, each.unknown) or 0
            if new > old:
                a, b = found.get(each.line, (0, 0))
                found[each.line] = (a + old, b + new)
    return found


def layouts(case: Case, said: str, pitch: bool, trimmed: bool = False) -> Iterator[list[list[int]]]:
    """What the named layout makes of each access; several where the text leaves open which rows are meant, or
    which elements are counted. trimmed: of rows whose padding, up to a power of two, is taken back first."""
    joined = case.requests or []
    variants = [joined]
    if any(each.width != each.conflict.site.width for of in joined for each in of):
        variants.append([force.taken_apart(of) for of in joined])
    if all(array.dynamic for array in case.arrays):  # of a part
        variants += [[force.from_start(of) for of in each] for each in list(variants)]
    for requests in variants:
        yield from with_requests(case, requests, said, pitch, trimmed)


def with_requests(
    case: Case, requests: Sequence[Sequence[force.Requests]], said: str, pitch: bool, trimmed: bool
) -> Iterator[list[list[int]]]:
    """The same for requests as they run."""
    if force.formula(said, (1 << 30,), 4) is not None and not re.fullmatch(r"[\d\s]+", said):
        for element in dict.fromkeys((case.fix.array.element, *(c.site.width for c in case.sites))):
            result = [
                by_formula(said, d, element, of, trimmed)
                for d, of in zip(case.counted(element), requests, strict=True)
            ]
            known = [costs for costs in result if costs is not None]
            if len(known) == len(result):
                yield known
        return
    for widths in rows_said(case, said, pitch):
        result = [force.padded(of, row, extra) for (row, extra), of in zip(widths, requests, strict=True)]
        known = [costs for costs in result if costs is not None]
        if len(known) == len(result):
            yield known


def by_formula(
    said: str, dims: Sequence[int], element: int, of: Sequence[force.Requests], trimmed: bool
) -> list[int] | None:
    """Wavefronts of the accesses of one instance where each index goes through a formula."""
    if not trimmed:
        moved = force.formula(said, dims, element)
        return None if moved is None else force.total(of, moved, force.period(said, dims, element))
    narrow = 1 << (dims[-1].bit_length() - 1)
    inner = force.formula(said, (*dims[:-1], narrow), element)
    if inner is None:
        return None
    row, less = dims[-1] * element, (dims[-1] - narrow) * element
    result = []
    for each in of:  # a part that is a number of rows shrinks with them
        left = each.unknown // row * (row - less)
        if each.unknown % row or left % force.period(said, (*dims[:-1], narrow), element):
            return None
        cost = each.cost(lambda at: inner(at - at // row * less), left)
        if cost is None:
            return None
        result.append(cost)
    return result


def rows_said(case: Case, said: str, pitch: bool) -> Iterator[list[tuple[int, int]]]:
    """(bytes of a row, bytes more) in each instance, as `tile[32][33]` or a row pitch of `BK + 4` say it."""
    element = case.fix.array.element
    if pitch:
        tail = re.search(r"\+ (\d+)$", said)
        for extra in [int(tail[1])] if tail else range(1, 33):
            widths = []
            for a in case.analyses:
                new = force.value(said, case.constants(a))
                if new is None:
                    widths = []
                    break
                widths.append(((new - extra) * element, extra * element))
            if widths and all(row > 0 for row, _ in widths):
                yield widths
        return
    brackets = re.findall(r"\[([^\[\]]*)\]", said)
    new_dims = [[force.value(b, case.constants(a)) for b in brackets] for a in case.analyses]
    widths = []
    for old, new in zip(case.dims, new_dims, strict=True):
        if len(new) != len(old) or None in new:
            tail = re.search(r"\+ (\d+)\]$", said)
            new = [*old[:-1], old[-1] + int(tail[1])] if tail else list(old)
        grown = [i for i, (o, n) in enumerate(zip(old, new, strict=True)) if n is not None and n != o and i]
        if len(grown) != 1:
            return
        inner = element
        for n in old[grown[0] + 1 :]:
            inner *= n
        widths.append((old[grown[0]] * inner, (new[grown[0]] - old[grown[0]]) * inner))
    yield widths


def named_layout(case: Case, m: re.Match[str], old: int | None, new: int) -> str:
    """Whether the layout that is named costs what is said, and the lines that get worse are these."""
    if case.requests is None:
        return UNCHECKED + "not all places are known"
    now = before(case)
    if now is None:
        return UNCHECKED + "a part of an address is not known"
    if old is not None and now != old:
        return f"the accesses take {now} wavefronts, not {old}"
    target = now if new < 0 else new
    told = {
        int(n): (int(a), int(b))
        for n, a, b in re.findall(r"line (\d+) from (\d+) to (\d+)", m["losses"] or "")
    }
    seen = []
    for after in layouts(case, m["layout"], m["pitch"] is not None, m["trimmed"] is not None):
        sums = sum(map(sum, after))
        worse = losses(case, after)
        if sums == target and all(worse.get(n) == pair for n, pair in told.items()):
            return "" if told or not worse or new < 0 else f"lines {worse} get worse and are not named"
        seen.append((sums, {n: worse.get(n) for n in told}))
    return f"`{m['layout']}` makes {now} {seen[:3]}, not {target} {told}" if seen else UNCHECKED + "not read"


def better(case: Case, than: int, work: bool) -> str:
    """A layout of those enumerated that would have paid, '' where there is none. work: with the integer work
    of a swizzle at its dearest."""
    requests = case.requests
    if requests is None or sum(len(each.offsets) for of in requests for each in of) > force.MOST_ROWS:
        return UNCHECKED + "too many requests to enumerate layouts"
    now, kernels = before(case), whole(case)
    if now is None:
        return UNCHECKED + "a part of an address is not known"
    element, dims = case.fix.array.element, case.dims
    share = max(kernels, now)
    if all(len(d) > 1 for d in dims) and not all(a.dynamic for a in case.arrays):
        for extra in range(element, force.CYCLE + 1, element):
            found = [
                dict(force.pitches(of, d[-1] * element, element)).get(extra)
                for d, of in zip(dims, requests, strict=True)
            ]
            known = [each for each in found if each is not None]
            if len(known) < len(found):
                continue
            sums = sum(map(sum, known))
            paid = sums <= now - max(WORTH * share, 1) and (not losses(case, known) or sums <= CLEARLY * now)
            if paid and sums < than:
                return f"rows longer by {extra} B make {now} wavefronts {sums}"
    if any(None in a.dims and not a.dynamic for a in case.arrays):
        return ""
    count = sum(int(each.runs.sum()) // each.conflict.trace.ways for of in requests for each in of)
    for text in force.swizzles([each for of in requests for each in of], dims[0], element):
        after = list(layouts(case, text, False))
        if not after:
            continue
        sums = sum(map(sum, after[0]))
        cost = sums + (INTEGER_WORK * count if work else 0)
        paid = cost <= now - max(WORTH * share, 1) and (not losses(case, after[0]) or sums <= CLEARLY * now)
        if paid and sums < than:
            return f"`{text}` makes {now} wavefronts {sums}"
    return ""


def best_of(case: Case, m: re.Match[str]) -> str:
    """`the best of 40 other layouts, X, costs as much` or `makes A wavefronts B`."""
    old, new = (int(m["old"]), int(m["new"])) if m["old"] else (None, -1)
    wrong = named_layout(case, m, old, new)
    if wrong and not wrong.startswith(UNCHECKED):
        return wrong
    return better(case, before(case) or 0, True) or wrong


def cheap(case: Case, m: re.Match[str]) -> str:
    """`X saves S of the kernel's K wavefronts and costs index arithmetic worth about W and ...`."""
    now = before(case)
    if now is None:
        return UNCHECKED + "a part of an address is not known"
    wrong = named_layout(case, m, None, now - int(m["saved"]))
    if wrong.startswith("lines "):
        wrong = ""
    if wrong and not wrong.startswith(UNCHECKED):
        return wrong
    if m["kernel"] and abs(whole(case) - int(m["kernel"])) > 1:
        return f"the kernel takes {whole(case)} wavefronts, not {m['kernel']}"
    share = max(whole(case), now)
    pays = int(m["saved"]) - int(m["work"] or 0) >= WORTH * share
    if pays and not (m["blocks"] or m["rest"] or m["losses"]):
        return f"it saves {m['saved']} of {share} and costs nothing else"
    return wrong or ("" if m["blocks"] or m["rest"] else better(case, now - int(m["saved"]), True))


def no_room(case: Case, m: re.Match[str]) -> str:
    wrong = named_layout(case, m, int(m["old"]), int(m["new"]))
    if wrong.startswith("lines "):
        wrong = ""
    if wrong and not wrong.startswith(UNCHECKED):
        return wrong
    most = 227 * 1024 if int(m["has"]) > 48 * 1024 else 48 * 1024
    if int(m["more"]) + int(m["has"]) <= most:
        return f"{m['more']} B and {m['has']} B fit"
    return wrong


def small(case: Case, m: re.Match[str]) -> str:
    now, kernels = before(case), whole(case)
    if now is None:
        return UNCHECKED + "a part of an address is not known"
    ideal = sum(each.ideal() for of in case.requests or () for each in of)
    if now - ideal != int(m["wasted"]):
        return f"{now - ideal} wavefronts are wasted, not {m['wasted']}"
    limit = max(kernels, now)
    if int(m["wasted"]) >= WORTH * limit:
        return f"{m['wasted']} are {int(m['wasted']) / limit:.1%} of {limit}"
    return better(case, now, False)


def none_better(case: Case, m: re.Match[str]) -> str:
    return better(case, before(case) or 0, True)


def nothing_fits(case: Case, m: re.Match[str]) -> str:
    """Of all enumerated layouts none may be weighed: a padding has no room, a swizzle no power of two."""
    requests = case.requests
    if requests is None:
        return UNCHECKED + "not all places are known"
    every = [each for of in requests for each in of]
    found = list(force.swizzles(every, case.dims[0], case.fix.array.element))
    return f"`{found[0]}` fits" if found and not any(each.unknown for each in every) else ""


def fixed_size(case: Case, m: re.Match[str]) -> str:
    return nothing_fits(case, m) or ("" if all(a.dynamic for a in case.arrays) else "the array has extents")


def each_width(case: Case, m: re.Match[str]) -> str:
    """No padding lowers the wavefronts of every instance that has conflicts, whichever width is its own."""
    if case.requests is None:
        return UNCHECKED + "not all places are known"
    element = case.fix.array.element
    rows = [int(n) * element for n in re.findall(r"\d+", m["widths"])]
    costs = [sum(x.cost(lambda at: at, x.unknown) or 0 for x in of) for of in case.requests]
    ideal = [sum(x.ideal() for x in of) for of in case.requests]
    open_ = [n for n, (cost, least) in enumerate(zip(costs, ideal, strict=True)) if cost > least]

    def helps(n: int, extra: int) -> bool:
        found = (force.padded(case.requests[n], row, extra) for row in rows) if case.requests else ()
        return any(each is not None and sum(each) < costs[n] for each in found)

    for extra in range(element, force.CYCLE + 1, element):
        if all(helps(n, extra) for n in open_):
            return UNCHECKED + f"rows longer by {extra} B may help at each width"
    return ""


def counted(case: Case, m: re.Match[str]) -> str:
    return UNCHECKED + "work is counted where it is done"


def apart(case: Case, m: re.Match[str]) -> str:
    joined = {each.width for of in case.requests or () for each in of if each.conflict.trace.joined}
    if case.requests is not None and int(m["width"]) not in {8, 16, *joined}:
        return f"joined accesses are {joined} bytes wide"
    return ""
