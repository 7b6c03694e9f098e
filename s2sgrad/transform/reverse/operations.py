"""The adjoints of single statements: operations by the rule table, items, containers, additions in place."""

import copy
import operator

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules import table
from s2sgrad.rules.table import lookup
from s2sgrad.runtime import arrays
from s2sgrad.transform import aliases, ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.emit import is_basic
from s2sgrad.transform.inline import Seq, inline
from s2sgrad.transform.inline import operand as as_operand
from s2sgrad.transform.ir import ZERO, Constant, Kind, Type, Value
from s2sgrad.transform.optimize.fold import strengthened
from s2sgrad.transform.reverse.activity import keys
from s2sgrad.transform.reverse.collecting import Collecting
from s2sgrad.transform.reverse.cotangents import (
    Cotangent,
    cotangent_name,
    is_container,
    is_of_numbers,
    is_stack,
    leaves,
    slot_name,
    slot_type,
    stack_type,
)
from s2sgrad.transform.show import called

# How lists are cut that surely have an element to lose.
ALL_BUT_LAST, ALL_BUT_FIRST = Constant(slice(None, -1)), Constant(slice(1, None))


class Operations(Collecting):
    """What the operands of a statement get from the cotangent of its result."""

    def make(self, s: ir.Make) -> None:
        g = self.take(s.target)
        if g is None:
            return
        if not isinstance(g, dict):
            known = tuple(range(len(s.items)))
            t = Type(Kind.TUPLE, items=tuple(map(types.type_of, s.items)))
            if s.target.type.kind is Kind.DICT:
                raise CompileError("a dict whose keys are not known", s.location)
            g = self.parts(g, t)
        else:
            known = keys(s.target.type)
        for key, x in zip(known, s.items, strict=True):
            self.add(x, g.get(key))

    def unpack(self, s: ir.Unpack) -> None:
        g = self.gathered(s.targets)
        if g is not None and self.is_active(s.source):
            self.unpacked(s.source, g, ())

    def gathered(self, targets):
        """The cotangents of a pattern of targets, as a dict."""
        if targets is None:
            return None
        if isinstance(targets, Value):
            g = self.take(targets)
            return None if g is None else (g, targets)
        parts = {i: self.gathered(t) for i, t in enumerate(targets)}
        parts = {i: g for i, g in parts.items() if g is not None}
        return parts or None

    def unpacked(self, source: Value, g, path: tuple) -> None:
        t = slot_type((source, path))
        if isinstance(g, tuple):
            cotangent, target = g
            if keys(t) is None and isinstance(cotangent, dict):
                cotangent = self.operand(cotangent, target)
            self.add(source, cotangent, path)
        elif (known := keys(t)) is not None:
            for i, part in g.items():
                self.unpacked(source, part, (*path, known[i]))
        elif t.kind is Kind.ARRAY or t.kind in (Kind.LIST, Kind.TUPLE):
            for index, part, target in flat(g):
                if t.kind is not Kind.ARRAY and len(index) > 1:
                    raise CompileError("nested unpacking of a container whose items are not known", self.build.location)
                place = Constant(index if len(index) > 1 else index[0])
                self.add_at((source, path), place, self.operand(part, target))
        else:
            for index, part, target in flat(g):
                if len(index) > 1:
                    raise CompileError("nested unpacking of a value of unknown kind", self.build.location)
                whole, place = self.read((source, path)), Constant(index[0])
                self.add(source, self.build.op(arrays.embed_item, self.operand(part, target), whole, place), path)

    def accumulate(self, s: ir.Accumulate) -> None:
        g = self.take(s.target)
        if g is None:
            return
        whole = self.operand(g, s.target)
        self.add(s.into, whole)
        if not self.is_active(s.value):
            return
        if s.index is None:
            self.add(s.value, self.build.op(arrays.unbroadcast, whole, s.value))
            return
        part = self.build.op(operator.getitem, whole, s.index)
        if s.value.type.kind in (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN) and not is_container(s.into.type):
            part = self.build.op(arrays.unbroadcast, part, s.value)
        self.add(s.value, part)

    def store(self, s: ir.Store) -> None:
        """What was written gets the cotangent of the place, in which nothing is left of what was there before."""
        found = self.scope.cotangents.pop((s.target, ()), None)
        if found is None:
            return
        buffer = self.buffer((s.target, ()), found)

        def take_out(into: Value, through: Value | None) -> Value:
            self.stored(s, into if through is None else through)
            if s.operator is not None or not self.is_active(s.into):
                return into
            index = Constant(Ellipsis) if s.index is None else s.index
            after = Value(slot_name((s.into, ())) if into is buffer else into.name, into.type)
            self.build.add(ir.Store(after, into, index, Constant(0.0), None, through, False, s.location))
            return after

        if s.operator is None and s.index is None and s.through is None:
            self.stored(s, buffer)
            return  # nothing is left of what was there before
        chain = [] if s.through is None else self.steps(s.through, s.into)
        self.give(s.into, self.inside(buffer, chain, take_out))

    def stored(self, s: ir.Store, place: Value) -> None:
        """What was written gets the cotangent of the place."""
        if not self.is_active(s.value):
            return
        part = place if s.index is None else self.build.op(operator.getitem, place, s.index)
        kind = types.type_of(part).kind
        if kind not in (Kind.NUMBER, Kind.ARRAY):
            raise CompileError("what is stored here cannot be told", s.location)
        if kind is Kind.ARRAY and not (s.index is None or is_basic(s.index) or isinstance(s.operator, np.ufunc)):
            if not is_mask(s.index):
                t = types.type_of(part)
                last = Value("last", Type(Kind.ARRAY, "bool", t.ndim, t.shape))
                self.build.plain(last, arrays.stays, (place, called_slices(s.index)), {})
                part = self.build.op(np.where, last, part, Constant(0.0))
        elif kind is Kind.ARRAY:
            part = self.build.op(np.copy, part)
        if s.operator in (operator.sub, np.subtract):
            part = self.build.op(operator.neg, part)
        self.add(s.value, self.build.op(arrays.unbroadcast, part, s.value))

    def steps(self, view: Value, root: Value | None = None) -> list:
        """The operations that make a view of an array, from the first to the last: of `root`, if that is given."""
        found: list = []
        while view is not root and (root is not None or view in self.views):
            if view not in self.views:
                raise CompileError("what this view is a view of cannot be told", self.build.location)
            found.insert(0, self.views[view])
            view = found[0].args[0]
        return found

    def inside(self, buffer: Value, chain: list, change) -> Value:
        """`buffer` after `change(buffer, view)`, where `view` is to it what `chain` makes of an array.

        What is reshaped may be a copy: it is changed, and reshaped back.
        """
        at = next((i for i, op in enumerate(chain) if op.function in aliases.RESHAPED), None)
        view = self.along(buffer, chain[:at])
        if at is None:
            return change(buffer, None if view is buffer else view)
        other = self.along(view, chain[at : at + 1])
        after = self.inside(other, chain[at + 1 :], change)
        if after is other:
            return buffer
        back = Value(buffer.name, view.type)
        self.build.plain(back, np.reshape, (after, self.build.op(np.shape, view, spelling="shape")), {}, "reshape()")
        if view is buffer:
            return back
        result = Value(buffer.name, buffer.type)
        self.build.add(ir.Store(result, buffer, Constant(Ellipsis), back, None, view, False, self.build.location))
        return result

    def add_inside(self, view: Value, index, contribution) -> None:
        """Add to an element of the cotangent of a view: in the one of the array itself, which is written to."""
        chain = self.steps(view)
        root = chain[0].args[0]
        if not self.is_active(root):
            return
        buffer = self.buffer((root, ()), self.scope.get((root, ())))

        def add(into: Value, through: Value | None) -> Value:
            after, location = (
                Value(slot_name((root, ())) if into is buffer else into.name, into.type),
                self.build.location,
            )
            if through is None:
                self.build.add(ir.Accumulate(after, into, index, contribution, location))
            else:
                self.build.add(ir.Store(after, into, index, contribution, operator.add, through, False, location))
            return after

        self.scope.set((root, ()), Cotangent(self.inside(buffer, chain, add), owned=True))

    def along(self, array: Value, chain: list) -> Value:
        """What the operations `chain` make of an array."""
        for op in chain:
            result = Value(cotangent_name(op.target.name))
            array = self.build.plain(result, op.function, (array, *op.args[1:]), op.kwargs, op.spelling)
        return array

    def op(self, s: ir.Op) -> None:
        if s.function is operator.concat:
            self.chained(s)
            return
        g = self.take(s.target)
        if g is None:
            return
        if s.function is operator.getitem:
            self.item(s, g)
            return
        if s.function is sum:
            self.sum_of(s, g)
            return
        if s.function is getattr and s.args[0].type.kind is Kind.RECORD:
            self.add(s.args[0], g, (s.args[1].value,))
            return
        if s.function is np.copy and not s.kwargs and types.same_dtype(s.target.type, types.type_of(s.args[0])):
            self.add(s.args[0], g)
            return
        if s.function in (np.array, np.asarray) and self.is_of_rows(s):
            whole = self.operand(g, s.target)
            self.add(s.args[0], self.build.plain(Value("t", Type(Kind.LIST)), arrays.rows_of, (whole,), {}))
            return
        if s.function in (np.array, np.asarray) and self.is_of_items(s):
            self.items(s.args[0], self.operand(g, s.target))
            return
        rule = lookup(s.function)
        if rule is None:
            raise CompileError(f"{called(s.function)} has no derivative rule", s.location)
        if rule.kind == "elementwise" and "where" in s.kwargs and "out" in s.kwargs:
            self.masked(s, rule, self.operand(g, s.target))
        elif rule.kind == "elementwise":
            self.elementwise(s, rule, self.operand(g, s.target))
        else:
            self.general(s, rule, self.sequence(g, s.target))

    @staticmethod
    def is_of_rows(s: ir.Op) -> bool:
        """Does it make an array of a list of doubles, or of arrays of them, whose number only the run knows?"""
        if len(s.args) != 1 or s.kwargs or s.target.type.kind is not Kind.ARRAY or s.args[0].type.kind is not Kind.LIST:
            return False
        element = s.args[0].type.element
        known = element is not None and (element.kind is Kind.NUMBER or (element.kind is Kind.ARRAY and element.ndim))
        return known and element.dtype in ("float", "float64") and s.target.type.dtype == "float64"

    @staticmethod
    def is_of_items(s: ir.Op) -> bool:
        """Does it make a real array of numbers, or of arrays of one shape, that are known one by one?"""
        made, given = s.target.type, types.type_of(s.args[0])
        if len(s.args) != 1 or s.kwargs or made.kind is not Kind.ARRAY or made.dtype != "float64" or not made.ndim:
            return False
        return keys(given) is not None and all(
            t.kind in (Kind.NUMBER, Kind.ARRAY) and t.is_real and t.ndim is not None and t.ndim + len(path) == made.ndim
            for path, t in leaves(given)
        )

    def items(self, x, g) -> None:
        """Give each of the items that an array was made of its part of the cotangent."""
        for place, _ in leaves(x.type):
            index = Constant(place if len(place) > 1 else place[0])
            self.add(x, self.build.op(operator.getitem, g, index), place)

    def sum_of(self, s: ir.Op, g) -> None:
        """The adjoint of Python's ``sum``: each element gets the cotangent of the sum."""
        (x,) = s.args
        g, known = self.operand(g, s.target), keys(x.type)
        if x.type.kind is Kind.ARRAY:
            self.add(x, self.build.op(np.broadcast_to, g, self.build.op(np.shape, x, spelling="shape")))
        elif known is None:
            self.add(x, self.build.plain(Value("t", Type(Kind.LIST)), arrays.shared_out, (g, x), {}))
        else:
            for k in known:
                self.add(x, self.build.op(arrays.unbroadcast, g, self.read((x, (k,)))), (k,))

    def chained(self, s: ir.Op) -> None:
        """The adjoint of two sequences put together: each gets its part."""
        found = self.scope.pop((s.target, ())) if self.is_active(s.target) else None
        if found is None:
            return
        whole = found.operand
        first, second = s.args
        known, others = keys(first.type), keys(second.type)
        if known is None and others is None:
            n = self.build.op(len, first)
            name = gast.Name("n", gast.Load(), None, None)
            parts = [ir.Code(gast.Slice(*bounds, None), {"n": n}) for bounds in ((None, name), (name, None))]
        else:
            n = len(known) if known is not None else -len(others) or None  # all is the first's if the second is empty
            parts = [Constant(slice(None, n)), Constant(slice(n, None))]
        for x, part in zip((first, second), parts, strict=True):
            if self.is_active(x):
                d = self.build.op(operator.getitem, whole, part)
                if isinstance(d, Value):
                    d.type = stack_type(x.type)
                self.cut_out(x, d, found.partial)

    def cut_out(self, x: Value, d, partial: bool) -> None:
        """Give a list what was cut out of the cotangent of another, some of which may be None for zero."""
        known = keys(x.type)
        if partial and is_of_numbers(x.type):
            d, partial = self.completed(d, x, x.type, slot_name((x, ()))), False
        if known is None and isinstance(d, Value) and self.scope.get((x, ())) is None:
            self.scope.set((x, ()), Cotangent(d, owned=True, partial=partial))  # what is cut out is a list of its own
        elif known is None or not partial:
            self.add(x, self.completed(d, x, x.type) if partial else d)
        else:
            for key, item in self.parts(d, x.type, partial).items():
                slot = (x, (key,))
                self.add(x, self.completed(item, self.read(slot), slot_type(slot)), (key,))

    def lengthened(self, base: Value, rest, index) -> None:
        """The adjoint of taking away the last element of a list, or the first, which is there: nothing comes to it."""
        absent, t = (Constant(0.0), ir.FLOAT) if is_of_numbers(base.type) else (ZERO, ir.OTHER)
        missing = self.build.make(Type(Kind.LIST, items=(t,)), [absent])
        parts = (rest, missing) if index == ALL_BUT_LAST else (missing, rest)
        d = self.build.plain(Value(slot_name((base, ())), stack_type(base.type)), operator.concat, parts, {})
        self.cut_out(base, d, absent is ZERO)

    def sequence(self, g, value: Value):
        """A cotangent as the inliner takes it: items one by one where they are known."""
        if isinstance(g, dict) and value.type.kind in (Kind.TUPLE, Kind.LIST):
            return Seq(tuple(Constant(None) if x is None else self.operand(x, value, (k,)) for k, x in g.items()), list)
        return self.operand(g, value)

    def masked(self, s: ir.Op, rule, g) -> None:
        """The adjoint of ``np.sqrt(x, out=before, where=mask)``, which is `before` where the mask is false."""
        before, mask = s.kwargs["out"], s.kwargs["where"]
        if self.is_active(before):
            self.add(before, self.build.op(arrays.unbroadcast, self.build.op(np.where, mask, Constant(0.0), g), before))
        plain = ir.Op(s.target, s.function, s.args, {}, s.spelling, s.location)
        self.elementwise(plain, rule, self.build.op(np.where, mask, g, Constant(0.0)))

    def elementwise(self, s: ir.Op, rule, g) -> None:
        args = self.positional(s, rule)
        g = strengthened(self.build, g, s.target, args) or g
        real = all(types.type_of(x).is_real for x in (g, s.target, *args))
        found: dict = {}  # what is an argument twice, as in x * x, gets the sum
        for i, x in enumerate(args):
            partial = rule.partials[i]
            if not self.is_active(x) or partial is None:
                continue
            if partial is table.unknown:
                name = rule.parameters[i]
                raise CompileError(f"{called(s.function)} has no derivative rule with respect to {name}", s.location)
            given = [*args, s.target] if rule.uses_out[i] else args
            if real:
                d = inline(self.build, partial, [g, *given])
            else:
                d = inline(self.build, partial, [self.build.op(np.conjugate, g), *given])
                d = self.build.op(np.conjugate, as_operand(self.build, d))
            d = self.build.op(arrays.unbroadcast, as_operand(self.build, d), x)
            found[x] = d if x not in found else self.build.op(operator.add, found[x], d)
        for x, d in found.items():
            self.add(x, d)

    def positional(self, s: ir.Op, rule) -> list:
        """The arguments of an elementwise operation, in the order of the rule."""
        args = list(s.args)
        for name in rule.parameters[len(args) :]:
            if name not in s.kwargs:
                raise CompileError(f"{called(s.function)} is called without {name}", s.location)
            args.append(s.kwargs[name])
        if len(args) != len(s.args) + len(s.kwargs) or len(args) > len(rule.partials):
            raise CompileError(f"an option of {called(s.function)} is not covered by its derivative rule", s.location)
        return args

    def general(self, s: ir.Op, rule, g) -> None:
        """A linear or general rule."""
        if isinstance(g, Constant | Value):
            g = strengthened(self.build, g, s.target, s.args) or g
        head = [g] if rule.kind == "linear" else [g, s.target]
        names = rule.parameters
        for name in s.kwargs:
            if name not in names:
                raise CompileError(f"{name}= of {called(s.function)} is not covered by its derivative rule", s.location)
        rest = variadic(rule)
        positional = names if rest is None else names[: names.index(rest)]  # of the arguments given by position
        active = {positional[i] if i < len(positional) else rest for i, x in enumerate(s.args) if self.is_active(x)}
        active |= {name for name, x in s.kwargs.items() if self.is_active(x)}
        places = dict(zip(positional, s.args, strict=False)) | s.kwargs
        if rest is not None:
            places[rest] = Seq(s.args[len(positional) :])
        covered = set(rule.pullbacks) | set(rule.joint_names)
        templates = (
            getattr(s.function, "__module__", None) == arrays.__name__
        )  # the helpers take other arguments for their shape alone
        for name in names:
            if name in active and name not in covered and not templates:
                raise CompileError(f"{called(s.function)} has no derivative rule with respect to {name}", s.location)
        joint = self.joint(s, rule, head, active)
        for name in names:
            if name not in active & covered:
                continue
            if name in rule.pullbacks:
                d = inline(self.build, rule.pullbacks[name], [*head, *s.args], s.kwargs)
            else:
                d = joint[name]
            self.spread(places[name], d)

    def joint(self, s, rule, head, active) -> dict:
        if rule.joint is None or not active & set(rule.joint_names) - set(rule.pullbacks):
            return {}
        d = inline(self.build, rule.joint, [*head, *s.args], s.kwargs)
        if not isinstance(d, Seq):
            targets = tuple(Value("t") if name in active else None for name in rule.joint_names)
            self.build.add(ir.Unpack(targets, d, self.build.location))
            d = Seq(targets)
        return dict(zip(rule.joint_names, d.items, strict=True))

    def spread(self, x, d) -> None:
        """Add the cotangent of an argument, or of a run of arguments."""
        if isinstance(x, Seq):
            if not isinstance(d, Seq):
                targets = tuple(Value("t") if self.is_active(one) else None for one in x.items)
                self.build.add(ir.Unpack(targets, d, self.build.location))
                d = Seq(targets)
            for one, part in zip(x.items, d.items, strict=True):
                self.spread(one, part)
            return
        if not self.is_active(x):
            return
        if not isinstance(d, Seq) and not is_container(x.type):
            t = types.type_of(d)
            if not t.is_real and x.type.kind in (Kind.NUMBER, Kind.ARRAY) and x.type.is_real:
                d = self.build.op(np.real, d)
            elif not t.is_real and not (x.type.dtype or "").startswith("complex") and t.dtype is not None:
                d = self.build.op(arrays.unbroadcast, d, x)
        self.add(x, d)

    def item(self, s: ir.Op, g) -> None:
        """The adjoint of ``base[index]``."""
        base, index = s.args
        t = base.type
        known = keys(t)
        i = literal_index(index)
        if known is not None and i is not None:
            if not is_item(i, known, t):
                raise CompileError("an item that is not there", s.location)
            if t.kind is Kind.DICT:
                self.add(base, g, (i,))
            elif isinstance(i, slice):
                chosen = known[i]
                whole = self.operand(g, s.target) if keys(s.target.type) is None else g
                for j, part in self.parts(whole, Type(Kind.TUPLE, items=t.items[i])).items():
                    self.add(base, part, (chosen[j],))
            else:
                self.add(base, g, (known[i],))
            return
        whole = self.operand(g, s.target)
        if is_stack(t) and index in (ALL_BUT_LAST, ALL_BUT_FIRST):
            self.lengthened(base, whole, index)
        elif base in self.views and self.memory.is_written(base) and is_basic(index):
            self.add_inside(base, index, whole)
        elif t.kind is Kind.ARRAY and (first := without_axes(index)) is not None:
            self.add(base, self.build.op(operator.getitem, whole, Constant(first)))
        elif t.kind is Kind.ARRAY or is_container(t):
            self.add_at((base, ()), index if is_basic(index) else called_slices(index), whole)
        else:
            self.add(base, self.build.op(arrays.embed_item, whole, base, called_slices(index)))


