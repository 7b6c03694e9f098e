"""Loops over the rows of an array that is written to meanwhile, as loops over their numbers.

``for row in a: row[0] = row[1]`` is lowered as ::

    for i in range(len(a)):
        row = a[i]
        row[0] = row[1]

which is what Python does: each row is looked up when its turn has come.
"""

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.memory import viewed_names
from s2sgrad.transform.frontend.scan import is_pair, mutable_names


class Rows:
    """The part of `Lowering` that finds such loops."""

    def by_index(self, statement):
        """The loop over numbers that a loop over rows is; None where it needs not be, or cannot."""
        targets, iterables, number = [statement.target], [statement.iter], None
        call = statement.iter
        if isinstance(call, gast.Call) and isinstance(call.func, gast.Name) and not call.keywords:
            if self.is_builtin(call.func.id, enumerate) and len(call.args) == 1 and is_pair(statement.target):
                number, *targets = statement.target.elts
                iterables = call.args
            elif self.is_builtin(call.func.id, zip) and isinstance(statement.target, (gast.Tuple, gast.List)):
                targets, iterables = statement.target.elts, call.args
        written = mutable_names(statement.body, self.names, given=self.given_away(statement.body))
        concerned = set().union(*map(viewed_names, iterables), *map(self.names.stores, targets))
        seen = [self.env[n] for n in concerned if n in self.env]
        changed = [self.env[n] for n in written if n in self.env]
        if written.isdisjoint(concerned) and not any(self.meet(a, b) for a in seen for b in changed):
            return None
        if len(targets) != len(iterables):
            return None
        if not all(self.is_builtin(f.__name__, f) for f in (range, len, *([min] if len(iterables) > 1 else []))):
            return None
        rebound = set().union(*map(self.names.stores, statement.body))
        names = [self.name_of_rows(node, rebound) for node in iterables]
        if None in names:
            return None
        free = isinstance(number, gast.Name) and number.id not in rebound
        index = number.id if free else self.new_name("i")
        first = [] if number is None or free else [assignment(number, load(index))]
        rows = [
            assignment(t, gast.Subscript(load(n), load(index), gast.Load()))
            for t, n in zip(targets, names, strict=True)
        ]
        lengths = [call_of("len", [load(n)]) for n in names]
        length = lengths[0] if len(lengths) == 1 else call_of("min", lengths)
        target = gast.Name(index, gast.Store(), None, None)
        made = gast.For(target, call_of("range", [length]), [*first, *rows, *statement.body], statement.orelse, None)
        for node in [made, *first, *rows, made.iter]:
            for part in syntax.walk(node) if node is not made else (made, target):
                gast.copy_location(part, statement)
        return made

    def is_builtin(self, name: str, function) -> bool:
        """Does a name stand for a function of Python's own?"""
        if name in self.local or name in self.env:
            return False
        try:
            return self.outside.name(name).value is function
        except CompileError:
            return False

    def name_of_rows(self, node, rebound: set) -> str | None:
        """A name of the array that is iterated over, which the loop does not give to another."""
        array = self.view_of(node)
        if array is None or not array.type.ndim:
            return None
        if isinstance(node, gast.Name) and node.id not in rebound:
            return node.id
        name = self.new_name("rows")
        if array in self.temporaries:
            array.name = name
        self.env[name] = array
        return name


def load(name: str):
    return gast.Name(name, gast.Load(), None, None)


def assignment(target, value):
    return gast.Assign([target], value, None)


def call_of(name: str, args: list):
    return gast.Call(load(name), args, [])
