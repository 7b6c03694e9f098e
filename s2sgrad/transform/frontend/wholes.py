"""Tells where more is read of an object than its fields.

An object that the function makes has the numbers of its class as fields (`records`). In a plain call its ``__dict__``
has none of these until something is assigned to them: who looks at it, or gets it, may see the difference.
"""

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types


def seen_whole(function: ir.Function, lending: set) -> bool:
    """Is an object of one of these classes read in another way than by its fields, or given to what is not followed?"""
    for s in walk.statements(function.body):
        if isinstance(s, ir.PlainCall) and any(holds(types.type_of(a), lending) for a in s.args):
            return True
        codes = [s] if isinstance(s, ir.Verbatim) else [x for x in walk.operands(s) if isinstance(x, ir.Code)]
        if any(_looks(code, lending) for code in codes):
            return True
    results = [r for r in function.body.results if isinstance(r, ir.Code)]
    return any(_looks(code, lending) for code in results)


def _looks(code, lending: set) -> bool:
    objects = {name: value.type for name, value in code.reads.items() if holds(value.type, lending)}
    if not objects:
        return False
    fields = {
        id(node.value)
        for node in gast.walk(code.node)
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id in objects
        if node.attr in (objects[node.value.id].keys or ())
    }
    names = (node for node in gast.walk(code.node) if isinstance(node, gast.Name) and node.id in objects)
    return any(id(name) not in fields for name in names)


def holds(t: ir.Type, lending: set) -> bool:
    """Is something of this type an object of one of these classes, or does it hold one?"""
    inner = [*(t.items or ()), *([t.element] if t.element is not None else [])]
    return t.cls in lending or any(holds(item, lending) for item in inner)
