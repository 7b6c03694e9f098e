"""The adjoints of calls, branches and loops.

A loop becomes a loop over what the forward one saved, a branch a branch on the same test, a call the
call of the callee's backward function.
"""

import dataclasses
import functools
import operator
from dataclasses import replace

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, optimize, walk
from s2sgrad.transform.aliases import contents
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import ZERO, Constant, Kind, Type, Value
from s2sgrad.transform.reverse.activity import item, keys
from s2sgrad.transform.reverse.cotangents import (
    Cotangent,
    LoopScope,
    Scope,
    cotangent_name,
    cotangent_type,
    has_buffer,
    is_stack,
    leaves,
    slot_name,
    slot_type,
    stack_type,
)
from s2sgrad.transform.reverse.operations import Operations
from s2sgrad.transform.reverse.residuals import with_residuals
from s2sgrad.transform.reverse.templates import with_templates

BACKWARDS = slice(None, None, -1)


class Flow(Operations):
    """What goes backwards through statements that contain blocks or call functions."""

    def call(self, s: ir.Call) -> list:
        """Add the call of the backward function; the call that the forward pass makes instead of `s`."""
        g = self.take(s.target)
        if g is None:
            return [s]
        if isinstance(s, ir.PlainCall):
            return self.plain_call(s, g)
        mask = tuple(map(self.is_active, s.args))
        changing = tuple(map(self.memory.is_volatile, (*s.args, s.target)))
        pair = self.pairs.get(s.callee, mask, changing)
        both = Value("t", Type(Kind.TUPLE, items=(s.target.type, Type(Kind.TUPLE))))
        saved = Value("saved", Type(Kind.TUPLE))
        forward = [ir.Call(both, pair.forward, s.args, s.location), ir.Unpack((s.target, saved), both, s.location)]
        args = [x for x in s.args if self.is_active(x)]
        targets = tuple(Value(cotangent_name(x.name), cotangent_type(x.type)) for x in args)
        one = len(targets) == 1
        result = targets[0] if one else Value("t", Type(Kind.TUPLE, items=tuple(t.type for t in targets)))
        cotangent = self.operand(g, s.target)
        self.build.add(ir.Call(result, pair.backward, (saved, cotangent), s.location))
        if not one:
            self.build.add(ir.Unpack(targets, result, s.location))
        for x, d in zip(args, targets, strict=True):
            self.add(x, d)
        return forward

    def plain_call(self, s: ir.PlainCall, g) -> list:
        """The adjoint of a function that runs as it is: it runs on the tape, which gives its pullback."""
        n = len(s.args) - len(s.keywords)
        recorded = tuple([i if i < n else s.keywords[i - n] for i, x in enumerate(s.args) if self.is_active(x)])
        args = [x for x in s.args if self.is_active(x)]
        pull = Value(f"pull_{s.callee.name}", Type(Kind.CALLABLE))
        both = Value("t", Type(Kind.TUPLE, items=(s.target.type, pull.type)))
        forward = [
            dataclasses.replace(s, target=both, recorded=recorded),
            ir.Unpack((s.target, pull), both, s.location),
        ]
        targets = tuple(Value(cotangent_name(x.name), cotangent_type(x.type)) for x in args)
        result = Value("t", Type(Kind.TUPLE, items=tuple(t.type for t in targets)))
        label = gast.Name(pull.name, gast.Load(), None, None)
        function = ir.Code(label, {pull.name: pull}, pull.type)
        cotangent = self.operand(g, s.target)
        self.build.add(ir.PlainCall(result, ir.Callee(pull.name, ()), (cotangent,), s.location, function))
        self.build.add(ir.Unpack(targets, result, s.location))
        for x, d in zip(args, targets, strict=True):
            self.add(x, d)
        return forward

    def take_apart(self, values) -> None:
        """Give the items of containers what has come to these as wholes: where only the run knows to which item."""
        for slot, found in list(self.scope.cotangents.items()):
            if slot[0] in values and keys(slot_type(slot)) is not None:
                del self.scope.cotangents[slot]
                self.add(slot[0], self.finished(slot, found), slot[1])

    def branch(self, s: ir.If) -> None:
        buffers = {i for i, r in enumerate(s.results) if self.is_buffer(r)}
        cotangents = [self.take(r) for r in s.results]
        outer, build = self.scope, self.build
        scopes, builders = [], []
        for block in (s.then, s.orelse):
            self.scope, self.build = Scope(outer, walk.defined(block)), build.inner(block.statements)
            for i, (r, x, g) in enumerate(zip(s.results, block.results, cotangents, strict=True)):
                if i in buffers:
                    self.give(x, g)
                else:
                    self.hand(x, g, r)
            self.block(block.statements)
            # what is no container where another way is taken
            self.take_apart({v for v, _ in self.scope.cotangents if v.partial and v not in self.scope.local})
            self.require_spent()
            scopes.append(self.scope)
            builders.append(self.build)
        self.scope, self.build = outer, build
        touched = [slot for scope in scopes for slot in scope.cotangents if slot[0] not in scope.local]
        slots = dict.fromkeys(touched)
        results, operands, owned, after = [], ([], []), ([], []), {}
        for slot in slots:
            ends = []
            for scope, builder in zip(scopes, builders, strict=True):
                self.scope, self.build = scope, builder
                found = scope.get(slot)
                if found is None and self.has_own(slot) and (isinstance(s, ir.Same) or not slot[0].partial):
                    found = Cotangent(self.new_zeros(slot), owned=True)
                ends.append(Cotangent(self.zeros(slot)) if found is None else found)
            self.scope, self.build = outer, build
            t = slot_type(slot)
            result = Value(slot_name(slot), merged_type([types.type_of(e.operand) for e in ends], t))
            result.partial = slot[0].partial and not isinstance(s, ir.Same)
            results.append(result)
            for branch, own, end in zip(operands, owned, ends, strict=True):
                own += [len(branch)] if end.owned else []
                branch.append(end.operand)
            after[slot] = Cotangent(result, all(e.owned for e in ends), any(e.partial for e in ends))
        for slot, cotangent in after.items():
            outer.set(slot, cotangent)
        if not results:
            return
        blocks = []
        exported: dict = {}
        for forward, builder, ends, own in zip((s.then, s.orelse), builders, operands, owned, strict=True):
            backward = optimize.tidy(forward.statements, ir.Block(builder.statements, tuple(ends)), own)
            if self.is_kept() and not isinstance(s, ir.Same):
                backward = with_residuals(backward, forward, (), (), self.memory.is_volatile)
            backward = self.settled(forward, backward)
            own = walk.defined(forward)
            for v in walk.free(backward):
                if v in own:
                    if isinstance(s, ir.Same):
                        raise CompileError(f"{v.name} is needed of an array that may be another", s.location)
                    exported[v] = Value(v.name, v.type, maybe=not isinstance(s, ir.With)), forward
            blocks.append(backward)
        mapping = {}
        for v, (outside, forward) in exported.items():
            if isinstance(s, ir.With) and v in forward.results:  # it is handed on as it is
                mapping[v] = s.results[forward.results.index(v)]
                continue
            mapping[v] = outside
            s.results += (outside,)
            for block in (s.then, s.orelse):
                block.results += (v if block is forward else Constant(None),)
        blocks = [walk.substitute(b, mapping) for b in blocks]
        raises = isinstance(s, ir.Attempt) and walk.raises(s.orelse)
        if isinstance(s, ir.Attempt) and not raises:
            done = Value("done", types.of(True))
            s.results += (done,)
            s.then.results += (Constant(True),)
            s.orelse.results += (Constant(False),)
            s = ir.If(done, s.then, s.orelse, s.results, s.location)
        if isinstance(s, ir.Same) or raises or (isinstance(s, ir.With) and not s.again):
            # nothing is done, or it was entered before
            s = ir.If(s.test if isinstance(s, ir.Same) else Constant(True), s.then, s.orelse, s.results, s.location)
        build.add(dataclasses.replace(s, then=blocks[0], orelse=blocks[1], results=tuple(results)))

    def is_kept(self) -> bool:
        """Is what the backward pass reads here saved, by a loop or by a function that is called?"""
        scope = self.scope
        while scope is not None and not isinstance(scope, LoopScope):
            scope = scope.outer
        return scope is not None or self.is_half

    def is_buffer(self, value: Value) -> bool:
        """Is the cotangent of a value that is written to one that may be written to?"""
        found = self.scope.cotangents.get((value, ()))
        whole = found is not None and keys(value.type) is None  # else it is taken apart
        return whole and found.owned and (self.memory.is_written(value) or self.is_changed(value))

    def has_own(self, slot) -> bool:
        """Is a slot the one of an array that is written to, whose cotangent is a buffer?"""
        return not slot[1] and slot_type(slot).kind is Kind.ARRAY and self.is_changed(slot[0])

    def is_changed(self, v: Value) -> bool:
        """Is it an array that is written to, or a list that may be appended to?"""
        return self.memory.is_written(v) if v.type.kind is Kind.ARRAY else is_stack(v.type) and not v.partial

    def hand(self, x, g, result: Value) -> None:
        """Hand the cotangent `g` of `result` on to the operand `x` that it was assigned from."""
        if g is None or not self.is_active(x):
            return
        if isinstance(g, dict) and keys(x.type) != keys(result.type):
            g = self.operand(g, result)
        self.add(x, g)

    def loop(self, s: ir.For) -> None:
        n = len(s.carried)
        entering = {}
        written = {c for c in s.carried if self.is_changed(c.parameter)}
        buffers = {c for c in written if self.is_buffer(c.result)}
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
        # Two things hold until they are seen to be wrong: the cotangent of what is only added to stays a literal,
        steady = {(c, path) for (c, path), g in entering.items() if is_literal(g) and is_only_added_to(s, c)}
        doubles = True  # and where values are of double precision, so are their cotangents
        while True:
            local = walk.defined(s.body) | set(walk.enters(s))
            scope = self.scope = LoopScope(outer, local)
            forward = walk.copied(s.body)
            inner = self.build = build.inner(forward.statements)
            parameters = {}
            for c, following in zip(s.carried, s.body.results, strict=False):
                trees: dict = {}
                if c in written and (c, ()) in entering:
                    p = parameters[c, ()] = Value(slot_name((c.parameter, ())), types.type_of(following))
                    if is_stack(c.parameter.type):
                        p.type = stack_type(c.parameter.type)
                    self.give(following, p)
                    continue
                for path, t in slots_of(c):
                    if (c, path) in entering:
                        p = parameters[c, path] = Value(slot_name((c.parameter, path)))
                        p.type = cotangent_type(at_path(following, path, t))
                        if doubles and t.kind is Kind.ARRAY and t.dtype == "float64":
                            p.type = replace(p.type, dtype="float64")
                        if (c, path) in steady:
                            p.type = types.type_of(entering[c, path])
                        p.partial = c.parameter.partial
                        trees[path] = p
                if trees:
                    self.hand(following, nested(trees), c.parameter)
            sources = []
            for x, g, v in collected:
                element = Value(cotangent_name(v.name) if not isinstance(x, Value) else cotangent_name(x.name))
                element.type = cotangent_type(x.type) if isinstance(x, Value) else ir.UNKNOWN
                sources.append(ir.Source(element, g, reverse=True))
                self.add(x, element)
            self.block(forward.statements)
            self.take_apart({c.parameter for c in s.carried})
            ends = {}
            missing = [c for c in s.carried if self.is_active(c.parameter)]
            grown = False
            for c in missing:
                for path, _ in slots_of(c):
                    found = scope.cotangents.get((c.parameter, path))
                    if found is not None and (c, path) not in entering:
                        entering[c, path] = None
                        grown = True
            if grown:
                continue
            # what one iteration hands on, and what it gives to the elements
            handed_on = {place: scope.cotangents.get((place[0].parameter, place[1])) for place in steady}
            moved = {place for place, g in handed_on.items() if g is None or g.operand is not parameters[place]}
            if moved:
                steady -= moved
                continue
            for (c, path), before in entering.items():
                slot = (c.parameter, path)
                found = scope.pop(slot)
                if c in written:
                    make = functools.partial(self.whole_buffer, slot, found)
                    ends[c, path] = make() if found is None else self.if_bound(c.parameter, make)
                    continue
                ends[c, path] = self.zeros(slot) if found is None else self.finished(slot, found)
                if parameters[c, path].type.dtype == "float64":
                    handed = [types.type_of(x).dtype for x in (before, ends[c, path]) if x is not None]
                    doubles = doubles and all(dtype == "float64" for dtype in handed)
            if doubles or not any(p.type.dtype == "float64" for (c, _), p in parameters.items() if c not in written):
                break
        rows = []
        for source in s.sources:
            if not any(source is one for one, _ in elements):
                continue
            g = self.gathered(source.element)
            if g is not None:
                rows.append((source, self.pattern_cotangent(g, source.element)))
        self.require_spent()
        self.scope, self.build = outer, build
        self.finish(s, forward, inner, scope, entering, parameters, ends, sources, rows, written, buffers)

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

    def finish(self, s, forward, inner, scope, entering, parameters, ends, sources, rows, written, buffers) -> None:
        """Put the backward loop together and add it."""
        build = self.build
        carried, operands, results = [], [], []
        own = [i for i, (c, _) in enumerate(entering) if c in written]
        for (c, path), before in entering.items():
            slot = (c.result, path)
            if c in written and c not in buffers:
                before = self.whole_buffer(slot, None if before is None else Cotangent(before))
            initial = self.zeros(slot) if before is None else before
            inside = slot_type((c.parameter, path))
            t = cotangent_type(at_path(c.initial, path, inside))
            if inside.dtype == types.EITHER:
                t = replace(t, dtype=None)
            ways = parameters[c, path], ends[c, path], initial
            if t.kind is Kind.ARRAY and all([types.type_of(way).dtype == "float64" for way in ways]):
                t = replace(t, dtype="float64")
            if c in written and is_stack(c.parameter.type):
                t = parameters[c, path].type
            elif c in written and t.kind is Kind.UNKNOWN:  # what is written to is an array
                t = replace(t, kind=Kind.ARRAY)
            result = Value(
                slot_name((c.initial, path)) if isinstance(c.initial, Value) else cotangent_name(c.parameter.name), t
            )
            result.partial = c.parameter.partial
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
            own += [len(operands)] if end.owned else []
            operands.append(end.operand)
            kept.append((slot, Cotangent(result, end.owned, end.partial)))
        lists = []
        for source, operand in rows:
            lists.append((source, Value("rows", Type(Kind.LIST, element=types.of_each(types.type_of(operand), 0)))))
            operands.append(operand)
        block = optimize.tidy(forward.statements, ir.Block(inner.statements, tuple(operands)), own)
        rows = [v for source in s.sources for v in walk.pattern(source.element)]
        asking = functools.partial(with_templates, lengths=inner.lengths, forward=forward)
        block = with_residuals(block, forward, walk.enters(s), rows, self.memory.is_volatile, asking)
        block = self.settled(forward, block, walk.enters(s))
        block = with_literals(block, forward)
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
                if slot_type((c.parameter, path)).dtype == types.EITHER and at_path(initial, path, result.type).is_real:
                    result = build.op(np.real, result)  # it was real before the first turn
                if c in written:
                    self.give(initial, result)
                elif keys(initial.type) != keys(c.parameter.type) and path == ():
                    self.add(initial, result)
                else:
                    self.add(initial, result, path)
        for source, collected in lists:
            self.elements(s, source, collected)

    def elements(self, s: ir.For, source: ir.Source, collected: Value) -> None:
        """The cotangents of the elements of a source, back in its order."""
        x = source.iterable
        several = sum(not one.count for one in s.sources) > 1 or walk.exits(s)  # not all of them need be visited
        ordered = collected
        if not source.reverse:
            ordered = self.build.op(operator.getitem, collected, Constant(BACKWARDS))
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
            whole = self.completed(ordered, x, x.type)
        self.add(x, whole)

    def saved(self, s: ir.For, forward: ir.Block, block: ir.Block, sources: list):
        """Make the forward loop save what the backward one reads; what the backward loop then runs over."""
        own = {v: None for v in walk.enters(s)}
        for statement in walk.statements(forward):
            own.update(dict.fromkeys([*walk.defines(statement), *walk.enters(statement)]))
        wanted = set(walk.free(block))
        needed = [v for v in own if v in wanted]
        copies = {v: Value(v.name, v.type, partial=v.partial, maybe=self.is_perhaps_unbound(v)) for v in needed}
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
            again = ir.Source(renamed(again.element, copies), self.bounds(s, again), reverse=not again.reverse)
        sources = [*([] if again is True else [again]), *sources]
        return walk.substitute(block, copies), sources

    @staticmethod
    def bounds(s: ir.For, source: ir.Source):
        """What the backward loop runs over: shapes of arrays that the loop writes to are asked of the last of them."""
        shapes = set(walk.values(source.iterable)) - set(contents(source.iterable))
        written = {c.initial: c.result for c in s.carried if c.initial in shapes}
        same = {v: now for v, now in written.items() if types.same_shape(v.type, now.type)}
        return walk.replaced(source.iterable, same)

    def again(self, s: ir.For, needed: list, counted: bool):
        """The source that the backward loop can run over again, backwards, instead of saved values.

        True where the loop needs none of its own.
        """
        if not needed and counted:
            return True
        real = [source for source in s.sources if not source.count]
        if len(real) != 1 or walk.exits(s) or not set(needed) <= set(walk.pattern(real[0].element)):
            return None
        x = real[0].iterable
        if isinstance(x, ir.Code) and walk.is_range(x, self.namespace):
            return real[0]
        if any(map(self.memory.is_volatile, walk.values(x))):
            return None
        t = types.type_of(x)
        return real[0] if t.kind in (Kind.ARRAY, Kind.LIST, Kind.TUPLE) else None


