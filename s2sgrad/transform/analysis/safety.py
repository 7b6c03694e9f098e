"""What surely cannot fail: the operations, stores and patterns that a derivative may leave out when nobody needs them.

A derivative raises where its function does. ``x @ w`` stays in it, though only its gradient is asked for,
unless it is known that the lengths fit; ``np.sin(x)`` goes. What an earlier operation of the function
has made sure of (`Lengths`) is known: it stays, or was sure itself.

That Python's own numbers overflow, or that floating-point errors are made exceptions, does not count.

Examples
--------
>>> import operator
>>> import numpy as np
>>> x, y = (ir.Value(name, types.of(np.ones(3))) for name in "xy")
>>> once, again = (ir.Op(ir.Value(name), operator.add, (x, y)) for name in "st")
>>> [id(op) in unfailing([once, again]) for op in (once, again)]
[False, True]
"""

import itertools
import math
import operator

import numpy as np

from s2sgrad.rules.table import lookup
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.analysis.lengths import PRODUCTS, Lengths
from s2sgrad.transform.ir import Kind, Type

_QUOTIENTS = {operator.truediv, operator.floordiv, operator.mod, np.divide}
_MATH = {
    math.sin, math.cos, math.tan, math.exp, math.expm1, math.sinh, math.cosh, math.tanh, math.asinh, math.atan,
    math.atan2, math.fabs, math.hypot, math.degrees, math.radians, math.erf, math.erfc, math.copysign, math.cbrt,
    math.exp2, math.floor, math.ceil, math.isnan, math.isfinite, math.isinf,
}  # fmt: skip
_SUMS = {np.sum, np.mean, np.prod, np.var, np.std, np.all, np.any, np.linalg.norm, np.nansum, np.nanprod}
_EXTREMES = {np.max, np.min, np.amax, np.amin}
_ALWAYS = {
    np.shape, np.size, np.ndim, np.ravel, np.zeros_like, np.ones_like, np.copy, np.real, np.imag, np.conjugate,
    np.outer,
}  # fmt: skip
_BITS = {operator.and_, operator.or_, operator.xor, operator.invert}
_SHIFTS = {operator.lshift, operator.rshift}
_MOVES = {np.transpose, np.swapaxes, np.moveaxis}


def unfailing(statements: list, checked: dict | None = None, lengths: Lengths | None = None, taken=()) -> set:
    """The ids of the operations, stores and patterns in a program, and in its blocks, that cannot fail where they run.

    Parameters
    ----------
    statements : list
    checked : dict
        What indices and divisors the adjoints of the statements have (`checks`), which fail where these do.
    lengths : Lengths
        What is known before these statements.
    taken : set
        The items of arrays and containers that have been read before them.
    """
    checked = checked or {}
    lengths = Lengths(lengths)
    taken = set(taken)
    found: set = set()
    for s in statements:
        item = _item(s)
        match s:
            case ir.Op():
                sure = item in taken or cannot_fail(s, lengths, checked.get(s.target, ()))
            case ir.Store():
                sure = _stores(s, lengths, checked.get(s.target, ()))
            case ir.Unpack():
                sure = _unpacks(s.targets, types.type_of(s.source))
            case _:
                sure = False
        if sure:
            found.add(id(s))
        if item is not None:
            taken.add(item)
        lengths.note(s)
        for block in walk.blocks(s):
            found |= unfailing(block.statements, checked, lengths, taken)
    return found


def _item(s):
    """Which item a statement takes of what: the same for two that fail for the same reasons."""
    if not isinstance(s, ir.Op) or s.function is not operator.getitem:
        return None
    container, index = s.args
    match index:
        case ir.Constant(value=value):
            return container, repr(value)
        case ir.Code(node=node, reads=reads):
            return container, id(node), *reads.items()
    return container, index


