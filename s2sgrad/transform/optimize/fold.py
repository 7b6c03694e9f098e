"""Says operations more simply: what a person would not have written down.

In::

    a = operator.mul(1.0, g)
    b = operator.neg(x)
    c = operator.add(a, b)

Out::

    c = operator.sub(g, x)

Only what loses neither shape, dtype nor nan: ``0 * x`` stays (it is nan where x is inf), ``1 * x``
becomes `x` where the dtype of `x` is known to be a floating one. `simplify` is asked by the `Builder`
for every operation that is added; `fold` asks it again for a whole function, after values were shared.

Examples
--------
>>> from s2sgrad.transform.show import show
>>> from s2sgrad.transform import ir
>>> x, t, y = (ir.Value(name, ir.FLOAT) for name in "xty")
>>> negate = ir.Op(t, operator.neg, (x,))
>>> add = ir.Op(y, operator.add, (ir.Constant(1.0), t))
>>> f = ir.Function("f", [ir.Parameter(x)], ir.Block([negate, add], (y,)), ir.Namespace({}), backward_at=0)
>>> print(show(fold(f)))
f(x):
    t = operator.neg(x)
    y = operator.sub(1.0, x)
    -> y
"""

import dataclasses
import math
import operator

import numpy as np

from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.aliases import Memory
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.ir import Constant, Kind, Value

ADD, SUB, MUL, DIV, NEG, POW = operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow
_SAME = {
    np.add: ADD, np.subtract: SUB, np.multiply: MUL, np.divide: DIV, np.negative: NEG, np.power: POW,
    operator.iadd: ADD, operator.isub: SUB, operator.imul: MUL, operator.itruediv: DIV,
    arrays.conjugate: np.conjugate,
}  # fmt: skip
_ELEMENTWISE = {
    *_SAME, *_SAME.values(), np.sin, np.cos, np.tan, np.tanh, np.exp, np.log, np.sqrt, np.absolute, np.square,
    np.conjugate, np.positive, operator.pos, abs, arrays.over, arrays.times,
}  # fmt: skip
_PRODUCTS = {MUL, DIV, NEG, arrays.over, arrays.times}  # of conjugates it is the conjugate
# a Python number beside one of these is, or may be, one of these
_NARROW = {"float16", "float32", "complex64", types.FLOATING}
# where an operand that was stretched to the shape of another operand need not have been
_STRETCHING = {ADD, SUB, MUL, DIV, arrays.over, arrays.times, np.where}


def simplify(build, function, args: tuple, kwargs: dict):
    """The operand that ``function(*args, **kwargs)`` is, said more simply; None where it stays as it is.

    `build` adds what the simpler form needs.
    """
    if kwargs:
        return None
    try:
        rule = _RULES.get(function)
    except TypeError:  # unhashable
        rule = None
    if rule is None:
        return None
    if function in _STRETCHING:
        plain = _unstretched(build, args)
        if plain is not None:
            return build.op(function, *plain)
    return rule(build, *args)


def fold(function: ir.Function) -> ir.Function:
    """Simplify the generated part of a function."""
    from s2sgrad.transform.build import Builder  # builders simplify: the two know each other

    if function.backward_at is None:
        return function
    build = Builder()
    build.unstable = Memory(function.body).is_written
    forward = function.body.statements[: function.backward_at]
    for s in forward:
        build.note(s)
    mapping: dict = {}
    refold(build, function.body.statements[function.backward_at :], mapping)
    results = tuple(walk.replaced(r, mapping) for r in function.body.results)
    return dataclasses.replace(function, body=ir.Block(forward + build.statements, results))


def refold(build, statements: list, mapping: dict) -> None:
    """Add `statements` to a builder, simplified; `mapping` collects what became of their values."""
    for s in statements:
        if type(s) is ir.If and isinstance(s.test, Constant):
            block = s.then if s.test.value else s.orelse
            refold(build, block.statements, mapping)
            mapping.update(zip(s.results, (walk.replaced(r, mapping) for r in block.results), strict=True))
            continue
        if isinstance(s, ir.If | ir.For):
            if isinstance(s, ir.For):
                s = _without_constants(s, mapping)
            build.add(_refold_blocks(build, s, mapping))
            continue
        s = walk.substituted(s, mapping)
        build.adjoint_of = getattr(s, "adjoint_of", None)
        if not isinstance(s, ir.Op) or s.spelling is not None:
            build.add(s)
            continue
        build.location = s.location
        mark = len(build.statements)
        known = simplify(build, s.function, s.args, s.kwargs)
        if known is None:
            build.add(s)
            continue
        mapping[s.target] = known
        if len(build.statements) > mark and build.statements[-1].target is known:
            known.name = s.target.name


