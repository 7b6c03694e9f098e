"""Lowers calls of derivatives, ``grad(f)(x)`` in a function: `f` is lowered, then differentiated."""

from types import FunctionType

from s2sgrad.errors import CompileError
from s2sgrad.transform.frontend import source
from s2sgrad.transform.frontend.kinds import numeric
from s2sgrad.transform.frontend.resolve import Known, attribute_code
from s2sgrad.transform.frontend.values import Arguments
from s2sgrad.transform.ir import Kind


class Derivatives:
    """The part of `Lowering` that deals with calls of derivatives."""

    def call_derivative(self, callee: Known, arguments: Arguments, node):
        """The call of a derivative object: its function is lowered, then differentiated."""
        specs, primal = derivatives(callee.value)
        if not isinstance(primal, FunctionType):
            self.refuse("the derivative of this kind of callable is not compiled inside of a function", node)
        operand = callee.operand
        for _ in specs:
            operand = attribute_code(attribute_code(operand, "__s2sgrad__"), "function")
        found = source.find(primal)
        defaults = self.function_defaults(Known(primal, operand), found.node)
        given = self.assign_parameters(found.node, arguments, defaults, node)
        wrt = tuple(positions(spec, found.node) for spec in specs)
        for name in {list(given)[i] for places in wrt for i in places}:
            t = self.type_of(given[name])
            if not numeric(t) or t.kind is Kind.OTHER:
                self.refuse(
                    f"the derivative with respect to {name}, which is no floating-point number or array here", node
                )
        key = (
            "gradient",
            id(primal.__code__),
            *map(id, primal.__closure__ or ()),
            tuple((s.kind, s.has_aux) for s in specs),
            wrt,
        )
        return self.call_lowered(found, given, key, node, function=primal, specs=tuple(zip(specs, wrt, strict=True)))


def derivatives(function) -> tuple:
    """The specs of a derivative object, of the derivative object that it differentiates, …, and the primal."""
    specs = []
    while hasattr(function, "__s2sgrad__"):
        specs.append(function.__s2sgrad__)
        function = function.__s2sgrad__.function
    return specs, function


def positions(spec, tree) -> tuple:
    """The positions of the parameters that a derivative is taken with respect to."""
    args = tree.args
    if args.vararg is not None or args.kwarg is not None:
        raise CompileError("the derivative of a function with *args or **kwargs is not compiled inside of a function")
    order = [a.id for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    chosen = spec.argnums if isinstance(spec.argnums, (tuple, list)) else (spec.argnums,)
    return tuple(order.index(n) if isinstance(n, str) else n % len(order) for n in chosen)
