"""Which values a derivative flows through: those that depend on the differentiated arguments.

Cotangents are built for these alone. The `active` marks of the values are those of the frontend; what
counts here is worked out anew for each derivative, since a function may be differentiated with respect
to other arguments, or be a derivative itself.
"""

import operator

from s2sgrad.errors import CompileError
from s2sgrad.rules.table import lookup
from s2sgrad.transform import ir, walk
from s2sgrad.transform.ir import Kind, Type, Value

CONTAINERS = (Kind.TUPLE, Kind.LIST, Kind.DICT, Kind.RECORD)


def keys(t: Type) -> tuple | None:
    """The keys of a container whose items are known one by one, else None."""
    if t.items is None or t.kind not in CONTAINERS:
        return None
    return tuple(range(len(t.items))) if t.keys is None else t.keys


def item(t: Type, key) -> Type:
    """The type of the item at `key`."""
    return t.items[keys(t).index(key)]


def carries(t: Type) -> bool:
    """Whether a value of this type can carry a derivative at all.

    Examples
    --------
    >>> carries(ir.INT), carries(ir.FLOAT), carries(ir.UNKNOWN)
    (False, True, True)
    """
    if t.kind in (Kind.OTHER, Kind.CALLABLE):
        return False
    known = keys(t)
    if known is not None:
        return any(map(carries, t.items))
    if t.kind in CONTAINERS:
        return t.element is None or carries(t.element)
    return t.dtype is None or not t.dtype.startswith(("int", "uint", "bool"))


def active_values(function: ir.Function, parts: dict) -> set:
    """The active values of a function.

    Parameters
    ----------
    function : Function
    parts : dict
        From each differentiated parameter (a `Value`) to the keys of its differentiated items, or to
        None for all of it.
    """
    found = _Activity(parts)
    size = -1
    while size != len(found.active):  # loops hand activity back to their beginning
        size = len(found.active)
        found.block(function.body)
    return found.active


class _Activity:
    def __init__(self, parts):
        self.parts = {v: k for v, k in parts.items() if k is not None}
        self.active = set(parts)

    def is_active(self, operand) -> bool:
        return isinstance(operand, Value) and operand in self.active

    def mark(self, targets) -> None:
        self.active.update(v for v in walk.pattern(targets) if carries(v.type))

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            self.statement(s)

    def statement(self, s) -> None:
        match s:
            case ir.Op():
                if self.op(s):
                    self.mark(s.target)
            case ir.Make():
                if any(map(self.is_active, s.items)):
                    self.mark(s.target)
            case ir.Unpack():
                if self.is_active(s.source):
                    known = self.parts.get(s.source)
                    for i, target in enumerate(s.targets):
                        if known is None or i in known:
                            self.mark(target)
            case ir.Accumulate():
                if self.is_active(s.into) or self.is_active(s.value):
                    self.mark(s.target)
            case ir.Store():
                if self.is_active(s.into) or self.is_active(s.value):
                    self.mark(s.target)
            case ir.PlainCall() if s.recorded is not None and any(map(self.is_active, s.args)):
                # the pullback that it gives depends on them in ways that nobody sees
                raise CompileError(f"the second derivative of {s.callee.name}, which runs on the tape", s.location)
            case ir.Call():
                if any(map(self.is_active, s.args)):
                    self.mark(s.target)
            case ir.If():
                self.block(s.then)
                self.block(s.orelse)
                for i, result in enumerate(s.results):
                    if self.is_active(s.then.results[i]) or self.is_active(s.orelse.results[i]):
                        self.mark(result)
            case ir.For():
                self.loop(s)
            case ir.Bind() | ir.Verbatim():
                if any(v in self.active for v in walk.defines(s)):
                    reason = "a derivative would have to flow through a statement that is not lowered"
                    raise CompileError(reason, s.location)

    def op(self, s: ir.Op) -> bool:
        rule = lookup(s.function)
        if rule is not None and rule.kind == "inactive":
            return False
        if s.function is operator.getitem and s.args[0] in self.parts and isinstance(s.args[1], ir.Constant):
            base, key = s.args[0], s.args[1].value
            if type(key) is int and base.type.items is not None and base.type.kind is Kind.TUPLE:
                key %= max(len(base.type.items), 1)
            return isinstance(key, slice) or key in self.parts[base]
        return any(map(self.is_active, [*s.args, *s.kwargs.values()]))

    def loop(self, s: ir.For) -> None:
        for source in s.sources:
            if source.iterable is not None and self.is_active(source.iterable):
                self.mark(source.element)
        for c in s.carried:
            if self.is_active(c.initial):
                self.mark(c.parameter)
        self.block(s.body)
        n = len(s.carried)
        for c, following in zip(s.carried, s.body.results, strict=False):
            if self.is_active(following):
                self.mark(c.parameter)
            if self.is_active(following) or self.is_active(c.initial):
                self.mark(c.result)
        for collected, operand in zip(s.collected, s.body.results[n:], strict=True):
            if self.is_active(operand):
                self.mark(collected)