def checks(statements: list) -> dict:
    """The indices and divisors of backward statements, by the value that these belong to the adjoint of.

    They run where the statement that defines this value does, as often, and for the same reasons they fail.
    """
    found: dict = {}
    for s in walk.statements(ir.Block(statements)):
        match s:
            case (
                ir.Accumulate(index=operand)
                | ir.Store(index=operand)
                | ir.Op(function=arrays.embed, args=(_, _, operand, *_))
                | ir.Op(function=operator.getitem | operator.truediv, args=(_, operand))
            ) if s.adjoint_of is not None and operand is not None:
                found.setdefault(s.adjoint_of, set()).add(_mark(operand))
    return found


def _mark(operand):
    """The same for an operand and for the copy of it that the backward pass has."""
    match operand:
        case ir.Value(name=name):
            return name
        case ir.Constant(value=value):
            return repr(value)
    return id(operand.node)


def cannot_fail(op: ir.Op, lengths: Lengths, checked=()) -> bool:
    """Does the operation surely raise nothing, whatever values its operands have?

    Parameters
    ----------
    op : Op
    lengths : Lengths
        What is known where it runs.
    checked : set
        The indices and divisors in its adjoint.
    """
    function, args = op.function, op.args
    if function is operator.getitem:
        return _has_item(args, lengths, checked)
    if function is getattr:
        return len(args) == 2 and types.infer(getattr, args) != ir.UNKNOWN
    if getattr(function, "__module__", None) == arrays.__name__:
        return True
    given = [types.array_like(types.type_of(a)) for a in args]
    if function is len:
        t = types.type_of(args[0])
        return t.kind in (Kind.LIST, Kind.TUPLE, Kind.DICT) or (t.kind is Kind.ARRAY and bool(t.ndim))
    if function in (np.concatenate, np.stack):
        return _fit_together(op, lengths)
    if function is sum:
        element = types.type_of(args[0]).element
        return len(args) == 1 and element is not None and element.kind is Kind.NUMBER
    if function in (np.array, np.asarray):
        return len(args) == 1 and not op.kwargs and _is_number(given[0]) and _even(types.type_of(args[0]), lengths)
    if not given or not _is_number(given[0]):
        return False
    if function in PRODUCTS or function is np.inner:
        return len(args) == 2 and not op.kwargs and _is_number(given[1]) and _multiply(function, *given, lengths)
    if function in _SUMS or function in _EXTREMES:
        return _reduces(op, given[0], function in _EXTREMES)
    if function in _ALWAYS:
        return not op.kwargs and all(map(_is_number, given))
    if function is np.trace:
        return len(args) == 1 and not op.kwargs and given[0].ndim == 2
    if function in _MOVES:
        places = [types.constant(a) for a in (*args[1:], *op.kwargs.values())]
        return types.permuted(given[0], function, *places) is not None or (function is np.transpose and not places)
    if function is np.reshape:
        return (
            len(args) == 2 and not op.kwargs and _reshapes(given[0], op.target.type, types.constant(args[1]), lengths)
        )
    if function is np.expand_dims:
        place = types.constant(args[1]) if len(args) == 2 else None
        return given[0].ndim is not None and type(place) is int and -given[0].ndim - 1 <= place <= given[0].ndim
    if op.kwargs or not all(map(_is_number, given)):
        return False
    kinds = {types.type_of(a).kind for a in args}
    if function in types.OPERATORS and kinds & {Kind.LIST, Kind.TUPLE} and kinds.isdisjoint({Kind.ARRAY, Kind.UNKNOWN}):
        return False
    return _is_elementwise(op, given, checked) and _compatible(given, lengths)


