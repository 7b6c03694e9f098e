"""Leaves out of the lowered program what was noted in case it is needed: nested functions, views looked up again."""

import gast

from s2sgrad.transform import ir, walk


def without_unused(statements: list, result, again: set, hollow: dict) -> list:
    """Leaves out what nobody reads of some kinds.

    Nested functions that are only called where they are followed, views of `again`, and containers of `hollow`.
    """
    while True:
        kept = _without_unused(statements, result, again, hollow)
        if _count(kept) == _count(statements):
            return kept
        statements = kept


def with_holders(held: dict, statements: list) -> dict:
    """Some values, each with a place in the source, and all containers that are made of them."""
    found = dict(held)
    for s in walk.statements(ir.Block(statements)) if held else ():
        if isinstance(s, ir.Make):
            found.update((s.target, found[item]) for item in s.items if item in found)
    return found


def _count(statements: list) -> int:
    return sum(1 + sum(_count(block.statements) for block in blocks_of(s)) for s in statements)


def _without_unused(statements: list, result, again: set, hollow: dict) -> list:
    used: set = {result} if isinstance(result, ir.Value) else set()

    def visit(items):
        for s in items:
            for operand in operands_of(s):
                if isinstance(operand, ir.Value):
                    used.add(operand)
                elif isinstance(operand, ir.Code):
                    used.update(operand.reads.values())
            if isinstance(s, ir.Verbatim):
                used.update(s.reads.values())
            for block in blocks_of(s):
                visit(block.statements)
                for operand in block.results:
                    used.update([operand] if isinstance(operand, ir.Value) else getattr(operand, "reads", {}).values())

    def keep(s) -> bool:
        if isinstance(s, ir.Bind) and isinstance(s.code.node, gast.Lambda):
            return s.target in used
        if isinstance(s, ir.Op) and s.target in again:
            return s.target in used
        if isinstance(s, ir.Make) and s.target in hollow:
            return s.target in used
        return not (
            isinstance(s, ir.Verbatim) and isinstance(s.node, gast.FunctionDef) and used.isdisjoint(s.writes.values())
        )

    def strip(items):
        kept = [s for s in items if keep(s)]
        for s in kept:
            for block in blocks_of(s):
                block.statements[:] = strip(block.statements)
        return kept

    visit(statements)
    return strip(statements)


def operands_of(s) -> list:
    if isinstance(s, ir.Op):
        spelling = [s.spelling] if isinstance(s.spelling, ir.Code) else []
        return [*s.args, *s.kwargs.values(), *spelling]
    if isinstance(s, ir.Bind):
        return [s.code]
    if isinstance(s, ir.Make):
        return list(s.items)
    if isinstance(s, ir.Unpack):
        return [s.source]
    if isinstance(s, ir.Store):
        return [x for x in (s.into, s.through, s.index, s.value) if x is not None]
    if isinstance(s, ir.PlainCall):
        return [s.function, *s.args]
    if isinstance(s, ir.Call):
        return list(s.args)
    if isinstance(s, ir.If):
        return [s.test]
    if isinstance(s, ir.For):
        heads = [*(x.iterable for x in s.sources), *(x.start for x in s.sources), *(c.initial for c in s.carried)]
        return [*heads, s.test] if isinstance(s, ir.While) else heads
    return []


def blocks_of(s) -> list:
    if isinstance(s, ir.If):
        return [s.then, s.orelse]
    return [s.body] if isinstance(s, ir.For) else []