def is_literal(g) -> bool:
    return isinstance(g, Constant) and type(g.value) is float


def is_only_added_to(s: ir.For, c: ir.Carried) -> bool:
    """Does a loop do nothing with a carried value but add to it in each turn, itself or in a loop in it?"""
    following = s.body.results[s.carried.index(c)]
    if walk.use_counts(s.body)[c.parameter] != 1:
        return False
    for one in s.body.statements:
        if isinstance(one, ir.Op) and one.target is following:
            return one.function is operator.add and c.parameter in one.args
        if isinstance(one, ir.For):
            inner = next((d for d in one.carried if d.result is following), None)
            if inner is not None:
                return inner.initial is c.parameter and is_only_added_to(one, inner)
    return False


def merged_type(found: list, t: Type) -> Type:
    """The type of a cotangent of a `t` that is one of several operands."""
    merged = found[0]
    for other in found[1:]:
        merged = types.join(merged, other)
    if t.kind in (Kind.NUMBER, Kind.ARRAY):
        dtype = merged.dtype if merged.dtype is not None else (types.REAL if all(f.is_real for f in found) else None)
        return Type(merged.kind if t.kind is Kind.ARRAY and not t.ndim else t.kind, dtype, t.ndim, t.shape)
    return merged


def at_path(operand, path: tuple, t: Type) -> Type:
    """The type of `operand` at `path`; `t` less its shape where the path does not lead anywhere."""
    found = types.type_of(operand)
    for key in path:
        if keys(found) is None or key not in keys(found):
            return replace(t, shape=None)
        found = item(found, key)
    return found if found.kind is t.kind else replace(t, shape=None)


