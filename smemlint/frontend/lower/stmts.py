"""Statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from smemlint.frontend.clang import cursors, kinds
from smemlint.frontend.clang.cursors import Node
from smemlint.frontend.lower.context import DEPTH_LIMIT, Context
from smemlint.frontend.lower.expressions.builtin_operators import read_from_stream
from smemlint.frontend.lower.gotos import structured
from smemlint.frontend.lower.ranges import range_loop
from smemlint.ir import (
    Assign,
    Block,
    Break,
    Call,
    Case,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Goto,
    If,
    Labeled,
    Literal,
    Loop,
    Member,
    Name,
    OpaqueType,
    Return,
    Stmt,
    Switch,
    Try,
    Unary,
    UnknownExpr,
    UnknownStmt,
    Var,
)
from smemlint.ir.uses import last_statement
from smemlint.ir.walk import walk
from smemlint.patterns import pattern
from smemlint.source.blank import blank_literals

_LABEL_WITHIN = "a label of a switch within another statement"
_WAYS_OUT = (Break, Continue, Return, Goto)
_LABELS = 256
"""Values of a range of cases (`case 1 ... 4`) that are cases of their own; longer ones are unknown."""
_LOOPS = (kinds.WHILE, kinds.DO, kinds.FOR, kinds.RANGE_FOR)
_MARK = pattern(rb"[()\[\]{};]")
_UNROLL = pattern(r"unroll\b\s*(\(?\s*[\w+*/-]+\s*\)?)?")
_PRAGMA = pattern(r"#\s*pragma[^\n]*|_Pragma\s*\(\s*\"[^\"]*\"\s*\)|\[\[[^\]]*\]\]")


class StatementLowering:
    """One method per kind of statement; `lower` is the entry."""

    def __init__(self, context: Context) -> None:
        self._c = context
        self._handlers: dict[int, Callable[[Node], Stmt]] = {
            kinds.UNEXPOSED_STMT: self._attributed,
            kinds.LABEL: self._label,
            kinds.COMPOUND: self._compound,
            kinds.IF: self._if,
            kinds.SWITCH: self._switch,
            kinds.WHILE: self._while,
            kinds.DO: self._do,
            kinds.FOR: self._for,
            kinds.GOTO: self._goto,
            kinds.INDIRECT_GOTO: self._goto,
            kinds.CONTINUE: lambda _node: Continue(),
            kinds.BREAK: lambda _node: Break(),
            kinds.RETURN: self._return,
            kinds.ASM: self._asm,
            kinds.TRY: self._try,
            kinds.RANGE_FOR: self._range_for,
            kinds.NULL: lambda _node: Block(()),
            kinds.DECL_STMT: self._declarations,
        }

    def lower(self, node: Node) -> Stmt:
        """Any statement; never raises, what is not understood becomes UnknownStmt with its parts."""
        c = self._c
        c.positions.at(node)
        if kinds.is_expression(node.kind):
            return self.expression(node)
        if c.depth > DEPTH_LIMIT:
            return UnknownStmt("nested too deeply", (), c.place(node))
        handler = self._handlers.get(node.kind)
        if handler is None:
            parts = self.statements([k for k in cursors.children(node) if 100 <= k.kind < 300])
            reason = (
                _LABEL_WITHIN
                if node.kind in (kinds.CASE, kinds.DEFAULT)
                else f"statement of kind {node.kind}"
            )
            return UnknownStmt(reason, tuple(parts), c.place(node))
        c.depth += 1
        try:
            return handler(node)
        finally:
            c.depth -= 1

    def statements(self, nodes: Iterable[Node]) -> list[Stmt]:
        """A sequence, declarations taken apart and blocks of launches laid flat."""
        result: list[Stmt] = []
        for node in nodes:
            if node.kind == kinds.DECL_STMT:
                self._c.positions.at(node)
                result.extend(self._declared(node))
            elif node.kind != kinds.NULL:
                result.append(self.lower(node))
        return result

    @staticmethod
    def block(body: list[Stmt]) -> Stmt:
        return body[0] if len(body) == 1 else Block(tuple(body))

    def with_launches(self, stmt: Stmt) -> Stmt:
        """Launches found inside an expression stand before the statement it belongs to."""
        launches = self._c.found.launches
        if not launches:
            return stmt
        self._c.found.launches = []
        if isinstance(stmt, Evaluate) and isinstance(stmt.expr, Literal):
            return self.block(list(launches))
        return Block((*launches, stmt))

    def expression(self, node: Node) -> Stmt:
        found = read_from_stream(self._c.exprs.lower(node))
        return self.with_launches(self._tied(found, node) or Evaluate(found))

    def _tied(self, e: Expr, node: Node) -> Stmt | None:
        """`std::tie(a, b) = x;`: a variable without a name, and an assignment of each of its elements."""
        target: Expr | None = None
        if isinstance(e, Assign) and e.op == "=":
            target, value = e.target, e.value
        elif isinstance(e, Call) and isinstance(e.callee, Member) and e.callee.name == "operator=":
            target, value = e.callee.base, e.arguments[0]
        if not isinstance(target, Call) or not isinstance(target.callee, Name):
            return None
        place = self._c.place(node)
        if target.callee.name not in ("std::tie", "tie") or place is None:
            return None
        name = "(tied)"
        whole = Name(self._c.declared.local_id(name, place.offset), name, place)
        made: list[Stmt] = [Declare(Var(whole.id, name, OpaqueType("auto"), "local", place, value))]
        for i, one in enumerate(target.arguments):
            if not isinstance(one, Name) or one.name.rpartition("::")[2] != "ignore":
                made.append(Evaluate(Assign("=", one, Member(whole, f"#{i}", place=place), place)))
        return Block(tuple(made), scope=True)

    def _compound(self, node: Node) -> Stmt:
        scope = self._c.scope
        names, types = dict(scope.locals), dict(scope.types)
        try:
            return Block(structured(self.statements(cursors.children(node))), scope=True)
        finally:
            scope.locals, scope.types = names, types

    def _declarations(self, node: Node) -> Stmt:
        return self.block(self._declared(node))

    def _declared(self, node: Node) -> list[Stmt]:
        result: list[Stmt] = []
        for kid in cursors.children(node):
            if kid.kind == kinds.VARIABLE:
                result.extend(self._c.decls.local(kid))
            elif kid.kind in kinds.TYPEDEFS:
                self._c.decls.local_type(kid)
            elif kid.kind == kinds.ENUM:
                result.extend(self._c.decls.local_enum(kid))
            elif kid.kind == kinds.UNEXPOSED_DECL:
                result.extend(self._c.decls.structured(kid))
            elif kid.kind in kinds.RECORDS:
                self._c.decls.enter_local(kid)
                if cursors.is_anonymous_record(kid):
                    result.extend(self._c.decls.anonymous(kid, node))
        return result

    def _attributed(self, node: Node) -> Stmt:
        """`#pragma unroll` and `[[...]]` before a statement."""
        kids = [k for k in cursors.children(node) if k.kind >= 100 and not 400 <= k.kind < 500]
        if not kids:
            return Block(())
        stmt = self.lower(kids[-1])
        if isinstance(stmt, Loop) and kids[-1].kind in _LOOPS:
            unroll = self._unroll(node, kids[-1])
            if unroll is not None:
                return replace(stmt, unroll=unroll)
        return stmt

    def _unroll(self, node: Node, loop: Node) -> int | None:
        found = self._c.positions.between(node, loop)
        if found is None:
            return None
        file, start, end = found
        text = file.slice(start, max(end, start))
        if not _PRAGMA.search(text):
            text = file.slice(file.data.rfind(b"\n", 0, start) + 1, max(end, start))
        if "nounroll" in text:
            return 1
        word = re.match(r"\s*([A-Za-z_]\w*)", text)
        if "unroll" not in text and word:
            macro = self._c.positions.macro(word.group(1))
            text = macro.body if macro else text
        asked = _UNROLL.search(text)
        if not asked:
            return None
        count = (asked.group(1) or "").strip("() \t")
        if not count:
            return 0
        value = self._c.texts.read_expression(count)
        return value.value if isinstance(value, Literal) else 0

    # Branches

    def _if(self, node: Node) -> Stmt:
        c = self._c
        kids = cursors.children(node)
        before, kids = self._declared_first(kids)
        if len(kids) < 2:
            parts = self.statements(kids)
            return UnknownStmt("if without a branch", tuple(before + parts), c.place(node))
        condition = c.exprs.lower(kids[0])
        launches, c.found.launches = c.found.launches, []
        then = self.lower(kids[1])
        otherwise = self.lower(kids[2]) if len(kids) > 2 else None
        stmt = If(condition, then, otherwise, self._is_constexpr(node), c.place(node))
        body = [*before, *launches, stmt]
        return Block(tuple(body), scope=True) if before else self.block(body)

    def _declared_first(self, kids: list[Node]) -> tuple[list[Stmt], list[Node]]:
        """What `if (int x = f(); x)` declares, and the rest."""
        before: list[Stmt] = []
        while len(kids) > 2 and kids[0].kind in (kinds.DECL_STMT, kinds.VARIABLE):
            local = self._declared if kids[0].kind == kinds.DECL_STMT else self._c.decls.local
            before, kids = [*before, *local(kids[0])], kids[1:]
        return before, kids

    def _is_constexpr(self, node: Node) -> bool:
        start = self._c.positions.start(node)
        if start is None:
            return False
        text = start[0].slice(start[1], start[1] + 40)
        if not text.startswith("if"):
            text = (self._c.positions.body_text(node) or "")[:40]
        return bool(re.match(r"if\s+constexpr\b", text))

    def _switch(self, node: Node) -> Stmt:
        c = self._c
        kids = cursors.children(node)
        before, kids = self._declared_first(kids)
        if len(kids) == 2 and not before:
            before = self._initialised(node, kids)
        if len(kids) != 2:
            return UnknownStmt("switch", tuple(before + self.statements(kids)), c.place(node))
        value = c.exprs.lower(kids[0])
        body = cursors.children(kids[1]) if kids[1].kind == kinds.COMPOUND else [kids[1]]
        cases: list[tuple[Expr | None, list[Stmt]]] = []
        leading: list[Stmt] = []
        for item in body:
            while item.kind in (kinds.CASE, kinds.DEFAULT):
                inner = cursors.children(item)
                cases.extend((label, []) for label in self._labels(item, inner))
                if not inner:
                    break
                item = inner[-1]
            if item.kind in (kinds.CASE, kinds.DEFAULT, kinds.NULL):
                continue
            found = self.statements([item])
            if self._lost_its_label(cases, found):
                cases.append((UnknownExpr("a label that clang dropped", (), c.place(item)), []))
            (cases[-1][1] if cases else leading).extend(found)
        result = tuple(Case(label, tuple(stmts)) for label, stmts in cases)
        declared = [s for s in leading if isinstance(s, Declare)]
        made: Stmt = Switch(value, result, c.place(node))
        if any(isinstance(n, UnknownStmt) and n.reason == _LABEL_WITHIN for n in walk(result)):
            made = UnknownStmt("labels of a switch within its statements", (made,), c.place(node))
        all_parts = [*before, *declared, made]
        return Block(tuple(all_parts), scope=True) if before else self.block(all_parts)

    def _labels(self, item: Node, inner: list[Node]) -> Sequence[Expr | None]:
        """What leads to a case: one value, each of `case 1 ... 4`, or None for what no other case takes."""
        if item.kind == kinds.DEFAULT or not inner:
            return (None,)
        labels = self._c.exprs.lower_all(inner[:-1])
        if len(labels) < 2:
            return labels or self._c.exprs.lower_all(inner)
        first, last = labels[:2]
        if isinstance(first, Literal) and isinstance(last, Literal) and last.value - first.value < _LABELS:
            return [replace(first, value=v) for v in range(first.value, last.value + 1)]
        return (UnknownExpr("range of cases", labels, self._c.place(item)),)

    @staticmethod
    def _lost_its_label(cases: list[tuple[Expr | None, list[Stmt]]], found: list[Stmt]) -> bool:
        """Whether statements of a switch could never run: clang drops labels that it cannot convert."""
        if all(isinstance(s, (*_WAYS_OUT, Declare)) for s in found):
            return False
        last = cases[-1][1][-1] if cases and cases[-1][1] else None
        return not cases or isinstance(last_statement(last), _WAYS_OUT)

    def _initialised(self, node: Node, kids: list[Node]) -> list[Stmt]:
        """`switch (int x = f(); x)`: what is declared there, found by its uses: clang does not show it."""
        c = self._c
        head = c.positions.between(node, kids[0])
        if head is None or b";" not in head[0].data[head[1] : head[2]]:
            return []
        file, start, end = head
        found: dict[int, Node] = {}
        waiting = [*kids]
        while waiting:
            use = waiting.pop()
            waiting.extend(cursors.children(use))
            target = cursors.referenced(use) if use.kind == kinds.DECL_REF else use
            at = c.positions.start(target) if target.kind == kinds.VARIABLE else None
            if at is not None and at[0] is file and start < at[1] < end:
                found.setdefault(at[1], target)
        return [s for at in sorted(found) for s in c.decls.local(found[at])]

    # Loops

    def _for(self, node: Node) -> Stmt:
        c = self._c
        kids = cursors.children(node)
        if not kids:
            return UnknownStmt("for", (), c.place(node))
        first, asked, last = self._for_parts(node, kids[:-1])
        init = self.lower(first) if first is not None else None
        declares = asked is not None and asked.kind == kinds.VARIABLE
        condition = c.exprs.lower(asked) if asked is not None and not declares else None
        step = c.exprs.lower(last) if last is not None else None
        body = self._declaring(asked, kids[-1]) if asked is not None and declares else self.lower(kids[-1])
        return Loop(init, condition, step, body, True, None, c.place(node))

    def _for_parts(self, node: Node, kids: list[Node]) -> tuple[Node | None, Node | None, Node | None]:
        """Which of init, condition and step are there: clang leaves out what is missing."""
        if len(kids) == 3:
            return kids[0], kids[1], kids[2]
        start = self._c.positions.start(node)
        found: list[Node | None] = [None, None, None]
        cuts = _semicolons(start[0].data, start[1]) if start is not None else None
        for kid in kids:
            at = self._c.positions.start(kid)
            if cuts is not None and start is not None and at is not None and at[0] is start[0]:
                slot = 0 if at[1] < cuts[0] else 1 if at[1] < cuts[1] else 2
            else:
                slot = _likely_slot(kid)
            if found[slot] is not None:
                slot = next((i for i in (0, 1, 2) if found[i] is None), slot)
            found[slot] = kid
        return found[0], found[1], found[2]

    def _while(self, node: Node) -> Stmt:
        c = self._c
        kids = cursors.children(node)
        if len(kids) < 2:
            return UnknownStmt("while", tuple(self.statements(kids)), c.place(node))
        declares = kids[0].kind == kinds.VARIABLE
        condition = None if declares else c.exprs.lower(kids[0])
        body = self._declaring(kids[0], kids[-1]) if declares else self.lower(kids[-1])
        return Loop(None, condition, None, body, True, None, c.place(node))

    def _declaring(self, variable: Node, body: Node) -> Stmt:
        """The body of a loop whose condition declares a variable, which each iteration does anew."""
        c = self._c
        declared = c.decls.local(variable)
        leave = If(Unary("!", c.names.use(variable)), Break(), None, place=c.place(variable))
        return Block((*declared, leave, self.lower(body)), scope=True)

    def _do(self, node: Node) -> Stmt:
        c = self._c
        kids = cursors.children(node)
        if len(kids) != 2:
            return UnknownStmt("do", tuple(self.statements(kids)), c.place(node))
        body = self.lower(kids[0])
        condition = c.exprs.lower(kids[1])
        if isinstance(condition, Literal) and condition.value == 0 and not _leaves(body):
            return body
        return Loop(None, condition, None, body, False, None, c.place(node))

    def _range_for(self, node: Node) -> Stmt:
        parts: list[Stmt] = []
        ranges: list[Node] = []
        place = self._c.place(node)
        for kid in cursors.children(node):
            if kid.kind == kinds.VARIABLE:
                parts.extend(self._c.decls.local(kid))
            elif kid.kind == kinds.UNEXPOSED_DECL:
                parts.extend(self._c.decls.structured(kid))
            elif kinds.is_expression(kid.kind) or kid.kind >= 200:
                ranges.append(kid)
        if len(ranges) == 2 and place is not None:
            found = range_loop(self._c, ranges[0], parts, self.lower(ranges[1]), place)
            if found is not None:
                return found
        return UnknownStmt("range-based for", (*parts, *map(self.lower, ranges)), place)

    # The rest

    def _return(self, node: Node) -> Stmt:
        kids = cursors.children(node)
        return self.with_launches(Return(self._c.exprs.lower(kids[0]) if kids else None))

    def _label(self, node: Node) -> Stmt:
        parts = self.statements(k for k in cursors.children(node) if k.kind >= 100)
        return Labeled(cursors.spelling(node), self.block(parts), place=self._c.place(node))

    def _goto(self, node: Node) -> Stmt:
        labels = [k for k in cursors.children(node) if k.kind == kinds.LABEL_REF]
        if not labels:  # `goto *p`
            return UnknownStmt("goto", (), self._c.place(node))
        return Goto(cursors.spelling(labels[0]), place=self._c.place(node))

    def _asm(self, node: Node) -> Stmt:
        return Evaluate(self._c.asm.lower(node))

    def _try(self, node: Node) -> Stmt:
        """What is tried, and behind it each handler on a condition that nobody knows."""
        kids = cursors.children(node)
        handlers = [k for k in kids if k.kind == kinds.CATCH]
        caught: Stmt | None = None
        for handler in reversed(handlers):
            threw = UnknownExpr("exception", (), self._c.place(handler))
            caught = If(threw, self._handler(handler), caught, place=self._c.place(handler))
        tried = self.block(self.statements(k for k in kids if k.kind == kinds.COMPOUND))
        return tried if caught is None else Try((tried, caught))

    def _handler(self, node: Node) -> Stmt:
        kids = cursors.children(node)
        exception = [_caught(s) for k in kids if k.kind == kinds.VARIABLE for s in self._c.decls.local(k)]
        body = self.statements(k for k in kids if k.kind == kinds.COMPOUND)
        return Block((*exception, *body), scope=True)


def _caught(s: Stmt) -> Stmt:
    """The variable of a handler, which has what was thrown."""
    if not isinstance(s, Declare):
        return s
    return replace(s, var=replace(s.var, init=UnknownExpr("caught", (), s.var.place)))


def _semicolons(data: bytes, at: int) -> tuple[int, int] | None:
    """Offsets of the two semicolons of a `for` head that begins at an offset; None when it is none."""
    found: list[int] = []
    depth = 0
    for mark in _MARK.finditer(blank_literals(data[at : at + 20_000])) if data[at : at + 3] == b"for" else ():
        depth += (mark.group() in b"([{") - (mark.group() in b")]}")
        if depth == 0:
            return None
        if depth == 1 and mark.group() == b";":
            found.append(at + mark.start())
            if len(found) == 2:
                return found[0], found[1]
    return None


def _likely_slot(kid: Node) -> int:
    """Init, condition or step by the look of it, for loops written in macros."""
    if kid.kind == kinds.DECL_STMT:
        return 0
    return 2 if kid.kind in (kinds.UNARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT) else 1


def _leaves(stmt: Stmt) -> bool:
    """Whether a `break` or `continue` belongs to the loop around the statement."""
    if isinstance(stmt, (Break, Continue)):
        return True
    if isinstance(stmt, Block):
        return any(_leaves(s) for s in stmt.body)
    if isinstance(stmt, Labeled):
        return _leaves(stmt.body)
    if isinstance(stmt, If):
        return _leaves(stmt.then) or (stmt.otherwise is not None and _leaves(stmt.otherwise))
    if isinstance(stmt, Switch):
        return any(isinstance(s, Continue) or _leaves(s) for c in stmt.cases for s in c.body)
    return isinstance(stmt, UnknownStmt)