def _without_constants(s: ir.For, mapping: dict) -> ir.For:
    """A loop that does not carry what no iteration changes."""
    n = len(s.carried)
    moved = [c for c, following in zip(s.carried, s.body.results[:n], strict=True) if following is not c.parameter]
    if len(moved) == n:
        return s
    for c in s.carried:
        if c not in moved:
            mapping[c.parameter] = mapping[c.result] = walk.replaced(c.initial, mapping)
    results = [r for c, r in zip(s.carried, s.body.results[:n], strict=True) if c in moved]
    body = ir.Block(s.body.statements, (*results, *s.body.results[n:]))
    return dataclasses.replace(s, carried=moved, body=body)


def _refold_blocks(build, s, mapping):
    inner = []
    for block in walk.blocks(s):
        part = build.inner()
        refold(part, block.statements, mapping)
        inner.append(ir.Block(part.statements, tuple(walk.replaced(r, mapping) for r in block.results)))
    if isinstance(s, ir.If):
        return dataclasses.replace(s, test=walk.replaced(s.test, mapping), then=inner[0], orelse=inner[1])
    head = walk.substituted(dataclasses.replace(s, body=ir.Block()), mapping)
    return dataclasses.replace(head, body=inner[0])


# ------------------------------------------------------------------------------------------- questions


def _defined(build, operand, function):
    """The arguments of `operand` where it is defined by a plain call of `function`."""
    define = build.definitions.get(operand) if isinstance(operand, Value) else None
    if isinstance(define, ir.Op) and _SAME.get(define.function, define.function) is function and not define.kwargs:
        return define.args
    return None


def _number(operand):
    """The number that a literal is, else None."""
    if isinstance(operand, Constant) and type(operand.value) in (int, float, complex):
        return operand.value
    return None


def _is(operand, number) -> bool:
    return _number(operand) == number


def _inexact(t: ir.Type) -> bool:
    """A number or array of a floating or complex type: what ``1 * x`` gives back as it is."""
    if t.kind is Kind.NUMBER and t.dtype in types.VAGUE:
        return True
    return t.kind in (Kind.NUMBER, Kind.ARRAY) and t.dtype is not None and t.dtype.startswith(("float", "complex"))


def _float_like(operand) -> bool:
    return not isinstance(operand, Constant) and _inexact(operand.type)


def power_of_two(x) -> bool:
    return isinstance(x, int | float) and x != 0 and math.isfinite(x) and abs(math.frexp(x)[0]) == 0.5


def _constant(function, *args):
    """A literal, where all arguments are literal numbers and the result is a finite one."""
    numbers = [_number(a) for a in args]
    if any(n is None for n in numbers):
        return None
    try:
        value = function(*numbers)
    except (ArithmeticError, ValueError):
        return None
    return Constant(value) if type(value) is int or (type(value) is float and math.isfinite(value)) else None


def strengthened(build, number, like, others):
    """A number that stands for what is of the type of `like`, and may be Python's: a NumPy number, where beside one of
    `others` it would be calculated with in a narrower type. None where it is open whether that is so."""
    t = types.type_of(number)
    weak = t.kind is Kind.NUMBER and t.is_real and t.dtype in ("float", "int", *types.VAGUE)
    if not weak or not any(types.type_of(x).dtype in _NARROW for x in others):
        return number
    dtype = types.type_of(like).dtype
    if dtype is None or dtype in types.VAGUE:
        return None
    return build.op(np.float64, number) if dtype in ("float64", "complex128") else number


