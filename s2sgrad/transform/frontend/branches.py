"""Lowers `if`: each branch in a block of its own, their environments merged afterwards.

A test that the types decide (``x is None``) leaves one branch. After an `if` that may return, what
follows moves into the branches that go on, so that every `return` is at the end of a block.
"""

import operator
from types import NoneType

import gast

from s2sgrad.transform import ir, walk
from s2sgrad.transform.frontend import resolve, syntax
from s2sgrad.transform.frontend.heap import said
from s2sgrad.transform.frontend.kinds import (
    CONTAINERS,
    LEFT,
    MISSING,
    NEVER,
    asks_object,
    is_none,
    text,
)
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import FUNCTIONS, Choice, Unbound, is_lost, is_unset
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS

RESULT = "result@"  # what a body that stands in place of its call returns, in the environment
MOST_COPIES = 12  # how often statements may be repeated in the branches of an early return


def is_outside(view: ir.Op, given: dict) -> bool:
    """Can a view that a block has made be had after it, where `given` are the values of the block that go on?"""
    others = [v for x in [*view.args[1:], *view.kwargs.values()] for v in walk.values(x)]
    return view.args[0] in given and all(given.get(v) is v for v in others)


class Branches:
    """The part of `Lowering` that deals with branches."""

    def test(self, node) -> tuple:
        """The operand of a test, and what it surely is (True, False, or None where only the run will tell)."""
        decided = self.decide(node)
        if decided is not None:
            return ir.Constant(decided), decided
        inert = self.inert(node)
        if asks_object(inert.type):
            self.refuse(f"the truth of {text(node)} is asked of an object of class {inert.type.cls.__name__}", node)
        return self.place(inert, "test"), None

    def decide(self, node) -> bool | None:
        """The truth of a test that the types decide: ``x is None``, a literal."""
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            inner = self.decide(node.operand)
            return None if inner is None else not inner
        if isinstance(node, gast.BoolOp):
            goes_on = isinstance(node.op, gast.And)
            return next((d for d in map(self.decide, node.values) if d is not goes_on), goes_on)
        if isinstance(node, gast.Name):
            literal = self.literal(self.env.get(node.id))
            known = isinstance(literal, ir.Constant) and isinstance(literal.value, (bool, NoneType))
            return bool(literal.value) if known else None
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
            first, second = self.literal_key(node.left), self.literal_key(node.comparators[0])
            if type(first) is type(second) and type(first) in (int, str):
                return OPERATORS[type(node.ops[0])](first, second)
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (gast.In, gast.NotIn)):
            key, held = self.literal_key(node.left), self.holder(node.comparators[0])
            if key is not MISSING and held in self.objects and held.type.kind is Kind.DICT:
                return (key in held.type.keys) is isinstance(node.ops[0], gast.In)
            among = self.literal_key(node.comparators[0])
            if type(key) in (int, str) and type(among) is tuple:
                return (key in among) is isinstance(node.ops[0], gast.In)
        if isinstance(node, gast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (gast.Is, gast.IsNot)):
            other = node.comparators[0]
            if is_none(other):
                same = self.reads_none(node.left)
                return None if same is None else same == isinstance(node.ops[0], gast.Is)
        return None

    def reads_none(self, node) -> bool | None:
        """Is what an expression reads surely None, or surely not?"""
        if isinstance(node, gast.Name):
            return self.is_none(self.env.get(node.id))
        thing = self.held_item(node)
        if thing is not None or not isinstance(node, (gast.Attribute, gast.Subscript)):
            return self.is_none(thing)
        return True if self.facts(node, {})[0] == ir.NONE else None

    def is_none(self, thing) -> bool | None:
        if isinstance(thing, FUNCTIONS):
            return False
        if isinstance(thing, Known):
            return thing.value is None if resolve.is_definition(thing.value) else None
        if isinstance(thing, ir.Value):
            if thing in self.maybe:
                return None
            literal = self.literal(thing)
            if isinstance(literal, ir.Constant):
                return literal.value is None
            if thing.type.kind in (Kind.NUMBER, Kind.ARRAY, Kind.CALLABLE, *CONTAINERS):
                return False
        return None

    def statement_If(self, statement, after):
        test, decided = self.test(statement.test)
        if decided is not None:
            self.walk(statement.body if decided else statement.orelse, after, tail=False)
            return
        bodies = (statement.body, True), (statement.orelse, False)
        arms = [self.arm(body, after, self.not_none(statement.test, way)) for body, way in bodies]
        self.merge_arms(statement, test, *arms, after)

    def if_jumps(self, statement, rest: list, after: frozenset):
        """An `if` in a loop that may end the iteration: what follows it moves into the branches that go on."""
        test, decided = self.test(statement.test)
        goes_on = [not syntax.ends(statement.body), not syntax.ends(statement.orelse)]
        bodies = [[*b, *rest] if on else b for b, on in zip((statement.body, statement.orelse), goes_on, strict=True)]
        if decided is not None:
            return self.walk(bodies[0 if decided else 1], after, tail=False)
        if all(goes_on) and rest:
            self.copies += 1
            if self.copies > MOST_COPIES:
                self.refuse("too many `break` and `continue` statements inside of `if` statements", statement)
        ways = zip(bodies, (True, False), strict=True)
        arms = [self.arm(body, after, self.not_none(statement.test, way)) for body, way in ways]
        self.current = statement
        self.merge_arms(statement, test, *arms, after)
        return NEVER if all(end is NEVER for _, _, end in arms) else LEFT

    def merge_arms(self, statement, test, first: tuple, second: tuple, after: frozenset, kind=ir.If) -> None:
        """Add an `If`, or an `Attempt`, with two walked branches; the environment becomes the one after it."""
        before = self.env
        then, env_then, end_then = first
        orelse, env_else, end_else = second
        if end_then is NEVER or end_else is NEVER:
            self.env = env_else if end_then is NEVER else env_then
            if end_then is NEVER and end_else is NEVER:
                self.env = before
            alive, env = (orelse, env_else) if end_then is NEVER else (then, env_then)
            self.hand_on(kind, statement, test, then, orelse, alive, env, before)
            return
        results = []
        known: dict = {}  # two names of one array stay that
        self.env = {name: thing for name, thing in before.items() if name in env_then or name in env_else}
        views, stale = [], set()
        for name in sorted({*env_then, *env_else}, key=lambda n: (self.is_same_view(env_then, env_else, n), n)):
            a, b = env_then.get(name), env_else.get(name)
            if (name in after or "@" in name) and self.merged_view(a, b, known, look=False):
                views.append((name, a, b))
                continue
            if a is b:
                self.env[name] = a
                continue
            if self.same_object(a, b) is not None:
                stale.add(self.same_object(a, b))
                self.env[name] = a
                continue
            if (a, b) in known and (name in after or "@" in name):
                self.env[name] = known[a, b]
                continue
            if name not in after and "@" not in name:
                self.env.pop(name, None)
                continue
            merged = self.merge_entry(name, a, b, then, orelse, statement, test)
            self.env[name] = merged
            if isinstance(merged, ir.Value):
                results.append(merged)
                if merged.type.kind is Kind.ARRAY:
                    known[a, b] = merged
                    if self.origin(a) is self.origin(b):
                        self.earlier[merged] = self.origin(a)
        self.emit(kind(test, then, orelse, tuple(results), self.found.location(statement)))
        for name, a, b in views:
            self.env[name] = self.merged_view(a, b, known)
        self.renew_objects(stale=stale)

    def is_same_view(self, env_then, env_else, name) -> bool:
        """Is a name one of views of one form in both branches?"""
        a, b = env_then.get(name), env_else.get(name)
        first, second = (self.views[t] if self.is_view(t) else None for t in (a, b))
        if a is b or first is None or second is None or first.function is not second.function:
            return False
        if len(first.args) != len(second.args) or first.kwargs.keys() != second.kwargs.keys():
            return False
        ours, theirs = ([*op.args[1:], *map(op.kwargs.get, sorted(op.kwargs))] for op in (first, second))
        return all(map(operator.is_, ours, theirs))

    def merged_view(self, a, b, known: dict, look=True):
        """The view that is `a` of one branch and `b` of the other, of an array that is known to be one of two.

        Looked up again; True where it is only asked whether there is one, and None where there is none.
        """
        if (a, b) in known:
            return known[a, b]
        if not self.is_same_view({"": a}, {"": b}, ""):
            return None
        first, second = self.views[a], self.views[b]
        one, other = first.args[0], second.args[0]
        base = one if one is other else self.merged_view(one, other, known, look)
        if base is None or not look:
            return base and True
        again = known[a, b] = self.view_again(a, base)
        return again

    def arm(self, body: list, after: frozenset, surely=frozenset(), tail=False) -> tuple:
        """A branch, in which some names are `surely` not None: its block, the environment at its end, how it ends."""
        block, env = ir.Block(), self.env
        self.env = dict(env)
        with self.inside_block(block), self.surely(surely):
            end = self.walk(body, after, tail)
        self.note_sure(block, surely, env)
        found, self.env = self.env, env
        return block, found, end

    def merge_entry(self, name, a, b, then: ir.Block, orelse: ir.Block, statement, test):
        """What `name` stands for after one of two branches; hands the value on from both."""
        left = name in self.partial or getattr(statement, "leaves", False)
        lost = is_lost(a) or is_lost(b)  # the name has a value there, which is not known
        if left and not lost and isinstance(a, ir.Value) is not isinstance(b, ir.Value):
            one = a if isinstance(a, ir.Value) else b
            merged = self.value(name, one.type, self.activity(one), self.regions_of(one))
            self.see_ways(merged, one)
            merged.partial = True
            for block, thing in ((then, a), (orelse, b)):
                block.results = (*block.results, thing if thing is one else ir.Constant(None))
            return merged
        optional = self.optional_of(a, b)
        if optional is not None:
            merged = self.value(name, optional.type, self.activity(optional))
            ends = (then, a), (orelse, b)
            if not any(name in self.sure.get(id(block), ()) for block, end in ends if end is not optional):
                self.maybe.add(merged)
            then.results = (*then.results, ir.Constant(None) if a is not optional else a)
            orelse.results = (*orelse.results, ir.Constant(None) if b is not optional else b)
            return merged
        if a is None or b is None or isinstance(a, Unbound) or isinstance(b, Unbound):
            reason = next(
                (t.reason for t in (a, b) if isinstance(t, Unbound)),
                f"{said(name)} may have no value here: it is assigned in one branch only",
            )
            return Unbound(reason, is_unset(a) and is_unset(b))
        if self.holds_callers(a) or self.holds_callers(b):
            return Unbound(f"{said(name)} may be a container of the caller's")
        if isinstance(a, Known) and isinstance(b, Known) and a.value is b.value and a.operand is b.operand:
            return a
        if not isinstance(a, ir.Value) or not isinstance(b, ir.Value):
            first, second = self.outside_of(a, then), self.outside_of(b, orelse)
            if first is None or second is None or isinstance(statement, gast.Try):
                return Unbound(f"{said(name)} is a function that depends on a test")
            return Choice(test, first, second)
        merged = self.merged(name, a, b, statement)
        self.see_sure(name, merged, ((then, a), (orelse, b)))
        merged.partial = name in self.partial or a.partial or b.partial
        then.results = (*then.results, a)
        orelse.results = (*orelse.results, b)
        return merged

    def hand_on(self, kind, statement, test, then, orelse, alive, env, before) -> None:
        """An `If` one branch of which raises: what the other one assigned goes on."""
        results, stale, views = self.handed_on(env, before, alive, orelse if alive is then else then)
        self.emit(kind(test, then, orelse, results, self.found.location(statement)))
        self.env |= {name: self.view_again(view, base) for name, (view, base) in views.items()}
        self.renew_objects(stale=stale)

    def handed_on(self, env: dict, before: dict, alive: ir.Block, dead: ir.Block) -> tuple:
        """Let the names stand for what they are after a block that ended with `env`, the only one that goes on.

        Gives the results of the block, the objects that have changed in it, and the names of views, with what they are
        views of afterwards.
        """
        results: list = []
        given = {thing: thing for thing in before.values() if isinstance(thing, ir.Value)}
        views: dict = {}
        stale: set = set()
        for name, thing in sorted(env.items(), key=lambda entry: self.is_view(entry[1])):
            now = thing
            if thing is not before.get(name) and self.is_function(thing):
                now = self.outside_of(thing, alive) or Unbound(f"{said(name)} is a function that is made in a branch")
            elif thing is before.get(name) or not isinstance(thing, ir.Value):
                pass
            elif thing in given:  # another name of the same
                now = given[thing]
            elif thing in self.objects:
                stale.add(self.objects[thing])
            elif self.is_view(thing) and is_outside(self.views[thing], given):
                views[name] = thing, given[self.views[thing].args[0]]
            else:
                now = given[thing] = self.value(name, thing.type, self.activity(thing), self.regions_of(thing))
                now.partial = thing.partial
                self.see_ways(now, thing)
                self.same_optional(now, thing)
                results.append(now)
                alive.results = (*alive.results, thing)
                dead.results = (*dead.results, ir.Constant(None))
            self.env[name] = now
        return tuple(results), stale, views

    def if_returns(self, statement, rest: list, after: frozenset):
        """An `if` that may return: what follows it moves into the branches that go on."""
        test, decided = self.test(statement.test)
        goes_on = [not syntax.ends(statement.body), not syntax.ends(statement.orelse)]
        if decided is not None:
            body = statement.body if decided else statement.orelse
            return self.walk([*body, *rest] if goes_on[0 if decided else 1] else body, after, tail=True)
        if all(goes_on) and rest:
            self.copies += 1
            if self.copies > MOST_COPIES:
                self.refuse("too many `return` statements inside of `if` statements", statement)
        then = [*statement.body, *rest] if goes_on[0] else statement.body
        orelse = [*statement.orelse, *rest] if goes_on[1] else statement.orelse
        if self.bodies:
            return self.merged_returns(statement, test, then, orelse, after)
        with self.surely(self.not_none(statement.test, True)):
            block_then, first = self.branch(lambda: self.walk(then, after, tail=True))
        with self.surely(self.not_none(statement.test, False)):
            block_else, second = self.branch(lambda: self.walk(orelse, after, tail=True))
        first = ir.Constant(None) if first is None else first
        second = ir.Constant(None) if second is None else second
        self.current = statement
        if first is NEVER and second is NEVER:
            self.emit(ir.If(test, block_then, block_else, (), self.found.location(statement)))
            return NEVER
        if first is NEVER or second is NEVER:
            alive, block, dead = (second, block_else, block_then) if first is NEVER else (first, block_then, block_else)
            result = self.value("result", self.type_of(alive), self.activity(alive), self.regions_of(alive))
            block.results, dead.results = (alive,), (ir.Constant(None),)
            self.emit(ir.If(test, block_then, block_else, (result,), self.found.location(statement)))
            return result
        result = self.choose(test, block_then, first, block_else, second, statement, "result")
        self.temporaries.discard(result)
        return result

    def merged_returns(self, statement, test, then: list, orelse: list, after: frozenset):
        """The same in a body that stands in place of its call: what it has done to the caller's arrays goes on."""
        arms = []
        for body, way in ((then, True), (orelse, False)):
            block, env, end = self.arm(body, after, self.not_none(statement.test, way), tail=True)
            if end is not NEVER:
                outside, self.env = self.env, env
                with self.inside_block(block):
                    self.assign_name(RESULT, ir.Constant(None) if end is None else end)
                self.env = outside
            arms.append((block, env, end))
        self.current = statement
        self.merge_arms(statement, test, *arms, after)
        return NEVER if all(end is NEVER for _, _, end in arms) else self.env.pop(RESULT)
