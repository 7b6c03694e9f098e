"""From a Python function and the types of its arguments to the intermediate language.

`lower` is the entrance to the compiler: everything behind it (reverse pass, optimization, emission)
sees only the intermediate language.
"""

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CellType, FunctionType, MappingProxyType, MethodType

import gast

from s2sgrad.errors import CompileError
from s2sgrad.transform import classes, ir
from s2sgrad.transform.analysis.types import type_of
from s2sgrad.transform.frontend import source, syntax
from s2sgrad.transform.frontend.derivatives import derivatives, positions
from s2sgrad.transform.frontend.guards import Guard
from s2sgrad.transform.frontend.kinds import carrying
from s2sgrad.transform.frontend.lower import Lowering
from s2sgrad.transform.frontend.resolve import Known
from s2sgrad.transform.frontend.session import Row, Session, differentiated, namespace_of
from s2sgrad.transform.frontend.wholes import holds, seen_whole
from s2sgrad.transform.ir import Kind
from s2sgrad.transform.spec import Spec

__all__ = ["Guard", "Lowered", "Row", "Spec", "lower"]


@dataclass(slots=True, eq=False)
class Lowered:
    """A function in the intermediate language.

    Attributes
    ----------
    function : ir.Function
    callees : list of ir.Callee
        The functions that it calls, directly or not, in the order in which they are met.
    guards : list of Guard
        What it assumes of the names outside of it.
    report : list of Row
        What was compiled, for ``explain()``.
    apart : bool
        It writes into its arguments, and is right only where no two of them share memory.
    arrays : list of callable
        Each gives an array outside of the function that it reads: none of them may share memory with an argument.
    reached : list of callable
        Each gives data that a function may look at which it calls: they may share no memory with an argument, nor
        with what it writes to outside.
    written : list of callable
        Each gives an array outside that it writes to.
    in_one_piece : bool
        It is right only where all arrays that it is given are contiguous.
    """

    function: ir.Function
    callees: list
    guards: list
    report: list
    apart: bool = False
    in_one_piece: bool = False
    arrays: list = field(default_factory=list)
    reached: list = field(default_factory=list)
    written: list = field(default_factory=list)


def lower(
    function,
    types: Mapping[str, ir.Type],
    active,
    known: Mapping[str, object] = MappingProxyType({}),
    strict: bool = True,
) -> Lowered:
    """Lower a Python function for arguments of these types.

    Parameters
    ----------
    function : callable
        A Python function, lambda, bound method, `functools.partial`, callable instance, or a derivative
        object.
    types : dict of str to Type
        The types of the arguments, by parameter name; for ``*args`` and ``**kwargs`` those of the tuple
        and the dict.
    active : set of str, or dict
        The names of the parameters that a derivative flows from. A dict may say of a container which
        items: ``{"args": (True, False)}``.
    known : dict of str to object
        Arguments that are the very same object in each call, so that calls of them can be followed:
        functions that are passed.
    strict : bool
        Refuse the function where one that it calls is refused; else the calls of that one run on the tape, where
        that can be.

    Raises
    ------
    CompileError
        Where something is not surely understood.

    Examples
    --------
    >>> from s2sgrad.transform.show import show
    >>> import numpy as np
    >>> def f(x, n):
    ...     y = 0.0
    ...     for i in range(n):
    ...         y = y + np.sin(x[i])
    ...     if y > 1:
    ...         return y
    ...     return y * y
    >>> array = ir.Type(Kind.ARRAY, "float64", 1, "s")
    >>> print(show(lower(f, {"x": array, "n": ir.INT}, {"x"}).function))
    f(x*, n):
        y = Code(0.0)
        for i in Code(range(n)) carrying y'* = 0.0:
            t* = operator.getitem(x*, i)
            t'* = np.sin(t*)
            y''* = operator.add(y'*, t'*)
            -> y''*
        => y'''*
        if Code(y > 1; y is y'''*):
            -> y'''*
        else:
            result* = operator.mul(y'''*, y'''*)
            -> result*
        => result'*
        -> result'*
    """
    session = Session(strict=strict)
    top = _lower(session, function, types, active, known)
    callees = [callee for callee, _ in session.callees.values()]
    _see_objects(session, top, callees)
    arrays = list(session.arrays.values()) if session.apart else []
    whole = session.in_one_piece and any(map(_in_one_piece, types.values()))
    found = session.guards, session.rows, session.reached, session.written
    guards, rows, reached, written = (list(one.values()) for one in found)
    return Lowered(top, callees, guards, rows, session.apart, whole, arrays, reached, written)


