"""Small syntax trees, and what one says instead of others."""

import gast

from s2sgrad.transform.emit.printer import Renamed

LOAD, STORE = gast.Load(), gast.Store()


def name(identifier: str, store: bool = False) -> gast.Name:
    return gast.Name(identifier, STORE if store else LOAD, None, None)


def call(function, arguments=(), keywords=()) -> gast.Call:
    return gast.Call(function, list(arguments), [gast.keyword(k, v) for k, v in keywords])


def attribute(value, identifier: str) -> gast.Attribute:
    return gast.Attribute(value, identifier, LOAD)


def tuple_of(nodes) -> gast.Tuple:
    return gast.Tuple(list(nodes), LOAD)


def assignment(target, value) -> gast.Assign:
    return gast.Assign([target], value, None)


_OPPOSITE = {
    gast.Eq: gast.NotEq,
    gast.NotEq: gast.Eq,
    gast.Is: gast.IsNot,
    gast.IsNot: gast.Is,
    gast.In: gast.NotIn,
    gast.NotIn: gast.In,
}


def negated(node):
    """``not node``, as one says it."""
    if isinstance(node, Renamed):
        return Renamed(negated(node.node), node.names)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return node.operand
    if isinstance(node, gast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPPOSITE:
        return gast.Compare(node.left, [_OPPOSITE[type(node.ops[0])]()], node.comparators)
    return gast.UnaryOp(gast.Not(), node)


def joined(lines: list) -> list:
    """``dx = 2 * x; return dx``, and nothing else, in one line."""
    match lines:
        case [gast.Assign(targets=[gast.Name(id=last)], value=value), gast.Return(value=gast.Name(id=result))]:
            if last == result:
                node = gast.Return(value)
                node.comment = getattr(lines[0], "comment", None)
                node.origin = getattr(lines[0], "origin", None)
                return [node]
    return lines


def sliced(node):
    """``slice(a, b)`` between brackets is ``a:b``."""
    if isinstance(node, gast.Tuple) and node.elts:
        return gast.Tuple([sliced(element) for element in node.elts], node.ctx)
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "slice":
        parts = [None if isinstance(a, gast.Constant) and a.value is None else a for a in node.args]
        if len(parts) == 1:
            parts = [None, *parts]
        return gast.Slice(*parts, *[None] * (3 - len(parts)))
    return node
