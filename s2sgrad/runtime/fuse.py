"""Partials as straight programs of ufuncs: the same arithmetic, without arrays that are made to be thrown away.

A rule's line, such as ``lambda t, x, out: t * (1.0 - out * out)``, is run once with symbols in place of arrays. What
it does to them is written down as Python source in which a result takes the place of an operand that nobody else
holds, and numbers are boxed::

    v1 = multiply(out, out)
    subtract(c1, v1, v1)
    return multiply(t, v1, v1)

Only the house's own rules are run with symbols, and only what consists of ufuncs, plain operators, `over` and `times`
comes out of it; all else stays as it is. The programs are for arrays of one type and shape (and boxed numbers).
"""

import math
from types import FunctionType

import numpy as np

from s2sgrad.runtime.arrays import has_no_zero, is_finite, over, times


class Boxes(dict):
    """Numbers as arrays of dimension 0, of one type: NumPy calculates with these twice as fast as with the numbers.

    Examples
    --------
    >>> boxes = Boxes(np.float64)
    >>> boxes[0.5] is boxes[0.5], boxes[-0.0]
    (True, array(-0.))
    """

    __slots__ = ("dtype", "smallest")

    def __init__(self, dtype):
        self.dtype = np.dtype(dtype)
        self.smallest = np.finfo(dtype).tiny

    def __missing__(self, number):
        found = np.array(float(number), self.dtype)
        found.flags.writeable = False
        # a dict does not see the sign of zero; what overflows, or nearly vanishes, is to be told of each time
        if self.smallest <= abs(found) < math.inf:
            if len(self) > 1000:
                self.clear()
            self[number] = found
        return found


BOXES = {np.dtype(kind): Boxes(kind) for kind in (np.float64, np.float32)}


def unboxed(value):
    """The number of a box, the shortest that is rounded to it; anything else as it is.

    Examples
    --------
    >>> unboxed(Boxes(np.float32)[0.1]), unboxed("0.1")
    (0.1, '0.1')
    """
    is_box = type(value) is np.ndarray and not value.ndim and value.base is None and not value.flags.writeable
    if not is_box:
        return value
    return float(str(value[()])) if value.dtype.char == "f" else value.item()


# ---------------------------------------------------------------- what is more than a ufunc


def _quotient(g, d, out=None):
    """`over`, whose result may take the place of an operand."""
    if not d.ndim:  # a number
        number = d.item()
        simple = number != 0.0 and math.isfinite(number)
    else:
        simple = has_no_zero(d) and is_finite(d)
    return np.divide(g, d, out) if simple else _placed(over(g, d), out)


def _product(g, p, out=None):
    """`times`, whose result may take the place of an operand."""
    return np.multiply(g, p, out) if is_finite(p) else _placed(times(g, p), out)


def _placed(value, out):
    if out is None:
        return value
    out[...] = value
    return out


def _on_symbols(partial):
    """A rule's line in which `over` and `times` are steps of the program, and nothing is narrow."""
    steps = {"over": lambda g, d: _applied(_quotient, (g, d)), "times": lambda g, p: _applied(_product, (g, p))}
    steps["widened"] = lambda x, like: x
    return FunctionType(partial.__code__, partial.__globals__ | steps, None, partial.__defaults__, partial.__closure__)


class _Unfit(Exception):
    """A partial does something else than arithmetic."""


class _Symbol:
    """An array that is not there yet: what is done with it is noted."""

    __slots__ = ("ufunc", "args")

    def __init__(self, ufunc, args):
        self.ufunc = ufunc
        self.args = args

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or kwargs:
            raise _Unfit
        return _applied(ufunc, inputs)

    def _refuse(self, *args, **kwargs):
        raise _Unfit

    __array_function__ = __array__ = __bool__ = __float__ = __index__ = __iter__ = __len__ = __getattr__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __pow__ = __rpow__ = __getitem__ = _refuse

    def __neg__(self):
        return _applied(np.negative, (self,))


for _name, _ufunc in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide)):
    setattr(_Symbol, f"__{_name}__", lambda a, b, u=_ufunc: _applied(u, (a, b)))
    setattr(_Symbol, f"__r{_name}__", lambda b, a, u=_ufunc: _applied(u, (a, b)))


def _applied(function, args):
    if any(type(a) not in (_Symbol, int, float) for a in args):
        raise _Unfit
    if isinstance(function, np.ufunc) and any(f"{c * len(args)}->{c}" not in function.types for c in "df"):
        raise _Unfit
    return _Symbol(function, args)


def _structure(expression):
    """What is equal for expressions that compute the same."""
    if type(expression) is not _Symbol:
        return type(expression), repr(expression)
    if expression.ufunc is None:
        return expression.args
    return expression.ufunc, *[_structure(a) for a in expression.args]