def _see_objects(session: Session, top: ir.Function, callees: list) -> None:
    """Refuse a function that shows, or returns, objects which have fields that are their class's in a plain call."""
    functions = [top, *(callee.function for callee in callees if callee.function is not None)]
    returned = any(holds(type_of(r), session.lending) for r in top.body.results)
    if session.lending and (returned or any(seen_whole(f, session.lending) for f in functions)):
        names = ", ".join(sorted(cls.__name__ for cls in session.lending))
        raise CompileError(
            f"more is read of an object than its fields, some of which are its class's: {names}", top.location
        )


def _in_one_piece(t: ir.Type) -> bool:
    """Is an array in it said to be contiguous?"""
    inner = [*(t.items or ()), *([t.element] if t.element is not None else [])]
    return t.contiguous or any(map(_in_one_piece, inner))


def _lower(session: Session, function, types, active, known=MappingProxyType({})) -> ir.Function:
    if isinstance(getattr(function, "__s2sgrad__", None), Spec):
        return gradient_of(session, function, types, active)
    given: dict = {}  # parameters that are known already: the instance of a method, what a partial holds
    defaults: dict = {}
    while not isinstance(function, FunctionType):
        function = _peel(function, given, defaults)
    found = source.find(function)
    namespace = namespace_of(function)
    args = found.node.args
    positional = [a.id for a in [*args.posonlyargs, *args.args]]
    fixed = dict(zip(positional, given.get("", ()), strict=False))
    if fixed:
        cells = {**namespace.cells, **{name: CellType(value) for name, value in fixed.items()}}
        namespace = ir.Namespace(namespace.globals, cells)
    lowering = Lowering(session, found, namespace, kinds=types)
    lowering.outside.follow(function)
    for name in fixed:
        held = lowering.outside.name(name)
        object_ = held.operand.type.kind in (Kind.CALLABLE, Kind.OTHER)
        lowering.env[name] = held if object_ else _placed(lowering, name, held)
    parameters = _parameters(lowering, found, function, types, active, set(fixed), defaults)
    unknown = set(active) - {p.value.name for p in parameters}
    if unknown:
        raise CompileError(f"{found.name} has no parameter {min(unknown)}", found.location())
    for p in (p for p in parameters if p.value.name in known):
        p.fixed, name = True, p.value.name
        lowering.env[name] = Known(known[name], lowering.env[name])
    lowering.is_top = True
    block = lowering.run()
    if lowering.written_arguments:
        _see_arguments(lowering, found)
        session.apart = True
    session.report(found)
    doc = gast.get_docstring(found.node) if isinstance(found.node, gast.FunctionDef) else None
    name = found.name if found.name.isidentifier() else "function"
    return ir.Function(name, parameters, block, namespace, found.location(), doc or "")


def _see_arguments(lowering, found) -> None:
    """Refuse what writes into an argument, where something else may be seen to share its memory."""
    name = min(p.name for p in lowering.written_arguments)
    for p in lowering.parameters:
        if not _is_seen_through(p.type):
            raise CompileError(f"{name} is changed, and {p.name} may hold the same array", found.location())
    lowering.session.see_reached()
    if lowering.session.objects:
        what = lowering.session.objects[0]
        raise CompileError(f"{name} is changed, and an object of type {what} may be the same array", found.location())