def _unstretched(build, args):
    """The arguments, where one was broadcast to the shape of another, without that."""
    for i, a in enumerate(args):
        define = build.definitions.get(a) if isinstance(a, Value) else None
        if not isinstance(define, ir.Op) or a.type.ndim in (None, 0):
            continue
        if define.function is np.expand_dims and types.type_of(define.args[0]).kind is Kind.NUMBER:
            others = [types.type_of(b) for j, b in enumerate(args) if j != i]
            if any(t.kind is Kind.ARRAY and (t.ndim or 0) >= a.type.ndim for t in others):
                return (*args[:i], define.args[0], *args[i + 1 :])
        if define.function is not np.broadcast_to:
            continue
        for j, b in enumerate(args):
            if j != i and isinstance(b, Value) and b.type.kind is Kind.ARRAY and build.lengths.same(a.type, b.type):
                stretched = build.definitions.get(b)
                if isinstance(stretched, ir.Op) and stretched.function is np.broadcast_to:
                    continue
                number = strengthened(build, define.args[0], a, args)
                return None if number is None else (*args[:i], number, *args[i + 1 :])
    return None


# ------------------------------------------------------------------------------------------- one each


def _add(build, a, b):
    if (c := _constant(ADD, a, b)) is not None:
        return c
    if a is b and isinstance(a, Value) and a.type.kind in (Kind.NUMBER, Kind.ARRAY):
        return build.op(MUL, Constant(2), a)
    plain = isinstance(b, Value) and (_float_like(b) or b.type.dtype in types.VAGUE)
    if plain and (inner := _defined(build, a, ADD)) is not None and inner[1] is b:
        return build.op(ADD, inner[0], build.op(MUL, Constant(2), b))
    if (inner := _defined(build, b, NEG)) is not None:
        return build.op(SUB, a, inner[0])
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(SUB, b, inner[0])
    return None


def _sub(build, a, b):
    if (c := _constant(SUB, a, b)) is not None:
        return c
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(NEG, build.op(ADD, inner[0], b))
    if (inner := _defined(build, b, NEG)) is not None:
        return build.op(ADD, a, inner[0])
    return None


def _mul(build, a, b):
    if (c := _constant(MUL, a, b)) is not None:
        return c
    swapped = _number(b) is not None and _number(a) is None
    kinds = types.type_of(a), types.type_of(b)
    if [t.dtype for t in kinds] == ["float64", "complex"] and all(t.kind is Kind.NUMBER for t in kinds):
        return build.op(MUL, b, a)  # Python's complex numbers do that themselves, NumPy makes arrays of both
    if swapped:  # numbers first: 2 * x
        a, b = b, a
    if _is(a, 1) and _float_like(b):
        return b
    if _is(a, -1) and _float_like(b):
        return build.op(NEG, b)
    n = _number(a)
    if n is not None and isinstance(n, int | float) and n < 0:
        return build.op(NEG, build.op(MUL, Constant(-n), b))
    if n is not None and (inner := _defined(build, b, MUL)) is not None:
        m = _number(inner[0])
        if m is not None and (power_of_two(n) or power_of_two(m)):
            return build.op(MUL, Constant(n * m), inner[1])
        if m is None and power_of_two(n) and types.type_of(inner[0]).kind is Kind.NUMBER:
            return build.op(MUL, build.op(MUL, a, inner[0]), inner[1])
    quotient = _defined(build, b, DIV) if n is not None and power_of_two(n) else None
    if quotient is not None and _number(quotient[0]) is not None and types.type_of(quotient[1]).dtype == "int":
        return build.op(DIV, build.op(MUL, a, quotient[0]), quotient[1])
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(NEG, build.op(MUL, inner[0], b))
    if (inner := _defined(build, b, NEG)) is not None:
        return build.op(NEG, build.op(MUL, a, inner[0]))
    if (stretched := _scaled(build, a, b, lambda s, c: build.op(MUL, s, c))) is not None:
        return stretched
    return build.op(MUL, a, b) if swapped else None


def _div(build, a, b):
    if _is(b, 1) and _float_like(a):
        return a
    if _number(a) is not None and _number(b) is not None and _number(b) != 0:
        return _constant(DIV, a, b)
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(NEG, build.op(DIV, inner[0], b))
    if _number(b) is not None and (inner := _defined(build, a, np.broadcast_to)) is not None and len(inner) == 2:
        return build.op(np.broadcast_to, build.op(DIV, inner[0], b), inner[1])
    return None