def _stores(s: ir.Store, lengths: Lengths, checked) -> bool:
    """Is there room for the value where it is stored?"""
    array = s.into if s.through is None else s.through
    place, value = types.type_of(array), types.array_like(types.type_of(s.value))
    if not _is_number(value) or not _holds(place.dtype or "", value):
        return False
    if s.index is not None:
        if not _has_item((array, s.index), lengths, checked):
            return False
        place = types.infer(operator.getitem, (array, s.index))
    if value.kind is Kind.NUMBER or value.ndim == 0:
        return True
    room, given = types.axes_of(place), types.axes_of(value)
    if place.kind is not Kind.ARRAY or room is None or given is None or len(given) > len(room):
        return False
    return _even(types.type_of(s.value), lengths) and all(
        lengths.find(n) == 1 or lengths.equal(m, n) for m, n in zip(room[::-1], given[::-1], strict=False)
    )


def _holds(dtype: str, t: Type) -> bool:
    """Can an array of this dtype be given whatever values of type `t` there are?"""
    if dtype == "int64":
        return t.dtype in ("bool", "int", "int64")
    return dtype.startswith("complex") or (dtype.startswith(("float", "bool")) and t.is_real)


def _unpacks(targets, t: Type) -> bool:
    """Are there as many parts as there are targets?"""
    if not isinstance(targets, tuple):
        return True
    if t.kind is Kind.ARRAY:
        shape = types.axes_of(t)
        if not shape or shape[0] != len(targets):
            return False
        return all(_unpacks(target, types.one_array(t.dtype, shape=shape[1:])) for target in targets)
    if t.kind not in (Kind.LIST, Kind.TUPLE) or t.items is None or len(t.items) != len(targets):
        return False
    return all(map(_unpacks, targets, t.items))


def _is_number(t: Type) -> bool:
    return t.kind in (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN) and t.dtype is not None


def _is_elementwise(op: ir.Op, given: list, checked) -> bool:
    function = op.function
    own = all(t.kind is not Kind.ARRAY and t.dtype in ("float", "int", "bool", "complex", *types.VAGUE) for t in given)
    if getattr(function, "__module__", None) == "math":
        return function in _MATH and all(t.kind is Kind.NUMBER and t.is_real for t in given)
    if own and function in _QUOTIENTS:
        divisor = types.constant(op.args[1], 0)
        return (isinstance(divisor, int | float) and divisor != 0) or _mark(op.args[1]) in checked
    if function in (operator.pow, np.power) and all((t.dtype or "").startswith(("int", "uint", "bool")) for t in given):
        return False  # negative powers of integers
    if own and function is operator.pow:
        exponent = types.constant(op.args[1], -1)
        return isinstance(exponent, int | float) and exponent >= 0
    if function in _BITS:
        return all(t.dtype.startswith(("int", "uint", "bool")) for t in given)
    if function in _SHIFTS:
        return False
    if isinstance(function, np.ufunc):
        return function.signature is None and len(op.args) == function.nin
    if function in types.OPERATORS or function is np.where:
        return len(op.args) == (3 if function is np.where else types.OPERATORS[function].nin)
    rule = lookup(function)
    return rule is not None and rule.kind == "elementwise"


def _compatible(given: list, lengths: Lengths) -> bool:
    """Can arrays of these types surely be broadcast together?"""
    present = [t for t in given if t.kind is not Kind.NUMBER and t.ndim != 0]
    if len(present) < 2 or all(lengths.same(present[0], t) for t in present[1:]):
        return True
    shapes = [types.axes_of(t) for t in present]
    if None in shapes:
        return False
    for met in itertools.zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1):
        wide = [n for n in met if n != 1 and lengths.find(n) != 1]
        if any(not lengths.equal(wide[0], n) for n in wide[1:]):
            return False
    return True


def _multiply(function, s: Type, t: Type, lengths: Lengths) -> bool:
    if function is not np.inner and function is np.dot and 0 in (s.ndim, t.ndim):
        return True
    a, b = types.axes_of(s), types.axes_of(t)
    if not a or not b:
        return False
    if not lengths.equal(a[-1], b[-1] if function is np.inner else b[-2:][0]):
        return False
    if function is np.dot or function is np.inner:
        return True
    return _compatible([types.one_array(None, shape=shape[:-2]) for shape in (a, b)], lengths)


