"""The reverse pass proper: walks the statements of a block backwards and adds their adjoints.

What a statement's operands contributed to its result says where the cotangent of the result goes. A
loop becomes a loop over what the forward one saved, a branch a branch on the same test, a call the
call of the callee's backward function. The backward statements read the forward values themselves;
what of these lies inside a loop or a branch is handed out of it afterwards, and nothing else.
"""

import operator

from s2sgrad.transform import aliases, ir, walk
from s2sgrad.transform.aliases import Memory
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.regions import Regions
from s2sgrad.transform.analysis.repeats import repeats
from s2sgrad.transform.build import Builder
from s2sgrad.transform.ir import Kind, Value
from s2sgrad.transform.reverse.activity import keys
from s2sgrad.transform.reverse.collecting import unset
from s2sgrad.transform.reverse.cotangents import Scope
from s2sgrad.transform.reverse.flow import Flow


class Adjoint(Flow):
    """One reverse pass.

    Parameters
    ----------
    function : Function
    active : set of Value
    pairs : Pairs
    later : iterable of Value
        Whose contents its caller may change before the backward pass, where that is a function of its own.

    Attributes
    ----------
    pairs : Pairs
        The forward and backward functions of what is called.
    is_half : bool
        Whether the backward pass becomes a function of its own.
    namespace : Namespace
    """

    def __init__(self, function: ir.Function, active: set, pairs, is_half: bool = False, later=()):
        self.active = active
        self.pairs = pairs
        self.is_half = is_half
        self.namespace = function.namespace
        self.scope = Scope(local=walk.defined(function.body))
        self.build = Builder()
        self.memory = Memory(function.body, Regions(function), later)
        self.views = views(function.body)
        self.taken_out = taken_out(function)
        self.build.unstable = self.memory.is_written
        self.same = repeats(function.body, self.memory.is_volatile)
        self.origins = origins(function.body)
        self.unset = unset(function.body)
        self.forward = walk.defined(function.body) | {p.value for p in function.parameters}
        for v in self.forward:
            v.type = types.with_names(v.type)  # it has a shape, in each turn of a loop
        for s in function.body.statements:
            self.build.note(s)

    def block(self, statements: list) -> None:
        """Add the adjoints of statements, the last first; what the forward pass has to hand out is added to them."""
        for i in range(len(statements) - 1, -1, -1):
            s = statements[i]
            self.build.location = s.location
            self.build.adjoint_of = self.same.get(s.target, s.target) if isinstance(s, ir.Op | ir.Store) else None
            if isinstance(s, ir.Op | ir.Make | ir.Unpack):
                s = walk.substituted(s, self.same)
            match s:
                case ir.Op():
                    self.op(s)
                case ir.Make():
                    self.make(s)
                case ir.Unpack():
                    self.unpack(s)
                case ir.Accumulate():
                    self.accumulate(s)
                case ir.Store():
                    self.store(s)
                case ir.Call():
                    statements[i : i + 1] = self.call(s)
                case ir.If():
                    self.branch(s)
                case ir.For():
                    self.loop(s)
        self.build.adjoint_of = None


TAKING = (operator.getitem, getattr)


def taken_out(function: ir.Function) -> dict:
    """From a container that comes in and a key in it to what the function always takes out there, at the beginning."""
    found: dict = {}
    holders = {p.value for p in function.parameters}
    for s in function.body.statements:
        match s:
            case ir.Op(function=get, args=(holder, ir.Constant(value=key))) if holder in holders and get in TAKING:
                if key in (keys(holder.type) or ()):
                    found[holder, key] = s.target
                    holders.add(s.target)
            case ir.Verbatim() | ir.If() | ir.For():
                break
    return found


def views(block: ir.Block) -> dict:
    """From each view of an array to the operation that gives it."""
    found: dict = {}
    for s in walk.statements(block):
        if isinstance(s, ir.Op) and aliases.is_view(s):
            found[s.target] = s
        elif isinstance(s, ir.Unpack) and isinstance(s.source, Value) and s.source.type.kind is Kind.ARRAY:
            for place, target in places(s.targets):
                if target.type.kind is Kind.ARRAY:
                    index = ir.Constant(place if len(place) > 1 else place[0])
                    found[target] = ir.Op(target, operator.getitem, (s.source, index), {}, None, s.location)
    return found


def places(targets: tuple, place: tuple = ()):
    """The values in a pattern of targets, each with where it stands."""
    for i, target in enumerate(targets):
        if isinstance(target, tuple):
            yield from places(target, (*place, i))
        elif target is not None:
            yield (*place, i), target


def origins(block: ir.Block) -> dict:
    """From each array that was written to, to itself before that."""
    found: dict = {}
    stores = [s for s in walk.statements(block) if isinstance(s, ir.Store)]
    if not stores:
        return found
    found.update((s.target, s.into) for s in stores)
    for s in reversed(list(walk.statements(block))):
        if isinstance(s, ir.For):
            for c, following in zip(s.carried, s.body.results, strict=False):
                first = following
                while first in found:
                    first = found[first]
                if first is c.parameter and first is not following and isinstance(c.initial, ir.Value):
                    found[c.parameter] = found[c.result] = c.initial
    return found
