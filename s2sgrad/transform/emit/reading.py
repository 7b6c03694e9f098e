"""The user's own expressions and statements in a function, and the names that they read."""

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.emit.printer import SCOPES, bound_names
from s2sgrad.transform.emit.trees import operands


def codes_of(function: ir.Function) -> list:
    """The user's expressions and statements in a function."""
    codes = [p.default for p in function.parameters if p.default is not None]
    waiting = [function.body]
    while waiting:
        block = waiting.pop()
        for statement in block.statements:
            if isinstance(statement, ir.Verbatim):
                codes.append(statement)
            codes += [operand for operand in operands(statement) if isinstance(operand, ir.Code)]
            waiting += walk.blocks(statement)
        codes += [operand for operand in block.results if isinstance(operand, ir.Code)]
    return codes


def names_outside(codes: list) -> set[str]:
    """The names in the user's expressions and statements that are not local."""
    found: set = set()
    for code in codes:
        local = code.reads.keys() | (code.writes.keys() if isinstance(code, ir.Verbatim) else set())
        found |= free_names(code.node) - local
    return found


def free_names(node) -> set[str]:
    """The names in a tree that it does not bind in an inner scope of its own."""
    found = {n.id for n in gast.walk(node) if isinstance(n, gast.Name)}
    inner: set = set()
    for part in gast.walk(node):
        if isinstance(part, SCOPES):
            inner |= bound_names(part) - _names_beside(node, part)
    return found - inner


def _names_beside(node, scope) -> set[str]:
    """The names in `node` outside of `scope`."""
    found, waiting = set(), [node]
    while waiting:
        part = waiting.pop()
        if part is scope:
            continue
        if isinstance(part, gast.Name):
            found.add(part.id)
        waiting.extend(gast.iter_child_nodes(part))
    return found
