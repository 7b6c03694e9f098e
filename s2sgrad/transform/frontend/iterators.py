"""Lowers iterators of ``itertools`` that are no choice among positions, as the lists of what they give.

Only those that are used up at once: an iterator that has a name can be run over in parts.
"""

import itertools

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend import syntax
from s2sgrad.transform.frontend.kinds import text
from s2sgrad.transform.frontend.loops import has_entries
from s2sgrad.transform.frontend.positions import assign, call, name, stored
from s2sgrad.transform.frontend.scan import breaks
from s2sgrad.transform.frontend.values import Nested
from s2sgrad.transform.ir import Kind


class Iterators:
    """The part of `Lowering` that deals with these iterators."""

    def listed_iterator(self, function, node):
        """The list of what ``accumulate(xs)``, ``chain(xs, ys)`` or ``repeat(v, n)`` gives."""
        starred = any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg != "initial" for k in node.keywords)
        if id(node) not in self.used_up or starred or not node.args:
            self.refuse(f"{text(node.func)}() of values that carry a derivative, in this form or place", node)
        if function is itertools.accumulate:
            return self.accumulated(node)
        if function is itertools.chain:
            return self.concatenated(node)
        if len(node.args) != 2:
            self.refuse("repeat() without end", node)
        kept = self.new_name("item")
        self.assign_name(kept, self.expression(node.args[0]))
        turns = gast.comprehension(stored(self.new_name("i")), call(self.builtin(range, node), node.args[1]), [], 0)
        return self.comprehension(self.located(gast.ListComp(name(kept), [turns]), node))

    def concatenated(self, node):
        """``chain(xs, ys)``"""
        first, *others = [self.whole_list(argument) for argument in node.args]
        for other in others:
            first = self.chained(first, other, node)
        return first

    def whole_list(self, node) -> ir.Value:
        """The list of all that an iterable gives."""
        thing = self.expression(node)
        if any(self.meet(thing, self.env[n]) for n in self.mutable & self.env.keys()):
            self.refuse("chain() over what the function changes", node)
        if isinstance(thing, ir.Value) and thing.type.kind is Kind.LIST:
            return thing
        found = self.expression(self.located(call(self.builtin(list, node), node), node))
        return self.place_value(found)

    def accumulated(self, node):
        """``accumulate(xs, f)``: a loop that calls `f` and collects."""
        if isinstance(self.current, gast.For) and any(map(breaks, self.current.body)):
            self.refuse("accumulate() in a loop that may be left before its end", node)
        iterable, *function = node.args
        own = frozenset().union(*(syntax.parameters(f) for f in function if isinstance(f, gast.Lambda)))
        if len(function) > 1 or not self.is_quiet([*map(self.call_of, function)], own):
            self.refuse("accumulate() with a function that may have effects", node)
        rebound = map(syntax.rebound, self.defined.values())
        changing = self.mutable.union(self.names.stores(self.current), *rebound)
        if not changing.isdisjoint(self.read_by(function)):
            self.refuse("accumulate() with a function that reads what the function changes", node)
        total, item, items = self.new_name("total"), self.new_name("item"), self.new_name("items")
        if node.keywords:
            start, rest = node.keywords[0].value, iterable
        else:
            of = self.held_sequence(iterable, {})
            if not has_entries(self.env[of], self.namespace):
                self.refuse("accumulate() over what may be empty", node)
            start = gast.Subscript(name(of), gast.Constant(0, None), gast.Load())
            rest = gast.Subscript(name(of), gast.Slice(gast.Constant(1, None), None, None), gast.Load())
        both = name(total), name(item)
        step = call(function[0], *both) if function else gast.BinOp(both[0], gast.Add(), both[1])
        append = call(gast.Attribute(name(items), "append", gast.Load()), name(total))
        loop = gast.For(stored(item), rest, [assign(stored(total), step), gast.Expr(append)], [], None)
        own, self.own_lists = self.own_lists, frozenset({items}) | (self.own_lists or self.find_own_lists())
        try:
            self.assign_name(total, self.expression(self.located(start, node)))
            self.env[items] = self.new_list([self.env[total]], node)
            self.walk([self.located(loop, node)], frozenset({items}), tail=False)
            result = self.env.pop(items)
        finally:
            self.own_lists = own
        self.temporaries.add(result)
        return result

    def read_by(self, functions: list) -> set:
        """The names of this function's own that these functions read when they are called."""
        nested = [self.env.get(f.id) for f in functions if isinstance(f, gast.Name)]
        trees = [n.node for n in nested if isinstance(n, Nested)] + [f for f in functions if isinstance(f, gast.Lambda)]
        return set().union(*map(self.names.captured, trees)) & self.local

    @staticmethod
    def call_of(function):
        """A call of a function: of a lambda, its body."""
        return function.body if isinstance(function, gast.Lambda) else call(function)