def literal_index(index):
    """The integer, slice or key that an index surely is; None where only the run knows."""
    if isinstance(index, ir.Code) and isinstance(index.node, gast.Slice):
        bounds = []
        for node in (index.node.lower, index.node.upper, index.node.step):
            bound = None if node is None else types.constant(ir.Code(node), index)
            if bound is index:
                return None
            bounds.append(bound)
        return slice(*bounds)
    return types.constant(index, None)


def without_axes(index) -> tuple | None:
    """The index that takes away the axes that `index` adds, which does nothing else; None where it does more."""
    entries = types.entries_of(index) or ()
    if types.NEW in entries and all(e == types.NEW or e == slice(None) for e in entries):
        return tuple([0 if e == types.NEW else e for e in entries])
    return None


def is_mask(index) -> bool:
    """Is an index surely an array of truth values?"""
    t = types.type_of(index)
    return t.kind is Kind.ARRAY and t.dtype == "bool"


def is_item(i, known: tuple, t: Type) -> bool:
    """Whether a container has an item, or a run of items, of that index."""
    if t.kind is Kind.DICT:
        return i in known
    return isinstance(i, slice) or (isinstance(i, int) and -len(known) <= i < len(known))


def called_slices(index):
    """An index that can stand outside of brackets: ``slice(1, n)`` for ``1:n``."""
    if not isinstance(index, ir.Code) or not any(isinstance(n, gast.Slice) for n in gast.walk(index.node)):
        return index
    return ir.Code(_SliceCalls().visit(copy.deepcopy(index.node)), index.reads, index.type)


class _SliceCalls(gast.NodeTransformer):
    def visit_Slice(self, node):
        none = gast.Constant(None, None)
        bounds = [none if b is None else b for b in (node.lower, node.upper, node.step)]
        return gast.Call(gast.Name("slice", gast.Load(), None, None), bounds, [])


def flat(g: dict, index: tuple = ()):
    """The leaves of nested cotangents: the index, the cotangent, the value it is of."""
    for i, part in g.items():
        if isinstance(part, dict):
            yield from flat(part, (*index, i))
        else:
            yield (*index, i), *part


def variadic(rule) -> str | None:
    """The name of the parameter of a rule that takes all further arguments, if it has one."""
    function = rule.joint if rule.joint is not None else next(iter(rule.pullbacks.values()))
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & 0x04:
        return None
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
