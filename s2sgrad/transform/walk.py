"""What every pass wants to know of a statement: what it uses, what it defines, and a copy with other operands."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator

import gast

from s2sgrad.transform import ir


def values(operand) -> Iterable[ir.Value]:
    """The values that an operand reads."""
    if isinstance(operand, ir.Value):
        return (operand,)
    return operand.reads.values() if isinstance(operand, ir.Code) else ()


def pattern(targets) -> Iterator[ir.Value]:
    """The values in a (nested) tuple of targets, in order."""
    if isinstance(targets, tuple):
        for target in targets:
            yield from pattern(target)
    elif targets is not None:
        yield targets


def operands(s) -> list:
    """The operands of a statement itself, not of the blocks in it."""
    match s:
        case ir.Op():
            found = [*s.args, *s.kwargs.values()]
            return [s.spelling, *found] if isinstance(s.spelling, ir.Code) else found
        case ir.Bind():
            return [s.code]
        case ir.Verbatim():
            return list(s.reads.values())
        case ir.Make():
            return list(s.items)
        case ir.Unpack():
            return [s.source]
        case ir.Accumulate():
            return [s.into, s.value] if s.index is None else [s.into, s.index, s.value]
        case ir.Store():
            return [x for x in (s.into, s.through, s.index, s.value) if x is not None]
        case ir.Push():
            return [s.into, s.item]
        case ir.Pop():
            return [s.into]
        case ir.PlainCall():
            return [s.function, *s.args]
        case ir.Call():
            return list(s.args)
        case ir.If():
            return [s.test]
        case ir.For():
            found = [x for source in s.sources for x in (source.iterable, source.start) if x is not None]
            found += [c.initial for c in s.carried]
            return [*found, s.test] if isinstance(s, ir.While) else found
        case ir.Exit():
            return []
    raise TypeError(s)


def uses(s) -> list:
    """The values that a statement itself reads, each as often as it does."""
    return [v for operand in operands(s) for v in values(operand)]


def blocks(s) -> tuple:
    """The blocks in a statement."""
    if isinstance(s, ir.If):
        return s.then, s.orelse
    return (s.body,) if isinstance(s, ir.For) else ()


def with_blocks(s, inner: list):
    """A branch or loop with other blocks in it."""
    if isinstance(s, ir.If):
        return dataclasses.replace(s, then=inner[0], orelse=inner[1])
    return dataclasses.replace(s, body=inner[0])


def defines(s) -> list:
    """The values that a statement defines for those after it."""
    match s:
        case ir.Verbatim():
            return list(s.writes.values())
        case ir.Unpack():
            return list(pattern(s.targets))
        case ir.Pop():
            return [s.target, *pattern(s.item)]
        case ir.If():
            return list(s.results)
        case ir.For():
            return [c.result for c in s.carried] + s.collected
        case ir.Exit():
            return []
    return [s.target]


def enters(s) -> list:
    """The values that a loop defines for its body alone."""
    if not isinstance(s, ir.For):
        return []
    return [v for source in s.sources for v in pattern(source.element)] + [c.parameter for c in s.carried]


def is_range(x: ir.Operand, namespace: ir.Namespace) -> bool:
    """Is an operand a call of Python's own ``range``?"""
    node = getattr(x, "node", None)
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "range"):
        return False
    return is_builtin("range", x.reads, namespace)


def is_builtin(name: str, reads: dict, namespace: ir.Namespace) -> bool:
    """Does nothing else have the name of something that is built in?"""
    return name not in reads and name not in namespace.globals and name not in namespace.cells


def restored(block: ir.Block) -> dict:
    """From what a loop gets out of the list that another one collected, to what that one put into it.

    The backward loop reads under other values what the forward one saved; whatever holds of the one in every
    iteration holds of the other.
    """
    found: dict = {}
    kept: dict = {}
    made = {s.target: s.items for s in statements(block) if isinstance(s, ir.Make)}
    for s in statements(block):
        if isinstance(s, ir.For):
            kept.update(zip(s.collected, s.body.results[len(s.carried) :], strict=True))
    for s in statements(block):
        for source in s.sources if isinstance(s, ir.For) else ():
            known = _original(source.iterable, found)
            if known in kept:
                _restore(source.element, kept[known], made, found)
    return found


def _original(operand, found: dict):
    return found.get(operand, operand) if isinstance(operand, ir.Value) else None


def _restore(element, operand, made: dict, found: dict) -> None:
    if isinstance(element, ir.Value):
        if isinstance(operand, ir.Value):
            found[element] = operand
    elif isinstance(element, tuple):
        items = made.get(operand, ())
        if len(items) == len(element):
            for inner, item in zip(element, items, strict=True):
                _restore(inner, item, made, found)


def exits(s) -> bool:
    """Does a branch, or the body of a loop, leave the loop that it is in (or is the body of) with an `Exit`?"""
    inner = [statement for block in blocks(s) for statement in block.statements]
    return any(isinstance(one, ir.Exit) or (isinstance(one, ir.If) and exits(one)) for one in inner)


def raises(block: ir.Block) -> bool:
    """Does a block end by raising something?"""
    last = block.statements[-1] if block.statements else None
    return isinstance(last, ir.Verbatim) and isinstance(last.node, gast.Raise)