def _scaled(build, a, b, scale):
    """A stretched number times a number: the product, stretched."""
    for stretched, factor in ((a, b), (b, a)):
        inner = _defined(build, stretched, np.broadcast_to)
        if inner is not None and len(inner) == 2 and types.type_of(factor).kind is Kind.NUMBER:
            number = strengthened(build, inner[0], stretched, [factor])
            return number and build.op(np.broadcast_to, scale(factor, number), inner[1])
    return None


def _neg(build, a):
    if (c := _constant(NEG, a)) is not None:
        return c
    if isinstance(a, ir.Code) and type(literal := types.constant(a)) in (int, float):
        return Constant(-literal)
    if (inner := _defined(build, a, NEG)) is not None and (_float_like(inner[0]) or inner[0].type.dtype in types.VAGUE):
        return inner[0]
    inner = _defined(build, a, np.broadcast_to)
    if inner is not None and len(inner) == 2:
        return build.op(np.broadcast_to, build.op(NEG, inner[0]), inner[1])
    return None


def _pow(build, a, b):
    if _is(b, 1) and type(b.value) is int:
        return a
    return None


def _over(build, g, d):
    n = _number(d)
    if n is not None and n != 0 and math.isfinite(abs(n)):
        return build.op(DIV, g, d)
    if (inner := _defined(build, g, NEG)) is not None:
        return build.op(NEG, build.op(arrays.over, inner[0], d))
    return _along_itself(build, g, d)


def _times(build, g, p):
    n = _number(p)
    if (n is not None and math.isfinite(abs(n))) or (_number(g) or 0) != 0:
        return build.op(MUL, g, p)
    if (inner := _defined(build, g, NEG)) is not None:
        return build.op(NEG, build.op(arrays.times, inner[0], p))
    quotient, reciprocal = _defined(build, g, arrays.over), _defined(build, p, DIV)
    if quotient and reciprocal and _is(reciprocal[0], 1) and reciprocal[1] is quotient[1]:  # `p` is at hand
        return build.op(arrays.times, build.op(arrays.times, quotient[0], p), p)
    return _along(build, g, p)


def _along(build, g, p):
    """``(c * n) * (x / n)`` is ``c * x`` where `n` is the norm of `x`, at 0 as well.

    Said so, it can be differentiated again at 0, where the quotient has no derivative.
    """
    quotient = _defined(build, p, arrays.over)
    if quotient is None or _defined(build, quotient[1], np.linalg.norm) != quotient[:1]:
        return None
    rest = _without(build, g, quotient[1])
    return None if rest is None else build.op(MUL, rest, quotient[0])


def _along_itself(build, g, d):
    """``(c * n * z) / n`` is ``c * z`` where `n` is the modulus of `z`, at 0 as well."""
    given = _defined(build, d, np.absolute) or _defined(build, d, abs)
    rest = None if given is None else _without(build, g, d)
    return None if rest is None or _without(build, rest, given[0]) is None else rest


def _without(build, product, factor):
    """`product` without one `factor`; None where it is not seen to have it."""
    if product is factor:
        return Constant(1.0)
    if (power := _defined(build, product, POW)) is not None and power[0] is factor:
        exponent = _number(power[1])
        return build.op(POW, factor, Constant(exponent - 1)) if type(exponent) is int and exponent > 1 else None
    factors = _defined(build, product, MUL) or ()
    for i, one in enumerate(factors):
        rest = _without(build, one, factor)
        if rest is not None:
            return build.op(MUL, *[rest if k == i else other for k, other in enumerate(factors)])
    return None


def _conjugate(build, a):
    """The conjugate of conjugates times `z` is a product with the conjugate of `z`."""
    if types.type_of(a).is_real:
        return a
    if isinstance(a, Constant) and type(a.value) is complex:
        return Constant(a.value.conjugate())
    if (inner := _defined(build, a, np.conjugate)) is not None:
        return inner[0]
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(NEG, build.op(np.conjugate, inner[0]))
    if isinstance(a, Value) and a in build.made and _is_of_conjugate(build, a):
        product = build.definitions[a]
        return build.op(product.function, *[build.op(np.conjugate, x) for x in product.args])
    if types.type_of(a).dtype in ("complex", types.EITHER):  # the method of NumPy's numbers is slower than the function
        return build.plain(Value("t"), arrays.conjugate, (a,), {}, "conjugate()")
    return None


