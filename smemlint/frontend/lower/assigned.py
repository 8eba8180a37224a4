"""Which members of host objects are set by others than their constructors: what these give them is not all.

Read from the text, since a method that only sets a size starts no kernel and is not lowered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import Definition
from smemlint.frontend.lower.context import Context
from smemlint.ir import Declare, Function, LaunchStmt, PointerTo, Record, RecordRef, Var
from smemlint.ir.types import own_name
from smemlint.ir.walk import nodes_of
from smemlint.patterns import pattern
from smemlint.records import record
from smemlint.toolkit.reading import READING

_PART = rb"(?:\s*\.\s*\w+|\s*\[[^\]\n]*\])*"
_VALUE = pattern(rb"([^;{}\n]*);")
_CALL = pattern(rb"(\w+)\s*\(([^(){};]*)\)")
_CHANGES = rb"(?!(?:" + b"|".join(re.escape(n.encode()) for n in sorted(READING)) + rb")\b)\w+\s*\("
_AND_SET = tuple(bytes([x]) for x in b"-+*/%&|^<>")
MOST_NAMES = 4
"""Names that stand for one another."""
_SETS = rb"\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)"


def with_assigned(
    c: Context, functions: Mapping[str, Function], records: Mapping[str, Record]
) -> dict[str, Record]:
    """The records, each with its members that other functions than its constructors set, and the numbers that
    they set. Only of classes whose methods run on the host, and of what functions that launch are given."""
    started = {f.record for f in functions.values() if f.record is not None and f.side == "host"}
    given = {name for f in functions.values() if f.side == "host" for name in _classes_given(f)}
    given |= {v.type.name for v in c.found.globals.values() if isinstance(v.type, RecordRef)}
    given -= started
    result = dict(records)
    keys = _with_bases(started | given, records)
    naming = _Naming.of(c.declarations.functions.values() if keys else ())
    for key in keys:
        record = records.get(key)
        names = [f.name for f in record.fields if f.name] if record is not None else []
        if record is not None and names:
            assigned: dict[str, frozenset[int] | None] = {}
            for name, numbers in _assigned(c, record, names, naming):
                known = assigned.get(name, frozenset())
                assigned[name] = None if known is None or numbers is None else known | numbers
            if key in given:  # who sets `p->name` sets that of this class only where no other has the name
                own = own_name(record.name)
                others = (r.words() for r in c.declarations.records.values() if r.name != own)
                elsewhere = frozenset[str]().union(*others) if any(assigned.values()) else frozenset()
                listed = any(assigned.values()) and _is_listed(c, own)
                assigned = {n: None if listed or n in elsewhere else x for n, x in assigned.items()}
            result[record.name] = replace(record, assigned=assigned)
    return result


def with_set_apart(
    c: Context, functions: Mapping[str, Function], variables: Mapping[str, Var]
) -> dict[str, Var]:
    """The variables; numbers of the host are marked where functions set them that are not lowered."""
    settable = {id for id, v in variables.items() if v.may_be_set() or _is_object(v)}
    numbers = {variables[id].name.rsplit("::", 1)[-1].encode() for id in settable}
    if not numbers:
        return dict(variables)
    names = b"|".join(map(re.escape, numbers))
    set_in = re.compile(
        _setting(rb"(?<![\w.>])", names) + rb"|(?<![\w.>])(" + names + rb")\s*(?:\.|->)\s*" + _CHANGES
    )
    lowered = {f.name for f in functions.values()}
    others = [f for f in c.declarations.functions.values() if f.name.split("<", 1)[0] not in lowered]
    apart = {
        next(group for group in match.groups() if group is not None).decode()
        for f in others
        for match in set_in.finditer(f.text())
    }
    for r in c.declarations.records.values():  # a member of the same name is another number
        own = {cursors.spelling(k) for k in cursors.children(r.node)}
        found = (next(filter(None, match.groups())).decode() for match in set_in.finditer(r.text()))
        apart |= {name for name in found if name not in own}
    apart |= {
        name.decode() for f in c.declarations.functions.values() for name in _handed(c, f.text(), numbers)
    }
    return {
        id: replace(v, set_apart=True) if id in settable and v.name.rsplit("::", 1)[-1] in apart else v
        for id, v in variables.items()
    }


def _is_object(v: Var) -> bool:
    return isinstance(v.type, RecordRef) and not v.const and v.storage in ("global", "static")


def is_set(c: Context, name: str) -> bool:
    """Whether the text of a function sets something of a name."""
    sets = re.compile(_setting(rb"(?<!\w)", re.escape(name.encode())))
    return any(sets.search(f.text()) for f in c.declarations.functions.values())


def _handed(c: Context, text: bytes, numbers: Collection[bytes]) -> Iterator[bytes]:
    """Numbers that a function hands to another that may set them: `read(&file, threads)`."""
    if not any(n in text for n in numbers):
        return
    for call in _CALL.finditer(text):
        for i, given in enumerate(call[2].split(b",")):
            if given.strip() in numbers and any(
                _by_reference(f.node, i)
                for f in c.declarations.functions.values()
                if f.name == call[1].decode()
            ):
                yield given.strip()


def _by_reference(function: Node, at: int) -> bool:
    """Whether a parameter refers to what is given."""
    parameters = [k for k in cursors.children(function) if k.kind == kinds.PARAMETER]
    if at >= len(parameters):
        return False
    spelling = cursors.type_spelling(cursors.cursor_type(parameters[at]))
    return spelling.endswith("&") and not spelling.startswith("const ")


def _with_bases(names: Iterable[str | None], records: Mapping[str, Record]) -> set[str]:
    """Names of classes, with those of all their bases."""
    found: set[str] = set()
    waiting = [name for name in names if name is not None]
    while waiting:
        name = waiting.pop()
        if name in found or name not in records:
            continue
        found.add(name)
        waiting += [base.name for base in records[name].written_bases if isinstance(base, RecordRef)]
    return found


def _classes_given(f: Function) -> Iterator[str]:
    """The classes of what a function that launches is given, and of objects that outlive a call."""
    types = [p.type.to if isinstance(p.type, PointerTo) else p.type for p in f.parameters]
    named = [t.name for t in types if isinstance(t, RecordRef)]
    if named and any(isinstance(n, LaunchStmt) for n in nodes_of(f.body)):
        yield from named
    for n in nodes_of(f.body):
        if isinstance(n, Declare) and n.var.storage == "static" and isinstance(n.var.type, RecordRef):
            yield n.var.type.name


def _is_listed(c: Context, own: str) -> bool:
    """Whether a function makes an object of a class from a list: `Plan p = {64, 2};`."""
    made = re.compile(rb"\b" + re.escape(own.encode()) + rb"\b[^;(){}]*\{")
    return any(made.search(f.text()) for f in c.declarations.functions.values())


@record(frozen=True, slots=True, eq=False)
class _Naming:
    """Functions by what they are called without template arguments, and by the words that they may set, each
    list in the order of `functions`."""

    functions: list[Definition]
    called: dict[str, list[Definition]]
    setting: dict[bytes, list[int]]

    @staticmethod
    def of(functions: Iterable[Definition]) -> _Naming:
        """Read the functions."""
        naming = _Naming(list(functions), {}, {})
        for number, f in enumerate(naming.functions):
            naming.called.setdefault(f.name.split("<", 1)[0], []).append(f)
            for word in {word for found in _MAY_SET.findall(f.text()) for word in found}:
                naming.setting.setdefault(word, []).append(number)
        return naming

    def setting_one(self, names: Iterable[str]) -> Iterator[Definition]:
        """Give the functions that may set something of one of the names."""
        for number in sorted({number for name in names for number in self.setting.get(name.encode(), ())}):
            yield self.functions[number]


def _assigned(
    c: Context, record: Record, names: list[str], naming: _Naming
) -> Iterator[tuple[str, frozenset[int] | None]]:
    """Which members of a record are set where, and to which numbers."""
    own = own_name(record.name)
    any_of = b"|".join(re.escape(name.encode()) for name in names)
    inside = re.compile(_setting(rb"(?<![\w.>])(?:this\s*->\s*)?", any_of))
    outside = re.compile(_setting(rb"(?:\.|->)\s*", any_of))
    makers = [f for name in (own, f"~{own}") for f in naming.called.get(name, ())]
    making = {f.key for f in makers}
    made = b"\n".join(f.text() for f in makers)
    for f in naming.setting_one(names):
        text = f.text()
        if f.key in making or _is_part(f.name, text, made):
            continue
        of = f.record is not None and cursors.spelling(f.record).split("<", 1)[0] == own
        for match in (inside if of else outside).finditer(text):
            name = next(group for group in match.groups() if group is not None).decode()
            value = _VALUE.match(text, match.end()) if match.group().endswith(b"=") else None
            yield (
                name,
                _numbers(c, value[1].decode()) if value and match.group()[-2:-1] not in _AND_SET else None,
            )


def _numbers(c: Context, value: str) -> frozenset[int] | None:
    """The numbers that a value is, written out or by a name, one of two where a condition decides."""
    found = set[int]()
    for part in value.rpartition("?")[2].split(":") if "?" in value else (value,):
        n = _number(c, part.strip())
        if n is None:
            return None
        found.add(n)
    return frozenset(found)


def _number(c: Context, word: str, depth: int = 0) -> int | None:
    if word.isascii() and word.isdigit():
        return int(word)
    if not word.isidentifier() or depth > MOST_NAMES:
        return None
    constant = c.declarations.variables_named.get(word)
    if constant is not None:
        n = cursors.evaluate(constant)
        return n if isinstance(n, int) else None
    macro = c.positions.macros().get(word)
    return None if macro is None or macro.parameters else _number(c, macro.body.strip(" ()"), depth + 1)


def _is_part(name: str, text: bytes, made: bytes) -> bool:
    """Whether a function takes nothing and a constructor calls it: what it sets, it has set then."""
    own = re.escape(name.encode())
    taken = re.search(rb"\b" + own + rb"\s*\(([^()]*)\)", text)
    nothing = taken is not None and taken[1].strip() in (b"", b"void")
    return nothing and re.search(rb"(?<![\w.>])" + own + rb"\s*\(\s*\)", made) is not None


def _setting(before: bytes, names: bytes) -> bytes:
    """A pattern of a member that is set, stepped, or whose address is handed on."""
    member = before + rb"(" + names + rb")\b"
    return member + _PART + _SETS + rb"|(?:\+\+|--|[(,=]\s*&\s*|>>\s*)(?:this\s*->\s*)?(" + names + rb")\b"


_MAY_SET = pattern(rb"(?=" + _setting(rb"(?<!\w)", rb"\w+") + rb")")
"""Wherever a word begins that may be set, or what its address is handed on by."""