def statements(block: ir.Block) -> Iterator:
    """All statements of a block and of the blocks in it, outer before inner."""
    for s in block.statements:
        yield s
        for inner in blocks(s):
            yield from statements(inner)


def defined(block: ir.Block) -> set:
    """All values defined in a block, at any depth."""
    return {v for s in statements(block) for v in (*defines(s), *enters(s))}


def read(block: ir.Block) -> dict:
    """All values read in a block, at any depth, in order of first reading."""
    found: dict = {}
    for s in block.statements:
        found.update(dict.fromkeys(uses(s)))
        for inner in blocks(s):
            found.update(read(inner))
    found.update((v, None) for operand in block.results for v in values(operand))
    return found


def use_counts(block: ir.Block) -> Counter:
    """How often each value is read in a block, at any depth: by statements, and as a result."""
    found: Counter = Counter()
    for s in block.statements:
        found.update(uses(s))
        for inner in blocks(s):
            found.update(use_counts(inner))
    found.update(v for operand in block.results for v in values(operand))
    return found


def free(block: ir.Block) -> list:
    """The values that a block reads and does not define, in order of first reading."""
    own = defined(block)
    return [v for v in read(block) if v not in own]


def replaced(operand, mapping: dict):
    """An operand with its values replaced."""
    if not mapping:
        return operand
    if isinstance(operand, ir.Value):
        while operand in mapping:
            operand = mapping[operand]
            if not isinstance(operand, ir.Value):
                break
        return operand
    if isinstance(operand, ir.Code) and operand in mapping:
        return mapping[operand]
    if isinstance(operand, ir.Code) and any(v in mapping for v in operand.reads.values()):
        reads = {name: replaced(v, mapping) for name, v in operand.reads.items()}
        return ir.Code(operand.node, reads, operand.type)
    return operand


def substitute(block: ir.Block, mapping: dict) -> ir.Block:
    """A copy of a block with values replaced wherever they are read, and pieces of code."""
    return ir.Block([substituted(s, mapping) for s in block.statements], _all(block.results, mapping))


def _all(operands: Iterable, mapping) -> tuple:
    return tuple([replaced(operand, mapping) for operand in operands])


def substituted(s, mapping: dict):
    """A copy of a statement with values replaced wherever they are read; an operation that reads none stays itself."""
    match s:
        case ir.Op():
            codes = [o for o in operands(s) if isinstance(o, ir.Code)]
            if mapping.keys().isdisjoint(uses(s)) and mapping.keys().isdisjoint(codes):
                return s
            kwargs = {k: replaced(v, mapping) for k, v in s.kwargs.items()} if s.kwargs else {}
            spelling = replaced(s.spelling, mapping) if isinstance(s.spelling, ir.Code) else s.spelling
            return dataclasses.replace(s, args=_all(s.args, mapping), kwargs=kwargs, spelling=spelling)
        case ir.Bind():
            return dataclasses.replace(s, code=replaced(s.code, mapping))
        case ir.Verbatim():
            return dataclasses.replace(s, reads={k: replaced(v, mapping) for k, v in s.reads.items()})
        case ir.Make():
            return dataclasses.replace(s, items=_all(s.items, mapping))
        case ir.Unpack():
            return dataclasses.replace(s, source=replaced(s.source, mapping))
        case ir.Accumulate():
            index = None if s.index is None else replaced(s.index, mapping)
            return dataclasses.replace(s, into=replaced(s.into, mapping), index=index, value=replaced(s.value, mapping))
        case ir.Store():
            index = None if s.index is None else replaced(s.index, mapping)
            through = None if s.through is None else replaced(s.through, mapping)
            into, value = replaced(s.into, mapping), replaced(s.value, mapping)
            return dataclasses.replace(s, into=into, index=index, value=value, through=through)
        case ir.Push():
            return dataclasses.replace(s, into=replaced(s.into, mapping), item=replaced(s.item, mapping))
        case ir.Pop():
            return dataclasses.replace(s, into=replaced(s.into, mapping))
        case ir.PlainCall():
            return dataclasses.replace(s, function=replaced(s.function, mapping), args=_all(s.args, mapping))
        case ir.Call():
            return dataclasses.replace(s, args=_all(s.args, mapping))
        case ir.If():
            then, orelse = substitute(s.then, mapping), substitute(s.orelse, mapping)
            return dataclasses.replace(s, test=replaced(s.test, mapping), then=then, orelse=orelse)
        case ir.For():
            sources = [
                dataclasses.replace(
                    source,
                    iterable=None if source.iterable is None else replaced(source.iterable, mapping),
                    start=replaced(source.start, mapping),
                )
                for source in s.sources
            ]
            carried = [ir.Carried(c.parameter, replaced(c.initial, mapping), c.result) for c in s.carried]
            body = substitute(s.body, mapping)
            s = dataclasses.replace(s, sources=sources, carried=carried, body=body, collected=list(s.collected))
            if isinstance(s, ir.While):
                s.test = replaced(s.test, mapping)
            return s
        case ir.Exit():
            return s
    raise TypeError(s)


def copied(block: ir.Block) -> ir.Block:
    """A copy of a block; the values are the same, and so are the operations, which nothing changes."""
    return substitute(block, {})
