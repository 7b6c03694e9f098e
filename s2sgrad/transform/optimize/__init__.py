"""The passes that make a derivative as short as a person would write it: IR in, IR out, one a file.

``share`` computes nothing twice, ``fold`` says things more simply, ``prune`` drops what nobody reads,
``accumulate`` adds in place, ``stack`` appends to lists instead of copying them. The user's own statements
stay as they are, except that those whose results nobody needs any more go away. ``relax`` uses the plain
operators where zeros need no care, ``idiom`` those that NumPy does fastest, ``calls`` makes fewer of them (and says
reductions in the user's loops as methods).
"""

import dataclasses

from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import Memory
from s2sgrad.transform.optimize.accumulate import accumulate
from s2sgrad.transform.optimize.borrow import borrow
from s2sgrad.transform.optimize.calls import with_fewer_calls
from s2sgrad.transform.optimize.factor import factor
from s2sgrad.transform.optimize.fold import fold, refold
from s2sgrad.transform.optimize.idiom import idiomatic
from s2sgrad.transform.optimize.outers import gather_outers
from s2sgrad.transform.optimize.prune import prune, pruned
from s2sgrad.transform.optimize.relax import relax
from s2sgrad.transform.optimize.share import share, shared
from s2sgrad.transform.optimize.stacks import stack

__all__ = ["run", "settle", "tidy", "pruned", "fold", "share", "prune", "accumulate"]

ROUNDS = 3


def run(function: ir.Function, in_place: bool = True) -> ir.Function:
    """The function and all that it calls, optimised; what comes out is for emission, not to be differentiated again.

    Parameters
    ----------
    function : Function
    in_place : bool
        Whether cotangents may be added in place (`accumulate`).
    """
    return _run(function, in_place, {})


def settle(function: ir.Function) -> ir.Function:
    """The function made shorter by the passes that say the same mathematics: it can be differentiated again."""
    for again in range(ROUNDS):
        shorter = share(function)
        if again and _size(shorter) == _size(function):
            break
        function = prune(fold(shorter))
    return function


def _run(function: ir.Function, in_place: bool, callees: dict) -> ir.Function:
    function = settle(function)
    relaxed = relax(function)
    if relaxed is not function:
        function = prune(fold(relaxed))
    for say in (factor, idiomatic, gather_outers):
        said = say(function)
        if said is not function:
            function = prune(said)
    if in_place:
        function = with_fewer_calls(stack(prune(borrow(prune(accumulate(function))))))
    return dataclasses.replace(function, body=_with_callees(function.body, in_place, callees))


def _size(function: ir.Function) -> int:
    return sum(1 for _ in walk.statements(function.body))


def _with_callees(block: ir.Block, in_place: bool, callees: dict) -> ir.Block:
    """The block with each callee replaced by its optimised one."""
    if not any(isinstance(s, ir.Call) for s in walk.statements(block)):
        return block
    block = walk.copied(block)
    for s in walk.statements(block):
        if not isinstance(s, ir.Call) or isinstance(s, ir.PlainCall):
            continue
        function = s.callee.function
        if id(function) not in callees:
            callee = callees[id(function)] = ir.Callee(s.callee.name, s.callee.active)
            callee.function = _run(function, in_place, callees)
        s.callee = callees[id(function)]
    return block


def tidy(before: list, block: ir.Block, own=()) -> ir.Block:
    """A block of generated statements that runs after the statements `before`, made short.

    The reverse pass asks for this before it decides what a loop has to save. `own` are the numbers of the results that
    may be added to in place afterwards: each has memory of its own.
    """
    from s2sgrad.transform.build import Builder  # builders simplify: the two know each other

    for _ in range(ROUNDS):
        size = sum(1 for _ in walk.statements(block))
        block = shared(before, block, [block.results[i] for i in own])
        build = Builder()
        build.unstable = Memory(ir.Block([*before, *block.statements], block.results)).is_written
        for s in before:
            build.note(s)
        mapping: dict = {}
        refold(build, block.statements, mapping)
        block = ir.Block(build.statements, tuple(walk.replaced(r, mapping) for r in block.results))
        block = pruned(block)
        if sum(1 for _ in walk.statements(block)) == size:
            break
    return block
