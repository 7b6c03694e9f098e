"""Which placeholders a branch need not write: ``t = None`` where `t` is read only when the other branch ran.

Part of emission. An `If` of the IR gives every result a value in both branches; what one branch does
not define is None there. A person leaves that line out where it cannot matter::

    if x > 0:                       if x > 0:
        t = np.sin(x)                   t = np.sin(x)
        y = t * x                       y = t * x
    else:                           else:
        y = x                           y = x
        t = None                    ...
    ...                             if x > 0:
    if x > 0:                           dx = dy * t + ...
        dx = dy * t + ...

This is so when every read of it stands under the same test, in the branch that defines it, or hands it
to a result of an outer `If` under the same name, of which the same holds.
"""

from collections import defaultdict

import gast

from s2sgrad.transform import ir, walk


class Guarded:
    """The reads of a function's values, each with the branches that it stands in."""

    def __init__(self, function: ir.Function):
        self.reads: dict = defaultdict(list)  # value -> [branches around the read, ...]
        self.handed: dict = defaultdict(list)  # value -> [(result that it becomes, branches), ...]
        self.visit(function.body, ())
        for operand in function.body.results:
            self.note(operand, ())

    def note(self, operand, around: tuple) -> None:
        for value in walk.values(operand):
            self.reads[value].append(around)

    def visit(self, block: ir.Block, around: tuple) -> None:
        for statement in block.statements:
            for value in walk.uses(statement):
                self.reads[value].append(around)
            match statement:
                case ir.If():
                    for inner in (statement.then, statement.orelse):
                        within = (*around, (test_of(statement), inner is statement.then))
                        self.visit(inner, within)
                        for result, operand in zip(statement.results, inner.results, strict=True):
                            if isinstance(operand, ir.Value):
                                self.handed[operand].append((result, within))
                            else:
                                self.note(operand, within)
                case ir.For():
                    self.visit(statement.body, around)
                    for operand in statement.body.results:
                        self.note(operand, around)

    def is_idle(self, value: ir.Value, test, branch: bool, names: dict | None = None) -> bool:
        """Is `value` read only where `test` went the way of `branch`? (`names`: what the values are called)"""

        def under(around):
            return any(way is branch and _same(other, test) for other, way in around)

        def same_name(result):
            return names and (result not in names or names[result] == names[value])  # without a name it is not read

        return all(under(around) for around in self.reads[value]) and all(
            under(around) or (same_name(result) and self.is_idle(result, test, branch, names))
            for result, around in self.handed[value]
        )

    def twins(self, statement: ir.If) -> list:
        """Pairs of results that are one variable: the second is the first wherever it is read at all."""
        found = []
        ways = ((statement.then, statement.orelse, True), (statement.orelse, statement.then, False))
        for block, other, way in ways:
            for j, second in enumerate(statement.results):
                if other.results[j] != ir.ZERO or not isinstance(block.results[j], ir.Value):
                    continue
                for i, first in enumerate(statement.results):
                    same = i != j and block.results[i] is block.results[j]
                    if same and self.is_idle(second, test_of(statement), way):
                        found.append((first, second))
                        break
        return found


def test_of(statement: ir.If):
    """What holds where the first block has run: of an `Attempt`, the result that says so if there is one."""
    if isinstance(statement, ir.Attempt):
        for result, *ends in zip(statement.results, statement.then.results, statement.orelse.results, strict=True):
            if ends == [ir.Constant(True), ir.Constant(False)]:
                return result
    return statement.test


def _same(a, b) -> bool:
    """Do two tests surely come out the same? (Values are assigned once, code in operands is pure.)"""
    if a is b:
        return True
    return (
        isinstance(a, ir.Code)
        and isinstance(b, ir.Code)
        and a.reads == b.reads
        and gast.dump(a.node) == gast.dump(b.node)
    )
