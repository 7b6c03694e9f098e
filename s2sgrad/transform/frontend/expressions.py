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
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import effects, resolve, syntax
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import Bound, Inert, Nested, Unbound
from s2sgrad.transform.ir import Kind

OPERATORS = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
}

NUMERIC = (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN)
SEQUENCES = (Kind.LIST, Kind.TUPLE)
CONTAINERS = (Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.RECORD)
BOOL = ir.Type(Kind.NUMBER, "bool", 0, ())
TEXT = ir.OTHER

# Builtins whose result carries no derivative whatever their arguments are.
PLAIN_BUILTINS = frozenset(
    [print, len, isinstance, issubclass, type, id, repr, str, format, range, hasattr, callable, bool, all, any, slice, hash]
)
EFFECTLESS = PLAIN_BUILTINS - {print}


class Expressions:
    """The part of `Lowering` that deals with expressions."""

    # ------------------------------------------------------------------------------------ small things

    def refuse(self, reason: str, node=None):
        raise CompileError(reason, self.found.location(node if hasattr(node, "lineno") else self.current))

    def value(self, name: str, type_: ir.Type, active=False, regions=()) -> ir.Value:
        """A new value; `active` is a bool, or a tuple with one such entry per item of a container."""
        value = ir.Value(name, type_, any_active(active))
        if isinstance(active, tuple) and value.active:
            self.parts[value] = active
        if type_.kind is not Kind.NUMBER:
            region = effects.Region(self.loops)
            for other in regions:
                region = region.join(other)
            self.regions[value] = region
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
        return ir.Type(Kind.CALLABLE) if isinstance(thing, (Nested, Bound)) else types.type_of(thing)

    def operand(self, thing, name: str = "t"):
        """`thing` as an operand of the intermediate language."""
        if isinstance(thing, Inert):
            return self.place(thing, name)
        if isinstance(thing, Known):
            return thing.operand
        if isinstance(thing, Nested):
            if thing.value is None:
                self.refuse("a function that is not called but passed on, stored or returned cannot be followed")
            return thing.value
        if isinstance(thing, Bound):
            self.refuse("a method that is not called but passed on, stored or returned cannot be followed")
        return thing

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
        value = self.value(name, inert.type, regions=inert.regions)
        if inert.pure and name not in self.mutable:
            self.emit(ir.Bind(value, inert.code(), self.found.location(self.current)))
        else:
            label = self.unused_name(name)
            node = gast.Assign([gast.Name(label, gast.Store(), None, None)], inert.node, None)
            self.emit(ir.Verbatim(node, inert.reads, {label: value}, self.found.location(self.current)))
        if isinstance(inert.node, gast.Constant):
            self.constants[value] = ir.Constant(inert.node.value)
        self.temporaries.add(value)
        return value

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
                    self.refuse(f"an array that this reads {problem}: the compiler keeps to arrays that stay as they are", node)

    def regions_of(self, thing) -> list:
        if isinstance(thing, ir.Value):
            return [self.regions[thing]] if thing in self.regions else []
        if isinstance(thing, Inert):
            return thing.regions
        if isinstance(thing, Known):
            return [self.region_of_object(thing.value)]
        if isinstance(thing, ir.Code):
            found = [r for v in thing.reads.values() for r in self.regions_of(v)]
            for name in self.names.loads(thing.node):
                if name not in thing.reads and name not in self.local:
                    value = self.outside.name(name).value
                    if not resolve.is_definition(value):
                        found.append(self.region_of_object(value))
            return found
        return []

    def region_of_object(self, value) -> effects.Region:
        if id(value) not in self.object_regions:
            container = not isinstance(value, (tuple,)) and not hasattr(value, "__array__")
            self.object_regions[id(value)] = effects.Region((), external=True, container=container)
        return self.object_regions[id(value)]

    # ---------------------------------------------------------------------------------- inert expressions

    def inert(self, node) -> Inert:
        """`node` as it stands, its active parts read as plain data."""
        reads = {}
        for name in self.names.loads(node):
            if name in self.env:
                reads[name] = self.data(self.env[name], node)
            elif name in self.local:
                self.refuse(f"{name} may have no value here", node)
        type_, cheap, pure, regions = self.facts(node, {})
        if not self.mutable.isdisjoint(self.names.loads(node)):
            pure = False  # what it reads may change: it has its place in the program
        return Inert(node, reads, type_, cheap, pure, regions)

    def data(self, thing, node) -> ir.Value:
        """The value that holds `thing` when the program runs."""
        if isinstance(thing, Unbound):
            self.refuse(thing.reason, node)
        if isinstance(thing, Nested) and thing.value is not None:
            self.settle(thing, node)
        return self.operand(thing)

    def settle(self, nested: Nested, node) -> None:
        """A nested function is passed on as it is: what it captures must be what it will see when it runs."""
        for name in self.names.captured(nested.node):
            if name in self.local and name != nested.name and (self.bindings.get(name, 0) != 1 or name not in self.env):
                self.refuse(f"{nested.name} uses {name}, which is assigned more than once, and is passed on", node)

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
            all(f[2] for f in found),
            [r for f in found for r in f[3]],
        )

    def facts_Constant(self, node, bound):
        return types.of(node.value), True, True, []

    def facts_Name(self, node, bound):
        if node.id in bound:
            return bound[node.id], True, True, [self.anywhere]
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
            _, cheap, pure, _ = self.facts(node.operand, bound)
            return BOOL, cheap, pure, []
        return self._operation(OPERATORS[type(node.op)], [node.operand], bound)

    def _operation(self, function, nodes, bound):
        kinds, cheap, pure, regions = self.all_facts(nodes, bound)
        result = types.infer(function, tuple(self.sample(n, t, bound) for n, t in zip(nodes, kinds, strict=True)))
        numbers = all(t.kind is Kind.NUMBER for t in kinds)
        new = numbers or any(t.kind in (Kind.NUMBER, Kind.ARRAY) for t in kinds)
        return result, cheap and numbers, pure, [] if new else regions

    def facts_Compare(self, node, bound):
        kinds, cheap, pure, _ = self.all_facts([node.left, *node.comparators], bound)
        numbers = all(t.kind is Kind.NUMBER for t in kinds)
        if len(node.ops) > 1 or isinstance(node.ops[0], (gast.Is, gast.IsNot, gast.In, gast.NotIn)):
            return BOOL, cheap and all(t.kind in (Kind.NUMBER, Kind.OTHER) for t in kinds), pure, []
        args = tuple(self.sample(n, t, bound) for n, t in zip([node.left, *node.comparators], kinds, strict=True))
        return types.infer(OPERATORS[type(node.ops[0])], args), cheap and numbers, pure, []

    def facts_BoolOp(self, node, bound):
        kinds, cheap, pure, regions = self.all_facts(node.values, bound)
        return joined(kinds), cheap, pure, regions

    def facts_IfExp(self, node, bound):
        kinds, cheap, pure, regions = self.all_facts([node.body, node.orelse], bound)
        _, cheap_test, pure_test, _ = self.facts(node.test, bound)
        return joined(kinds), cheap and cheap_test, pure and pure_test, regions

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
        _, cheap, pure, _ = self.all_facts([node.lower, node.upper, node.step], bound)
        return ir.OTHER, cheap, pure, []

    def facts_JoinedStr(self, node, bound):
        _, _, pure, _ = self.all_facts(node.values, bound)
        return TEXT, False, pure, []

    def facts_FormattedValue(self, node, bound):
        _, _, pure, _ = self.all_facts([node.value, node.format_spec], bound)
        return TEXT, False, pure, []

    def facts_Lambda(self, node, bound):
        for name in self.names.captured(node):
            if name in self.local and name not in bound and self.bindings.get(name, 0) != 1:
                self.refuse(f"a lambda that is passed on uses {name}, which is assigned more than once", node)
        inner = dict.fromkeys(syntax.parameters(node), ir.UNKNOWN)
        self.facts(node.body, {**bound, **inner})
        return ir.Type(Kind.CALLABLE), False, True, [self.anywhere]

    def _comprehension(self, node, results, bound):
        inner, pure, regions = dict(bound), True, []
        for generator in node.generators:
            kind, _, clean, more = self.facts(generator.iter, inner)
            element = self.element_type(kind, generator.iter)
            inner.update(self.target_types(generator.target, element))
            _, _, clean_tests, _ = self.all_facts(generator.ifs, inner)
            pure, regions = pure and clean and clean_tests, regions + more
        kinds, _, clean, more = self.all_facts(results, inner)
        return kinds, False, pure and clean, regions + more

    def facts_ListComp(self, node, bound):
        kinds, cheap, pure, regions = self._comprehension(node, [node.elt], bound)
        return ir.Type(Kind.LIST, element=kinds[0]), cheap, pure, regions

    def facts_GeneratorExp(self, node, bound):
        _, cheap, _, regions = self._comprehension(node, [node.elt], bound)
        return ir.OTHER, cheap, False, regions

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

    def element_type(self, t: ir.Type, node=None) -> ir.Type:
        """What iterating over a value of type `t` (written as `node`) gives."""
        if t.kind is Kind.ARRAY and t.ndim:
            ndim = t.ndim - 1
            return ir.Type(Kind.NUMBER, t.dtype, 0, ()) if ndim == 0 else ir.Type(Kind.ARRAY, t.dtype, ndim, types.fresh())
        if t.kind in SEQUENCES:
            return joined(t.items) if t.items else (t.element or ir.UNKNOWN)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id not in self.local:
            return self._iterator_element(node)
        return ir.Type(dtype=t.dtype) if t.kind is Kind.ARRAY else ir.UNKNOWN

    def _iterator_element(self, node) -> ir.Type:
        function = self.outside.name(node.func.id).value
        plain = not node.keywords and not any(isinstance(a, gast.Starred) for a in node.args)
        if function is range:
            return ir.INT
        if function in (enumerate, zip) and node.args and plain:
            sources = node.args if function is zip else node.args[:1]
            items = tuple(self.element_type(self.facts(a, {})[0], a) for a in sources)
            return ir.Type(Kind.TUPLE, items=items if function is zip else (ir.INT, *items))
        if function is reversed and plain and len(node.args) == 1:
            return self.element_type(self.facts(node.args[0], {})[0], node.args[0])
        return ir.UNKNOWN

    def facts_Attribute(self, node, bound):
        known = self.static(node, bound)
        if known is not None:
            regions = [] if resolve.is_definition(known.value) else self.regions_of(known)
            return self.type_of(known), isinstance(known.value, MODULE_DATA), True, regions
        base, cheap, pure, regions = self.facts(node.value, bound)
        if base.kind is Kind.RECORD and base.keys and node.attr in base.keys:
            return base.items[base.keys.index(node.attr)], False, pure, self.inside(regions)
        if base.kind in NUMERIC and node.attr in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
            stable = cheap and base.kind is not Kind.UNKNOWN
            if node.attr == "shape":
                items = (ir.INT,) * base.ndim if base.ndim is not None else None
                return ir.Type(Kind.TUPLE, items=items, element=None if items is not None else ir.INT), stable, pure, []
            return ir.OTHER if node.attr == "dtype" else ir.INT, stable, pure, []
        function = table.ATTRIBUTES.get(node.attr)
        if base.kind in (Kind.NUMBER, Kind.ARRAY) and function is not None:
            return types.infer(function, (self.sample(node.value, base, bound),)), False, pure, regions
        return ir.UNKNOWN, False, pure, self.inside(regions)

    def inside(self, regions: list) -> list:
        """The memory that parts of something in `regions` may be in."""
        return [self.anywhere if r.root().external else r for r in regions]

    def facts_Subscript(self, node, bound):
        base, cheap, pure, regions = self.facts(node.value, bound)
        _, cheap_index, pure_index, _ = self.facts(node.slice, bound)
        index = gast.Constant(constant_of(node.slice, None), None)
        operand = ir.Constant(index.value) if index.value is not None else ir.Code(node.slice, {}, self.facts(node.slice, bound)[0])
        result = self.item(base, operand)
        stable = cheap and cheap_index and base.kind is Kind.TUPLE
        return result, stable, pure and pure_index, [] if result.kind is Kind.NUMBER else self.inside(regions)

    def item(self, base: ir.Type, index) -> ir.Type:
        """The type of ``base[index]``."""
        key = index.value if isinstance(index, ir.Constant) else MISSING
        if base.kind in SEQUENCES or base.kind is Kind.RECORD:
            if isinstance(key, int) and not isinstance(key, bool):
                return item_type(base, key)
            if self.is_slice(index):
                return ir.Type(base.kind, element=self.element_type(base)) if base.kind in SEQUENCES else ir.UNKNOWN
            return self.element_type(base)
        if base.kind is Kind.DICT:
            if base.keys is not None and key in base.keys:
                return base.items[base.keys.index(key)]
            return joined(base.items) if base.items else (base.element or ir.UNKNOWN)
        return types.infer(operator.getitem, (ir.Value("x", base), index))

    @staticmethod
    def is_slice(index) -> bool:
        return isinstance(index, ir.Code) and isinstance(index.node, gast.Slice)

    def facts_Call(self, node, bound):
        arguments, cheap, pure, regions = self.all_facts([*node.args, *(k.value for k in node.keywords)], bound)
        for keyword in node.keywords:
            if keyword.arg == "out" and not is_none(keyword.value):
                self.write(keyword.value, node, bound)
                pure = False
        known = self.static(node.func, bound)
        if known is not None:
            return self._known_call(known.value, node, arguments, cheap, pure, regions, bound)
        nested = self.env.get(node.func.id) if isinstance(node.func, gast.Name) and node.func.id not in bound else None
        if isinstance(nested, Nested):
            self.data(nested, node)
            problem = self.nested_problem(nested)
            if problem:
                self.refuse(f"{nested.name} cannot be called here: {problem}", node)
            return ir.UNKNOWN, False, True, [self.anywhere]
        if isinstance(node.func, gast.Attribute):
            return self._method_call(node, arguments, pure, regions, bound)
        self.refuse(f"what {text(node.func)} does cannot be seen: it is not known which function it is", node)

    def _known_call(self, function, node, arguments, cheap, pure, regions, bound):
        if function in self.session.plain(effects.OPAQUE, function):
            self.refuse(f"{text(node.func)}() reaches local variables behind the compiler's back", node)
        where = self.session.mutator(function)
        if where is not None:
            if function is next:
                self.refuse("an iterator that is advanced by next() is not compiled", node)
            if where >= len(node.args):
                self.refuse(f"{text(node.func)} writes into an argument", node)
            self.write(node.args[where], node, bound)
            return ir.UNKNOWN, False, False, []
        problem = self.session.purity.reason(function)
        if problem:
            self.refuse(f"{text(node.func)} may change what the derivative reads: {problem}", node)
        n = len(node.args)
        args = tuple(self.sample(a, t, bound) for a, t in zip(node.args, arguments[:n], strict=True))
        kwargs = {k.arg: self.sample(k.value, t, bound) for k, t in zip(node.keywords, arguments[n:], strict=True) if k.arg}
        result = self.builtin_type(function, args, kwargs)
        if function is len:
            first = arguments[0].kind if arguments else Kind.UNKNOWN
            return ir.INT, cheap and first in (Kind.ARRAY, Kind.TUPLE), pure, []
        if function is range or function is slice:
            return ir.OTHER, cheap, pure, []
        if function in (float, int, bool, complex):
            return result, cheap and all(t.kind is Kind.NUMBER for t in arguments), pure, []
        harmless = function in EFFECTLESS if function.__hash__ else False
        pure = pure and (harmless or self.session.is_effectless(function))
        rule = table.lookup(function)
        new = result.kind is Kind.NUMBER or rule is not None and rule.kind == "elementwise" or function in FRESH
        return result, False, pure, [] if new else regions

    def builtin_type(self, function, args, kwargs) -> ir.Type:
        if function in PYTHON_TYPES and len(args) == 1 and not kwargs:
            return PYTHON_TYPES[function]
        if function in (str, repr, format):
            return TEXT
        if function in (list, tuple) and len(args) == 1:
            kind = Kind.LIST if function is list else Kind.TUPLE
            given = types.type_of(args[0])
            if given.kind in SEQUENCES:
                return ir.Type(kind, items=given.items, element=given.element)
            return ir.Type(kind)
        if function in (isinstance, hasattr, callable, issubclass):
            return BOOL
        return types.infer(function, args, kwargs)

    def _method_call(self, node, arguments, pure, regions, bound):
        attr = node.func.attr
        base, _, clean, own = self.facts(node.func.value, bound)
        if attr in effects.MUTATING_METHODS and base.kind is not Kind.NUMBER:
            self.write(node.func.value, node, bound)
            for region in own:
                for other in regions:
                    region.join(other)
            return ir.UNKNOWN, False, False, self.inside(own)
        method = table.METHODS.get(attr)
        if base.kind in (Kind.NUMBER, Kind.ARRAY) and method is not None:
            samples = [self.sample(a, t, bound) for a, t in zip(node.args, arguments, strict=False)]
            args = (self.sample(node.func.value, base, bound), *samples)
            result = ir.UNKNOWN if node.keywords or method.variadic else types.infer(method.function, args)
            return result, False, pure and clean, [] if result.kind is Kind.NUMBER else own + regions
        if attr in effects.known_methods() and base.kind is not Kind.CALLABLE:
            quiet = method is not None or attr in table.INACTIVE_METHODS or base.kind in CONTAINERS
            return ir.UNKNOWN, False, pure and clean and quiet, self.inside(own) + regions
        function = self.class_attribute(base, attr)
        if function is not None:
            problem = self.session.purity.reason(function)
            if problem is None:
                trusted = resolve.is_trusted(function)
                return ir.UNKNOWN, False, pure and clean and not trusted, [self.anywhere]
            self.refuse(f"{text(node.func)} may change what the derivative reads: {problem}", node)
        self.refuse(f"what {text(node.func)} does cannot be seen: it is not known which function it is", node)

    def class_attribute(self, base: ir.Type, attr: str):
        """The function that ``value.attr`` is for a `value` whose class is known."""
        if base.cls is None:
            return None
        found = resolve.plain_attribute(base.cls, attr)
        if found is resolve.MISSING or not callable(found) or resolve.sets_attribute(base.cls, attr):
            return None
        return found

    def nested_problem(self, nested: Nested) -> str | None:
        """Why a nested function is not surely pure."""
        for child in nested.node.body if isinstance(nested.node.body, list) else [nested.node.body]:
            for node in gast.walk(child):
                if isinstance(node, (gast.Global, gast.Nonlocal)):
                    return f"it rebinds {node.names[0]}"
                if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
                    return "it writes into an object"
                if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                    return f"it changes {node.target.id} in place"
                if isinstance(node, gast.Call):
                    known = self.static(node.func, dict.fromkeys(self.local | set(syntax.parameters(nested.node)), ir.UNKNOWN))
                    attr = node.func.attr if isinstance(node.func, gast.Attribute) else ""
                    if known is None and attr not in effects.known_methods():
                        return f"what {text(node.func)} does cannot be seen"
                    if known is not None and (self.session.mutator(known.value) is not None):
                        return f"{text(node.func)} writes into an argument"
                    if known is not None and self.session.purity.reason(known.value):
                        return self.session.purity.reason(known.value)
        return None

    # -------------------------------------------------------------------------------------------- writes

    def write(self, base, node, bound=()) -> None:
        """A statement at `node` changes what the expression `base` stands for."""
        root = base
        while isinstance(root, (gast.Subscript, gast.Attribute)):
            root = root.value
        if isinstance(root, gast.Name) and is_live(self.env.get(root.id)):
            self.refuse(f"{root.id} carries a derivative and is changed in place", node)
        for region in self.facts(base, dict.fromkeys(bound, ir.UNKNOWN) if not isinstance(bound, dict) else bound)[3]:
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
            return thing if isinstance(thing, Known) else None
        if isinstance(node, gast.Attribute):
            base = self.static(node.value, bound)
            return None if base is None else self.outside.attribute(base, node.attr)
        return None

    def known_name(self, node) -> Known:
        try:
            return self.outside.name(node.id)
        except CompileError as error:
            self.refuse(error.reason, node)

    # --------------------------------------------------------------------------------- active expressions

    def expression(self, node):
        """`node` lowered: an operand, a known object, a function, or an `Inert`."""
        if isinstance(node, gast.Lambda):
            return self.nested(node)
        if not self.may_be_active(node):
            known = self.static(node)
            return known if known is not None else self.inert(node)
        handler = getattr(self, f"expression_{type(node).__name__}", None)
        if handler is None:
            self.refuse(f"{describe(node)} of values that carry a derivative is not compiled", node)
        return handler(node)

    def may_be_active(self, node) -> bool:
        """Does `node` read a name that a derivative flows through, as more than plain data?"""
        if not any(is_live(self.env.get(name), self) for name in self.names.loads(node)):
            return False
        return self.flows_out(node)

    def flows_out(self, node) -> bool:
        """Can a derivative flow out of `node`? Not out of a shape, a comparison, a length."""
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
            known = self.static(node.func)
            if known is not None and self.is_plain_function(known.value):
                return False
        return any(self.flows_out(child) for child in gast.iter_child_nodes(node))

    def is_plain_function(self, function) -> bool:
        """Does `function` give plain data whatever its arguments are?"""
        rule = table.lookup(function)
        if rule is not None:
            return rule.kind == "inactive"
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
        found = [n for n in node.values if not isinstance(n, (gast.Compare, gast.BoolOp))]
        if any(self.may_be_active(n) for n in found):
            self.refuse("`and`/`or` that may give a value that carries a derivative: write `a if a else b`", node)
        return self.inert(node)

    def expression_IfExp(self, node):
        if syntax.contains(node, gast.NamedExpr):
            self.refuse("`:=` in a conditional expression", node)
        test, decided = self.test(node.test)
        if decided is not None:
            return self.expression(node.body if decided else node.orelse)
        then, first = self.branch(lambda: self.expression(node.body))
        orelse, second = self.branch(lambda: self.expression(node.orelse))
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
        regions = self.regions_of(first) + self.regions_of(second)
        return self.value(name, type_, active, regions)

    def check_join(self, a: ir.Type, b: ir.Type, both: ir.Type, node) -> None:
        if both.kind is Kind.UNKNOWN and not {a.kind, b.kind} <= set(NUMERIC):
            self.refuse("a value that carries a derivative is a number or array on one way and something else on another", node)
        if both.kind in CONTAINERS and both.items is None and both.element is None:
            self.refuse("a container of values that carry a derivative is different on two ways", node)

    def expression_Attribute(self, node):
        base = self.expression(node.value)
        if isinstance(base, Known):
            known = self.outside.attribute(base, node.attr)
            return known if known is not None else self.inert(node)
        t = self.type_of(base)
        if not is_active(base) or node.attr in table.INACTIVE_ATTRIBUTES:
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
        if self.may_be_active(node.slice) and isinstance(node.slice, gast.Name) and t.kind not in NUMERIC:
            self.refuse("an index that carries a derivative", node)
        index = self.index(node.slice)
        if t.kind is Kind.RECORD and isinstance(index, ir.Constant) and t.keys and isinstance(index.value, int):
            if -len(t.keys) <= index.value < len(t.keys):
                return self.field(base, t.keys[index.value], node)
        if t.kind in NUMERIC:
            return self.op(operator.getitem, [base, index], {}, node)
        key = index.value if isinstance(index, ir.Constant) else MISSING
        if t.kind is Kind.DICT and key is MISSING and self.type_of(index).kind is not Kind.OTHER and t.items is None:
            self.refuse("this entry of a dict cannot be followed", node)
        active = self.item_activity(base, key, index)
        if not any_active(active):
            return self.inert(node)
        result = self.value("t", self.item(t, index), active, self.regions_of(base))
        if result.type.kind is Kind.UNKNOWN and result.type == ir.UNKNOWN:
            self.refuse("what this element is cannot be told", node)
        self.emit(ir.Op(result, operator.getitem, (base, index), {}, None, self.found.location(node)))
        self.temporaries.add(result)
        return result

    def index(self, node):
        """The index of a subscript: a literal where it is one."""
        value = constant_of(node, MISSING)
        if value is not MISSING:
            return ir.Constant(value)
        if isinstance(node, gast.Name):
            thing = self.env.get(node.id)
            if isinstance(thing, ir.Value) and thing in self.constants:
                return self.constants[thing]
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
            self.refuse("`*` inside of a tuple or list of values that carry a derivative", node)
        things = self.expressions(node.elts)
        if not any(map(is_active, things)) and self.only_inert(things):
            return self.inert(node)
        return self.make_container(types.sequence(kind, [self.type_of(t) for t in things]), things, node)

    @staticmethod
    def only_inert(things) -> bool:
        """Nothing has been placed in the program for them: they can be taken back as they are in the source."""
        return all(isinstance(t, (Inert, Known)) or (isinstance(t, ir.Value) and not t.active) for t in things)

    def make_container(self, type_: ir.Type, things: list, node, name="t") -> ir.Value:
        operands = [self.operand(t) for t in things]
        self.freeze(operands, node)
        active = tuple(self.activity(o) for o in operands)
        if type_.items is None:
            active = any_active(active)
        regions = [r for o in operands for r in self.regions_of(o)]
        result = self.value(name, type_, active, regions)
        self.emit(ir.Make(result, tuple(operands), self.found.location(node)))
        self.temporaries.add(result)
        return result

    def expression_Dict(self, node):
        if not all(isinstance(k, gast.Constant) for k in node.keys):
            self.refuse("a dict of values that carry a derivative needs literal keys", node)
        keys = tuple(k.value for k in node.keys)
        if len(set(keys)) < len(keys):
            self.refuse("a dict with the same key twice", node)
        things = self.expressions(node.values)
        if not any(map(is_active, things)):
            return self.inert(node)
        return self.make_container(ir.Type(Kind.DICT, items=tuple(map(self.type_of, things)), keys=keys), things, node)

    def expression_NamedExpr(self, node):
        self.assign_name(node.target.id, self.expression(node.value))
        return self.env[node.target.id]

    # ---------------------------------------------------------------------------------------- operations

    def operation(self, function, nodes, node):
        things = self.expressions(nodes)
        if not any(map(is_active, things)) and self.only_inert(things):
            return self.inert(node)
        kinds = [self.type_of(t) for t in things]
        if function is operator.add and kinds[0].kind in SEQUENCES and kinds[0].kind is kinds[1].kind:
            if any(k.items is None for k in kinds):
                self.refuse("lists of unknown length that carry a derivative are put together", node)
            items = [item for thing in things for item in self.items_of(thing, node)]
            return self.make_container(types.sequence(kinds[0].kind, list(map(self.type_of, items))), items, node)
        return self.op(function, things, {}, node)

    def op(self, function, args: list, kwargs: dict, node, spelling=None):
        """``function(*args, **kwargs)`` by its rule."""
        rule = table.lookup(function)
        if rule is None:
            self.no_rule(function, node)
        args = [self.as_array(a, function, args, node) for a in args]
        operands = [self.operand(a) for a in args]
        keywords = {name: self.operand(k) for name, k in kwargs.items()}
        type_ = types.infer(function, tuple(self.literal(o) for o in operands), {k: self.literal(o) for k, o in keywords.items()})
        active = rule.kind != "inactive" and self.flows(rule, function, operands, keywords, node)
        if type_.dtype is not None and type_.dtype.startswith(("int", "uint", "bool")):
            active = False
        if active:
            self.freeze([*operands, *keywords.values()], node)
        elementwise = rule.kind == "elementwise"
        regions = [] if elementwise else [r for o in operands for r in self.regions_of(o)]
        result = self.value("t", type_, active, regions)
        self.emit(ir.Op(result, function, tuple(operands), keywords, spelling, self.found.location(node)))
        self.temporaries.add(result)
        return result

    def literal(self, operand):
        return self.constants.get(operand, operand) if isinstance(operand, ir.Value) else operand

    def no_rule(self, function, node):
        name = getattr(function, "__name__", repr(function))
        self.refuse(f"{name} has no derivative rule (s2sgrad.rules.table says how to register one)", node)

    def as_array(self, thing, function, others, node):
        """A list of differentiated values, where the function takes an array: made into an array first."""
        kind = self.type_of(thing).kind
        if not is_active(thing) or kind in NUMERIC or function in TAKES_SEQUENCES:
            if not is_active(thing) and kind in (Kind.OTHER, Kind.DICT, Kind.RECORD) and function in ARITHMETIC:
                self.refuse(f"{function.__name__} of a value that carries a derivative and an object of another kind", node)
            return thing
        if kind in SEQUENCES:
            arithmetic = function in ARITHMETIC
            if not arithmetic or any(self.type_of(o).kind is Kind.ARRAY for o in others):
                return self.op(np.array, [thing], {}, node)
        name = getattr(function, "__name__", repr(function))
        self.refuse(f"{name} of a {kind.value} of values that carry a derivative is not compiled", node)

    def flows(self, rule: table.Rule, function, operands, keywords, node) -> bool:
        """Does a derivative flow from these arguments to the result? Refuses what the rule does not cover."""
        name = getattr(function, "__name__", repr(function))
        try:
            given = signature(rule).bind(*operands, **keywords).arguments
        except TypeError as error:
            self.refuse(f"the derivative rule of {name} does not cover this call: {error}", node)
        self.check_dtype(given.get("dtype"), name, node)
        active = {n for n, o in given.items() if any(map(is_active, o if isinstance(o, tuple) else (o,)))}
        stuck = active - set(rule.differentiable)
        if stuck and rule.kind != "elementwise":
            self.refuse(f"{name} has no derivative rule for its argument {min(stuck)}", node)
        return bool(active & set(rule.differentiable))

    def check_dtype(self, dtype, name, node) -> None:
        """Arrays of objects hold what cannot be seen."""
        known = self.static(dtype.node) if isinstance(dtype, ir.Code) else None
        value = dtype.value if isinstance(dtype, ir.Constant) else known.value if known is not None else None
        if value is object or value is np.object_ or (isinstance(value, str) and value in ("O", "object")):
            self.refuse(f"{name} makes an array of objects of values that carry a derivative", node)


