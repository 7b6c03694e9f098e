"""Lowers calls of the methods that a class inherits: ``super().step(dt)``, in place of the call.

``super()`` reads the first argument of the function that it stands in, and the class in whose body that is. Both are
written out first, ``super(__class__, self)``, so that all who look at the names of a text see them.
"""

import copy

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.hoisting import locate
from s2sgrad.transform.frontend.kinds import text
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.ir import Kind


def written_out(body: list, first: str) -> list:
    """Statements in which ``super()`` has its arguments; `first` is the first one of the function.

    >>> tree = gast.parse("super().step(dt)\\nself.n += 1")
    >>> [gast.unparse(s).strip() for s in written_out(tree.body, "self")]
    ['super(__class__, self).step(dt)', 'self.n += 1']
    """
    there = [any(syntax.is_super(n) and not n.args for n in syntax.own_nodes(s)) for s in body]
    return [_WrittenOut(first).visit(copy.deepcopy(s)) if found else s for s, found in zip(body, there, strict=True)]


class _WrittenOut(gast.NodeTransformer):
    def __init__(self, first: str):
        self.first = first

    def visit(self, node):
        inner = isinstance(node, (*syntax.FUNCTIONS, *syntax.COMPREHENSIONS, gast.ClassDef))
        return node if inner else super().visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if not syntax.is_super(node) or node.args:
            return node
        given = [gast.Name(name, gast.Load(), None, None) for name in (syntax.HOME, self.first)]
        return locate([gast.copy_location(gast.Call(node.func, given, []), node)], node)[0]


class Inheritance:
    """The part of `Lowering` that deals with ``super()``.

    Attributes of `Lowering`: `home`, the class in whose body the function stands, if it reads that.
    """

    def inherited_here(self, call):
        """What a call of an inherited method gives, whose body is lowered in place; None for any other call."""
        if not syntax.is_inherited(call.func) or not self.is_builtin("super", super):
            return None
        home, instance = call.func.value.args
        cls = self.home if isinstance(home, gast.Name) and home.id == syntax.HOME else self.class_named(home)
        thing = self.env.get(instance.id) if isinstance(instance, gast.Name) else None
        t = self.type_of(thing) if isinstance(thing, (ir.Value, Known)) else ir.UNKNOWN
        if cls is None or t.cls is None or t.kind not in (Kind.RECORD, Kind.OTHER):
            return None
        method = classes.inherited(t.cls, cls, call.func.attr)
        if method is None:
            return None
        found = self.method_here(thing, call.func.attr, method, self.arguments(call), call, above=cls)
        if found is None:
            self.refuse(f"what {text(call.func)} does cannot be lowered in place", call)
        return found

    def class_named(self, node):
        """The class that an expression surely is."""
        try:
            known = self.static(node)
        except CompileError:
            return None
        return known.value if known is not None and isinstance(known.value, type) else None