def _is_of_conjugate(build, a) -> bool:
    """Is it seen to be a product or quotient of a conjugate, or of a literal?"""
    if _defined(build, a, np.conjugate) is not None or _number(a) is not None:
        return True
    define = build.definitions.get(a) if isinstance(a, Value) else None
    product = isinstance(define, ir.Op) and _SAME.get(define.function, define.function) in _PRODUCTS
    return product and not define.kwargs and any([_is_of_conjugate(build, x) for x in define.args])


def _real(build, a):
    if types.type_of(a).is_real or _defined(build, a, np.real) is not None:
        return a
    if (inner := _defined(build, a, np.conjugate)) is not None:
        return build.op(np.real, inner[0])
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(NEG, build.op(np.real, inner[0]))
    factors = _defined(build, a, MUL)
    if factors is not None and isinstance(unit := _number(factors[0]), complex) and unit in (1j, -1j):
        part = build.op(np.imag, factors[1])
        return build.op(NEG, part) if unit == 1j else part
    return _part(build, np.real, "real", a)


def _imag(build, a):
    return _part(build, np.imag, "imag", a)


def _part(build, function, name: str, a):
    """A part of complex numbers, by its name."""
    if types.type_of(a).kind not in (Kind.NUMBER, Kind.ARRAY) or isinstance(a, Constant):
        return None
    return build.plain(Value("t"), function, (a,), {}, name)


def _unbroadcast(build, g, x):
    """What is summed is decided here, wherever it is known which lengths are 1; and where to take the real part."""
    gt, xt = types.type_of(g), types.type_of(x)
    if not build.lengths.same(gt, xt):
        places = build.lengths.summed(gt, xt)
        if places is None or gt.kind is not Kind.ARRAY or not _single(gt, xt):
            if (inner := _defined(build, g, NEG)) is not None:
                return build.op(NEG, build.op(arrays.unbroadcast, inner[0], x))
            if (inner := _defined(build, g, MUL)) is not None and (wider := _summed_once(build, *inner)) is not None:
                return build.op(arrays.unbroadcast, wider, x)
            template = _template(build, x)
            return None if template is x else build.op(arrays.unbroadcast, g, template)
        if not gt.is_real and xt.is_real:
            g = build.op(np.real, g)
        return _summed(build, g, xt, *places)
    if gt.kind is not xt.kind:
        if gt.kind is not Kind.ARRAY or xt.kind is not Kind.NUMBER:
            return None
        return _unbroadcast(build, build.op(operator.getitem, g, Constant(())), x)  # a number, of an array without axes
    if gt.is_real or (xt.dtype is not None and not xt.is_real):
        return g
    return build.op(np.real, g) if xt.is_real else None


def _widened(build, x, like):
    """What is not narrow stays as it is: Python numbers, doubles, and what is of the type that it is to have."""
    t = types.type_of(x)
    wide = t.kind in (Kind.NUMBER, Kind.ARRAY) and t.dtype in ("float", "int", "complex", "float64", "complex128")
    if wide or types.same_dtype(t, types.type_of(like)):
        return x
    stretched = _defined(build, like, np.broadcast_to)
    double = types.type_of(like).dtype in ("float64", "complex128")
    if double or stretched is not None:
        return build.op(arrays.widened, x, Constant(1.0) if double else stretched[0])
    return None


def _summed_once(build, g, factor):
    """``h * factor`` for ``unbroadcast(h, y) * factor``, where it is summed after the product anyway.

    That is the same where `factor` was broadcast to `y`, as one of those that `y` was computed from, entry by entry.
    """
    define = build.definitions.get(g) if isinstance(g, Value) else None
    if not isinstance(define, ir.Op) or define.function is not arrays.unbroadcast:
        return None
    wide, y = define.args
    if not _is_part(build, factor, y):
        return None
    s, t = types.type_of(wide), types.type_of(y)
    alike = s.kind is t.kind is Kind.ARRAY and s.ndim is not None and s.ndim == t.ndim
    real = s.is_real and t.is_real and types.type_of(factor).is_real
    return build.op(MUL, wide, factor) if alike and real else None