def _reduces(op: ir.Op, t: Type, needs_entries: bool) -> bool:
    options = dict(op.kwargs)
    if len(op.args) == 2 and op.function is not np.linalg.norm:
        options["axis"] = op.args[1]
    elif len(op.args) != 1:
        return False
    if not options.keys() <= {"axis", "keepdims", "ddof"}:
        return False
    axis = options.get("axis", ir.Constant(None))
    whole = types.constant(axis) is None
    reduced = types.reduced_axes(axis, t.ndim)
    if reduced is None and not whole:
        return False
    if op.function is np.linalg.norm and not whole and len(reduced) > 2:
        return False
    if not needs_entries:
        return True
    return reduced is not None and all(axes.is_some(types.axes_of(t)[i]) for i in reduced)


def _reshapes(t: Type, result: Type, shape, lengths: Lengths) -> bool:
    if shape in (-1, (-1,)):
        return True
    before, after = types.axes_of(t), types.axes_of(result)
    if before is None or after is None:
        return False
    if lengths.same(t, result):
        return True
    return lengths.equal(axes.size(before), axes.size(after))


def _even(t: Type, lengths: Lengths) -> bool:
    """Is a nested sequence of the same lengths everywhere?"""
    if t.kind not in (Kind.LIST, Kind.TUPLE):
        return True
    if t.items is None:
        return t.element is not None and t.element.kind is Kind.NUMBER
    inner = [types.array_like(item) for item in t.items]
    return all(_even(item, lengths) for item in t.items) and all(lengths.same(inner[0], item) for item in inner[1:])


def _fit_together(op: ir.Op, lengths: Lengths) -> bool:
    parts = types.type_of(op.args[0])
    place = types.constant(op.kwargs.get("axis", op.args[1] if len(op.args) > 1 else ir.Constant(0)))
    if (
        parts.kind not in (Kind.LIST, Kind.TUPLE)
        or not parts.items
        or len(op.args) > 2
        or not op.kwargs.keys() <= {"axis"}
    ):
        return False
    inner = [types.array_like(item) for item in parts.items]
    shapes = [types.axes_of(t) if _is_number(t) else None for t in inner]
    if None in shapes or type(place) is not int or len(set(map(len, shapes))) != 1:
        return False
    ndim = len(shapes[0])
    if op.function is np.stack:
        return -ndim - 1 <= place <= ndim and all(lengths.same(inner[0], t) for t in inner[1:])
    if not -ndim <= place < ndim:
        return False
    others = [shape[: place % ndim] + shape[place % ndim + 1 :] for shape in shapes]
    return all(all(map(lengths.equal, others[0], other)) for other in others[1:])


def _has_item(args, lengths: Lengths, checked) -> bool:
    container, index = args
    t = types.type_of(container)
    if t.kind is not Kind.ARRAY:
        place = types.constant(index)
        if t.kind in (Kind.LIST, Kind.TUPLE):
            inside = type(place) is int and t.items is not None and -len(t.items) <= place < len(t.items)
            return inside or isinstance(place, slice) or _mark(index) in checked
        return t.keys is not None and any(place is k or place == k for k in t.keys)
    if _mark(index) in checked:
        return True
    entries = types.entries_of(index)
    if entries is None or None in entries or t.ndim is None or sum(map(types.axes_consumed, entries)) > t.ndim:
        return False
    if entries.count(types.ELLIPSIS) > 1 or any(isinstance(e, Type) for e in entries):
        return False
    if types.INTEGER not in entries:
        return True
    values = types.constant(index)
    values = values if isinstance(values, tuple) else (values,)
    if len(values) != len(entries) or types.ELLIPSIS in entries:
        return False
    rest = iter(types.axes_of(t))
    for value, entry in zip(values, entries, strict=True):
        if entry is types.NEW:
            continue
        n = next(rest)
        least = max(axes.least(n), axes.least(lengths.find(n)))
        if entry is types.INTEGER and not (type(value) is int and -least <= value < least):
            return False
    return True
