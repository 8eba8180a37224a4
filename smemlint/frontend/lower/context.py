"""What the parts of lowering share while one translation unit is read."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Protocol

from clang import cindex

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.clang.names import Declarations, Definition
from smemlint.frontend.clang.positions import Positions
from smemlint.frontend.lower import interfaces
from smemlint.frontend.lower.scope import Scope
from smemlint.ir import Expr, Function, LaunchStmt, Place, Record, Var
from smemlint.records import record

DEPTH_LIMIT = 160
"""Nested expressions and statements; each costs two or three Python frames."""


HOST_LIMIT = 3000
"""Bytes of text beyond which a host function that launches nothing is not followed."""
NODE_LIMIT = 400_000
"""Expressions lowered for one file; nested dispatch macros can make millions of a page of text."""


class ParsedUnit(Protocol):
    """What lowering needs of a parsed file."""

    @property
    def tu(self) -> cindex.TranslationUnit: ...

    @property
    def instantiated(self) -> Callable[[], cindex.TranslationUnit | None]: ...

    @property
    def skipped(self) -> Mapping[str, Sequence[tuple[int, int]]]: ...

    def is_project_file(self, path: str | None) -> bool: ...


@record(slots=True)
class Found:
    """What was lowered so far, by name or id."""

    functions: dict[str, Function] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    globals: dict[str, Var] = field(default_factory=dict)
    launches: list[LaunchStmt] = field(default_factory=list)
    function_keys: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, bool] = field(default_factory=dict)
    """The files of kernels that were met, and whether these have bodies."""


@record(slots=True)
class WorkList:
    """The functions still to be lowered."""

    starting: set[int] = field(default_factory=set)
    """Keys of the functions, of any file, that mention what starts kernels."""
    queue: deque[Definition] = field(default_factory=deque)
    queued: set[int] = field(default_factory=set)
    mentioned: set[str] = field(default_factory=set)
    waiting: dict[str, list[Definition]] = field(default_factory=dict)
    """Methods that nothing has named yet."""
    matters: tuple[re.Pattern[bytes], ...] = ()
    """What the text of a function says that matters whoever calls it."""

    def require(self, definition: Definition) -> None:
        """Put a function on the list, once."""
        if definition.key not in self.queued:
            self.queued.add(definition.key)
            self.queue.append(definition)

    def mention(self, name: str) -> None:
        """Put the methods of this name on the list: they are called somewhere."""
        if name not in self.mentioned:
            self.mentioned.add(name)
            for definition in self.waiting.pop(name, ()):
                self.require(definition)


@record(slots=True)
class Declared:
    """What uses of declarations become."""

    variables: dict[int, Expr] = field(default_factory=dict)
    """By the declaration's address."""
    unnamed: dict[tuple[str, int], str] = field(default_factory=dict)
    """Ids of the variables that anonymous unions in functions declare, by where the union stands."""
    shared: set[int] = field(default_factory=set)
    """Addresses of shared variables' declarations."""
    shared_refs: set[tuple[str, int]] = field(default_factory=set)
    bound: dict[int, Place] = field(default_factory=dict)
    """Where structured bindings by reference are declared, by the address of each."""
    local_ids: dict[str, int] = field(default_factory=dict)

    def local_id(self, name: str, offset: int) -> str:
        """Return `name@offset`, made unique where a macro declares the same name twice."""
        base = f"{name or '_'}@{offset}"
        count = self.local_ids.get(base, 0)
        self.local_ids[base] = count + 1
        return base if count == 0 else f"{base}#{count}"


@record(slots=True)
class Context:
    """Shared state: indexes, results so far, and the functions still to be lowered."""

    tu: cindex.TranslationUnit
    positions: Positions
    declarations: Declarations
    own: frozenset[str] = frozenset()
    """Paths of the files that are looked at: other files' functions are lowered only when something calls
    them."""
    whole: frozenset[str] | None = None
    """Of a file that is read for what it launches: the files whose kernels have bodies; None: all."""
    found: Found = field(default_factory=Found)
    work: WorkList = field(default_factory=WorkList)
    declared: Declared = field(default_factory=Declared)
    scope: Scope = field(default_factory=Scope)
    depth: int = 0
    nodes: int = 0
    host: bool = False
    """Whether the function that is being lowered runs on the host only."""
    types: interfaces.Types = field(init=False)
    exprs: interfaces.Expressions = field(init=False)
    names: interfaces.Names = field(init=False)
    calls: interfaces.Calls = field(init=False)
    stmts: interfaces.Statements = field(init=False)
    decls: interfaces.Declarations = field(init=False)
    texts: interfaces.Texts = field(init=False)
    asm: interfaces.Assembly = field(init=False)

    def place(self, node: Node) -> Place | None:
        return self.positions.place(node)

    def has_body(self, definition: Definition) -> bool:
        """Whether the body of a kernel matters: others are not evaluated, and host code only names them."""
        path = definition.file.path
        answer = self.found.bodies[path] = self.is_whole(path)
        return answer

    def is_whole(self, path: str) -> bool:
        """Whether kernels of a file have bodies."""
        return self.whole is None or path in self.whole

    def require_call(self, definition: Definition) -> None:
        """Put a callee on the list: host code only where it may compute a launch, or lead to one."""
        text = definition.text()
        followed = not self.host or len(text) <= HOST_LIMIT or definition.key in self.work.starting
        if followed or b"<<<" in text or b"__global__" in text:
            self.work.require(definition)
            if definition.node.kind == kinds.FUNCTION_TEMPLATE:
                for special in self.declarations.functions_named.get(definition.name, ()):
                    if self.decls.is_specialisation(special):
                        self.work.require(special)

    def require_method(self, definition: Definition) -> None:
        """Put a method on the list once its name is seen; operators and constructors have none at a call."""
        name = definition.name
        own = definition.record is not None and cursors.spelling(definition.record)
        named = (
            definition.node.kind in (kinds.METHOD, kinds.FUNCTION_TEMPLATE) and name.split("<", 1)[0] != own
        )
        text = definition.text()
        if definition.file.path in self.own and any(p.search(text) for p in self.work.matters):
            self.work.require(definition)
        elif named and not name.startswith("operator") and name not in self.work.mentioned:
            self.work.waiting.setdefault(name, []).append(definition)
        else:
            self.work.require(definition)

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Lower something that stands elsewhere (a record, a global) under its own scope."""
        outer, depth = self.scope, self.depth
        self.scope = scope
        self.types.scope_changed()
        try:
            yield
        finally:
            self.scope, self.depth = outer, depth
            self.types.scope_changed()
