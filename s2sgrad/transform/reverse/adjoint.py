"""The reverse pass proper: walks the statements of a block backwards and adds their adjoints.

What a statement's operands contributed to its result says where the cotangent of the result goes. A
loop becomes a loop over what the forward one saved, a branch a branch on the same test, a call the
call of the callee's backward function. The backward statements read the forward values themselves;
what of these lies inside a loop or a branch is handed out of it afterwards, and nothing else.
"""

import copy
import operator
from dataclasses import replace

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules.table import lookup
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, optimize, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.build import Builder
from s2sgrad.transform.emit import is_basic
from s2sgrad.transform.inline import Seq, inline
from s2sgrad.transform.inline import operand as as_operand
from s2sgrad.transform.ir import ZERO, Constant, Kind, Type, Value
from s2sgrad.transform.reverse.activity import carries, item, keys
from s2sgrad.transform.reverse.cotangents import (
    Cotangent,
    LoopScope,
    Scope,
    has_buffer,
    is_container,
    leaves,
    slot_name,
    slot_type,
)
from s2sgrad.transform.show import called

WHOLE = slice(None, None, -1)


class Adjoint:
    """The state of one reverse pass.

    Attributes
    ----------
    active : set of Value
    pairs : Pairs
        The forward and backward functions of what is called.
    scope : Scope
        The cotangents of the block that is being walked.
    build : Builder
        Where the backward statements go.
    """

    def __init__(self, function: ir.Function, active: set, pairs):
        self.active = active
        self.pairs = pairs
        self.namespace = function.namespace
        self.scope = Scope()
        self.build = Builder()
        self.forward = walk.defined(function.body) | {p.value for p in function.parameters}
        for v in self.forward:
            if v.type.kind is Kind.ARRAY and v.type.ndim and v.type.shape is None:
                v.type = replace(v.type, shape=types.fresh())  # it has a shape, in each turn of a loop
        for s in function.body.statements:
            self.build.note(s)

    # ---------------------------------------------------------------- cotangents in

    def is_active(self, operand) -> bool:
        return isinstance(operand, Value) and operand in self.active

    def add(self, value, contribution, path: tuple = ()) -> None:
        """Add a contribution (an operand, or a dict or `Seq` of them) to the cotangent of `value` at `path`."""
        if not self.is_active(value) or absent(contribution):
            return
        t = slot_type((value, path))
        if not carries(t):
            return
        known = keys(t)
        if known is not None:
            for key, part in self.parts(contribution, t).items():
                self.add(value, part, (*path, key))
            return
        if isinstance(contribution, dict | Seq):
            contribution = self.together(contribution, t)
        self.add_leaf((value, path), contribution)

    def parts(self, contribution, t: Type) -> dict:
        """The cotangents of the items of a container of type `t`, by key."""
        known = keys(t)
        if isinstance(contribution, dict):
            return contribution
        if isinstance(contribution, Seq):
            items = contribution.items
        else:
            define = self.build.definitions.get(contribution) if isinstance(contribution, Value) else None
            if isinstance(define, ir.Make):
                items = define.items
            elif t.kind is Kind.DICT or (t.kind is Kind.RECORD and not issubclass(t.cls, tuple)):
                get = operator.getitem if contribution.type.kind is Kind.DICT else getattr
                get = operator.getitem if t.kind is Kind.DICT else get
                return {k: self.build.op(get, contribution, Constant(k)) for k in known if carries(item(t, k))}
            else:
                items = tuple(Value("t") if carries(item(t, k)) else None for k in known)
                for key, target in zip(known, items, strict=True):
                    if target is not None:
                        target.type = cotangent_type(item(t, key))
                self.build.add(ir.Unpack(items, contribution, self.build.location))
        return {k: x for k, x in zip(known, items, strict=True) if not absent(x)}

    def together(self, contribution, t: Type):
        """The parts of a cotangent as one container."""
        if isinstance(contribution, Seq):
            contribution = dict(enumerate(contribution.items))
        items = [ZERO if absent(x) else self.whole(x, ir.UNKNOWN) for x in contribution.values()]
        kind = Kind.DICT if t.kind is Kind.DICT else Kind.TUPLE if t.kind is Kind.TUPLE else Kind.LIST
        names = tuple(contribution) if kind is Kind.DICT else None
        return self.build.make(Type(kind, items=tuple(map(types.type_of, items)), keys=names), items)

    def whole(self, contribution, t: Type):
        """A contribution as an operand."""
        if isinstance(contribution, dict | Seq):
            return self.together(contribution, t)
        return as_operand(self.build, contribution)

    def add_leaf(self, slot, contribution) -> None:
        contribution = as_operand(self.build, contribution)
        t = slot_type(slot)
        before = self.scope.get(slot)
        if isinstance(contribution, Value):
            if before is None and contribution.name == "t" and contribution not in self.forward:
                contribution.name = slot_name(slot)
            refine(contribution, t)
        if before is None:
            self.scope.set(slot, Cotangent(contribution))
        elif before.owned and t.kind is Kind.ARRAY:
            target = Value(slot_name(slot), before.operand.type)
            self.build.add(ir.Accumulate(target, before.operand, None, contribution, self.build.location))
            self.scope.set(slot, Cotangent(target, owned=True))
        else:
            plain = t.kind in (Kind.NUMBER, Kind.ARRAY) or (t.kind is Kind.UNKNOWN and t.dtype is not None)
            total = self.build.op(operator.add if plain else arrays.tree_add, before.operand, contribution)
            if isinstance(total, Value):
                if total.name == "t":
                    total.name = slot_name(slot)
                refine(total, t)
            self.scope.set(slot, Cotangent(total, partial=before.partial))

    def add_at(self, slot, index, contribution) -> None:
        """Add to an element of the cotangent in a slot, in place."""
        contribution = as_operand(self.build, contribution)
        buffer = self.buffer(slot, self.scope.get(slot))
        target = Value(slot_name(slot), buffer.type)
        self.build.add(ir.Accumulate(target, buffer, index, contribution, self.build.location))
        self.scope.set(slot, Cotangent(target, owned=True, partial=is_container(buffer.type)))

    def buffer(self, slot, found: Cotangent | None) -> Value:
        """A buffer for a slot that nobody else holds, with what is in the slot already."""
        if found is not None and found.owned:
            return found.operand
        t = slot_type(slot)
        if is_container(t):
            kind = Kind.DICT if t.kind is Kind.DICT else Kind.LIST
            fresh = self.build.plain(Value(slot_name(slot), Type(kind)), arrays.slots_of, (self.read(slot),), {})
            if found is None:
                return fresh
            return self.build.plain(Value(slot_name(slot), Type(kind)), arrays.tree_add, (fresh, found.operand), {})
        zeros = self.zeros(slot)
        if found is None:
            return zeros
        target = Value(slot_name(slot), zeros.type)
        self.build.add(ir.Accumulate(target, zeros, None, found.operand, self.build.location))
        return target

    # ---------------------------------------------------------------- cotangents out

    def take(self, value: Value):
        """The finished cotangent of a value: an operand, a dict of the items' ones, or None for zero."""
        return self.take_at(value, ()) if self.is_active(value) else None

    def take_at(self, value, path):
        slot = (value, path)
        t = slot_type(slot)
        known = keys(t)
        found = self.scope.pop(slot)
        if known is None:
            return None if found is None else self.finished(slot, found)
        if found is not None:  # an item was picked by an index that only the run knows
            self.add(value, self.finished(slot, found), path)
        parts = {k: self.take_at(value, (*path, k)) for k in known}
        return None if all(p is None for p in parts.values()) else parts

    def finished(self, slot, found: Cotangent):
        if found.partial:
            full = self.build.op(arrays.as_gradient, found.operand, self.read(slot), name=slot_name(slot))
            return full
        return found.operand

    def operand(self, cotangent, value: Value, path: tuple = (), full: bool = True):
        """A cotangent from `take` as one operand; `full`: zeros where it has none."""
        slot = (value, path)
        t = slot_type(slot)
        if cotangent is None:
            if not carries(t) or not full:
                return ZERO
            if keys(t) is None:
                return self.zeros(slot)
            cotangent = {}
        if not isinstance(cotangent, dict):
            return cotangent
        items = [self.operand(cotangent.get(k), value, (*path, k), full) for k in keys(t)]
        return self.build.make(container_type(t, items), items, slot_name(slot))

    def zeros(self, slot):
        """A zero cotangent."""
        t = slot_type(slot)
        if t.kind is Kind.NUMBER:
            return Constant(0.0)
        name = slot_name(slot)
        if t.kind is Kind.ARRAY and t.ndim != 0 and (t.dtype or "").startswith(("float", "complex")):
            return self.build.op(np.zeros_like, self.read(slot), name=name)
        if is_container(t):
            return self.build.op(arrays.as_gradient, Constant(None), self.read(slot), name=name)
        return self.build.op(arrays.zeros_of, self.read(slot), name=name)

    def read(self, slot):
        """The value in a slot."""
        value, path = slot
        t = value.type
        for key in path:
            get = getattr if t.kind is Kind.RECORD else operator.getitem
            value = self.build.op(get, value, Constant(key))
            t = item(t, key)
        return value

    # ---------------------------------------------------------------- statements

    def block(self, statements: list) -> None:
        """Add the adjoints of statements, the last first; what the forward pass has to hand out is added to them."""
        for i in range(len(statements) - 1, -1, -1):
            s = statements[i]
            self.build.location = s.location
            match s:
                case ir.Op():
                    self.op(s)
                case ir.Make():
                    self.make(s)
                case ir.Unpack():
                    self.unpack(s)
                case ir.Accumulate():
                    self.accumulate(s)
                case ir.Call():
                    statements[i : i + 1] = self.call(s)
                case ir.If():
                    self.branch(s)
                case ir.For():
                    self.loop(s)

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

    # ---------------------------------------------------------------- operations

    def op(self, s: ir.Op) -> None:
        g = self.take(s.target)
        if g is None:
            return
        if s.function is operator.getitem:
            self.item(s, g)
            return
        if s.function is getattr and s.args[0].type.kind is Kind.RECORD:
            self.add(s.args[0], g, (s.args[1].value,))
            return
        rule = lookup(s.function)
        if rule is None:
            raise CompileError(f"{called(s.function)} has no derivative rule", s.location)
        if rule.kind == "elementwise":
            self.elementwise(s, rule, self.operand(g, s.target))
        else:
            self.general(s, rule, self.sequence(g, s.target))

    def sequence(self, g, value: Value):
        """A cotangent as the inliner takes it: items one by one where they are known."""
        if isinstance(g, dict) and value.type.kind in (Kind.TUPLE, Kind.LIST):
            return Seq(tuple(Constant(None) if x is None else self.operand(x, value, (k,)) for k, x in g.items()), list)
        return self.operand(g, value)

    def elementwise(self, s: ir.Op, rule, g) -> None:
        args = self.positional(s, rule)
        real = all(types.type_of(x).is_real for x in (g, s.target, *args))
        for i, x in enumerate(args):
            partial = rule.partials[i]
            if not self.is_active(x) or partial is None:
                continue
            given = [*args, s.target] if rule.uses_out[i] else args
            if real:
                d = inline(self.build, partial, [g, *given])
            else:
                d = inline(self.build, partial, [self.build.op(np.conjugate, g), *given])
                d = self.build.op(np.conjugate, as_operand(self.build, d))
            self.add(x, self.build.op(arrays.unbroadcast, as_operand(self.build, d), x))

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
        if t.kind is Kind.ARRAY or is_container(t):
            self.add_at((base, ()), index if is_basic(index) else called_slices(index), whole)
        else:
            self.add(base, self.build.op(arrays.embed_item, whole, base, called_slices(index)))

    # ---------------------------------------------------------------- calls

    def call(self, s: ir.Call) -> list:
        """Add the call of the backward function; the call that the forward pass makes instead of `s`."""
        g = self.take(s.target)
        if g is None:
            return [s]
        mask = tuple(map(self.is_active, s.args))
        pair = self.pairs.get(s.callee, mask)
        both = Value("t", Type(Kind.TUPLE, items=(s.target.type, Type(Kind.TUPLE))))
        saved = Value("saved", Type(Kind.TUPLE))
        forward = [
            ir.Call(both, pair.forward, s.args, s.location),
            ir.Unpack((s.target, saved), both, s.location),
        ]
        args = [x for x in s.args if self.is_active(x)]
        targets = tuple(Value(f"d{x.name}", cotangent_type(x.type)) for x in args)
        one = len(targets) == 1
        result = targets[0] if one else Value("t", Type(Kind.TUPLE, items=tuple(t.type for t in targets)))
        cotangent = self.operand(g, s.target)
        self.build.add(ir.Call(result, pair.backward, (saved, cotangent), s.location))
        if not one:
            self.build.add(ir.Unpack(targets, result, s.location))
        for x, d in zip(args, targets, strict=True):
            self.add(x, d)
        return forward

    # ---------------------------------------------------------------- branches

    def branch(self, s: ir.If) -> None:
        cotangents = [self.take(r) for r in s.results]
        outer, build = self.scope, self.build
        scopes, builders = [], []
        for block in (s.then, s.orelse):
            self.scope, self.build = Scope(outer, walk.defined(block)), build.inner()
            for r, x, g in zip(s.results, block.results, cotangents, strict=True):
                self.hand(x, g, r)
            self.block(block.statements)
            scopes.append(self.scope)
            builders.append(self.build)
        self.scope, self.build = outer, build
        touched = [slot for scope in scopes for slot in scope.cotangents if slot[0] not in scope.local]
        slots = dict.fromkeys(touched)
        results, operands, after = [], ([], []), {}
        for slot in slots:
            ends = []
            for scope, builder in zip(scopes, builders, strict=True):
                self.scope, self.build = scope, builder
                found = scope.get(slot)
                ends.append(Cotangent(self.zeros(slot)) if found is None else found)
            self.scope, self.build = outer, build
            t = slot_type(slot)
            result = Value(slot_name(slot), merged_type([types.type_of(e.operand) for e in ends], t))
            results.append(result)
            for branch, end in zip(operands, ends, strict=True):
                branch.append(end.operand)
            after[slot] = Cotangent(result, all(e.owned for e in ends), any(e.partial for e in ends))
        for slot, cotangent in after.items():
            outer.set(slot, cotangent)
        if not results:
            return
        blocks = []
        exported: dict = {}
        for forward, builder, ends in zip((s.then, s.orelse), builders, operands, strict=True):
            backward = optimize.tidy(forward.statements, ir.Block(builder.statements, tuple(ends)))
            own = walk.defined(forward)
            for v in walk.free(backward):
                if v in own:
                    exported[v] = Value(v.name, v.type), forward
            blocks.append(backward)
        for v, (outside, forward) in exported.items():
            s.results += (outside,)
            for block in (s.then, s.orelse):
                block.results += (v if block is forward else Constant(None),)
        mapping = {v: outside for v, (outside, _) in exported.items()}
        blocks = [walk.substitute(b, mapping) for b in blocks]
        build.add(ir.If(s.test, *blocks, tuple(results), s.location))

    def hand(self, x, g, result: Value) -> None:
        """Hand the cotangent `g` of `result` on to the operand `x` that it was assigned from."""
        if g is None or not self.is_active(x):
            return
        if isinstance(g, dict) and keys(x.type) != keys(result.type):
            g = self.operand(g, result)
        self.add(x, g)

    # ---------------------------------------------------------------- loops

    def loop(self, s: ir.For) -> None:
        n = len(s.carried)
        entering = {}
        for c in s.carried:
            g = self.take(c.result)
            if self.is_active(c.result):
                self.enter(c, g, entering)
        collected = [(x, self.take(v), v) for x, v in zip(s.body.results[n:], s.collected, strict=True)]
        collected = [(x, self.operand(g, v), v) for x, g, v in collected if g is not None]
        elements = [(source, v) for source in s.sources for v in walk.pattern(source.element) if self.is_active(v)]
        if not entering and not collected:
            return
        outer, build = self.scope, self.build
        while True:
            local = walk.defined(s.body) | set(walk.enters(s))
            scope = self.scope = LoopScope(outer, local)
            inner = self.build = build.inner()
            forward = walk.copied(s.body)
            parameters = {}
            for c, following in zip(s.carried, s.body.results, strict=False):
                trees: dict = {}
                for path, t in slots_of(c):
                    if (c, path) in entering:
                        p = parameters[c, path] = Value(slot_name((c.parameter, path)))
                        p.type = cotangent_type(at_path(following, path, t))
                        trees[path] = p
                if trees:
                    self.hand(following, nested(trees), c.parameter)
            sources = []
            for x, g, v in collected:
                element = Value(f"d{v.name}" if not isinstance(x, Value) else f"d{x.name}")
                element.type = cotangent_type(x.type) if isinstance(x, Value) else ir.UNKNOWN
                sources.append(ir.Source(element, g, reverse=True))
                self.add(x, element)
            self.block(forward.statements)
            ends = {}
            missing = [c for c in s.carried if self.is_active(c.parameter)]
            grown = False
            for c in missing:
                for path, _ in slots_of(c):
                    found = scope.cotangents.get((c.parameter, path))
                    if found is not None and (c, path) not in entering:
                        entering[c, path] = None
                        grown = True
            if not grown:
                break
        # what one iteration hands on, and what it gives to the elements
        for (c, path), _ in entering.items():
            slot = (c.parameter, path)
            found = scope.pop(slot)
            ends[c, path] = self.zeros(slot) if found is None else self.finished(slot, found)
        rows = []
        for source in s.sources:
            if not any(source is one for one, _ in elements):
                continue
            g = self.gathered(source.element)
            if g is not None:
                rows.append((source, self.pattern_cotangent(g, source.element)))
        self.scope, self.build = outer, build
        self.finish(s, forward, inner, scope, entering, parameters, ends, sources, rows)

    def enter(self, c: ir.Carried, g, entering: dict) -> None:
        """Note the cotangents that come into the backward loop from after the loop."""
        if g is None:
            return
        if keys(c.result.type) != keys(c.parameter.type):
            if isinstance(g, dict):
                g = self.operand(g, c.result)
            if keys(c.parameter.type) is not None:
                raise CompileError("the structure of a container changes in a loop", self.build.location)
            entering[c, ()] = g
            return
        for path, _ in slots_of(c):
            part = g
            for key in path:
                part = part.get(key) if isinstance(part, dict) else part
            if part is not None:
                entering[c, path] = part

    def pattern_cotangent(self, g, element):
        """The cotangents of the element of a source, as one operand."""
        if isinstance(element, Value):
            return self.operand(None if g is None else g[0], element)
        items = []
        for i, target in enumerate(element):
            part = None if g is None else g.get(i)
            if target is None or (isinstance(target, Value) and not self.is_active(target)):
                items.append(ZERO)
            else:
                items.append(self.pattern_cotangent(part, target))
        return self.build.sequence(items)

    def finish(self, s, forward, inner, scope, entering, parameters, ends, sources, rows) -> None:
        """Put the backward loop together and add it."""
        build = self.build
        carried, operands, results = [], [], []
        for (c, path), before in entering.items():
            slot = (c.result, path)
            initial = self.zeros(slot) if before is None else before
            t = cotangent_type(at_path(c.initial, path, slot_type((c.parameter, path))))
            result = Value(slot_name((c.initial, path)) if isinstance(c.initial, Value) else f"d{c.parameter.name}", t)
            carried.append(ir.Carried(parameters[c, path], initial, result))
            operands.append(ends[c, path])
            results.append((c.initial, path, result, c))
        kept = []
        for slot, parameter in scope.accumulators.items():
            before = self.scope.get(slot)
            t = slot_type(slot)
            if has_buffer(t):
                initial = self.buffer(slot, before)
                if t.kind is not Kind.ARRAY:
                    parameter.type = initial.type
            else:
                initial = self.zeros(slot) if before is None else before.operand
            end = scope.cotangents[slot]
            result = Value(slot_name(slot), merged_type([types.type_of(end.operand)], t))
            carried.append(ir.Carried(parameter, initial, result))
            operands.append(end.operand)
            kept.append((slot, Cotangent(result, end.owned, end.partial)))
        lists = []
        for source, operand in rows:
            lists.append((source, Value("rows", Type(Kind.LIST, element=types.type_of(operand)))))
            operands.append(operand)
        block = optimize.tidy(forward.statements, ir.Block(inner.statements, tuple(operands)))
        if not kept and not lists and not any(self.is_active(c.initial) for c, _ in entering):
            # nothing before the loop depends on it
            return
        block, sources = self.saved(s, forward, block, sources)
        s.body = ir.Block(forward.statements, forward.results)
        build.add(ir.For(sources, carried, block, [v for _, v in lists], s.location))
        for slot, cotangent in kept:
            self.scope.set(slot, cotangent)
        for initial, path, result, c in results:
            if self.is_active(initial):
                if keys(initial.type) != keys(c.parameter.type) and path == ():
                    self.add(initial, result)
                else:
                    self.add(initial, result, path)
        for source, collected in lists:
            self.elements(s, source, collected)

    def elements(self, s: ir.For, source: ir.Source, collected: Value) -> None:
        """The cotangents of the elements of a source, back in its order."""
        x = source.iterable
        several = sum(not one.count for one in s.sources) > 1
        ordered = collected
        if not source.reverse:
            ordered = self.build.op(operator.getitem, collected, Constant(WHOLE))
            if isinstance(ordered, Value):
                ordered.type = collected.type
        if x.type.kind is Kind.ARRAY and not (source.reverse and several):
            whole = self.build.op(arrays.from_rows, ordered, x)
        elif several:
            whole = self.build.op(arrays.from_items, ordered, x, *[Constant(True)] * source.reverse)
            whole.type = x.type
        elif x.type.kind in (Kind.LIST, Kind.TUPLE):
            whole = ordered
        else:
            whole = self.build.op(arrays.as_gradient, ordered, x)
        self.add(x, whole)

    def saved(self, s: ir.For, forward: ir.Block, block: ir.Block, sources: list):
        """Make the forward loop save what the backward one reads; what the backward loop then runs over."""
        own = {v: None for v in walk.enters(s)}
        for statement in walk.statements(forward):
            own.update(dict.fromkeys([*walk.defines(statement), *walk.enters(statement)]))
        wanted = set(walk.free(block))
        needed = [v for v in own if v in wanted]
        copies = {v: Value(v.name, v.type) for v in needed}
        again = self.again(s, needed, bool(sources))
        if again is None:
            if not needed:
                operand, element = Constant(None), Value("_")
            elif len(needed) == 1:
                operand, element = needed[0], copies[needed[0]]
            else:
                operand = Value("t", types.sequence(Kind.TUPLE, [v.type for v in needed]))
                forward.statements.append(ir.Make(operand, tuple(needed), s.location))
                element = tuple(copies[v] for v in needed)
            collected = Value("saved", Type(Kind.LIST, element=types.type_of(operand)))
            s.collected = [*s.collected, collected]
            forward.results += (operand,)
            again = ir.Source(element, collected, reverse=True)
        elif again is not True:
            copies = {v: copies.get(v) or Value(v.name, v.type) for v in walk.pattern(again.element)}
            again = ir.Source(renamed(again.element, copies), again.iterable, reverse=not again.reverse)
        sources = [*([] if again is True else [again]), *sources]
        return walk.substitute(block, copies), sources

    def again(self, s: ir.For, needed: list, counted: bool):
        """The source that the backward loop can run over again, backwards, instead of saved values.

        True where the loop needs none of its own.
        """
        if not needed and counted:
            return True
        real = [source for source in s.sources if not source.count]
        if len(real) != 1 or not set(needed) <= set(walk.pattern(real[0].element)):
            return None
        x = real[0].iterable
        if isinstance(x, ir.Code) and self.is_range(x):
            return real[0]
        t = types.type_of(x)
        return real[0] if t.kind in (Kind.ARRAY, Kind.LIST, Kind.TUPLE) else None

    def is_range(self, x: ir.Code) -> bool:
        node = x.node
        if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "range"):
            return False
        return "range" not in x.reads and "range" not in self.namespace.globals and "range" not in self.namespace.cells


