"""One thread of a kernel, statement by statement.

Everything that may touch shared memory is a generator: it yields an Access (or a Barrier) and goes on when
the scheduler has let all lanes that take part arrive. `path` says where in the run a thread is: positions in
blocks, iterations of loops and places in expressions, in the order in which they are executed.
"""

from __future__ import annotations

from oracle.calls import Calls
from oracle.expressions import Expressions
from oracle.frames import OWN, Callee, Flow, Frame, Ref
from oracle.initialising import Initialising
from oracle.objects import Objects
from oracle.overloaded import Overloaded
from oracle.pure import Pure
from oracle.types import Types
from oracle.values import (
    UndefinedError,
    UnsupportedError,
)
from smemlint.ir import (
    Block,
    Break,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Goto,
    If,
    InitList,
    Labeled,
    Loop,
    PointerTo,
    RecordRef,
    Return,
    Stmt,
    Switch,
)


class Thread(Calls, Initialising, Expressions, Objects, Overloaded, Pure, Types):
    """Runs statements. The result is None, 'break', 'continue', 'return' or a jump to a label."""

    def execute(self, stmt: Stmt, frame: Frame) -> Flow:
        if isinstance(stmt, Block):
            signal, i = None, 0
            begun: list[str] = []
            for i, child in enumerate(stmt.body):
                signal = yield from self.at(i, self.execute(child, frame))
                if isinstance(child, Declare):
                    begun.append(child.var.id)
                if signal:
                    break
            # those that leave early end what they began before the others go on
            self.path += [i, OWN] if signal else [len(stmt.body)]
            for k, ended in enumerate(reversed(begun)):
                yield from self.at(k, self.end(frame.env.get(ended)))
            del self.path[-2 if signal else -1 :]
            return signal
        elif isinstance(stmt, Declare):
            yield from self.declare(stmt.var, frame)
        elif isinstance(stmt, Evaluate):
            yield from self.discard(stmt.expr, frame)
        elif isinstance(stmt, If):
            if (yield from self.at(0, self.truth(stmt.condition, frame))):
                return (yield from self.at(1, self.execute(stmt.then, frame)))
            if stmt.otherwise is not None:
                return (yield from self.at(2, self.execute(stmt.otherwise, frame)))
        elif isinstance(stmt, Loop):
            return (yield from self.loop(stmt, frame))
        elif isinstance(stmt, Switch):
            return (yield from self.switch(stmt, frame))
        elif isinstance(stmt, Return):
            if stmt.value is not None:
                frame.result = yield from self.returned(stmt.value, frame)
            return "return"
        elif isinstance(stmt, Goto):
            return f"{'over' if stmt.over else 'goto'} {stmt.label}"
        elif isinstance(stmt, Labeled):
            return (yield from self.labeled(stmt, frame))
        elif isinstance(stmt, Break):
            return "break"
        elif isinstance(stmt, Continue):
            return "continue"
        else:
            raise UnsupportedError(f"statement {type(stmt).__name__}: {getattr(stmt, 'reason', '')}")
        return None

    def returned(self, expr: Expr, frame: Frame) -> Flow:
        if isinstance(frame.returns, PointerTo) and frame.returns.reference:
            return (yield from self.lvalue(expr, frame))
        if isinstance(expr, InitList) and isinstance(frame.returns, RecordRef):
            return (yield from self.construct(frame.returns, expr.elements, frame))
        return self.converted((yield from self.rvalue(expr, frame)), frame.returns)

    def end(self, ref: Ref | Callee | None) -> Flow:
        """Run the destructor of a variable, where it has one; members with one of their own are not drawn."""
        if not isinstance(ref, Ref) or not isinstance(ref.type, RecordRef):
            return
        name = ref.type.name.split("<")[0].rsplit("::", 1)[-1]
        for function in self.machine.methods(ref.type, f"~{name}"):
            scope = self.machine.layout.scope_of(ref.type)
            yield from self.execute(function.body, Frame(scope, ref))

    def labeled(self, stmt: Labeled, frame: Frame) -> Flow:
        for turn in range(self.machine.limit):
            signal = yield from self.at(turn, self.execute(stmt.body, frame))
            if signal == f"over {stmt.label}" or (signal == f"goto {stmt.label}" and not stmt.again):
                return None
            if signal != f"goto {stmt.label}":
                return signal
        raise UndefinedError("a jump back without end")

    def loop(self, loop: Loop, frame: Frame) -> Flow:
        if loop.init is not None:
            yield from self.at(0, self.execute(loop.init, frame))
        self.path.append(1)
        for iteration in range(self.machine.limit):
            self.path.append(iteration)
            if (
                (loop.test_first or iteration > 0)
                and loop.condition is not None
                and not (yield from self.at(0, self.truth(loop.condition, frame)))
            ):
                break
            signal = yield from self.at(1, self.execute(loop.body, frame))
            if signal == "break":
                break
            if signal not in (None, "continue"):
                self.path.pop()
                self.path.pop()
                return signal
            if loop.step is not None:
                yield from self.at(2, self.discard(loop.step, frame))
            self.path.pop()
        else:
            raise UndefinedError("a loop that does not end")
        self.path.pop()
        self.path.pop()
        return None

    def switch(self, switch: Switch, frame: Frame) -> Flow:
        value = yield from self.at(0, self.rvalue(switch.value, frame))
        start = None
        for i, case in enumerate(switch.cases):
            if case.value is None:
                start = i if start is None else start
            elif self.machine.constant(case.value, frame.scope) == value.value:
                start = i
                break
        if start is None:
            return None
        for i, case in enumerate(switch.cases[start:], start + 1):
            signal = yield from self.at(i, self.execute(Block(case.body), frame))
            if signal:
                return None if signal == "break" else signal
        return None
