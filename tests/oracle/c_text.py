"""Kernels as C text for tests: pycparser's view of them, as IR.

The part of CUDA that is C: shared and local arrays, structs, pointers, casts, loops, device functions.
No references, templates or methods. It shares no code with the product's own front end, so that the two
can be held against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pycparser import c_ast, c_parser

from smemlint.ir import (
    ArrayOf,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Case,
    Cast,
    Conditional,
    Continue,
    Declare,
    Evaluate,
    Expr,
    Field,
    FloatLiteral,
    Function,
    If,
    Index,
    InitList,
    Literal,
    Loop,
    Member,
    Module,
    Name,
    Place,
    PointerTo,
    Record,
    RecordRef,
    Return,
    Scalar,
    SizeOf,
    Special,
    Stmt,
    Switch,
    Type,
    Unary,
    Var,
)
from smemlint.ir.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, SHORT, UCHAR, UINT, ULONG, USHORT, VOID

PATH = "kernel.cu"
VECTORS = {
    f"{name}{n}": (element, n, align)
    for name, element in (("float", FLOAT), ("int", INT), ("uint", UINT), ("double", DOUBLE), ("char", CHAR))
    for n in (1, 2, 3, 4)
    for align in [element.size * (n if n != 3 else 1)]
}
_SPECIALS = ("threadIdx", "blockIdx", "blockDim", "gridDim")
_SCALARS = {
    "void": VOID,
    "_Bool": BOOL,
    "char": CHAR,
    "char unsigned": UCHAR,
    "short": SHORT,
    "short unsigned": USHORT,
    "int": INT,
    "signed": INT,
    "int unsigned": UINT,
    "unsigned": UINT,
    "long": LONG,
    "long unsigned": ULONG,
    "long long": LONG,
    "long long unsigned": ULONG,
    "float": FLOAT,
    "double": DOUBLE,
    "size_t": ULONG,
}


def load(text: str) -> Module:
    """The module of a text in CUDA's C subset. Lines are kept."""
    kernels = set(re.findall(r"__global__\s+void\s+(\w+)", text))
    plain = re.sub(r"__global__|__device__|__forceinline__|__restrict__", " ", text)
    plain = re.sub(r"\bextern\s+__shared__", "extern ", plain)
    plain = re.sub(r"__shared__", "static", plain)
    plain = re.sub(r"\bbool\b", "_Bool", plain)
    plain = re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", plain))
    plain = re.sub(r"\b(?:reinterpret|static)_cast\s*<([^<>]*)>", r"(\1)", plain)
    names = " ".join(
        f"typedef struct {v} {{ int x; }} {v};" for v in (*VECTORS, "size_t") if re.search(rf"\b{v}\b", plain)
    )
    tree = c_parser.CParser().parse(f"{names}\n#line 1\n{plain}", PATH)
    return _Reader(kernels).module(tree)