# ------------------------------------------------------------------------------------------- helpers


def is_item(i, known: tuple, t: Type) -> bool:
    """Whether a container has an item, or a run of items, of that index."""
    if t.kind is Kind.DICT:
        return i in known
    return isinstance(i, slice) or (isinstance(i, int) and -len(known) <= i < len(known))


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


def absent(x) -> bool:
    """Whether a contribution is none at all."""
    return x is None or (isinstance(x, Constant) and x.value is None)


def refine(d: Value, t: Type) -> None:
    """A cotangent has the shape of what it is the cotangent of."""
    if t.kind not in (Kind.NUMBER, Kind.ARRAY) or is_container(d.type):
        return
    if (t.shape is not None and d.type.shape != t.shape) or d.type.kind is Kind.UNKNOWN:
        d.type = Type(t.kind, d.type.dtype, t.ndim, t.shape)


def cotangent_type(t: Type) -> Type:
    """The type of a cotangent of a value of type `t`, where nothing else is known."""
    if t.kind in (Kind.NUMBER, Kind.ARRAY):
        return Type(t.kind, None if not t.is_real else types.REAL, t.ndim, t.shape)
    if t.kind is Kind.UNKNOWN:
        return Type(dtype=types.REAL if t.is_real else None)
    return container_type(t, None) if keys(t) is not None else Type(Kind.DICT if t.kind is Kind.DICT else t.kind)