def _is_seen_through(t: ir.Type) -> bool:
    """Are all arrays in an argument of this type to be seen when it is called?"""
    if t.kind is Kind.RECORD and classes.is_plain_class(t.cls):
        return True  # what is in it is asked at each call
    if t.kind is Kind.RECORD:
        return t.items is not None and all(map(_is_seen_through, t.items))
    if t.kind is Kind.OTHER:
        return t.cls in (None, str, type(None), bool)
    numbers = t.kind is not Kind.ARRAY or t.dtype is not None
    return numbers and t.kind in (Kind.NUMBER, Kind.ARRAY, Kind.LIST, Kind.TUPLE, Kind.DICT)


def _placed(lowering, name: str, known: Known) -> ir.Value:
    lowering.assign_name(name, known)
    return lowering.env[name]


def _peel(function, given: dict, defaults: dict):
    """What a bound method, a partial or a callable instance calls; notes the arguments that it holds."""
    if isinstance(function, MethodType):
        given[""] = (function.__self__, *given.get("", ()))
        return function.__func__
    if isinstance(function, functools.partial):
        given[""] = (*function.args, *given.get("", ()))
        defaults.update({k: v for k, v in function.keywords.items() if k not in defaults})
        return function.func
    call = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(function, type) or not isinstance(call, FunctionType):
        name = getattr(function, "__qualname__", None) or repr(function)
        raise CompileError(f"{name} is no Python function: there is no source to differentiate")
    given[""] = (function, *given.get("", ()))
    return call


def _parameters(lowering, found, function, types, active, fixed: set, defaults: dict) -> list:
    args = found.node.args
    namespace, cells = lowering.namespace, {}
    values = dict(
        zip([a.id for a in [*args.posonlyargs, *args.args]][::-1], (function.__defaults__ or ())[::-1], strict=False)
    )
    values |= function.__kwdefaults__ or {}
    values |= defaults
    made = []

    def add(name, spelling="", keyword_only=False):
        if name in fixed:
            return
        t = types.get(name, ir.UNKNOWN)
        value = lowering.parameter(name, t, _activity(t, name, active))
        lowering.env[name] = value
        default = _default(name, values[name], namespace, cells) if name in values and not spelling else None
        made.append(ir.Parameter(value, spelling, keyword_only, default))

    for a in [*args.posonlyargs, *args.args]:
        add(a.id)
    if args.vararg is not None:
        add(args.vararg.id, "*")
    for a in args.kwonlyargs:
        add(a.id, keyword_only=True)
    if args.kwarg is not None:
        add(args.kwarg.id, "**")
    namespace.cells.update(cells)
    return made


def _default(name, value, namespace, cells: dict) -> ir.Code:
    """The default of a parameter: a literal, or a name in a closure cell that holds the object."""
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return ir.Code(gast.Constant(value, None))
    label = f"default_{name}"
    while label in namespace.globals or label in namespace.cells:
        label += "_"
    cells[label] = CellType(value)
    return ir.Code(gast.Name(label, gast.Load(), None, None))


def _activity(t: ir.Type, name: str, active):
    """Which parts of a parameter a derivative flows from: all numbers and arrays that can have one."""
    return carrying(t, active.get(name, False) if isinstance(active, Mapping) else name in active)


def gradient_of(session: Session, function, types, active) -> ir.Function:
    """The derivative that a derivative object is, itself a function of the intermediate language."""
    specs, primal = derivatives(function)
    if not isinstance(primal, FunctionType):
        raise CompileError("the derivative of the derivative of this kind of callable is not compiled")
    node = source.find(primal).node
    order = syntax.parameters(node)
    wrt = [positions(spec, node) for spec in specs]
    chosen = dict(active) if isinstance(active, Mapping) else dict.fromkeys(active, True)
    chosen |= {order[i]: True for places in wrt for i in places}
    return differentiated(_lower(session, primal, types, chosen), tuple(zip(specs, wrt, strict=True)))