class _Reader:
    def __init__(self, kernels: set[str]) -> None:
        self._kernels = kernels
        self._functions: dict[str, Function] = {}
        self._globals: dict[str, Var] = {}
        self._scopes: list[dict[str, str]] = [{}]
        self._count = 0
        place = Place(PATH, 1, 1, 1, 1, 0, 0)
        self._records = {
            name: Record(
                name, tuple(Field("xyzw"[i], e, place) for i in range(n)), place, align=Literal(align)
            )
            for name, (e, n, align) in VECTORS.items()
        }

    def module(self, tree: c_ast.FileAST) -> Module:
        for node in tree.ext:
            if isinstance(node, c_ast.FuncDef):
                self._function(node)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Struct):
                self._type(node.type)
            elif isinstance(node, c_ast.Decl) and not isinstance(node.type, c_ast.FuncDecl):
                for declare in self._declare(node):
                    self._globals[declare.var.id] = declare.var
        return Module(PATH, "", self._functions, self._records, self._globals)

    def _function(self, node: c_ast.FuncDef) -> None:
        name = node.decl.name
        self._scopes[0][name] = name
        self._scopes.append({})
        given = node.decl.type.args.params if node.decl.type.args else ()
        parameters = tuple(
            Var(self._new(p.name), p.name, self._type(p.type), "param", self._place(p))
            for p in given
            if isinstance(p, c_ast.Decl)
        )
        body = self._stmt(node.body)
        self._scopes.pop()
        side = "kernel" if name in self._kernels else "device"
        returns = self._type(node.decl.type.type)
        self._functions[name] = Function(name, name, parameters, body, side, self._place(node.decl), returns)

    def _new(self, name: str) -> str:
        self._count += 1
        self._scopes[-1][name] = f"{name}#{self._count}"
        return self._scopes[-1][name]

    def _id(self, name: str) -> str:
        return next((s[name] for s in reversed(self._scopes) if name in s), "")

    def _place(self, node: c_ast.Node) -> Place:
        coord = node.coord
        line, column = (coord.line, coord.column or 1) if coord else (1, 1)
        return Place(PATH, line, column, line, column + 1, 0, 0)

    # Types

    def _type(self, node: c_ast.Node) -> Type:
        if isinstance(node, c_ast.TypeDecl | c_ast.Typename):
            return self._type(node.type)
        if isinstance(node, c_ast.PtrDecl):
            return PointerTo(self._type(node.type))
        if isinstance(node, c_ast.ArrayDecl):
            extent = None if node.dim is None else self._expr(node.dim)
            return ArrayOf(self._type(node.type), extent)
        if isinstance(node, c_ast.Struct | c_ast.Union):
            if node.decls and node.name not in VECTORS and node.name != "size_t":
                fields = tuple(Field(d.name, self._type(d.type), self._place(d)) for d in node.decls)
                union = isinstance(node, c_ast.Union)
                self._records[node.name] = Record(node.name, fields, self._place(node), union=union)
            return RecordRef(node.name)
        names = " ".join(sorted(n for n in node.names if n != "signed" or len(node.names) == 1))
        return _SCALARS.get(names) or RecordRef(names)

    def _declare(self, node: c_ast.Decl) -> Iterator[Declare]:
        if node.name is None:
            self._type(node.type)
            return
        storage = "local" if len(self._scopes) > 1 else "global"
        if "static" in node.storage:
            storage = "shared"
        elif "extern" in node.storage:
            storage = "extern_shared"
        elif storage == "global" and "const" in node.quals:
            storage = "constant"
        type_ = self._type(node.type)
        init = None if node.init is None else self._expr(node.init)
        yield Declare(Var(self._new(node.name), node.name, type_, storage, self._place(node), init))

    # Statements

    def _stmt(self, node: c_ast.Node | None) -> Stmt:
        if node is None or isinstance(node, c_ast.EmptyStatement):
            return Block(())
        if isinstance(node, c_ast.Compound):
            self._scopes.append({})
            body = tuple(s for item in node.block_items or () for s in self._items(item))
            self._scopes.pop()
            return Block(body)
        if isinstance(node, c_ast.If):
            otherwise = None if node.iffalse is None else self._stmt(node.iffalse)
            return If(self._expr(node.cond), self._stmt(node.iftrue), otherwise, place=self._place(node))
        if isinstance(node, c_ast.For):
            self._scopes.append({})
            init = None if node.init is None else Block(tuple(self._items(node.init)))
            condition = None if node.cond is None else self._expr(node.cond)
            step = None if node.next is None else self._expr(node.next)
            loop = Loop(init, condition, step, self._stmt(node.stmt), place=self._place(node))
            self._scopes.pop()
            return loop
        if isinstance(node, c_ast.While):
            return Loop(None, self._expr(node.cond), None, self._stmt(node.stmt), place=self._place(node))
        if isinstance(node, c_ast.DoWhile):
            body = self._stmt(node.stmt)
            return Loop(None, self._expr(node.cond), None, body, False, place=self._place(node))
        if isinstance(node, c_ast.Switch):
            cases = tuple(self._case(c) for c in node.stmt.block_items or ())
            return Switch(self._expr(node.cond), cases, self._place(node))
        if isinstance(node, c_ast.Return):
            return Return(None if node.expr is None else self._expr(node.expr))
        if isinstance(node, c_ast.Break):
            return Break()
        if isinstance(node, c_ast.Continue):
            return Continue()
        return Evaluate(self._expr(node))

    def _items(self, node: c_ast.Node) -> Iterator[Stmt]:
        if isinstance(node, c_ast.DeclList):
            for decl in node.decls:
                yield from self._declare(decl)
        elif isinstance(node, c_ast.Decl):
            yield from self._declare(node)
        else:
            yield self._stmt(node)

    def _case(self, node: c_ast.Node) -> Case:
        value = self._expr(node.expr) if isinstance(node, c_ast.Case) else None
        return Case(value, tuple(s for item in node.stmts or () for s in self._items(item)))

    # Expressions

    def _expr(self, node: c_ast.Node) -> Expr:
        place = self._place(node)
        if isinstance(node, c_ast.Constant):
            return _constant(node, place)
        if isinstance(node, c_ast.ID):
            if node.name in ("warpSize",):
                return Special("warpSize", "", place)
            return Name(self._id(node.name), node.name, place)
        if isinstance(node, c_ast.StructRef):
            if isinstance(node.name, c_ast.ID) and node.name.name in _SPECIALS:
                return Special(node.name.name, node.field.name, place)
            return Member(self._expr(node.name), node.field.name, node.type == "->", place)
        if isinstance(node, c_ast.UnaryOp):
            if node.op == "sizeof":
                of = self._type(node.expr) if isinstance(node.expr, c_ast.Typename) else self._expr(node.expr)
                return SizeOf(of, place=place)
            op = {"++": "++x", "--": "--x", "p++": "x++", "p--": "x--"}.get(node.op, node.op)
            return Unary(op, self._expr(node.expr), place)
        if isinstance(node, c_ast.BinaryOp):
            return Binary(node.op, self._expr(node.left), self._expr(node.right), place)
        if isinstance(node, c_ast.Assignment):
            return Assign(node.op, self._expr(node.lvalue), self._expr(node.rvalue), place)
        if isinstance(node, c_ast.TernaryOp):
            parts = (self._expr(n) for n in (node.cond, node.iftrue, node.iffalse))
            return Conditional(*parts, place)
        if isinstance(node, c_ast.Cast):
            return Cast(self._type(node.to_type), self._expr(node.expr), place=place)
        if isinstance(node, c_ast.ArrayRef):
            return Index(self._expr(node.name), self._expr(node.subscript), place)
        if isinstance(node, c_ast.FuncCall):
            arguments = tuple(self._expr(e) for e in node.args.exprs) if node.args else ()
            return Call(self._expr(node.name), arguments, place)
        if isinstance(node, c_ast.InitList):
            return InitList(tuple(self._expr(e) for e in node.exprs), place)
        if isinstance(node, c_ast.ExprList):
            first, *others = (self._expr(e) for e in node.exprs)
            for other in others:
                first = Binary(",", first, other, place)
            return first
        raise ValueError(f"{type(node).__name__} at {node.coord}")


def _constant(node: c_ast.Constant, place: Place) -> Expr:
    text = node.value
    if node.type in ("float", "double", "long double"):
        return FloatLiteral(float(text.rstrip("fFlL")), FLOAT if text[-1] in "fF" else DOUBLE, place)
    if node.type == "char":
        return Literal(ord(text[1]), CHAR, place)
    digits = text.rstrip("uUlL").lower()
    value = int(digits, 8) if digits.startswith("0") and digits.isdigit() else int(digits, 0)
    unsigned = "u" in text[len(digits) :].lower()
    return Literal(value, _integer_type(value, unsigned, "l" in text[len(digits) :].lower(), digits), place)


def _integer_type(value: int, unsigned: bool, long: bool, digits: str) -> Scalar:
    if not long:
        if not unsigned and value < 1 << 31:
            return INT
        if (unsigned or digits.startswith("0")) and value < 1 << 32:
            return UINT
    return ULONG if unsigned or value >= 1 << 63 else LONG