def _uses(expression, name):
    """How often an expression reads a symbol."""
    if type(expression) is not _Symbol:
        return 0
    if expression.ufunc is None:
        return int(expression.args == name)
    return sum(_uses(a, name) for a in expression.args)


def _reads_only(expression, name):
    """Whether an expression is made of one symbol, without as much as a number."""
    if type(expression) is not _Symbol:
        return False
    if expression.ufunc is None:
        return expression.args == name
    return all([_reads_only(a, name) for a in expression.args])


class _Program:
    """Source in the making.

    Attributes
    ----------
    numbers : frozenset
        The names of what are numbers: never the place of a result.
    dtype : numpy.dtype
        Of the arrays, and of the boxed numbers.
    results : dict
        By structure: the names of what is returned, which is not written to and can be read again.
    """

    def __init__(self, numbers, dtype):
        self.numbers = numbers
        self.dtype = dtype
        self.lines = []
        self.results = {}
        self.names = {}
        self.count = 0

    def text(self, expression, spare=()):
        """The name of an expression's value, and whether it is an array that nobody else holds."""
        if type(expression) is not _Symbol:
            return self._named(BOXES[self.dtype][expression], "c"), False
        if expression.ufunc is None:
            return expression.args, expression.args in spare
        args = [self._operand(a, spare) for a in expression.args]
        texts = ", ".join([text for text, _ in args])
        call = f"{self._named(expression.ufunc, expression.ufunc.__name__)}({texts}"
        own = next((text for text, own in args if own), None)
        if own is not None:
            self.lines.append(f"{call}, {own})")
            return own, True
        self.count += 1
        if _reads_only(expression, "t"):  # nothing but this call makes a result of the type of one that is narrower
            call += f", dtype={self._named(self.dtype, 'dtype')}"
        self.lines.append(f"v{self.count} = {call})")
        return f"v{self.count}", not self._is_number(expression)

    def _operand(self, expression, spare):
        known = self.results.get(_structure(expression))
        return (known, False) if known is not None else self.text(expression, spare)

    def _is_number(self, expression):
        if type(expression) is not _Symbol:
            return True
        if expression.ufunc is None:
            return expression.args in self.numbers
        return all(self._is_number(a) for a in expression.args)

    def _named(self, value, name):
        for known, present in self.names.items():
            if present is value:
                return known
        if name == "c" or name in self.names:
            name = f"{name}{len(self.names)}"
        self.names[name] = value
        return name


def fused(partials, parameters, uses_out, plain, numbers=(), dtype=np.float64):
    """Several partials as one program.

    Parameters
    ----------
    partials : list of callable
    parameters : list of str
        The names of the arguments, without the change and the result.
    uses_out : list of bool
        Whether each partial takes the result as well.
    plain : callable
        The partials as they are, for what turns out not to fit: complex cotangents.
    numbers : tuple of str
        Which arguments are (boxed) numbers.
    dtype : type
        Of the arrays.

    Returns
    -------
    pull, overwriting : callable
        Both take the cotangent, the arguments, and the result if one of the partials does; the second may write into
        the cotangent. (None, None) where a partial is no straight arithmetic, or the only one passes it on.

    Examples
    --------
    >>> partial = lambda t, x: t * np.cos(x)
    >>> pull, _ = fused([partial], ["x"], [False], partial)
    >>> pull(np.ones(2), np.zeros(2))
    array([1., 1.])
    """
    t = _Symbol(None, "t")
    symbols = [_Symbol(None, name) for name in parameters]
    out = _Symbol(None, "out")
    try:
        with np.errstate(all="ignore"):
            found = [
                _on_symbols(p)(t, *symbols, *([out] if u else [])) for p, u in zip(partials, uses_out, strict=True)
            ]
    except Exception:
        return None, None
    if any(type(e) is not _Symbol for e in found) or len(found) == 1 and found[0] is t:
        return None, None
    signature = ", ".join(["t", *parameters, *(["out"] if any(uses_out) else [])])
    pull = _compiled(found, signature, numbers, dtype, (), plain)
    return pull, _compiled(found, signature, numbers, dtype, ("t",), plain)


def _compiled(expressions, signature, numbers, dtype, spare, plain):
    program = _Program(frozenset(numbers), np.dtype(dtype))
    values = []
    for i, expression in enumerate(expressions):
        last = i == len(expressions) - 1
        text, _ = program.text(expression, spare if last and _uses(expression, "t") == 1 else ())
        program.results[_structure(expression)] = text
        values.append(text)
    lines = [*program.lines, f"return {', '.join(values)}"]
    if not spare:
        lines = ["try:", *[f"    {line}" for line in lines], "except (TypeError, ValueError):"]
        lines.append(f"    return plain({signature})")
    body = "\n    ".join(lines)
    names = {**program.names, "plain": plain}
    exec(f"def pull({signature}):\n    {body}\n", names)
    return names["pull"]


__all__ = ["BOXES", "Boxes", "fused", "unboxed"]
