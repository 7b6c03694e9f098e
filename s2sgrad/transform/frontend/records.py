"""Lowers objects of the user's classes that the function makes: constructors and methods in place of their calls.

``s = Simulator(u0, v0)`` is a record without fields, and ``self.u = u`` in the body of its ``__init__`` gives it one:
it is a container with slots (`heap`), as if it were written down. So a method that changes its object is followed.
"""

import dataclasses
import inspect
from types import FunctionType, SimpleNamespace

import gast

from s2sgrad.transform import classes, ir
from s2sgrad.transform.frontend import resolve, source, syntax
from s2sgrad.transform.frontend.heap import Object
from s2sgrad.transform.frontend.kinds import any_active, text
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.values import Arguments
from s2sgrad.transform.ir import Kind


class Records:
    """The part of `Lowering` that deals with objects of the user's classes."""

    def record_made(self, value, targets: list):
        """The object that ``target = value`` makes and changes afterwards; None where it is none of that kind."""
        changed = any(isinstance(t, gast.Name) and t.id in self.mutable for t in targets)
        return self.record_of(value) if changed else None

    def record_of(self, call):
        """The object that a call makes to which no derivative flows; None where it is none that is followed."""
        if not isinstance(call, gast.Call) or any(isinstance(a, gast.Starred) for a in call.args):
            return None
        known = self.static(call.func)
        cls = known.value if known is not None else None
        if not isinstance(cls, type) or self.may_be_active(call):
            return None  # where an argument carries a derivative, it is followed anyway
        if not classes.is_plain_class(cls) and (resolve.is_trusted(cls) or classes.record_fields(cls) is None):
            return None
        return self.on_trial(lambda: self.construct(cls, self.arguments(call), call))[0]

    def is_given_function(self, node) -> bool:
        """Is it a call of a class with a function among its arguments, or their defaults?"""
        known = self.static(node.func) if isinstance(node, gast.Call) else None
        if known is None or not isinstance(known.value, type):
            return False
        defaults = getattr(inspect.getattr_static(known.value, "__init__"), "__defaults__", None) or ()
        given = [*node.args, *(k.value for k in node.keywords)]
        return any(type(value) in classes.FUNCTIONS for value in defaults) or any(map(self.is_named_function, given))

    def construct(self, cls, arguments: Arguments, node):
        """An instance of a dataclass or namedtuple of differentiated values, or of a plain class."""
        fields = classes.record_fields(cls)
        if fields is None:
            made = self.construct_plain(cls, arguments, node)
            return self.not_constructed(cls, node) if made is None else made
        given = self.fields_given(cls, fields, arguments, node)
        t = ir.Type(Kind.RECORD, items=tuple(map(self.type_of, given.values())), keys=tuple(fields), cls=cls)
        return self.make_container(t, list(given.values()), node)

    def not_constructed(self, cls, node):
        if resolve.is_trusted(cls):
            self.no_rule(cls, node)
        problem = self.session.purity.reason(cls)
        because = f": {problem}" if problem else ", nor is how its class makes it"
        self.refuse(f"the object that {text(node.func)}() makes is not followed{because}", node)

    def fields_given(self, cls, fields: list, arguments: Arguments, node) -> dict:
        """What each field of a new dataclass or namedtuple gets."""
        given = self.defaults_of_fields(cls, node)
        given |= dict(zip(fields, arguments.positional, strict=False)) | arguments.keywords
        if set(given) != set(fields) or len(arguments.positional) > len(fields):
            self.refuse(f"{cls.__name__} needs all of its fields here: {', '.join(fields)}", node)
        return {f: given[f] for f in fields}

    def defaults_of_fields(self, cls, node) -> dict:
        """What the fields of a dataclass have that are not given: numbers, texts, functions, new lists and dicts."""
        given = {name: ir.Constant(value) for name, value in classes.plain_defaults(cls).items()}
        known = self.static(node.func) if isinstance(node, gast.Call) else None
        for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
            if field.default_factory is list:
                given[field.name] = self.new_list([], node)
            elif field.default_factory is dict:
                given[field.name] = self.new_dict({}, node)
            elif type(field.default) in classes.FUNCTIONS and known is not None and known.value is cls:
                held = self.outside.attribute(known, field.name)
                if held is not None and held.value is field.default:
                    given[field.name] = held
        return given

    def construct_plain(self, cls, arguments: Arguments, node):
        """An instance of a class whose `__init__` is lowered in place of the call; None where it cannot be.

        Of a dataclass with a `__post_init__` it is that which is lowered.
        """
        fields = classes.fields_stored(cls)
        name = "__init__" if fields is None else "__post_init__"
        init = inspect.getattr_static(cls, name)
        if not classes.is_plain_class(cls) or self.session.purity.reason(cls):
            return None
        if cls is SimpleNamespace:
            things = arguments.keywords
            t = ir.Type(Kind.RECORD, items=tuple(map(self.type_of, things.values())), keys=tuple(things), cls=cls)
            return None if arguments.positional else self.make_container(t, list(things.values()), node)
        self.session.containers += 1
        made = Object(cls.__name__.lower(), self.session.containers)
        lent = self.defaults_of(cls, node) if fields is None else {}
        given = lent if fields is None else self.fields_given(cls, fields, arguments, node)
        held = {attr: self.fill(made.slot(attr), thing) for attr, thing in given.items()}
        if lent:
            self.session.lending.add(cls)
        items = tuple(held.values())
        t = ir.Type(Kind.RECORD, items=tuple(item.type for item in items), keys=tuple(held), cls=cls)
        active = tuple(map(self.activity, items))
        new = self.value(made.label, t, active if any_active(active) else False)
        self.made[new], self.objects[new] = items, made
        self.emit(ir.Make(new, items, self.found.location(node)))
        if init is object.__init__:
            return None if arguments.positional or arguments.keywords else new
        if not isinstance(init, FunctionType):
            return None
        self.env[made.slot(None)] = new  # it is followed there while the body runs
        result = self.method_here(new, name, init, arguments if fields is None else Arguments(), node)
        new = self.env.pop(made.slot(None))
        return None if result is None else new

    def defaults_of(self, cls, node) -> dict:
        """The numbers and texts that objects of a class have until something else is assigned: its own attributes.

        Those of which the class, or the function, speaks. None of them changes while the function runs: a statement
        that assigns to an attribute of a class is refused, and so is a call of what may do it.
        """
        known = self.static(node.func)
        if known is None or known.value is not cls:
            return {}
        spoken = {n.attr for s in self.body for n in syntax.walk(s) if isinstance(n, gast.Attribute)}
        found = {a: self.outside.attribute(known, a) for a in classes.plain_attributes(cls, frozenset(spoken))}
        return {a: ir.Constant(None) if k.value is None else k for a, k in found.items() if k is not None}

    def held_by_class(self, t: ir.Type, node) -> ir.Type | None:
        """The type of the number, text or None that the class of an object holds, and not the object itself."""
        plain = t.kind is Kind.RECORD and isinstance(node, gast.Attribute) and node.attr not in (t.keys or ())
        if not plain or not classes.holds_plainly(t.cls, node.attr) or resolve.is_computed(t.cls, node.attr):
            return None
        held = self.outside.attribute(Known(t.cls, ir.Code(node.value)), node.attr)
        return None if held is None else self.type_of(held)

    def with_other_fields(self, arguments: Arguments, node):
        """``state._replace(u=v)`` of a namedtuple, ``dataclasses.replace(state, u=v)``: one with other fields."""
        base = arguments.positional[0]
        t = self.type_of(base)
        known = t.kind is Kind.RECORD and classes.record_fields(t.cls) == list(t.keys or ())
        if len(arguments.positional) > 1 or not known:
            self.refuse(f"what {text(node.func)}() gives cannot be told", node)
        fields = dict(zip(t.keys, self.items_of(base, node), strict=True))
        return self.construct(t.cls, Arguments([], fields | arguments.keywords), node)

    def namedtuple_method(self, base, attr: str, arguments: Arguments, node):
        """``state._replace(u=v)`` and ``state._asdict()``."""
        if attr == "_replace":
            return self.with_other_fields(Arguments([base, *arguments.positional], arguments.keywords), node)
        things = self.items_of(base, node)
        t = ir.Type(Kind.DICT, items=tuple(map(self.type_of, things)), keys=self.type_of(base).keys)
        return self.make_container(t, things, node)

    def changes_record(self, called) -> bool:
        """Is what is called a method that changes its object, of a name that an object of a plain class gets?"""
        base, attr = (called.value, called.attr) if isinstance(called, gast.Attribute) else (called, "__call__")
        cls = self.classes.get(base.id) if isinstance(base, gast.Name) else None
        method = None if cls is None else inspect.getattr_static(cls, attr, None)
        return isinstance(method, FunctionType) and self.session.purity.reason(method) is not None

    def as_method_call(self, call):
        """``layer(x)`` of an object as ``layer.__call__(x)``; any other call as it is."""
        t = self.type_at(call.func)
        if t is None or t.kind is not Kind.RECORD:
            return call
        if "__call__" in (t.keys or ()):
            self.refuse(f"{text(call.func)} has an attribute __call__ that a call of it does not use", call)
        method = gast.copy_location(gast.Attribute(call.func, "__call__", gast.Load()), call)
        return gast.copy_location(gast.Call(method, call.args, call.keywords), call)

    def classes_of_names(self, body: list, kinds: dict) -> dict:
        """The names to which the function gives new objects of plain classes, or is given them, and these classes."""
        given = kinds | {name: thing.type for name, thing in self.given.items() if isinstance(thing, ir.Value)}
        found = {name: t.cls for name, t in given.items() if t.kind is Kind.RECORD and classes.is_plain_class(t.cls)}
        for node in (n for s in body for n in syntax.own_nodes(s) if isinstance(n, gast.Assign)):
            pairs = [(target, node.value) for target in node.targets]
            for target, value in pairs:
                if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple):
                    pairs += zip(target.elts, value.elts, strict=False)
                called = value.func if isinstance(value, gast.Call) else None
                if isinstance(target, gast.Name) and isinstance(called, gast.Name):
                    cls = self.glimpse(called)
                    if isinstance(cls, type) and classes.is_plain_class(cls):
                        found[target.id] = cls
        return found

    def method_of_record(self, call) -> tuple | None:
        """The object that the function made, the name and the function of a call of a method of the user's."""
        if not isinstance(call.func, gast.Attribute):
            return None
        base = self.holder(call.func.value)
        if base is None or base not in self.objects or base.type.kind is not Kind.RECORD:
            return None
        attr, cls = call.func.attr, base.type.cls
        function = resolve.plain_attribute(cls, attr)
        plain = isinstance(function, FunctionType) and isinstance(inspect.getattr_static(cls, attr), FunctionType)
        return (base, attr, function) if plain and attr not in base.type.keys else None

    def property_here(self, base: ir.Value, attr: str, node):
        """What a property gives that only reads its object, lowered in place; None where it is none, or cannot be."""
        getter = classes.getter(base.type.cls, attr)
        if getter is None or self.session.purity.reason(getter) is not None:
            return None
        return self.method_here(base, attr, getter, Arguments([], {}), node)

    def method_here(self, base, attr: str, function, arguments: Arguments, node, above=None):
        """What a method gives whose body is lowered in place of its call; None where it cannot be.

        `above`: the class whose objects have inherited it, where the object's own class may have another one.
        """
        free = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if not free.keys() <= {syntax.HOME} or hasattr(function, "__s2sgrad__") or hasattr(function, "__wrapped__"):
            return None
        found = source.find(function)
        defaults = self.defaults_as_written(function, found.node)
        if defaults is None or not self.fits_here(found.node) or syntax.HOME in self.names.captured(found.node):
            return None
        if not self.means_the_same(function):
            return None
        self.outside.method_of(self.type_of(base).cls, attr, function, above)
        arguments = Arguments([base, *arguments.positional], arguments.keywords)
        given = self.assign_parameters(found.node, arguments, defaults, node)
        home = free[syntax.HOME].cell_contents if free else None
        return self.result_here(found, found.node, given, home=home)