def slots_of(c: ir.Carried):
    """The paths and types of what a carried value carries."""
    return list(leaves(c.parameter.type))


def nested(trees: dict):
    """A dict of operands by path, as nested dicts by key."""
    if tuple(trees) == ((),):
        return trees[()]
    result: dict = {}
    for (head, *rest), x in trees.items():
        result.setdefault(head, {})[tuple(rest)] = x
    return {key: nested(inner) for key, inner in result.items()}


def renamed(element, copies: dict):
    """A pattern with other values."""
    if isinstance(element, tuple):
        return tuple(renamed(e, copies) for e in element)
    return copies.get(element)


def with_literals(block: ir.Block, forward: ir.Block) -> ir.Block:
    """A backward block with the literals themselves in place of the values that are literals in each turn."""
    known = {s.target: s.code.node for s in walk.statements(forward) if isinstance(s, ir.Bind)}
    literals = {v: Constant(n.value) for v, n in known.items() if isinstance(n, gast.Constant)}
    for s in walk.statements(block):
        spelled = [x for x in walk.operands(s) if isinstance(x, ir.Code) or isinstance(s, ir.Verbatim)]
        for v in [v for x in spelled for v in walk.values(x)]:
            literals.pop(v, None)
    return walk.substitute(block, literals) if literals else block
