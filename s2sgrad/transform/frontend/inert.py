"""Looks at expressions that no derivative flows through: they stay as the user wrote them.

What has to be known of one is its type, whether it may be computed again or left out, and which memory
its value may share. All of that is found without running anything, and whatever may change something
behind the back of the derivative is refused.
"""

import dataclasses
import functools
import inspect
import itertools
import operator
from types import FunctionType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules import table
from s2sgrad.transform import aliases, classes, ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve, syntax
from s2sgrad.transform.frontend.kinds import (
    BOOL,
    BY_KEY,
    CONTAINERS,
    EAGER,
    EFFECTLESS,
    LAZY,
    MISSING,
    MODULE_DATA,
    NUMERIC,
    PYTHON_TYPES,
    SEQUENCES,
    TEXT,
    VIEWING,
    constant_of,
    describe,
    element_of,
    holds_numbers,
    is_foreign,
    is_live,
    is_none,
    is_plain,
    item_type,
    kin,
    made_by,
    runs_code,
    text,
)
from s2sgrad.transform.frontend.lists import BUILDING
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.scan import root_names, targets_of
from s2sgrad.transform.frontend.values import FUNCTIONS, Arguments, Choice, Inert, Nested, Partial, Unbound
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS


class InertExpressions:
    """The part of `Lowering` that deals with expressions that stay as they are."""

    def inert(self, node) -> Inert:
        """`node` as it stands, its active parts read as plain data."""
        node, reads = self.with_slots(node)
        slots = set(reads)
        self.env |= reads
        for name in self.names.loads(node) - reads.keys():
            if name in self.env:
                reads |= self.held(name, node)
            elif name in self.local:
                self.refuse(f"{name} may have no value here", node)
        type_, cheap, pure, regions = self.facts(node, {})
        if not self.mutable.isdisjoint(self.names.loads(node)) and not self.mutable.isdisjoint(
            self.looked_into(node, self.env)
        ):
            pure = False  # what it reads may change: it has its place in the program
        for name in slots:
            del self.env[name]
        return Inert(node, reads, type_, cheap, pure, regions)

    def looked_into(self, node, reads: dict) -> set:
        """The names that an expression reads more than the shape of, which no array changes; numbers do not change."""
        match node:
            case gast.Name(id=name):
                thing = reads.get(name)
                return set() if isinstance(thing, ir.Value) and thing.type.kind is Kind.NUMBER else {name}
            case (
                gast.Attribute(value=gast.Name(id=name), attr="shape" | "ndim" | "size" | "dtype")
                | gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)])
            ) if "len" not in self.local:
                array = reads.get(name)
                return set() if isinstance(array, ir.Value) and array.type.kind is Kind.ARRAY else {name}
        return set().union(*(self.looked_into(child, reads) for child in syntax.children(node)))

    def held(self, name: str, node) -> dict:
        """The value that a local name stands for, by that name; none for what is read from a closure cell.

        (The object that a method or a partial is bound to is put into one.)
        """
        value = self.data(self.env[name], node)
        return {name: value} if isinstance(value, ir.Value) else {}

    def data(self, thing, node) -> ir.Operand:
        """What `thing` is when the program runs."""
        if isinstance(thing, Unbound):
            self.refuse(thing.reason, node)
        if isinstance(thing, Nested) and thing.value is not None:
            self.settle(thing, node)
        return self.operand(thing)

    def settle(self, nested: Nested, node) -> None:
        """A nested function is passed on as it is: what it captures must be what it will see when it runs."""
        problem = self.unsettled(nested)
        if problem is not None:
            self.refuse(f"{nested.name} uses {problem}, and is passed on", node)

    def unsettled(self, nested: Nested) -> str | None:
        """What a nested function that stays as it is may see otherwise than the user's does when it runs."""
        for name in sorted(self.names.captured(nested.node)):
            if name in self.local and name != nested.name and (self.bindings.get(name, 0) != 1 or name not in self.env):
                return f"{name}, which is assigned more than once"
            thing = self.env.get(name)
            followed = isinstance(thing, ir.Value) and (thing.type.kind is Kind.ARRAY or thing in self.objects)
            if name in self.mutable and followed:
                return f"{name}, which is changed"
        return None

    def facts(self, node, bound: dict) -> tuple:
        """``(type, cheap, pure, regions)`` of an inert expression; `bound` has the types of variables inside of it."""
        handler = getattr(self, f"facts_{type(node).__name__}", None)
        if handler is None:
            self.refuse(f"{describe(node)} is not compiled here", node)
        return handler(node, bound)

    def all_facts(self, nodes, bound) -> tuple:
        found = [self.facts(n, bound) for n in nodes if n is not None]
        return (
            [f[0] for f in found],
            all(f[1] for f in found),
            all(f[2] and not runs_code(f[0]) for f in found),
            [r for f in found for r in f[3]],
        )

    def facts_Constant(self, node, bound):
        return types.of(node.value), True, True, []

    def facts_Name(self, node, bound):
        if node.id in bound:
            t = bound[node.id]
            return t, True, True, [] if t.kind is Kind.NUMBER else [self.anywhere]
        thing = self.env.get(node.id)
        if thing is None:
            thing = self.outside.name(node.id)
            definition = resolve.is_definition(thing.value)
            return self.type_of(thing), True, True, [] if definition else self.regions_of(thing)
        if isinstance(thing, Unbound):
            self.refuse(thing.reason, node)
        return self.type_of(thing), True, True, self.regions_of(thing)

    def facts_BinOp(self, node, bound):
        return self._operation(OPERATORS[type(node.op)], [node.left, node.right], bound)

    def facts_UnaryOp(self, node, bound):
        if isinstance(node.op, gast.Not):
            _, cheap, pure, _ = self.all_facts([node.operand], bound)
            return BOOL, cheap, pure, []
        return self._operation(OPERATORS[type(node.op)], [node.operand], bound)

    def _operation(self, function, nodes, bound):
        kinds, cheap, pure, regions = self.all_facts(nodes, bound)
        self.see_plain(nodes, kinds)
        result = types.infer(function, tuple(self.sample(n, t, bound) for n, t in zip(nodes, kinds, strict=True)))
        result = kin(result, *kinds)
        numbers = all(t.kind is Kind.NUMBER for t in kinds)
        new = numbers or any(t.kind is Kind.ARRAY for t in kinds)  # a list that is repeated has the same elements
        return result, cheap and numbers, pure, [] if new else regions

    def facts_Compare(self, node, bound):
        kinds, cheap, pure, _ = self.all_facts([node.left, *node.comparators], bound)
        if not all(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops):
            self.see_plain([node.left, *node.comparators], kinds)
        numbers = all(t.kind is Kind.NUMBER for t in kinds)
        if len(node.ops) > 1 or isinstance(node.ops[0], (gast.Is, gast.IsNot, gast.In, gast.NotIn)):
            return BOOL, cheap and all(t.kind in (Kind.NUMBER, Kind.OTHER) for t in kinds), pure, []
        args = tuple(self.sample(n, t, bound) for n, t in zip([node.left, *node.comparators], kinds, strict=True))
        return types.infer(OPERATORS[type(node.ops[0])], args), cheap and numbers, pure, []

    def facts_BoolOp(self, node, bound):
        kinds, cheap, pure, regions = self.all_facts(node.values, bound)
        if isinstance(node.op, gast.Or):
            kinds = [*(self.true_type_of(value, bound) for value in node.values[:-1]), kinds[-1]]
        return functools.reduce(types.join, kinds), cheap, pure, regions

    def true_type_of(self, node, bound) -> ir.Type:
        """The type of what an expression gives where that is true: ``x > 0 and y`` is `y` then."""
        if not isinstance(node, gast.BoolOp):
            return self.facts(node, bound)[0]
        values = node.values if isinstance(node.op, gast.Or) else node.values[-1:]
        return functools.reduce(types.join, (self.true_type_of(value, bound) for value in values))

    def facts_IfExp(self, node, bound):
        kinds, cheap, pure, regions = self.all_facts([node.body, node.orelse], bound)
        _, cheap_test, pure_test, _ = self.all_facts([node.test], bound)
        return functools.reduce(types.join, kinds), cheap and cheap_test, pure and pure_test, regions

    def facts_Tuple(self, node, bound):
        kinds, cheap, pure, regions = self.all_facts(node.elts, bound)
        starred = any(isinstance(e, gast.Starred) for e in node.elts)
        return ir.Type(Kind.TUPLE) if starred else types.sequence(Kind.TUPLE, kinds), cheap, pure, regions

    def facts_List(self, node, bound):
        kinds, _, pure, regions = self.all_facts(node.elts, bound)
        starred = any(isinstance(e, gast.Starred) for e in node.elts)
        return ir.Type(Kind.LIST) if starred else types.sequence(Kind.LIST, kinds), False, pure, regions

    def facts_Set(self, node, bound):
        _, _, pure, regions = self.all_facts(node.elts, bound)
        return ir.OTHER, False, pure, regions

    def facts_Dict(self, node, bound):
        kinds, _, pure, regions = self.all_facts([*node.keys, *node.values], bound)
        if all(isinstance(k, gast.Constant) for k in node.keys):
            keys = tuple(k.value for k in node.keys)
            if len(set(keys)) == len(keys):
                return ir.Type(Kind.DICT, items=tuple(kinds[len(keys) :]), keys=keys), False, pure, regions
        return ir.Type(Kind.DICT), False, pure, regions

    def facts_Starred(self, node, bound):
        return self.facts(node.value, bound)

    def facts_Slice(self, node, bound):
        _, cheap, pure, regions = self.all_facts([node.lower, node.upper, node.step], bound)
        return ir.OTHER, cheap, pure, regions

    def facts_JoinedStr(self, node, bound):
        _, _, pure, _ = self.all_facts(node.values, bound)
        return TEXT, False, pure, []

    def facts_FormattedValue(self, node, bound):
        _, _, pure, _ = self.all_facts([node.value, node.format_spec], bound)
        return TEXT, False, pure, []

    def facts_Lambda(self, node, bound):
        for name in self.names.captured(node) if id(node) not in self.at_once else ():
            if name in self.local and name not in bound and self.bindings.get(name, 0) != 1:
                self.refuse(f"a lambda that is passed on uses {name}, which is assigned more than once", node)
        inner = dict.fromkeys(syntax.parameters(node), ir.UNKNOWN)
        self.facts(node.body, {**bound, **inner})
        function = None
        if self.names.captured(node).isdisjoint(bound) and not (node.args.defaults or node.args.kw_defaults):
            function = self.lambdas.setdefault(id(node), Nested(node, self, {}))
        return ir.Type(Kind.CALLABLE, function=function), False, True, [self.anywhere]

    def _comprehension(self, node, results, bound):
        own = {n.id for g in node.generators for n in targets_of(g.target) if isinstance(n, gast.Name)}
        if not own.isdisjoint(self.names.loads(node.generators[0].iter)):
            self.refuse("a comprehension over what is named like one of its variables is not compiled", node)
        inner, pure, regions = dict(bound), True, []
        for generator in node.generators:
            self.used_up.add(id(generator.iter))
            kind, _, clean, more = self.facts(generator.iter, inner)
            element = self.element_type(kind, generator.iter, inner)
            inner.update(self.target_types(generator.target, element))
            _, _, clean_tests, _ = self.all_facts(generator.ifs, inner)
            pure = pure and clean and clean_tests and not runs_code(kind)
            regions = regions + more
        kinds, _, clean, more = self.all_facts(results, inner)
        return kinds, False, pure and clean, regions + more

    def facts_ListComp(self, node, bound):
        kinds, cheap, pure, regions = self._comprehension(node, [node.elt], bound)
        return ir.Type(Kind.LIST, element=kinds[0]), cheap, pure, regions

    def facts_GeneratorExp(self, node, bound):
        if id(node) not in self.at_once:
            first, *others = node.generators
            own = frozenset().union(bound, *(self.names.stores(g.target) for g in node.generators))
            later = [node.elt, *(g.iter for g in others), *(c for g in node.generators for c in g.ifs)]
            self.see_lazy(node, self.names.loads(node) - own, frozenset().union(*map(self.names.loads, later)))
        (element,), cheap, _, regions = self._comprehension(node, [node.elt], bound)
        return ir.Type(Kind.OTHER, element=element), cheap, False, regions

    def see_lazy(self, node, names: frozenset, late: frozenset) -> None:
        """Refuse an iterator that may run when its `names` are of something else: it looks for the `late` ones then."""
        for name in sorted(names & self.local):
            if name in self.mutable or name in late and self.bindings.get(name, 0) != 1:
                self.refuse(f"an iterator that is not used up where it stands reads {name}, which is changed", node)

    def facts_SetComp(self, node, bound):
        _, cheap, pure, regions = self._comprehension(node, [node.elt], bound)
        return ir.OTHER, cheap, pure, regions

    def facts_DictComp(self, node, bound):
        _, cheap, pure, regions = self._comprehension(node, [node.key, node.value], bound)
        return ir.Type(Kind.DICT), cheap, pure, regions

    def target_types(self, target, element: ir.Type) -> dict:
        """The types of the names in an assignment target."""
        if isinstance(target, gast.Name):
            return {target.id: element}
        if isinstance(target, (gast.Tuple, gast.List)):
            found: dict = {}
            for i, part in enumerate(target.elts):
                found |= self.target_types(part, item_type(element, i))
            return found
        return self.target_types(target.value, ir.UNKNOWN) if isinstance(target, gast.Starred) else {}

    def element_type(self, t: ir.Type, node=None, bound: dict | None = None) -> ir.Type:
        """What iterating over a value of type `t` (written as `node`, with variables `bound`) gives."""
        if t.kind is Kind.ARRAY and t.ndim:
            return item_type(t, 0)
        if t.kind in (*SEQUENCES, Kind.OTHER) and (t.items or t.element is not None):
            return functools.reduce(types.join, t.items) if t.items else t.element
        if isinstance(node, gast.Call) and (known := self.static(node.func, bound or ())) is not None:
            return self._iterator_element(node, known.value, bound or {})
        return ir.Type(dtype=t.dtype) if t.kind is Kind.ARRAY else ir.UNKNOWN

    def _iterator_element(self, node, function, bound: dict) -> ir.Type:
        """What an iterator that `function` makes gives."""
        if function is range:
            return ir.INT
        args, keywords = node.args, {k.arg for k in node.keywords}
        if function is np.ndindex:
            return self._index_element(args, bound)
        if not args or any(isinstance(a, gast.Starred) for a in args) or (keywords and function is not sorted):
            return ir.UNKNOWN

        def element(node):
            return self.element_type(self.facts(node, bound)[0], node, bound)

        if function in (sorted, reversed, itertools.islice):
            return element(args[0])
        if function is filter and len(args) == 2:
            return element(args[1])
        if function in (zip, itertools.product):
            return ir.Type(Kind.TUPLE, items=tuple(map(element, args)))
        if function is map:
            return self._mapped(node, list(map(element, args[1:])), bound)
        if function is enumerate:
            return ir.Type(Kind.TUPLE, items=(ir.INT, element(args[0])))
        if function is np.ndenumerate:
            whole = ir.Value("x", self.facts(args[0], bound)[0])
            if whole.type.kind is not Kind.ARRAY or whole.type.ndim is None:
                return ir.UNKNOWN
            index = types.sequence(Kind.TUPLE, [ir.INT] * whole.type.ndim)
            entry = types.infer(operator.getitem, (whole, ir.Value("i", index)))
            return types.sequence(Kind.TUPLE, [index, entry])
        if function is itertools.pairwise:
            return ir.Type(Kind.TUPLE, items=(element(args[0]),) * 2)
        if function in (itertools.combinations, itertools.permutations) and len(args) == 2:
            size = constant_of(args[1], None)
            return ir.Type(Kind.TUPLE, items=(element(args[0]),) * size) if type(size) is int else ir.UNKNOWN
        return ir.UNKNOWN

    def _index_element(self, args: list, bound: dict) -> ir.Type:
        """What ``np.ndindex(3, n)`` or ``np.ndindex(x.shape)`` gives: a tuple of integers."""
        if any(isinstance(a, gast.Starred) for a in args):
            return ir.Type(Kind.TUPLE, element=ir.INT)
        kinds = [self.facts(a, bound)[0] for a in args]
        if len(kinds) == 1 and kinds[0].kind is not Kind.NUMBER:
            n = len(kinds[0].items) if kinds[0].kind in SEQUENCES and kinds[0].items is not None else None
        else:
            n = len(kinds)
        return ir.Type(Kind.TUPLE, element=ir.INT) if n is None else types.sequence(Kind.TUPLE, [ir.INT] * n)

    def _mapped(self, node, elements: list, bound: dict) -> ir.Type:
        """What a function gives for each of `elements`, where ``map(function, ...)`` has NumPy's, or a lambda."""
        function = node.args[0]
        if isinstance(function, gast.Lambda):
            names = syntax.parameters(function)
            plain = len(names) == len(elements) and not (function.args.vararg or function.args.kwarg)
            inner = bound | dict(zip(names, elements, strict=False))
            return self.facts(function.body, inner)[0] if plain else ir.UNKNOWN
        known = self.static(function, bound)
        if known is None or not self.session.is_effectless(known.value):
            return ir.UNKNOWN
        return self.builtin_type(known.value, tuple([ir.Value("x", t) for t in elements]), {})

    def facts_Attribute(self, node, bound):
        known = self.static(node, bound)
        if known is not None:
            regions = [] if resolve.is_definition(known.value) else self.regions_of(known)
            return self.type_of(known), isinstance(known.value, MODULE_DATA), True, regions
        base, cheap, pure, regions = self.facts(node.value, bound)
        if base.kind is Kind.RECORD and base.keys and node.attr in base.keys:
            return base.items[base.keys.index(node.attr)], False, pure, self.inside(base, regions)
        if (held := self.held_by_class(base, node)) is not None:
            return held, cheap, pure, []
        if base.kind in NUMERIC and node.attr in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
            stable = cheap and base.kind is not Kind.UNKNOWN
            if node.attr == "shape":
                items = (ir.INT,) * base.ndim if base.ndim is not None else None
                return ir.Type(Kind.TUPLE, items=items, element=None if items is not None else ir.INT), stable, pure, []
            return ir.OTHER if node.attr == "dtype" else ir.INT, stable, pure, []
        function = table.ATTRIBUTES.get(node.attr)
        if base.kind in (Kind.NUMBER, Kind.ARRAY) and function is not None:
            return types.infer(function, (self.sample(node.value, base, bound),)), False, pure, regions
        pure = pure and (base.cls is None or not resolve.is_computed(base.cls, node.attr))
        result, memory = ir.UNKNOWN, None
        if (getter := classes.getter(base.cls, node.attr)) is not None and not self.session.purity.reason(getter):
            self.outside.method_of(base.cls, node.attr, getter)
            instance = Arguments([self.sample(node.value, base, bound)])
            result, memory = self.given_by_method(getter, instance, gast.Call(node, [], []), bound)
        return kin(result, base), False, pure, self.inside(base, regions) if memory is None else memory

    def inside(self, t: ir.Type, regions: list) -> list:
        """The memory that parts of something in `regions` may be in: that itself, and what is held from outside.

        An array of numbers holds nothing.
        """
        if t.kind is Kind.ARRAY and not is_foreign(t) and holds_numbers(t):
            return list(regions)
        outside = any(r.root().external for r in regions)
        return [*regions, self.anywhere] if outside else list(regions)

    def see_plain(self, nodes, kinds) -> None:
        """An operator of `nodes` is Python's or NumPy's own, if a derivative may come in: refuses it elsewhere."""
        if all(map(is_plain, kinds)) or not any(map(self.may_be_active, nodes)):
            return
        for node, kind in zip(nodes, kinds, strict=True):
            if not is_plain(kind) and not (kind.kind is Kind.UNKNOWN and self.may_be_active(node)):
                self.refuse(f"a value that carries a derivative meets {text(node)}, an object of an unknown kind", node)

    def facts_Subscript(self, node, bound):
        base, cheap, pure, regions = self.facts(node.value, bound)
        if not is_plain(base) and self.may_be_active(node.slice):
            self.refuse(f"what {text(node.value)} does with an index that carries a derivative cannot be seen", node)
        pure = pure and not runs_code(base)
        _, cheap_index, pure_index, indices = self.facts(node.slice, bound)
        if base.kind in (Kind.OTHER, Kind.UNKNOWN):
            regions = [*regions, *indices]  # what it gives may hold its index, as that of `np.s_` does
        index = gast.Constant(constant_of(node.slice, None), None)
        operand = (
            ir.Constant(index.value)
            if index.value is not None
            else self.sample(node.slice, self.facts(node.slice, bound)[0], bound)
        )
        result = self.item(base, operand)
        container = self.static(node.value, bound)
        if container is not None and result == ir.UNKNOWN:
            held = types.of(element_of(container.value, index.value))
            result = held if is_foreign(held) and held.kind is Kind.OTHER else result
        result = kin(result, base)
        stable = cheap and cheap_index and base.kind is Kind.TUPLE
        new = result.kind is Kind.NUMBER or aliases.is_of_numbers(result) and aliases.is_of_numbers(base)
        new = new or aliases.is_gathered(operator.getitem, (ir.Value("x", base), operand))
        return result, stable, pure and pure_index, [] if new else self.inside(base, regions)

    def item(self, base: ir.Type, index) -> ir.Type:
        """The type of ``base[index]``."""
        key = index.value if isinstance(index, ir.Constant) else MISSING
        if base.kind in SEQUENCES or base.kind is Kind.RECORD:
            if self.is_slice(index):
                return types.infer(operator.getitem, (ir.Value("x", base), index))
            place = isinstance(key, int) and not isinstance(key, bool)
            if base.kind is Kind.LIST and base.items is not None:
                n = len(base.items)
                if (place and not -n <= key < n) or not n:
                    return ir.FLOAT  # there is none yet: a later turn of the loop around it will tell what it is
            return item_type(base, key) if place else self.element_type(base)
        if base.kind is Kind.DICT:
            if base.keys is not None and key in base.keys:
                return base.items[base.keys.index(key)]
            return functools.reduce(types.join, base.items) if base.items else (base.element or ir.UNKNOWN)
        return types.infer(operator.getitem, (ir.Value("x", base), index))

    @staticmethod
    def is_slice(index) -> bool:
        return isinstance(index, ir.Code) and isinstance(index.node, gast.Slice)

    def facts_Call(self, node, bound):
        node = self.as_method_call(node) if self.names.loads(node.func).isdisjoint(bound) else node
        known = self.static(node.func, bound)
        self.see_used_up(node, known)
        arguments, cheap, pure, regions = self.all_facts([*node.args, *(k.value for k in node.keywords)], bound)
        for keyword in node.keywords:
            if keyword.arg == "out" and not is_none(keyword.value):
                self.write(keyword.value, node, bound)
                pure = False
        for written in [] if known is None else effects.overwritten(known.value, node):
            dtype = self.static(written, bound)
            if dtype is None or not isinstance(dtype.value, type):
                self.write(written, node, bound)
                pure = False
        if self.write_out(node, known, bound):
            pure = False
        self.see_handed(node, None if known is None else known.value, bound)
        if known is not None:
            return self._known_call(known, node, arguments, cheap, pure, regions, bound)
        nested = self.env.get(node.func.id) if isinstance(node.func, gast.Name) and node.func.id not in bound else None
        nested = nested if isinstance(nested, FUNCTIONS) else self.function_held(node.func, bound)
        if isinstance(nested, Nested):
            if isinstance(node.func, gast.Name):
                self.data(nested, node)
            problem = self.nested_problem(nested)
            if problem:
                self.refuse(f"{nested.name} cannot be called here: {problem}", node)
            things = self.sampled(node, arguments, bound)
            result, memory = self.given_back(nested, things, node, bound)
            unknown = [*regions, *self.regions_under(nested), self.anywhere]
            return result, False, True, unknown if memory is None else memory
        if isinstance(node.func, gast.Attribute):
            return self._method_call(node, arguments, pure, regions, bound)
        self.refuse(f"what {text(node.func)} does cannot be seen: it is not known which function it is", node)

    def see_handed(self, node, function, bound) -> None:
        """Refuse to hand a function that changes something to one that may call it."""
        if effects.is_one_of(function, effects.ASKING):
            return
        for part, called in effects.handed(node, function):
            known = self.static(part, bound)
            if known is not None and (known.value is object or known.value is np.object_):
                self.refuse("an array of objects may hold arrays that are changed", node)
            if problem := self.handed_problem(part, called, bound):
                self.refuse(f"{text(node.func)} may call {text(part)}, which may change something: {problem}", node)

    def handed_problem(self, node, called: bool, bound) -> str | None:
        """Why what an expression stands for, if that is a function, is not surely pure; `called`: it is one."""
        thing = self.env.get(node.id) if isinstance(node, gast.Name) and node.id not in bound else None
        if isinstance(thing, (Partial, Choice)):
            return next(filter(None, (self.called_problem(f, ()) for f in thing.parts() if self.is_function(f))), None)
        if isinstance(thing, FUNCTIONS):
            return self.called_problem(thing, ())
        known = self.static(node, bound)
        if known is not None:
            return self.session.purity.reason(known.value) if callable(known.value) else None
        maker = self.static(node.func, bound) if isinstance(node, gast.Call) else None
        if maker is not None and effects.is_one_of(maker.value, effects.MAKING):
            return None
        base = self.facts(node.value, bound)[0] if isinstance(node, gast.Attribute) else None
        if base is not None and node.attr not in (base.keys or ()):
            if base.kind is not Kind.NUMBER and effects.is_mutating_name(node.attr):
                return f"it changes {text(node.value)}"
            owner = self.static(node.value, bound)
            builtin = owner is not None and isinstance(owner.value, type) and resolve.is_trusted(owner.value)
            if builtin or base.kind in (Kind.NUMBER, Kind.ARRAY, Kind.LIST, Kind.TUPLE, Kind.DICT):
                return None
            function = self.class_attribute(base, node.attr)
            if function is not None:
                return self.session.purity.reason(function)
        return self.problem_in(self.facts(node, bound)[0], called)

    def problem_in(self, t: ir.Type, called: bool) -> str | None:
        """Why a function that a value of type `t` is, or holds, is not surely pure."""
        if isinstance(t.function, Nested):
            return self.nested_problem(t.function)
        if t.function is not None:
            return self.session.purity.reason(t.function)
        if (called and t != ir.NONE) or t.kind is Kind.CALLABLE:
            return "it cannot be seen which function it is"
        return next(filter(None, (self.problem_in(item, False) for item in t.items or ())), None)

    def see_used_up(self, node, known) -> None:
        """Note what a call runs over, or calls, before anything else happens; refuse what it may run over later."""
        function = None if known is None else known.value
        iterators = [a for a in node.args if isinstance(a, (gast.GeneratorExp, gast.Call))]
        if function in self.session.plain(EAGER, function):
            self.used_up.update(map(id, iterators))
            self.at_once.update(map(id, iterators))
        if function in self.session.plain(BY_KEY, function):
            self.at_once.update(id(k.value) for k in node.keywords if k.arg == "key")
        if function in self.session.plain(LAZY, function) or getattr(function, "__module__", None) == "itertools":
            if id(node) not in self.used_up:
                self.see_lazy(node, self.names.loads(node), frozenset())
            self.used_up.update(map(id, iterators))

    def write_out(self, node, known, bound) -> bool:
        """Register a write to the array that a call has for its result among its positional arguments."""
        if not effects.writes_out(None if known is None else known.value, node):
            return False
        place = effects.out_of_method(node.func.attr) if known is None else effects.out_position(known.value)
        if any(isinstance(a, gast.Starred) for a in node.args[: place + 1]):
            self.refuse(f"{text(node.func)} may write into one of its arguments", node)
        for written in node.args[place:][: None if known is not None and hasattr(known.value, "nout") else 1]:
            if not is_none(written):
                self.write(written, node, bound)
        return True

    def _known_call(self, known, node, arguments, cheap, pure, regions, bound):
        function = known.value
        if function in self.session.plain(effects.OPAQUE, function):
            self.refuse(f"{text(node.func)}() reaches local variables behind the compiler's back", node)
        where = effects.mutator(function)
        if where is not None:
            if function is next:
                self.refuse("an iterator that is advanced by next() is not compiled", node)
            if where >= len(node.args) or any(isinstance(a, gast.Starred) for a in node.args[: where + 1]):
                self.refuse(f"{text(node.func)} writes into an argument", node)
            self.write(node.args[where], node, bound)
            return ir.UNKNOWN, False, False, regions
        problem = self.session.purity.reason(function)
        if problem:
            self.refuse(f"{text(node.func)} may change what the derivative reads: {problem}", node)
        own = not resolve.is_trusted(function)
        if own and (name := next(filter(None, map(self.session.purity.misleading, arguments)), None)):
            self.refuse(f"{text(node.func)} may call {name}, which changes something", node)
        things = self.sampled(node, arguments, bound)
        args, kwargs = tuple(things.positional), things.keywords
        if isinstance(function, FunctionType) and not resolve.is_trusted(function):
            result, memory = self.given_back(known, things, node, bound)
            pure = pure and self.session.is_effectless(function)
            return kin(result, *arguments), False, pure, [*regions, self.anywhere] if memory is None else memory
        result = self.builtin_type(function, args, kwargs)
        if function is map and (element := self._iterator_element(node, function, bound)) != ir.UNKNOWN:
            result = ir.Type(Kind.OTHER, element=element)
        if function in (list, tuple, sorted, max, min):
            result = self.of_elements(function, result, node, arguments, bound)
        if result == ir.UNKNOWN:
            result = made_by(function)
        if function in (float, complex) and arguments[:1] == [TEXT] and constant_of(node.args[0], None) is None:
            self.refuse("a number is made of text, which may have been made of a value that carries a derivative", node)
        if function not in (np.array, np.asarray):
            result = kin(result, *arguments)
        if function is len:
            first = arguments[0].kind if arguments else Kind.UNKNOWN
            return ir.INT, cheap and first in (Kind.ARRAY, Kind.TUPLE), pure, []
        if function is slice:
            return ir.Type(Kind.OTHER, cls=slice), cheap, pure, regions
        if function is range:
            return ir.OTHER, cheap, pure, []
        if function in (float, int, bool, complex):
            return result, cheap and all(t.kind is Kind.NUMBER for t in arguments), pure, []
        harmless = function in EFFECTLESS if function.__hash__ else False
        pure = pure and (harmless or self.session.is_effectless(function))
        rule = table.lookup(function)
        elementwise = rule is not None and rule.kind == "elementwise" and function not in VIEWING
        kept = effects.writes_out(function, node)
        kept = kept or any(k.arg in (None, "copy", "out", "buffer") for k in node.keywords)
        if getattr(function, "__module__", None) == "_operator":  # of lists it gives lists of the same elements
            kept = kept or not any(t.kind is Kind.ARRAY for t in arguments)
        new = elementwise or aliases.is_new(function, kwargs) or aliases.is_gathered(function, args)
        new = result.kind is Kind.NUMBER or aliases.is_of_numbers(result) or new and not kept
        outside = [] if resolve.is_trusted(function) else [self.anywhere]
        return result, False, pure, [] if new else [*regions, *outside]

    def of_elements(self, function, result: ir.Type, node, arguments: list, bound) -> ir.Type:
        """What a list made of an iterator is, or its extreme element, where `result` does not say of what kind."""
        told = result.items is not None or result.element is not None or result.kind not in (Kind.UNKNOWN, *SEQUENCES)
        if told or len(node.args) != 1 or any(k.arg not in ("key", "reverse") for k in node.keywords):
            return result
        element = self.element_type(arguments[0], node.args[0], bound)
        if element == ir.UNKNOWN:
            return result
        return element if function in (max, min) else dataclasses.replace(result, element=element)

    def sampled(self, node, kinds: list, bound) -> Arguments:
        """The arguments of a call, which are of these types."""
        nodes = [*node.args, *(k.value for k in node.keywords)]
        things = [self.sample(a, t, bound) for a, t in zip(nodes, kinds, strict=True)]
        n = len(node.args)
        return Arguments(things[:n], {k.arg: t for k, t in zip(node.keywords, things[n:], strict=True) if k.arg})

    def builtin_type(self, function, args, kwargs) -> ir.Type:
        if function in PYTHON_TYPES and len(args) == 1 and not kwargs:
            return PYTHON_TYPES[function]
        if function in (str, repr, format):
            return TEXT
        if function is sorted:
            return ir.Type(Kind.LIST)
        if function in (list, tuple) and len(args) == 1:
            kind = Kind.LIST if function is list else Kind.TUPLE
            given = types.type_of(args[0])
            if given.kind in SEQUENCES or given.element is not None:
                return ir.Type(kind, items=given.items, element=given.element)
            return ir.Type(kind)
        if function in (isinstance, hasattr, callable, issubclass):
            return BOOL
        return types.infer(function, args, kwargs)

    def _method_call(self, node, arguments, pure, regions, bound):
        attr = node.func.attr
        base, _, clean, own = self.facts(node.func.value, bound)
        if attr in BUILDING and self.own_list(node.func.value) is not None and node.func.value.id not in self.changing:
            self.refuse(f".{attr}() inside of this expression is not compiled", node)
        if self.is_own_method(base, attr):
            return self._own_method_call(node, base, arguments, pure and clean, regions, bound)
        if attr in effects.MUTATING_METHODS and base.kind is not Kind.NUMBER:
            self.write(node.func.value, node, bound)
            for region in own:
                for other in regions:
                    region.join(other)
            return ir.UNKNOWN, False, False, self.inside(base, own)
        method = table.METHODS.get(attr)
        if base.kind in (Kind.NUMBER, Kind.ARRAY) and method is not None:
            result = self.method_type(method.function, base, node, arguments, bound, method.variadic)
            fresh = aliases.is_new(method.function, [k.arg for k in node.keywords], f"{attr}()")
            kept = any(k.arg in (None, "copy", "out") for k in node.keywords) or effects.writes_out(None, node)
            new = (result.kind is Kind.NUMBER or fresh) and not kept
            return result, False, pure and clean, [] if new else own + regions
        if attr in effects.known_methods() and base.kind is not Kind.CALLABLE:
            quiet = method is not None or attr in table.INACTIVE_METHODS or base.kind in CONTAINERS
            drawing = base.cls in types.GENERATORS and hasattr(base.cls, attr)
            result = self.method_type(getattr(base.cls, attr), base, node, arguments, bound) if drawing else ir.UNKNOWN
            return kin(result, base), False, pure and clean and quiet, self.inside(base, own) + regions
        return self._own_method_call(node, base, arguments, pure and clean, regions, bound)

    def method_type(self, function, base: ir.Type, node, kinds: list, bound, variadic=False) -> ir.Type:
        """The type of what a method of an array, or of a generator of random numbers, gives."""
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return ir.UNKNOWN
        things = self.sampled(node, kinds, bound)
        args = things.positional
        if variadic and len(args) > 1:
            args = [self.tuple_code(args)]
        return types.infer(function, (self.sample(node.func.value, base, bound), *args), things.keywords)

    def _own_method_call(self, node, base: ir.Type, arguments: list, pure: bool, regions: list, bound):
        function = self.class_attribute(base, node.func.attr)
        if function is None:
            self.refuse(f"what {text(node.func)} does cannot be seen: it is not known which function it is", node)
        problem = self.session.purity.reason(function)
        if problem is not None:
            self.refuse(f"{text(node.func)} may change what the derivative reads: {problem}", node)
        pure = pure and not resolve.is_trusted(function)
        given = self.sampled(node, arguments, bound)
        if not classes.is_static(base.cls, node.func.attr):
            given.positional.insert(0, self.sample(node.func.value, base, bound))
        result, memory = self.given_by_method(function, given, node, bound)
        return kin(result, *arguments), False, pure, [*regions, self.anywhere] if memory is None else memory

    def is_own_method(self, base: ir.Type, attr: str) -> bool:
        """May ``value.attr`` be a function of the user's, for a `value` whose class is known?"""
        if base.cls is None or resolve.is_trusted(base.cls):
            return False
        found = inspect.getattr_static(base.cls, attr, None)
        return attr in (base.keys or ()) or found is None or not resolve.is_trusted(getattr(found, "__func__", found))

    def class_attribute(self, base: ir.Type, attr: str):
        """The function that ``value.attr`` is for a `value` whose class is known."""
        if base.cls is None or attr in (base.keys or ()):
            return None
        found = resolve.plain_attribute(base.cls, attr)
        if found is resolve.MISSING or not callable(found) or resolve.sets_attribute(base.cls, attr):
            return None
        self.outside.method_of(base.cls, attr, found)
        return found

    def nested_problem(self, nested: Nested, seen: tuple = ()) -> str | None:
        """Why a nested function is not surely pure."""
        if any(nested is one for one in seen):
            return None
        called = self.seen_by(nested) or {}
        return nested.scope.problem_of(nested.node, lambda name: self.called_problem(called.get(name), (*seen, nested)))

    def called_problem(self, thing, seen: tuple) -> str | None:
        """Why a function that has a local name is not surely pure."""
        if isinstance(thing, Nested):
            return self.nested_problem(thing, seen)
        known = isinstance(thing, Known) and resolve.is_definition(thing.value)
        return self.session.purity.reason(thing.value) if known else "it cannot be seen what it does"

    def problem_of(self, tree, problem_of_local=None) -> str | None:
        """Why a function defined here is not surely pure; `problem_of_local` tells that of functions it captures."""
        parts = [n for s in (tree.body if isinstance(tree.body, list) else [tree.body]) for n in syntax.walk(s)]
        inner = [tree, *(n for n in parts if isinstance(n, syntax.FUNCTIONS))]
        own = set().union(*map(syntax.parameters, inner), *map(self.names.stores, parts))
        bound = dict.fromkeys(self.local | own, ir.UNKNOWN)
        for node in parts:
            if isinstance(node, (gast.Global, gast.Nonlocal)):
                return f"it rebinds {node.names[0]}"
            if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
                return "it writes into an object"
            if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                return f"it changes {node.target.id} in place"
            if isinstance(node, gast.Call):
                known = self.static(node.func, bound)
                attr = node.func.attr if isinstance(node.func, gast.Attribute) else ""
                out = any(k.arg == "out" for k in node.keywords) or effects.writes_out(known and known.value, node)
                if out or (known is not None and effects.overwritten(known.value, node)):
                    return "it writes into an array (out=)"
                captured = problem_of_local and isinstance(node.func, gast.Name) and node.func.id not in own
                if known is None and captured and problem_of_local(node.func.id) is None:
                    continue
                if known is None and attr not in effects.known_methods():
                    return f"what {text(node.func)} does cannot be seen"
                if known is not None and (effects.mutator(known.value) is not None):
                    return f"{text(node.func)} writes into an argument"
                if known is not None and self.session.purity.reason(known.value):
                    return self.session.purity.reason(known.value)
        return None

    # -------------------------------------------------------------------------------------------- writes

    def write(self, base, node, bound=()) -> None:
        """A statement at `node` changes what the expression `base` stands for."""
        self.session.writes += 1
        root = base
        while isinstance(root, (gast.Subscript, gast.Attribute)):
            root = root.value
        if isinstance(root, gast.Name) and is_live(self.env.get(root.id)):
            self.refuse(f"{root.id} carries a derivative and is changed in place", node)
        known = self.static(base, bound)
        if known is not None and resolve.is_definition(known.value):
            self.refuse(f"{text(base)} is changed by the function, which may read it again", node)
        regions = self.facts(base, dict.fromkeys(bound, ir.UNKNOWN) if not isinstance(bound, dict) else bound)[3]
        self.forget(regions)
        for region in regions:
            problem = region.write(self.loops)
            if region.root().external:
                self.writes_outside = True
            if problem:
                self.refuse(f"{text(base)} {problem}: arrays that are changed in place are not compiled", node)

    def sample(self, node, type_: ir.Type, bound):
        """An inert subexpression as `types.infer` takes it."""
        value = constant_of(node, MISSING)
        if value is not MISSING:
            return ir.Constant(value)
        reads = {n: v for n in self.names.loads(node) if n not in bound and isinstance(v := self.env.get(n), ir.Value)}
        if isinstance(node, gast.Name) and node.id in reads:
            return self.literal(reads[node.id])
        return ir.Code(node, reads, type_)

    # ------------------------------------------------------------------------------------- known objects

    def static(self, node, bound=()) -> Known | None:
        """The object that a dotted name stands for, if it is known before the program runs."""
        if isinstance(node, gast.Name):
            if node.id in bound:
                return None
            thing = self.env.get(node.id)
            if thing is None:
                return None if node.id in self.local else self.known_name(node)
            return thing if isinstance(thing, Known) else self.known_held(node, bound)
        if isinstance(node, gast.Attribute):
            base = self.static(node.value, bound)
            return self.known_held(node, bound) if base is None else self.outside.attribute(base, node.attr)
        if isinstance(node, gast.Subscript) and self.names.loads(node.slice).isdisjoint(bound):
            key = self.literal_key(node.slice)
            if key is MISSING or key is None or root_names(node) & self.mutable:
                return self.known_held(node, bound)
            base = self.static(node.value, bound)
            return self.known_held(node, bound) if base is None else self.outside.item(base, key)
        return None

    def known_held(self, node, bound) -> Known | None:
        held = self.function_held(node, bound)
        return held if isinstance(held, Known) else None

    def known_name(self, node) -> Known:
        try:
            return self.outside.name(node.id)
        except CompileError as error:
            self.refuse(error.reason, node)