@functools.cache
def signature(rule: table.Rule) -> inspect.Signature:
    """The calls that a rule covers."""
    kinds = inspect.Parameter
    if rule.kind == "elementwise":
        return inspect.Signature([kinds(n, kinds.POSITIONAL_ONLY) for n in rule.parameters])
    own = 1 if rule.kind == "linear" else 2
    line = rule.joint or next(iter(rule.pullbacks.values()))
    return inspect.Signature(list(inspect.signature(line).parameters.values())[own:])


MISSING = resolve.MISSING
MODULE_DATA = (int, float, complex, str, bool, type(None))
PYTHON_TYPES = {float: ir.FLOAT, int: ir.INT, bool: BOOL, complex: ir.Type(Kind.NUMBER, "complex", 0, ()), len: ir.INT}
ARITHMETIC = frozenset(OPERATORS.values())

# Functions one argument of which is a list of arrays; its cotangent is a list too.
TAKES_SEQUENCES = frozenset(
    [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.array, np.asarray, np.asanyarray, np.block]
)

# Functions whose result shares no memory with anything.
FRESH = frozenset(
    [np.zeros, np.ones, np.full, np.empty, np.eye, np.identity, np.arange, np.linspace, np.zeros_like, np.ones_like]
    + [np.full_like, np.empty_like, np.array, np.copy, np.concatenate, np.stack, np.where, np.sum, np.mean, np.tile]
)




