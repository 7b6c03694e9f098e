"""Lowers expressions: an active one to one `Op` an operation, any other to `Code` as the user wrote it.

Whether a derivative flows through an expression is found on the way: where no operand of an operation
is active, the whole expression is taken back as it stands in the source.
"""

import functools
import inspect
import operator

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.rules import table
from s2sgrad.transform import aliases, ir, spelling
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve, syntax, ways
from s2sgrad.transform.frontend.inert import InertExpressions
from s2sgrad.transform.frontend.kinds import (
    ARITHMETIC,
    BY_KEY,
    CONTAINERS,
    MISSING,
    NUMERIC,
    PLAIN_BUILTINS,
    SEQUENCES,
    TAKES_NUMBERS,
    TAKES_SEQUENCES,
    any_active,
    asks_object,
    changing_type,
    constant_of,
    describe,
    either,
    is_active,
    is_foreign,
    is_live,
    part,
    text,
    tuple_union,
)
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import FUNCTIONS, Bound, Choice, Inert, Nested, Partial, Unbound
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spelling import OPERATORS

# what is compiled in the place of a builtin that is not
_INSTEAD = {dict: "{...}", set: "a list"}


# Modules of Python's own whose functions have no derivatives, but do something with what has.
NO_MATHEMATICS = frozenset({"itertools", "functools", "_functools", "heapq", "_heapq", "bisect", "_bisect", "copy"})


