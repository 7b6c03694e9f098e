"""What a function gives, told from its text alone: for the calls of functions that are not lowered.

No order of statements is looked at: a local name has the type that covers all that is ever assigned to
it, and the result that of all `return` statements. So nothing that the compiler does not follow (`try`,
`with`, loops left in the middle) is in the way, and what is told is true.
"""

import dataclasses
import functools

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.scan import breaks
from s2sgrad.transform.frontend.values import Unbound
from s2sgrad.transform.ir import Kind

STRANGE = (
    gast.Yield, gast.YieldFrom, gast.Await, gast.AsyncFor, gast.AsyncWith, gast.AsyncFunctionDef, gast.Match,
    gast.ClassDef, gast.Delete, gast.Global, gast.Nonlocal,
)  # fmt: skip
NOT_YET = Unbound("it is not known yet")


def result_type(lowering, given: dict) -> ir.Type | None:
    """The type of what a function gives for arguments of these types; None where that cannot be told.

    `lowering` is one of the function that nothing was lowered with.
    """
    node = lowering.found.node
    if isinstance(node, gast.Lambda):
        statements = [gast.copy_location(gast.Return(node.body), node)]
    else:
        statements = [s for body in node.body for s in syntax.own_nodes(body)]
        if not ends(node.body) or any(isinstance(s, STRANGE) for s in statements):
            return None
    return _Giving(lowering, statements, given).run()


def ends(body: list) -> bool:
    """Does every way through these statements end in a `return` or `raise`?

    >>> tree = gast.parse("try:\\n    return f(x)\\nexcept ValueError:\\n    return 0.0")
    >>> ends(tree.body)
    True
    """
    return any(map(_ends, body))


def _ends(s) -> bool:
    match s:
        case gast.Return() | gast.Raise():
            return True
        case gast.If():
            return ends(s.body) and ends(s.orelse)
        case gast.Try():
            return ends(s.finalbody) or (ends([*s.body, *s.orelse]) and all(ends(h.body) for h in s.handlers))
        case gast.While(test=gast.Constant(value=True)):
            return not any(map(breaks, s.body))
    return False


class _Giving:
    """One function: the types of its local names are joined until they no longer change."""

    def __init__(self, lowering, statements: list, given: dict):
        self.lowering = lowering
        self.statements = statements
        self.given = given
        self.names = lowering.names
        self.types: dict = {name: bare(t, name in lowering.mutable) for name, t in given.items()}

    def run(self) -> ir.Type | None:
        self.lowering.env = dict.fromkeys(self.lowering.local, NOT_YET)
        while True:
            before = dict(self.types)
            for name, t in self.types.items():
                self.lowering.env[name] = ir.Value(name, t)
            for s in self.statements:
                self.statement(s)
            if before == self.types:
                break
        results = [self.of(s.value) for s in self.statements if isinstance(s, gast.Return)]
        if not results or any(t is None or not is_certain(t) for t in results):
            return None
        found = functools.reduce(types.join, results)
        return found if is_certain(found) else None

    def of(self, node) -> ir.Type | None:
        """The type of an expression; None while it reads names of which nothing is known yet."""
        if node is None:
            return ir.OTHER
        if any(self.lowering.env.get(name) is NOT_YET for name in self.names.loads(node)):
            return None
        try:
            return bare(self.lowering.facts(node, {})[0])
        except CompileError:
            return ir.UNKNOWN

    def statement(self, s) -> None:
        match s:
            case gast.Assign():
                for target in s.targets:
                    self.assign(target, self.of(s.value))
            case gast.AnnAssign(value=gast.AST()) | gast.NamedExpr():
                self.assign(s.target, self.of(s.value))
            case gast.AugAssign(target=gast.Name()):
                load = gast.Name(s.target.id, gast.Load(), None, None)
                t = self.of(gast.BinOp(load, s.op, s.value))
                before = self.types.get(s.target.id)
                if before is not None and before.kind is Kind.ARRAY:
                    t = before  # written to in place
                self.assign(s.target, t)
            case gast.For():
                source = self.of(s.iter)
                self.assign(s.target, None if source is None else self.lowering.element_type(source, s.iter))
            case gast.With():
                for item in s.items:
                    if item.optional_vars is not None:
                        self.assign(item.optional_vars, ir.UNKNOWN)
            case gast.ExceptHandler(name=gast.AST()):
                self.assign(s.name, ir.OTHER)
            case gast.FunctionDef():
                self.note(s.name, ir.Type(Kind.CALLABLE))
            case gast.Import() | gast.ImportFrom():
                for name in self.names.stores(s):
                    self.note(name, ir.UNKNOWN)

    def assign(self, target, t: ir.Type | None) -> None:
        if t is None:
            return
        for name, kind in self.lowering.target_types(target, t).items():
            self.note(name, kind)

    def note(self, name: str, t: ir.Type) -> None:
        old = self.types.get(name)
        t = bare(t, name in self.lowering.mutable)
        self.types[name] = t if old is None else bare(types.join(old, t))


def bare(t: ir.Type, changing: bool = False) -> ir.Type:
    """The type without lengths of axes; of a list or dict that may be `changing`, without what is in it."""
    if t.kind in (Kind.LIST, Kind.DICT) and changing:
        return ir.Type(t.kind)
    items = None if t.items is None else tuple([bare(item, changing) for item in t.items])
    element = None if t.element is None else bare(t.element, changing)
    return dataclasses.replace(t, shape=() if t.shape == () else None, items=items, element=element)


def is_certain(t: ir.Type) -> bool:
    """Surely a number or an array, or a tuple or list of such of known length?"""
    if t.kind in (Kind.NUMBER, Kind.ARRAY):
        return True
    return t.kind in (Kind.TUPLE, Kind.LIST) and t.items is not None and all(map(is_certain, t.items))