def _is_part(build, x, y, depth: int = 3) -> bool:
    """Is `y` seen to be computed, entry by entry, from `x` and others?"""
    define = build.definitions.get(y) if depth and isinstance(y, Value) else None
    if not isinstance(define, ir.Op) or define.kwargs or define.function not in _ELEMENTWISE:
        return False
    return x in define.args or any([_is_part(build, x, a, depth - 1) for a in define.args])


def _single(gt: ir.Type, xt: ir.Type) -> bool:
    """Whether `x` is surely a number or an array with axes, and it is known if a real part is to be taken."""
    return (xt.kind is Kind.NUMBER or (xt.kind is Kind.ARRAY and xt.ndim != 0)) and (gt.is_real or xt.dtype is not None)


def _summed(build, g, xt: ir.Type, lead: tuple, kept: tuple):
    """The sum of an array over its first axes, and over others that stay, of length 1."""
    if (inner := _defined(build, g, NEG)) is not None:
        return build.op(NEG, _summed(build, inner[0], xt, lead, kept))
    if lead:
        if len(lead) == types.type_of(g).ndim:
            return build.op(np.sum, g)
        g = build.op(np.sum, g, axis=Constant(lead if len(lead) > 1 else lead[0]), spelling="sum()")
    if kept:
        axis = Constant(kept if len(kept) > 1 else kept[0])
        g = build.op(np.sum, g, axis=axis, keepdims=Constant(True), spelling="sum()")
    return g


def _template(build, x, real: bool = True):
    """An earlier value of the same shape, that `x` was computed from: what a shape is asked of.

    `real`: it is to be as real as `x`, too.
    """
    while isinstance(x, Value) and x.type.kind in (Kind.ARRAY, Kind.UNKNOWN):
        define = build.definitions.get(x)
        if not isinstance(define, ir.Op):
            break
        elementwise = isinstance(define.function, np.ufunc) and define.function.signature is None
        if define.kwargs or (define.function not in _ELEMENTWISE and not elementwise):
            break
        alike = [types.type_of(a).kind is not Kind.NUMBER for a in define.args].count(True) == 1
        earlier = [
            a
            for a in define.args
            if isinstance(a, Value)
            and (a.type.kind is Kind.ARRAY or (a.type.kind is Kind.UNKNOWN and a.type.dtype is not None))
            and (alike or (x.type.kind is Kind.ARRAY and build.lengths.same(a.type, x.type)))
            and (not real or _as_real(a.type, x.type))
        ]
        if not earlier:
            break
        x = earlier[0]
    return x


def _as_real(a: ir.Type, b: ir.Type) -> bool:
    return a.dtype is not None and b.dtype is not None and a.is_real is b.is_real


def _shape(build, x):
    template = _template(build, x, real=False)
    if template is x:
        return None
    return build.op(np.shape, template, spelling="shape" if template.type.kind is Kind.ARRAY else None)


def _size(build, x):
    template = _template(build, x, real=False)
    if template is x:
        return None
    return build.op(np.size, template, spelling="size" if template.type.kind is Kind.ARRAY else None)


def _broadcast_to(build, a, shape):
    if shape == Constant(()) and types.type_of(a).kind is Kind.NUMBER:
        return a
    inner = a
    while isinstance(inner, Value) and inner.type.kind is not Kind.NUMBER:
        define = build.definitions.get(inner)
        if not isinstance(define, ir.Op) or define.function not in (np.broadcast_to, np.expand_dims, np.reshape):
            return None
        inner = define.args[0]
    return None if inner is a else build.op(np.broadcast_to, inner, shape)


def _reshape(build, a, shape):
    """A reshape to the shape that it has."""
    if types.constant(shape) == () and types.type_of(a).kind is Kind.NUMBER:
        return a
    define = build.definitions.get(shape) if isinstance(shape, Value) else None
    if isinstance(define, ir.Op) and define.function is np.shape and isinstance(define.args[0], Value):
        template, t = define.args[0].type, types.type_of(a)
        if t.kind is Kind.ARRAY and template.kind is Kind.ARRAY and build.lengths.same(t, template):
            return a
    return None


