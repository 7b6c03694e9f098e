"""Builds blocks of generated code: every operation is typed, simplified and placed as it is added."""

from collections.abc import Callable

import numpy as np

from s2sgrad.errors import Location
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import contents_of
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.lengths import Lengths
from s2sgrad.transform.ir import Kind, Type, Value
from s2sgrad.transform.optimize.fold import simplify


class Builder:
    """Appends operations to `statements`.

    `definitions` says which operation defines a value (of the whole function so far; it is shared with the
    builders of the blocks inside), `lengths` which lengths are equal wherever this block runs. `unstable` tells
    the values whose contents change: what was computed from them is not computed from them again.

    Examples
    --------
    >>> import operator
    >>> build = Builder()
    >>> x = Value("x", ir.FLOAT)
    >>> build.op(operator.mul, ir.Constant(1.0), x) is x
    True
    """

    def __init__(self, outer: "Builder | None" = None):
        self.statements: list = []
        self.made: set = set()  # the values that these statements define
        self.definitions: dict = {} if outer is None else outer.definitions
        self.lengths = Lengths(None if outer is None else outer.lengths)
        self.learnt: list = []  # for each statement how much was known of lengths before it
        self.location: Location | None = None if outer is None else outer.location
        self.adjoint_of: Value | None = None  # what the next statements belong to the adjoint of
        self.unstable: Callable = (lambda value: False) if outer is None else outer.unstable

    def inner(self, forward=()) -> "Builder":
        """The builder of a block in this one, which runs only where the statements `forward` have run."""
        builder = Builder(self)
        for s in forward:
            builder.lengths.note(s)
        return builder

    def note(self, statement) -> None:
        """Learn what a statement of the program defines, and what it says of lengths."""
        self.lengths.note(statement)
        self.define(statement)

    def define(self, statement) -> None:
        if isinstance(statement, ir.Make) or (
            isinstance(statement, ir.Op) and not any(map(self.unstable, contents_of(statement)))
        ):
            self.definitions[statement.target] = statement
        for block in walk.blocks(statement):
            for inner in block.statements:
                self.define(inner)

    def add(self, statement):
        """Append a statement as it is."""
        if self.adjoint_of is not None and isinstance(statement, ir.Op | ir.Accumulate | ir.Store):
            statement.adjoint_of = self.adjoint_of
        self.statements.append(statement)
        self.made.update(walk.defines(statement))
        self.learnt.append(len(self.lengths.parent))
        self.note(statement)
        return statement

    def op(self, function: Callable, *args, name: str = "t", spelling=None, **kwargs):
        """The operand that ``function(*args, **kwargs)`` is: a new value, or a simpler way to say it."""
        known = simplify(self, function, args, kwargs)
        if known is not None:
            return known
        return self.plain(Value(name), function, args, kwargs, spelling)

    def plain(self, target: Value, function, args, kwargs, spelling=None) -> Value:
        """``target = function(*args, **kwargs)``, not simplified."""
        if target.type is ir.UNKNOWN:
            target.type = result_type(self.definitions, function, args, kwargs)
        self.add(ir.Op(target, function, tuple(args), dict(kwargs), spelling, self.location))
        return target

    def make(self, type: Type, items, name: str = "t") -> Value:  # noqa: A002
        """A container of operands."""
        target = Value(name, type)
        self.add(ir.Make(target, tuple(items), self.location))
        return target

    def sequence(self, items, kind: Kind = Kind.TUPLE, name: str = "t") -> Value:
        """A tuple or list of operands."""
        return self.make(types.sequence(kind, [types.type_of(item) for item in items]), items, name)

    def rollback(self, mark: int) -> None:
        """Take back the statements from `mark` on."""
        for statement in self.statements[mark:]:
            if isinstance(statement, ir.Op | ir.Make):
                self.definitions.pop(statement.target, None)
        if mark < len(self.statements):
            self.lengths.forget(self.learnt[mark])
        del self.statements[mark:], self.learnt[mark:]


def result_type(definitions: dict, function, args, kwargs) -> Type:
    """The type of a call in generated code."""
    if function is np.broadcast_to or function is np.reshape:
        template = shape_of(definitions, args[1]) if len(args) == 2 and not kwargs else None
        if template is not None:
            dtype = types.type_of(args[0]).dtype
            dtype = {"float": "float64", "int": "int64", "complex": "complex128"}.get(dtype, dtype)
            if template.kind in (Kind.NUMBER, Kind.ARRAY):
                return Type(Kind.ARRAY, dtype, template.ndim, template.shape)
            return Type(Kind.ARRAY, dtype)
    return types.infer(function, tuple(args), dict(kwargs))


def shape_of(definitions: dict, operand) -> Type | None:
    """The type of `x` where `operand` is ``np.shape(x)``."""
    define = definitions.get(operand) if isinstance(operand, Value) else None
    if isinstance(define, ir.Op) and define.function is np.shape:
        return types.type_of(define.args[0])
    return None