def is_active(thing) -> bool:
    return isinstance(thing, ir.Value) and thing.active


def is_live(thing, lowering=None) -> bool:
    """Must uses of a name that stands for `thing` be followed? Values that carry a derivative, functions that use them."""
    if isinstance(thing, Nested):
        return lowering is not None and lowering.captures_active(thing)
    return is_active(thing) or isinstance(thing, Bound)


def any_active(active) -> bool:
    return any(map(any_active, active)) if isinstance(active, tuple) else active


def part(active, i):
    return active[i] if isinstance(active, tuple) else active


def either(a, b):
    """The activity of what is one or the other."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(either, a, b))
    if isinstance(a, tuple) and b is False:
        return a
    if isinstance(b, tuple) and a is False:
        return b
    return any_active(a) or any_active(b)


def tuple_union(active):
    found = False
    for a in active:
        found = either(found, a)
    return found


def joined(kinds) -> ir.Type:
    kinds = list(kinds)
    result = kinds[0]
    for kind in kinds[1:]:
        result = types.join(result, kind)
    return result


def item_type(t: ir.Type, i: int) -> ir.Type:
    if t.items is not None and t.kind in (*SEQUENCES, Kind.RECORD):
        return t.items[i] if -len(t.items) <= i < len(t.items) else ir.UNKNOWN
    if t.kind in SEQUENCES:
        return t.element or ir.UNKNOWN
    if t.kind is Kind.ARRAY and t.ndim == 1:
        return ir.Type(Kind.NUMBER, t.dtype, 0, ())
    if t.kind is Kind.ARRAY and t.ndim:
        return ir.Type(Kind.ARRAY, t.dtype, t.ndim - 1, types.fresh())
    return ir.UNKNOWN


def constant_of(node, missing):
    """The value of a literal: a number, a string, a negative number."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) and isinstance(node.operand, gast.Constant):
        return -node.operand.value if isinstance(node.operand.value, (int, float, complex)) else missing
    return missing


def is_none(node) -> bool:
    return isinstance(node, gast.Constant) and node.value is None


def text(node) -> str:
    return gast.unparse(node).strip()


def describe(node) -> str:
    """What users call a piece of syntax."""
    return {
        "ListComp": "a list comprehension",
        "SetComp": "a set comprehension",
        "DictComp": "a dict comprehension",
        "GeneratorExp": "a generator expression",
        "NamedExpr": "an assignment inside of an expression (`:=`)",
        "Await": "`await`",
        "Yield": "`yield`",
        "YieldFrom": "`yield`",
        "Set": "a set",
        "Starred": "`*` in front of a value",
        "While": "a `while` loop",
        "With": "a `with` block",
        "Try": "a `try` block",
        "Delete": "`del`",
        "Match": "`match`",
    }.get(type(node).__name__, f"{type(node).__name__.lower()}")