def _product(function):
    """What a product of arrays is: that of the negative of one is the negative of the product."""

    def product(build, a, b):
        if (inner := _defined(build, a, NEG)) is not None:
            return build.op(NEG, build.op(function, inner[0], b))
        if (inner := _defined(build, b, NEG)) is not None:
            return build.op(NEG, build.op(function, a, inner[0]))
        return None

    return product


def _expand_dims(build, a, axis):
    if (inner := _defined(build, a, NEG)) is not None:
        return build.op(NEG, build.op(np.expand_dims, inner[0], axis))
    return None


def _getitem(build, x, index):
    """An element of a container that was made just before; a sum without the axes that it kept."""
    define = build.definitions.get(x) if isinstance(x, Value) else None
    if isinstance(define, ir.Op) and define.function is np.sum:
        return _squeezed(build, define, index)
    if not isinstance(define, ir.Make) or not isinstance(index, Constant):
        return None
    i = index.value
    if x.type.kind is Kind.DICT and x.type.keys is not None and i in x.type.keys:
        i = x.type.keys.index(i)
    elif x.type.kind not in (Kind.TUPLE, Kind.LIST) or type(i) is not int:
        return None
    if -len(define.items) <= i < len(define.items) and define.items[i] != ir.ZERO:
        return define.items[i]
    return None


def _squeezed(build, total: ir.Op, index):
    """``x.sum(axis=i, keepdims=True)[..., 0, ...]``, said without `keepdims`."""
    options = {k: types.constant(v) for k, v in total.kwargs.items()}
    if set(options) != {"axis", "keepdims"} or options["keepdims"] is not True or not isinstance(index, Constant):
        return None
    axis, ndim = options["axis"], types.type_of(total.args[0]).ndim
    entries = index.value if isinstance(index.value, tuple) else (index.value,)
    if type(axis) is not int or ndim is None or ndim < 2 or len(entries) > ndim:
        return None
    if entries != (*[slice(None)] * (axis % ndim), 0, *[slice(None)] * (len(entries) - axis % ndim - 1)):
        return None
    return build.op(np.sum, total.args[0], axis=total.kwargs["axis"], spelling=total.spelling)


def _max(build, a, b):
    """``max(x.size, 1)`` and ``max(x.shape[i], 1)`` of an array that is surely not empty."""
    define = build.definitions.get(a) if isinstance(a, Value) and _is(b, 1) else None
    if not isinstance(define, ir.Op):
        return None
    if define.function is np.size:
        lengths = types.axes_of(types.type_of(define.args[0]))
    elif define.function is operator.getitem and (shape := _defined(build, define.args[0], np.shape)) is not None:
        known, i = types.axes_of(types.type_of(shape[0])), types.constant(define.args[1])
        lengths = [known[i]] if known and isinstance(i, int) else None
    else:
        return None
    return a if lengths is not None and all(map(axes.is_some, lengths)) else None


def _swapaxes(build, a, *places):
    """The transpose of a matrix, by its name."""
    t = types.type_of(a)
    if t.kind is Kind.ARRAY and t.ndim == 2 and {types.constant(p, 0) for p in places} in ({0, 1}, {-1, -2}):
        return build.op(np.transpose, a, spelling="T")
    return None


_RULES = {
    ADD: _add, SUB: _sub, MUL: _mul, DIV: _div, NEG: _neg, POW: _pow,
    arrays.over: _over, arrays.times: _times, np.conjugate: _conjugate, np.real: _real, np.imag: _imag,
    arrays.unbroadcast: _unbroadcast, arrays.widened: _widened, np.broadcast_to: _broadcast_to, np.reshape: _reshape,
    operator.getitem: _getitem, np.where: lambda build, *args: None, np.shape: _shape, np.size: _size,
    max: _max, np.swapaxes: _swapaxes, np.expand_dims: _expand_dims,
    **{function: _product(function) for function in (operator.matmul, np.matmul, np.dot, np.vdot, np.outer)},
}  # fmt: skip
for _ufunc, _operator in _SAME.items():
    _RULES[_ufunc] = _RULES[_operator]