def container_type(t: Type, items) -> Type:
    """The type of the container that the cotangents of the items of a `t` are put together in."""
    known = keys(t)
    inner = tuple(cotangent_type(item(t, k)) for k in known) if items is None else tuple(map(types.type_of, items))
    if t.kind is Kind.DICT or (t.kind is Kind.RECORD and not issubclass(t.cls, tuple)):
        return Type(Kind.DICT, items=inner, keys=known)
    return Type(Kind.LIST if t.kind is Kind.LIST else Kind.TUPLE, items=inner)


def merged_type(found: list, t: Type) -> Type:
    """The type of a cotangent of a `t` that is one of several operands."""
    merged = found[0]
    for other in found[1:]:
        merged = types.join(merged, other)
    if t.kind in (Kind.NUMBER, Kind.ARRAY):
        dtype = merged.dtype if merged.dtype is not None else (types.REAL if all(f.is_real for f in found) else None)
        return Type(t.kind, dtype, t.ndim, t.shape)
    return merged


def slots_of(c: ir.Carried):
    """The paths and types of what a carried value carries."""
    return list(leaves(c.parameter.type))


def at_path(operand, path: tuple, t: Type) -> Type:
    """The type of `operand` at `path`; `t` less its shape where the path does not lead anywhere."""
    found = types.type_of(operand)
    for key in path:
        if keys(found) is None or key not in keys(found):
            return replace(t, shape=None)
        found = item(found, key)
    return found if found.kind is t.kind else replace(t, shape=None)


def nested(trees: dict):
    """A dict of operands by path, as nested dicts by key."""
    if tuple(trees) == ((),):
        return trees[()]
    result: dict = {}
    for (head, *rest), x in trees.items():
        result.setdefault(head, {})[tuple(rest)] = x
    return {key: nested(inner) for key, inner in result.items()}


def flat(g: dict, index: tuple = ()):
    """The leaves of nested cotangents: the index, the cotangent, the value it is of."""
    for i, part in g.items():
        if isinstance(part, dict):
            yield from flat(part, (*index, i))
        else:
            yield (*index, i), *part


def renamed(element, copies: dict):
    """A pattern with other values."""
    if isinstance(element, tuple):
        return tuple(renamed(e, copies) for e in element)
    return copies.get(element)


def variadic(rule) -> str | None:
    """The name of the parameter of a rule that takes all further arguments, if it has one."""
    function = rule.joint if rule.joint is not None else next(iter(rule.pullbacks.values()))
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & 0x04:
        return None
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
