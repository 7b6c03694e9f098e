"""Says which parameter of a Python function gets what when it is called: an argument, or its default."""

import gast

from s2sgrad.transform import classes, ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.frontend import resolve
from s2sgrad.transform.frontend.kinds import text
from s2sgrad.transform.frontend.resolve import Known, attribute_code
from s2sgrad.transform.frontend.values import Arguments
from s2sgrad.transform.ir import Kind

LITERALS = (bool, int, float, complex, str, type(None))


class Parameters:
    """The part of `Lowering` that deals with the parameters of functions that are called."""

    def assign_parameters(self, tree, arguments: Arguments, defaults: dict, node) -> dict:
        """Which parameter gets what: Python's own rules of a call."""
        args = tree.args
        positional = [a.id for a in [*args.posonlyargs, *args.args]]
        keyword_only = [a.id for a in args.kwonlyargs]
        name = getattr(tree, "name", "the lambda")
        given = dict(zip(positional, arguments.positional, strict=False))
        rest = arguments.positional[len(positional) :]
        if rest and args.vararg is None:
            self.refuse(f"{name} takes {len(positional)} positional arguments", node)
        extra = {}
        for key, thing in arguments.keywords.items():
            if key in positional[len(args.posonlyargs) :] or key in keyword_only:
                if key in given:
                    self.refuse(f"{name} gets the argument {key} twice", node)
                given[key] = thing
            elif args.kwarg is not None:
                extra[key] = thing
            else:
                self.refuse(f"{name} has no argument {key}", node)
        for key in [*positional, *keyword_only]:
            if key not in given:
                if key not in defaults:
                    self.refuse(f"{name} is called without its argument {key}", node)
                given[key] = defaults[key]
        if args.vararg is not None:
            given[args.vararg.id] = self.make_container(
                types.sequence(Kind.TUPLE, [self.type_of(t) for t in rest]), rest, node
            )
        if args.kwarg is not None:
            t = ir.Type(Kind.DICT, items=tuple(self.type_of(v) for v in extra.values()), keys=tuple(extra))
            given[args.kwarg.id] = self.make_container(t, list(extra.values()), node)
        return given

    def function_defaults(self, callee: Known, tree) -> dict:
        """What the parameters of a function have as defaults: the objects that it holds."""
        function = callee.value
        found = {}
        names = [a.id for a in [*tree.args.posonlyargs, *tree.args.args]]
        values = function.__defaults__ or ()
        for i, (name, value) in enumerate(zip(names[len(names) - len(values) :], values, strict=True)):
            found[name] = self.default(value, callee, "__defaults__", i)
        for name, value in (function.__kwdefaults__ or {}).items():
            found[name] = self.default(value, callee, "__kwdefaults__", name)
        return found

    def defaults_as_written(self, function, tree) -> dict | None:
        """The defaults of a function that lives where this one does: literals, and functions that are named there.

        None where there are others.
        """
        args = tree.args
        names = [a.id for a in [*args.posonlyargs, *args.args]]
        written = dict(zip(names[::-1], args.defaults[::-1], strict=False))
        written |= {a.id: d for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None}
        values = dict(zip(names[::-1], (function.__defaults__ or ())[::-1], strict=False))
        values |= function.__kwdefaults__ or {}
        found: dict = {}
        for name, value in values.items():
            if isinstance(value, LITERALS):
                found[name] = ir.Constant(value)
                continue
            node = written.get(name)
            outside = node is not None and self.names.loads(node).isdisjoint(self.local | self.env.keys())
            known = self.static(node) if outside and type(value) in classes.FUNCTIONS else None
            if known is None or known.value is not value:
                return None
            found[name] = known
        return found

    def default(self, value, callee: Known, attribute: str, key):
        if isinstance(value, LITERALS):
            return ir.Constant(value)
        holder = attribute_code(callee.operand, attribute)
        node = gast.Subscript(holder.node, gast.Constant(key, None), gast.Load())
        place = f"{text(holder.node)}[{key!r}]"
        t = resolve.function_type(value) if resolve.is_definition(value) else self.outside._type(value, place)
        return Known(value, ir.Code(node, holder.reads, t))

    def held_by(self, callee: Known, attr: str, value) -> Known:
        """What a callable holds under an attribute."""
        code = attribute_code(callee.operand, attr)
        known = resolve.is_definition(value)
        t = resolve.function_type(value) if known else self.outside._type(value, text(code.node))
        return Known(value, ir.Code(code.node, code.reads, t))