class Expressions(InertExpressions):
    """The part of `Lowering` that deals with expressions."""

    # ------------------------------------------------------------------------------------ small things

    def refuse(self, reason: str, node=None):
        raise CompileError(reason, self.found.location(node if hasattr(node, "lineno") else self.current))

    def value(self, name: str, type_: ir.Type, active=False, regions=()) -> ir.Value:
        """A new value; `active` is a bool, or a tuple with one such entry per item of a container."""
        value = ir.Value(name.partition("@")[0], types.with_names(type_), any_active(active))
        if isinstance(active, tuple) and value.active:
            self.parts[value] = active
        if type_.kind is not Kind.NUMBER:
            region = effects.Region(self.loops)
            for other in regions:
                region = region.join(other)
            self.regions[value] = region
            if not regions and type_.kind is Kind.ARRAY:
                self.ways[value] = ways.ITSELF
            if value.active:
                region.root().freeze(self.loops)
        return value

    def activity(self, thing):
        """Which parts of it a derivative flows through."""
        return self.parts.get(thing, thing.active) if isinstance(thing, ir.Value) else False

    def emit(self, statement) -> None:
        self.statements.append(statement)

    def type_of(self, thing) -> ir.Type:
        if isinstance(thing, Known):
            return types.type_of(thing.operand)
        if isinstance(thing, FUNCTIONS):
            return ir.Type(Kind.CALLABLE, function=thing if isinstance(thing, Nested) else None)
        return types.type_of(thing)

    def operand(self, thing, name: str = "t"):
        """`thing` as an operand of the intermediate language."""
        if isinstance(thing, Inert):
            return self.place(thing, name)
        if isinstance(thing, Known):
            return thing.operand
        if isinstance(thing, Nested):
            if thing.value is None:
                self.refuse("a function that is not called but passed on, stored or returned cannot be followed")
            self.settle(thing, self.current)
            return thing.value
        if isinstance(thing, Choice):
            self.refuse("a function that a test chooses, and that is not called but passed on, stored or returned")
        if isinstance(thing, (Bound, Partial)):
            self.refuse("a method that is not called but passed on, stored or returned cannot be followed")
        return thing

    def item_operand(self, thing, name: str = "t"):
        """`thing` as what a container holds: a function that only exists while compiling is followed in it, too."""
        if not isinstance(thing, Nested) or thing.value is not None:
            return self.operand(thing, name)
        value = self.value(name, self.type_of(thing), True)  # it may come to use what carries a derivative
        self.unplaced[value] = self.found.location(self.current)
        return value

    def place(self, inert: Inert, name: str):
        """Compute an inert expression here, unless it may as well be computed where it is used."""
        if isinstance(inert.node, gast.Constant):
            return ir.Constant(inert.node.value)
        if isinstance(inert.node, gast.Name) and inert.node.id in inert.reads:
            return inert.reads[inert.node.id]
        if inert.cheap and inert.pure:
            return inert.code()
        return self.bind(inert, name)

    def bind(self, inert: Inert, name: str) -> ir.Value:
        """A value that holds the result of an inert expression."""
        t = changing_type(inert.type) if name in self.mutable else inert.type
        value = self.value(name, t, regions=inert.regions)
        value.own = not inert.regions
        if t.kind is Kind.NUMBER:
            value.length = types.length_of(inert.code())
        if inert.pure and (name not in self.mutable or t.kind is Kind.NUMBER):
            self.emit(ir.Bind(value, inert.code(), self.found.location(self.current)))
        else:
            label = self.unused_name(name)
            node = gast.Assign([gast.Name(label, gast.Store(), None, None)], inert.node, None)
            self.emit(ir.Verbatim(node, inert.reads, {label: value}, self.found.location(self.current)))
        if all(self.env.get(name) is thing for name, thing in inert.reads.items()):
            literal = self.literal_key(inert.node)
            if literal is not MISSING:
                self.constants[value] = ir.Constant(literal)
        self.temporaries.add(value)
        return value

    def held_by_value(self, operand: ir.Operand, name: str) -> ir.Value:
        """A value that holds what an operand is; it shares the memory that the operand looks into."""
        if isinstance(operand, ir.Value):
            return operand
        node = gast.Constant(operand.value, None) if isinstance(operand, ir.Constant) else operand.node
        reads, regions = getattr(operand, "reads", {}), self.regions_of(operand)
        return self.bind(Inert(node, reads, self.type_of(operand), True, True, regions), name)

    def unused_name(self, name: str) -> str:
        """`name`, or one like it where the function uses that for something else."""
        if name in self.local:
            return name
        while name in self.identifiers:
            name += "_"
        return name

    def freeze(self, operands, node) -> None:
        """A differentiated operation reads `operands`: nobody may change them any more."""
        for thing in operands:
            for region in self.regions_of(thing):
                problem = region.freeze(self.loops)
                if problem:
                    self.refuse(
                        f"an array or object that this reads {problem}: the compiler keeps to what stays as it is", node
                    )

    def regions_of(self, thing) -> list:
        if isinstance(thing, ir.Value):
            inside = [r for item in self.made.get(thing, ()) for r in self.regions_of(item)]
            return [self.regions[thing], *inside] if thing in self.regions else inside
        if isinstance(thing, Inert):
            return thing.regions
        if isinstance(thing, Known):
            return [] if resolve.is_code(thing.value) else [self.region_of_object(thing.value, thing.operand)]
        if isinstance(thing, ir.Code):
            names = self.looked_into(thing.node, thing.reads)
            found = [r for name, v in thing.reads.items() if name in names for r in self.regions_of(v)]
            for name in self.names.loads(thing.node):
                if name not in thing.reads and name not in self.local:
                    value = self.outside.name(name).value
                    if not resolve.is_definition(value):
                        found.append(self.region_of_object(value, self.outside.name(name).operand))
            return found
        return []

    def sources_of(self, thing, given: dict) -> tuple | None:
        """Which of the things that a function is `given` `thing` may share memory with, and with nothing else outside.

        None where it may be anything outside.
        """
        if self.type_of(thing).kind is Kind.NUMBER or isinstance(thing, ir.Constant):
            return ()
        regions = self.regions_of(thing)
        outside = {r.root() for r in regions if r.root().external}
        unknown = {r.root() for r in (self.anywhere, *self.object_regions.values())}
        mine = {name: {r.root() for r in self.regions_under(one)} for name, one in given.items()}
        if not regions or not outside <= set().union(*mine.values()) - unknown:
            return None
        return tuple(name for name, roots in mine.items() if not roots.isdisjoint(outside))

    def region_of_object(self, value, operand) -> effects.Region:
        """The memory of an object outside, which `operand` reads."""
        if id(value) in self.session.work:
            self.refuse("an array outside that the function writes into is read under another name, or elsewhere")
        read = self.outside.reader(operand) if type(value) is np.ndarray else None
        if read is not None:
            self.session.arrays.setdefault(read.key, read)
        if id(value) not in self.object_regions:
            container = not isinstance(value, (tuple,)) and not hasattr(value, "__array__")
            plain = isinstance(value, (int, float, complex, str, type(None), np.generic, np.ufunc))
            if read is None and not plain:
                self.session.objects.append(type(value).__name__)
            self.object_regions[id(value)] = effects.Region((), external=True, container=container)
        return self.object_regions[id(value)]

    # --------------------------------------------------------------------------------- active expressions

    def expression(self, node):
        """`node` lowered: an operand, a known object, a function, or an `Inert`."""
        edited = self.edit(node, node) if isinstance(node, gast.Call) else None
        if edited is not None:
            return edited
        item = self.held_item(node)
        if isinstance(item, ir.Value):
            self.read_optional(node, item)
            return item
        made = self.function_named(node)
        if made is not None:
            return made
        if self.objects and self.edits_inside(node):
            return self.with_edits_before(node)
        if not self.may_be_active(node):
            known = self.static(node)
            if known is None and self.is_given_function(node):
                known = self.record_of(node)
            return known if known is not None else self.inert(node)
        handler = getattr(self, f"expression_{type(node).__name__}", None)
        if handler is None:
            self.refuse(f"{describe(node)} of values that carry a derivative is not compiled", node)
        count = len(self.statements)
        found = handler(node)
        if isinstance(found, Inert) and found.node is node:
            del self.statements[count:]  # its parts are evaluated with it, not before
        return found

    def may_be_active(self, node) -> bool:
        """Does `node` read a name that a derivative flows through, as more than plain data?"""
        if not any(is_live(self.env.get(name), self) for name in self.names.loads(node)):
            return False
        return self.flows_out(node)

    def flows_out(self, node, bound: frozenset = frozenset()) -> bool:
        """Can a derivative flow out of `node`? Not out of a shape, a comparison, a length, a choice of positions.

        `bound` are the variables of the comprehensions around it.
        """
        if getattr(node, "chooses", False):
            return False
        if isinstance(node, gast.Name):
            return is_live(self.env.get(node.id), self)
        if isinstance(node, (gast.Compare, gast.JoinedStr)):
            return False
        if isinstance(node, syntax.FUNCTIONS):
            return any(is_live(self.env.get(name), self) for name in self.names.loads(node))
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return False
        if isinstance(node, gast.Attribute) and node.attr in table.INACTIVE_ATTRIBUTES:
            base = self.env.get(node.value.id) if isinstance(node.value, gast.Name) else None
            if isinstance(base, ir.Value) and base.type.kind in NUMERIC:
                return False
        if isinstance(node, gast.Call):
            if (
                isinstance(node.func, gast.Attribute)
                and node.func.attr == "keys"
                and self.keys_of_dict(node.func.value)
            ):
                return False
            known = self.static(node.func, bound)
            if known is not None and self.is_plain_function(known.value):
                return False
            if known is not None and known.value in self.session.plain(BY_KEY, known.value):
                given = [*node.args, *(k.value for k in node.keywords if k.arg != "key")]
                return any(self.flows_out(a, bound) for a in given)  # what the key gives is only compared
        if isinstance(node, syntax.COMPREHENSIONS):
            bound = bound.union(*(self.names.stores(g.target) for g in node.generators))
        return any(self.flows_out(child, bound) for child in syntax.children(node))

    def is_plain_function(self, function) -> bool:
        """Does `function` give plain data whatever its arguments are?"""
        rule = table.lookup(function)
        if rule is not None:
            return rule.kind == "inactive" and function is not np.ndarray  # it may be of a buffer
        return function in self.session.plain(PLAIN_BUILTINS, function)

    def expressions(self, nodes: list) -> list:
        """Several expressions, evaluated in order."""
        found = []
        for i, node in enumerate(nodes):
            thing = self.expression(node)
            if isinstance(thing, Inert) and not thing.pure and any(map(self.may_be_active, nodes[i + 1 :])):
                thing = self.place(thing, "t")
            found.append(thing)
        return found

    def expression_Name(self, node):
        thing = self.env[node.id]
        if isinstance(thing, Unbound):
            self.refuse(thing.reason, node)
        self.read_optional(node, thing)
        return thing

    def expression_BinOp(self, node):
        return self.operation(OPERATORS[type(node.op)], [node.left, node.right], node)

    def expression_UnaryOp(self, node):
        if isinstance(node.op, gast.Not):
            return self.inert(node)
        return self.operation(OPERATORS[type(node.op)], [node.operand], node)

    def expression_Compare(self, node):
        return self.inert(node)

    def expression_JoinedStr(self, node):
        return self.inert(node)

    def expression_BoolOp(self, node):
        """``a and b`` is `b` where `a` is true, else `a`; ``a or b`` the other way round."""
        if syntax.contains(node, gast.NamedExpr):
            self.refuse("`:=` in an `and` or `or` that gives a value that carries a derivative", node)
        first = self.place_value(self.expression(node.values[0]))
        if asks_object(first.type):
            self.refuse(f"the truth of an object of class {first.type.cls.__name__} is asked for", node)
        rest = node.values[1]
        if len(node.values) > 2:
            rest = gast.copy_location(gast.BoolOp(node.op, node.values[1:]), node)
        label = self.label(first, ())
        test = ir.Code(gast.Name(label, gast.Load(), None, None), {label: first}, first.type)
        block, second = self.perhaps(lambda: self.expression(rest), rest)
        if isinstance(node.op, gast.And):
            result = self.choose(test, block, second, ir.Block(), first, node)
            self.true_types[result] = self.true_type(second)
        else:
            result = self.choose(test, ir.Block(), first, block, second, node)
            result.type = types.with_names(types.join(self.true_type(first), self.type_of(second)))
            self.true_types[result] = types.join(self.true_type(first), self.true_type(second))
        return result

    def true_type(self, thing) -> ir.Type:
        """The type of a value where it is true: ``x > 0 and y`` is `y` then."""
        known = self.true_types.get(thing) if isinstance(thing, ir.Value) else None
        return known or self.type_of(thing)

    def expression_IfExp(self, node):
        if syntax.contains(node, gast.NamedExpr):
            self.refuse("`:=` in a conditional expression", node)
        test, decided = self.test(node.test)
        if decided is not None:
            return self.expression(node.body if decided else node.orelse)
        with self.surely(self.not_none(node.test, True)):
            then, first = self.perhaps(lambda: self.expression(node.body), node.body)
        with self.surely(self.not_none(node.test, False)):
            orelse, second = self.perhaps(lambda: self.expression(node.orelse), node.orelse)
        return self.choose(test, then, first, orelse, second, node)

    def choose(self, test, then, first, orelse, second, node, name="t"):
        """The value of an `If` whose branches end in `first` and `second`."""
        with self.inside_block(then):
            first = self.operand(first)
        with self.inside_block(orelse):
            second = self.operand(second)
        result = self.merged(name, first, second, node)
        then.results, orelse.results = (first,), (second,)
        self.emit(ir.If(test, then, orelse, (result,), self.found.location(node)))
        self.temporaries.add(result)
        return result

    def merged(self, name, first, second, node) -> ir.Value:
        """A value that is one of two operands."""
        a, b = self.type_of(first), self.type_of(second)
        active = either(self.activity(first), self.activity(second))
        type_ = types.join(a, b)
        if any_active(active):
            self.check_join(a, b, type_, node)
        result = self.value(name, type_, active, self.regions_of(first) + self.regions_of(second))
        self.see_ways(result, first, second)
        self.same_optional(result, first, second)
        return result

    def check_join(self, a: ir.Type, b: ir.Type, both: ir.Type, node) -> None:
        if both.kind is Kind.UNKNOWN and not {a.kind, b.kind} <= set(NUMERIC):
            self.refuse(
                "a value that carries a derivative is a number or array on one way and something else on another", node
            )
        if both.kind in CONTAINERS and both.items is None and both.element is None:
            self.refuse("a container of values that carry a derivative is different on two ways", node)

    def expression_Attribute(self, node):
        base = self.expression(node.value)
        if isinstance(base, Known):
            known = self.outside.attribute(base, node.attr)
            return known if known is not None else self.inert(node)
        t = self.type_of(base)
        if not is_active(base) or (node.attr in table.INACTIVE_ATTRIBUTES and t.kind in NUMERIC):
            return self.inert(node)
        if t.kind is Kind.RECORD:
            return self.field(base, node.attr, node)
        function = table.ATTRIBUTES.get(node.attr)
        if function is None or t.kind not in NUMERIC:
            self.refuse(f"the attribute .{node.attr} of a value that carries a derivative is not known", node)
        return self.op(function, [base], {}, node, node.attr)

    def field(self, base, attr, node):
        t = self.type_of(base)
        if t.keys is None or attr not in t.keys:
            if self.held_by_class(t, node) is not None:
                return self.inert(node)
            computed = self.property_here(base, attr, node)
            if computed is not None:
                return computed
            self.refuse(f"the attribute .{attr} is not a field of {t.cls.__name__}", node)
        i = t.keys.index(attr)
        active = part(self.activity(base), i)
        if not any_active(active):
            return self.inert(node)
        result = self.value(attr, t.items[i], active, self.regions_of(base))
        self.emit(ir.Op(result, getattr, (base, ir.Constant(attr)), {}, attr, self.found.location(node)))
        self.temporaries.add(result)
        return result

    def expression_Subscript(self, node):
        base = self.expression(node.value)
        if not is_active(base):
            return self.inert(node)
        t = self.type_of(base)
        self.see_brackets(t, node)
        if self.may_be_active(node.slice) and isinstance(node.slice, gast.Name) and t.kind not in NUMERIC:
            self.refuse("an index that carries a derivative", node)
        literal = self.literal_key(node.slice) if t.kind in CONTAINERS else MISSING
        index = self.index(node.slice) if literal is MISSING else ir.Constant(literal)
        position = index.value if isinstance(index, ir.Constant) and isinstance(index.value, int) else None
        if t.kind is Kind.RECORD and position is not None and t.keys and -len(t.keys) <= position < len(t.keys):
            return self.field(base, t.keys[position], node)
        if t.kind in NUMERIC:
            return self.op(operator.getitem, [base, index], {}, node)
        key = index.value if isinstance(index, ir.Constant) else MISSING
        if t.kind is Kind.DICT and key is MISSING and self.type_of(index).kind is not Kind.OTHER and t.items is None:
            self.refuse("this entry of a dict cannot be followed", node)
        active = self.item_activity(base, key, index)
        if not any_active(active):
            return self.inert(node)
        inside = [r for item in self.made[base] for r in self.regions_of(item)] if base in self.made else None
        result = self.value("t", self.item(t, index), active, self.regions_of(base) if inside is None else inside)
        if result.type.kind is Kind.UNKNOWN and result.type == ir.UNKNOWN:
            self.refuse("what this element is cannot be told", node)
        self.emit(ir.Op(result, operator.getitem, (base, index), {}, None, self.found.location(node)))
        self.temporaries.add(result)
        return result

    def see_brackets(self, t: ir.Type, node) -> None:
        """Refuse ``thing[...]`` of an object that carries a derivative: a method of its class says what that is."""
        if t.kind is Kind.RECORD and not issubclass(t.cls, tuple):
            self.refuse(f"what {text(node)} of an object of class {t.cls.__name__} is cannot be told", node)

    def index(self, node):
        """The index of a subscript: a literal where it is one."""
        value = constant_of(node, MISSING)
        if value is not MISSING:
            return ir.Constant(value)
        if isinstance(node, gast.Name):
            literal = self.literal(self.env.get(node.id))
            if isinstance(literal, ir.Constant):
                return literal
        inert = self.inert(node)
        if isinstance(node, (gast.Slice, gast.Tuple)) and not (inert.cheap and inert.pure):
            return self._built_index(node)
        return self.place(inert, "i")

    def _built_index(self, node):
        """A slice, or a tuple with slices, whose parts are computed here."""
        reads: dict = {}

        def rebuilt(part):
            if part is None or isinstance(part, gast.Constant):
                return part
            if isinstance(part, gast.Slice):
                return gast.Slice(rebuilt(part.lower), rebuilt(part.upper), rebuilt(part.step))
            if isinstance(part, gast.Tuple):
                return gast.Tuple([rebuilt(e) for e in part.elts], gast.Load())
            operand = self.place(self.inert(part), "i")
            if isinstance(operand, ir.Code):
                reads.update(operand.reads)
                return operand.node
            if isinstance(operand, ir.Constant):
                return gast.Constant(operand.value, None)
            label = next((n for n, v in reads.items() if v is operand), None) or self.label(operand, reads)
            reads[label] = operand
            return gast.Name(label, gast.Load(), None, None)

        new = rebuilt(node)
        return ir.Code(new, reads, self.facts(node, {})[0])

    def label(self, value: ir.Value, taken) -> str:
        """A name for `value` in an expression of its own that means nothing else there."""
        name = value.name
        while name in taken or name in self.identifiers:
            name += "_"
        return name

    def item_activity(self, base, key, index):
        t, active = self.type_of(base), self.activity(base)
        if not isinstance(active, tuple):
            return active
        if t.kind is Kind.DICT:
            return active[t.keys.index(key)] if key in t.keys else tuple_union(active)
        if isinstance(key, int) and not isinstance(key, bool):
            return active[key] if -len(active) <= key < len(active) else False
        return any_active(active) if self.is_slice(index) else tuple_union(active)

    def expression_Tuple(self, node):
        return self.make(Kind.TUPLE, node)

    def expression_List(self, node):
        return self.make(Kind.LIST, node)

    def make(self, kind, node):
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self.starred(kind, node)
        things = self.expressions(node.elts)
        if not any(map(is_active, things)) and self.only_inert(things):
            return self.inert(node)
        return self.make_container(types.sequence(kind, [self.type_of(t) for t in things]), things, node)

    @staticmethod
    def only_inert(things) -> bool:
        """Nothing has been placed in the program for them: they can be taken back as they are in the source."""
        return all(isinstance(t, (Inert, Known)) or (isinstance(t, ir.Value) and not t.active) for t in things)

    def make_container(self, type_: ir.Type, things: list, node) -> ir.Value:
        operands = [self.item_operand(t) for t in things]
        self.freeze(operands, node)
        active = tuple(self.activity(o) for o in operands)
        if type_.items is None:
            active = any_active(active)
        known = type_.items is not None
        regions = [] if known else [r for o in operands for r in self.regions_of(o)]
        result = self.value("t", type_, active, regions)
        if known:
            self.made[result] = tuple(operands)
        self.emit(ir.Make(result, tuple(operands), self.found.location(node)))
        self.temporaries.add(result)
        return result

    def expression_Dict(self, node):
        if not all(k is None or isinstance(k, gast.Constant) for k in node.keys):
            self.refuse("a dict of values that carry a derivative needs literal keys", node)
        keys = [k.value for k in node.keys if k is not None]
        if len(set(keys)) < len(keys):
            self.refuse("a dict with the same key twice", node)
        things = self.expressions(node.values)
        if not any(is_live(t, self) for t in things):
            return self.inert(node)
        found: dict = {}
        for key, thing in zip(node.keys, things, strict=True):
            if key is not None:
                found[key.value] = thing
            elif self.type_of(thing).kind is Kind.DICT and self.type_of(thing).keys is not None:
                found |= dict(zip(self.type_of(thing).keys, self.items_of(thing, node), strict=True))
            else:
                self.refuse("`**` with a dict whose keys are not known before the program runs", node)
        kinds = tuple(map(self.type_of, found.values()))
        return self.make_container(ir.Type(Kind.DICT, items=kinds, keys=tuple(found)), list(found.values()), node)

    def expression_NamedExpr(self, node):
        self.assign_name(node.target.id, self.expression(node.value))
        return self.env[node.target.id]

    # ---------------------------------------------------------------------------------------- operations

    def operation(self, function, nodes, node):
        self.need(nodes)
        things = self.expressions(nodes)
        if not any(map(is_active, things)) and self.only_inert(things):
            return self.inert(node)
        kinds = [self.type_of(t) for t in things]
        if function is operator.add and kinds[0].kind in SEQUENCES and kinds[0].kind is kinds[1].kind:
            if any(k.items is None for k in kinds):
                if kinds[0].kind is Kind.LIST:
                    return self.chained(*(self.place_value(t) for t in things), node)
                self.refuse("tuples of unknown length that carry a derivative are put together", node)
            items = [item for thing in things for item in self.items_of(thing, node)]
            return self.make_container(types.sequence(kinds[0].kind, list(map(self.type_of, items))), items, node)
        if function is operator.mul and kinds[0].kind in SEQUENCES and kinds[0].items is not None:
            times = self.literal_key(nodes[1])
            if type(times) is int:
                return self.sequence_of(kinds[0].kind, self.items_of(things[0], node) * times, node)
        if function is operator.or_ and all(k.kind is Kind.DICT and k.keys is not None for k in kinds):
            pairs = [zip(k.keys, self.items_of(t, node), strict=True) for k, t in zip(kinds, things, strict=True)]
            return self.new_dict(dict(pairs[0]) | dict(pairs[1]), node)
        return self.op(function, things, {}, node)

    def op(self, function, args: list, kwargs: dict, node, spelling=None):
        """``function(*args, **kwargs)`` by its rule."""
        rule = table.lookup(function)
        if rule is None:
            self.no_rule(function, node)
        if not args and rule.kind in ("linear", "general"):
            args, kwargs = first_by_position(rule, kwargs)
        if function is np.ndarray and (len(args) > 2 or "buffer" in kwargs):
            self.refuse("an array that is made around a buffer is not compiled", node)
        args = [self.as_array(a, function, args, node) for a in args]
        operands = [self.operand(a) for a in args]
        keywords = {name: self.operand(k) for name, k in kwargs.items()}
        type_ = types.infer(
            function, tuple(self.literal(o) for o in operands), {k: self.literal(o) for k, o in keywords.items()}
        )
        active = rule.kind != "inactive" and self.flows(rule, function, operands, keywords, node)
        if type_.dtype is not None and type_.dtype.startswith(("int", "uint", "bool")):
            active = False
        if active:
            self.freeze([*operands, *keywords.values()], node)
        itself = isinstance(spelling, str) and spelling in aliases.ITSELF
        new = not itself and (rule.kind == "elementwise" or aliases.is_new(function, keywords))
        new = new or aliases.is_gathered(function, operands)
        op = ir.Op(ir.Value("t", type_), function, tuple(operands), keywords, spelling, self.found.location(node))
        is_view = aliases.is_view(op)
        sharing = operands[:1] if is_view or function is operator.getitem else operands
        regions = [] if new else [r for o in sharing for r in self.regions_of(o)]
        op.target = result = self.value("t", type_, active, regions)
        if is_view:
            self.see_view(op)
        self.emit(op)
        self.temporaries.add(result)
        return result

    def literal(self, operand):
        """The literal that an operand surely is, or the operand itself."""
        if not isinstance(operand, ir.Value):
            return operand
        if operand.type == ir.NONE and operand not in self.maybe:
            return ir.Constant(None)
        return self.constants.get(operand, operand)

    def no_rule(self, function, node):
        name = getattr(function, "__name__", repr(function))
        if spelling.is_builtin(function):
            instead = _INSTEAD.get(function)
            hint = f" ({instead} is)" if instead else ""
            self.refuse(f"the builtin {name} of values that carry a derivative is not compiled{hint}", node)
        if isinstance(function, np.vectorize):
            self.refuse(f"{text(node.func)}, which np.vectorize makes, is not compiled", node)
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            self.refuse(f"{text(node.func)} of values that carry a derivative is not compiled", node)
        if getattr(function, "__module__", None) in NO_MATHEMATICS:
            self.refuse(f"{name}() of values that carry a derivative is not compiled, in this form", node)
        self.refuse(f"{name} has no derivative rule (s2sgrad.rules.table says how to register one)", node)

    def as_array(self, thing, function, others, node):
        """A list of differentiated values, where the function takes an array: made into an array first."""
        kind = self.type_of(thing).kind
        if not is_active(thing) or kind in NUMERIC or function in TAKES_SEQUENCES:
            if not is_active(thing) and kind in (Kind.OTHER, Kind.DICT, Kind.RECORD) and function in ARITHMETIC:
                self.refuse(
                    f"{function.__name__} of a value that carries a derivative and an object of another kind", node
                )
            if not is_active(thing) and kind in SEQUENCES and function in ARITHMETIC:
                self.refuse(f"{function.__name__} of a value that carries a derivative and a {kind.value}", node)
            if not is_active(thing) and is_foreign(self.type_of(thing)):
                self.refuse(f"{function.__name__} of a value that carries a derivative and a foreign array", node)
            return thing
        if kind in SEQUENCES:
            arithmetic = function in ARITHMETIC
            items = self.type_of(thing).items or ()
            if not all(t.kind in NUMERIC and t.ndim == items[0].ndim and t.dtype is not None for t in items):
                self.refuse("a list of values that carry a derivative and may be of different shapes", node)
            if function in TAKES_NUMBERS and all(
                t.ndim == 0 for t in items or [self.element_type(self.type_of(thing))]
            ):
                return thing
            if not arithmetic or any(self.type_of(o).kind is Kind.ARRAY for o in others):
                return self.op(np.array, [thing], {}, node)
        name = getattr(function, "__name__", repr(function))
        self.refuse(f"{name} of a {kind.value} of values that carry a derivative is not compiled", node)

    def flows(self, rule: table.Rule, function, operands, keywords, node) -> bool:
        """Does a derivative flow from these arguments to the result? Refuses what the rule does not cover."""
        name = getattr(function, "__name__", repr(function))
        if rule.kind == "elementwise" and len(operands) == len(rule.partials) and not keywords:
            reached = [p for p, o in zip(rule.partials, operands, strict=True) if p is not None and is_active(o)]
            if table.unknown not in reached:
                return bool(reached)
        try:
            given = signature(rule).bind(*operands, **keywords).arguments
        except TypeError as error:
            self.refuse(f"the derivative rule of {name} does not cover this call: {error}", node)
        self.check_dtype(given.get("dtype"), name, node)
        active = {n for n, o in given.items() if any(map(is_active, o if isinstance(o, tuple) else (o,)))}
        stuck = active - set(rule.differentiable) - set(rule.constant)
        if stuck:
            self.refuse(f"{name} has no derivative rule for its argument {min(stuck)}", node)
        return bool(active & set(rule.differentiable))

    def check_dtype(self, dtype, name, node) -> None:
        """Arrays of objects hold what cannot be seen."""
        known = self.static(dtype.node) if isinstance(dtype, ir.Code) else None
        value = dtype.value if isinstance(dtype, ir.Constant) else known.value if known is not None else None
        if value is object or value is np.object_ or (isinstance(value, str) and value in ("O", "object")):
            self.refuse(f"{name} makes an array of objects of values that carry a derivative", node)


def first_by_position(rule: table.Rule, kwargs: dict) -> tuple:
    """The arguments of a call that are all given by name, the first of them by position where it may be."""
    name, parameter = next(iter(signature(rule).parameters.items()))
    if name not in kwargs or parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return [], kwargs
    return [kwargs[name]], {k: v for k, v in kwargs.items() if k != name}


@functools.cache
def signature(rule: table.Rule) -> inspect.Signature:
    """The calls that a rule covers."""
    kinds = inspect.Parameter
    if rule.kind == "elementwise":
        return inspect.Signature([kinds(n, kinds.POSITIONAL_ONLY) for n in rule.parameters])
    own = 1 if rule.kind == "linear" else 2
    line = rule.joint or next(iter(rule.pullbacks.values()))
    return inspect.Signature(list(inspect.signature(line).parameters.values())[own:])
