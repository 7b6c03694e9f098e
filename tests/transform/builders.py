"""Short ways to write the intermediate language down in tests."""

import builtins

import gast
import numpy as np

from s2sgrad.errors import Location
from s2sgrad.transform import ir

ARRAY = ir.Type(ir.Kind.ARRAY, "float64", 1)
TUPLE = ir.Type(ir.Kind.TUPLE)
LIST = ir.Type(ir.Kind.LIST)


def value(name: str, type: ir.Type = ir.UNKNOWN) -> ir.Value:  # noqa: A002
    return ir.Value(name, type)


def values(names: str, type: ir.Type = ir.UNKNOWN) -> list:  # noqa: A002
    return [ir.Value(name, type) for name in names.split()]


def code(source: str, type: ir.Type = ir.UNKNOWN, **reads: ir.Value) -> ir.Code:  # noqa: A002
    return ir.Code(gast.parse(source, mode="eval").body, reads, type)


def verbatim(source: str, reads: dict, writes: dict) -> ir.Verbatim:
    return ir.Verbatim(gast.parse(source).body[0], reads, writes)


def const(x) -> ir.Constant:
    return ir.Constant(x)


def cut(*bounds) -> ir.Constant:
    return ir.Constant(slice(*bounds))


def at(line: int, text: str) -> Location:
    return Location("user.py", line, text, "user")


def function(name: str, parameters, statements, result, backward_at=None, names=None, **further) -> ir.Function:
    """A function whose namespace is a module with `np` and `names`."""
    parameters = [p if isinstance(p, ir.Parameter) else ir.Parameter(p) for p in parameters]
    namespace = ir.Namespace({"np": np, "__name__": "user", "__builtins__": builtins, **(names or {})})
    body = ir.Block(statements, (result,))
    return ir.Function(name, parameters, body, namespace, backward_at=backward_at, **further)
