"""Says ``:=`` in tests with assignments before them: where it is what is evaluated first.

``if (s := f(x)) > 0: ...`` is lowered as ``s = f(x)`` and ``if s > 0: ...``; ``while (y := g(x)) > c: ...`` as
``while True`` with the assignment, and a `break`, at its beginning.
"""

import gast

from s2sgrad.transform.frontend import syntax


def hoisted(test) -> tuple | None:
    """The assignments that a test makes before anything else, and the test without them; None where there are others.

    >>> assigns, test = hoisted(gast.parse("(s := f(x)) > 0 and s < 1").body[0].value)
    >>> gast.unparse(assigns[0]).strip(), gast.unparse(test).strip()
    ('s = f(x)', 's > 0 and s < 1')
    """
    assigns: list = []
    while syntax.contains(test, gast.NamedExpr):
        found = _taken(test)
        if found is None:
            return None
        test, assign = found
        assigns.append(assign)
    return assigns, test


def _taken(node):
    """`node` with a name in the place of the ``:=`` that is evaluated first, and the assignment that it is."""
    if isinstance(node, gast.NamedExpr):
        if syntax.contains(node.value, gast.NamedExpr):
            return None
        target = gast.copy_location(gast.Name(node.target.id, gast.Store(), None, None), node)
        load = gast.copy_location(gast.Name(node.target.id, gast.Load(), None, None), node)
        return load, gast.copy_location(gast.Assign([target], node.value, None), node)
    for path in _evaluated_first(node):
        child = getattr(node, path[0]) if len(path) == 1 else getattr(node, path[0])[path[1]]
        if not syntax.contains(child, gast.NamedExpr):
            if isinstance(child, gast.Constant):
                continue  # it does not matter when that is evaluated
            return None
        found = _taken(child)
        return None if found is None else (_replaced(node, path, found[0]), found[1])
    return None


def _evaluated_first(node) -> list:
    """Where in a node its parts are, in the order in which they are evaluated, as far as they surely are."""
    match node:
        case gast.Compare():
            return [("left",), ("comparators", 0)]
        case gast.BinOp():
            return [("left",), ("right",)]
        case gast.UnaryOp():
            return [("operand",)]
        case gast.BoolOp():
            return [("values", 0)]
        case gast.Attribute() | gast.Subscript():
            return [("value",)]
        case gast.IfExp():
            return [("test",)]
        case gast.Call(func=gast.Name()) if node.args:
            return [("args", 0)]
    return []


def _replaced(node, path, child):
    """A copy of a node with another child."""
    fields = {name: getattr(node, name) for name in node._fields}
    if len(path) == 1:
        fields[path[0]] = child
    else:
        items = list(fields[path[0]])
        items[path[1]] = child
        fields[path[0]] = items
    return gast.copy_location(type(node)(*[fields[name] for name in node._fields]), node)
