"""The few array helpers that rules, generated code and the tape share.

Each one is a small function of plain NumPy that stands alone (it may call others of this file), so
that an exported gradient can carry a copy of the ones it uses. Those that a derivative flows through
are themselves primitives with a rule (``rules/helpers.py``), so that derivatives of derivatives pass.
"""

import functools
import math
from cmath import isfinite as is_finite_number

import numpy as np

# ---------------------------------------------------------------- broadcasting and singular partials


def widened(x, like):
    """`x` in the precision of `like`, where its own is less: integers and booleans wrap, narrow floats are rounded.

    What a rule calculates with a constant of the user's is to be as exact as the result of the call is. Python
    numbers are as exact as what they meet, and stay as they are; a Python number for `like` is a double.

    Examples
    --------
    >>> widened(np.uint8(200), 1.0) ** 2
    np.float64(40000.0)
    >>> widened(np.array([1, 2], np.int8), np.ones(2, np.float32))
    array([1., 2.], dtype=float32)
    >>> widened(3, 1.0)
    3
    """
    if isinstance(x, (float, int, complex)) or getattr(x, "dtype", None) == np.float64:
        return x
    x = np.asarray(x)[()]
    like = np.asarray(like).dtype
    if "V" in x.dtype.kind + like.kind:  # bfloat16, which NumPy does not compare with its own types
        return x
    dtype = np.result_type(x.dtype, np.finfo(np.result_type(like, np.float16)).dtype)
    return x if x.dtype == dtype else x.astype(dtype)


def unbroadcast(g, x):
    """The cotangent `g` of a broadcast copy of `x`, summed back to the shape of `x`.

    The adjoint of broadcasting is the sum over the broadcast axes. Where `x` is real and `g`
    complex, the real part is taken: the gradient of a real input is real.

    Parameters
    ----------
    g : array or number
        Of a shape that `x` broadcasts to (or is broadcast against).
    x : array or number
        The value that was broadcast.

    Returns
    -------
    array or number
        Of the shape of `x`, and a number where `x` is one; `g` itself where there is nothing to do.

    Examples
    --------
    >>> unbroadcast(np.ones((3, 2)), np.zeros((1, 2)))
    array([[3., 3.]])
    >>> unbroadcast(np.ones((3, 2)), 1.0), unbroadcast(np.array(2.0), np.float64(1.0))
    (np.float64(6.0), np.float64(2.0))
    """
    if isinstance(x, complex) and isinstance(g, (complex, float)):
        return g
    if type(x) is not float:
        try:
            if g.shape == x.shape and g.dtype is x.dtype and type(g) is type(x):
                return g
        except AttributeError:  # one of them is a number of Python's
            pass
    elif type(g) is float:
        return g
    elif type(g) is np.ndarray and g.dtype.kind == "f":
        return np.add.reduce(g, axis=None)
    if type(g) is type(x) is np.ndarray and g.shape == x.shape and g.dtype.kind == x.dtype.kind:
        return g
    shape = np.shape(x)
    if np.shape(g) != shape:
        lead = np.ndim(g) - len(shape)
        if lead > 0:
            g = np.sum(g, axis=tuple(range(lead)))
        if lead >= 0:
            axes = tuple(i for i, n in enumerate(shape) if n == 1 and np.shape(g)[i] != 1)
            if axes:
                g = np.sum(g, axis=axes, keepdims=True)
        if np.shape(g) != shape:
            g = np.broadcast_to(g, shape)
    if np.iscomplexobj(g) and not np.iscomplexobj(x):
        g = np.real(g)
    return g[()] if shape == () and type(g) is np.ndarray is not type(x) else g


def conjugate(z):
    """The conjugate of `z`, which is a number of Python's if `z` is one.

    Examples
    --------
    >>> conjugate(1 + 2j), conjugate(np.complex128(1 + 2j))
    ((1-2j), np.complex128(1-2j))
    """
    return z.conjugate()


def over(g, d):
    """`g / d`, but zero where `g` is zero, whatever `d` is there (0, inf, nan).

    The zero-cotangent promise for partial derivatives that can be singular:
    ``np.where(x > 0, np.sqrt(x), 0)`` has derivative 0 at 0, not nan.

    Examples
    --------
    >>> over(np.array([0.0, 1.0, 0.0]), np.array([0.0, 2.0, np.nan]))
    array([0. , 0.5, 0. ])
    >>> over(1.0, 0.0), over(np.float64(0.0), 0.0)
    (inf, np.float64(0.0))
    """
    if isinstance(g, float) and isinstance(d, (float, int)):
        if g == 0.0:
            return g
        return g / d if d != 0.0 else type(g + d)(math.copysign(math.inf, g) * math.copysign(1.0, d))
    if isinstance(d, (float, int)):
        if d and d == d:
            return g / d
    elif isinstance(d, complex):
        if d and is_finite_number(d):
            return g / d
    elif has_no_zero(d):
        q = g / d
        if (type(g) is float and g != 0.0) or _has_no_nan(q):
            return q
    with np.errstate(all="ignore"):
        q = np.divide(g, d)
        return np.where(np.isnan(q) & np.equal(g, 0), 0.0, q)[()]


def times(g, p):
    """`g * p`, but zero where `g` is zero, whatever `p` is there (inf, nan).

    The zero-cotangent promise for a partial derivative `p` that can be infinite or undefined.

    Examples
    --------
    >>> times(np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    array([0., 6.])
    """
    if isinstance(g, float) and isinstance(p, float):
        return g * p if g != 0.0 else g
    if is_finite(p):
        return g * p
    with np.errstate(all="ignore"):
        q = np.multiply(g, p)
        return np.where(np.isnan(q) & np.equal(g, 0), 0.0, q)[()]


def product(g, first, *factors):
    """`g` times `first` and the other factors, where a zero stays zero, whatever the next factor is (inf, nan).

    The factors are real arrays of one dtype, and of the shape of the product. They are all finite where the last one
    is: it is looked at alone.

    Examples
    --------
    >>> product(np.array([0.0, 2.0]), np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    array([ 0., 12.])
    """
    last = factors[-1]
    square = np.vdot(last, last)
    if not math.isfinite(square) and not is_finite(last):
        return functools.reduce(times, factors, times(g, first))
    g = g * first
    for p in factors:
        g *= p
    return g


def where_less(g, x, y):
    """`g` where `x` is less than `y`, half of it where they are equal, zero elsewhere.

    What a change of `x` does to ``np.minimum(x, y)``.

    Examples
    --------
    >>> where_less(np.array([4.0, 4.0, 4.0]), np.array([1.0, 2.0, 3.0]), 2.0)
    array([4., 2., 0.])
    """
    if isinstance(x, float) and isinstance(y, float):
        return g if x < y else g / 2 if x == y else zeros_of(g)
    return part_where(g, is_less(x, y))


def split_by_less(g, x, y):
    """``(where_less(g, x, y), where_less(g, y, x))``: the cotangents of both arguments of ``np.minimum``.

    Examples
    --------
    >>> split_by_less(np.array([4.0, 4.0, 4.0]), np.array([1.0, 2.0, 3.0]), 2.0)
    (array([4., 2., 0.]), array([0., 2., 4.]))
    """
    return split(g, is_less(x, y))


def is_less(x, y):
    """Where `x` is less than `y`; it is not elsewhere, or else there are numbers in the place of booleans.

    They are 1 where `x` is less, 2 where `y` is, 3 where they are equal, and 0 where nan is compared.

    Examples
    --------
    >>> is_less(np.array([1.0, 3.0]), 2.0), is_less(np.array([1.0, 2.0, 3.0, np.nan]), 2.0)
    (array([ True, False]), array([1, 3, 2, 0], dtype=int8))
    """
    less = np.less(x, y)
    if np.count_nonzero(less) + np.count_nonzero(np.less(y, x)) == less.size:
        return less
    return np.add(np.less_equal(x, y), np.multiply(np.less_equal(y, x), 2, dtype=np.int8), dtype=np.int8)


def part_where(g, less):
    """``where_less(g, x, y)``, where ``less = is_less(x, y)``.

    Examples
    --------
    >>> part_where(np.array([4.0, 4.0]), np.array([True, False]))
    array([4., 0.])
    """
    if less.dtype == bool:
        return _selected(less, g)[()]
    return np.where(less == 1, g, np.where(less == 3, g / 2, 0.0))[()]


def part_where_not(g, less):
    """``where_less(g, y, x)``, where ``less = is_less(x, y)``.

    Examples
    --------
    >>> part_where_not(np.array([4.0, 4.0]), np.array([True, False]))
    array([0., 4.])
    """
    if less.dtype == bool:
        return _selected(~less, g)[()]
    return np.where(less == 2, g, np.where(less == 3, g / 2, 0.0))[()]


def split(g, less):
    """``(part_where(g, less), part_where_not(g, less))``: the two add up to `g`.

    Examples
    --------
    >>> split(np.array([4.0, 4.0]), np.array([True, False]))
    (array([4., 0.]), array([0., 4.]))
    """
    part = part_where(g, less)
    if less.dtype == bool and type(g) is type(part) is np.ndarray and g.dtype == np.float64:
        return part, (part.view(np.int64) ^ g.view(np.int64)).view(np.float64)  # what is left of `g`
    return part, part_where_not(g, less)


def _selected(mask, g):
    """``np.where(mask, g, 0.0)``; of doubles by a product with their bits, which has no branch for each entry."""
    if type(g) is np.ndarray and g.dtype == np.float64 and g.shape == mask.shape:
        bits = mask.astype(np.int64)
        bits *= g.view(np.int64)
        return bits.view(np.float64)
    return np.where(mask, g, 0.0)


def reached(x, top):
    """Which entries of `x` are as large, or as small, as the extremum `top`; where that is nan, which are nan.

    Examples
    --------
    >>> reached(np.array([1.0, 3.0, 3.0]), np.array([3.0]))
    array([False,  True,  True])
    """
    hits = np.equal(x, top)
    return hits if _has_no_nan(top) else hits | np.isnan(x)


def hit_count(hits, axis, x):
    """How many entries a mask marks along an axis (which stays, of length 1), in the type of `x`.

    Examples
    --------
    >>> hit_count(np.array([[True, True], [False, True]]), 0, 1.0)
    array([[1., 2.]])
    """
    return np.sum(hits, axis=axis, keepdims=axis is not None, dtype=np.result_type(x))


def inner(g, p):
    """The sum of ``g * p`` over all entries, in which a zero of `g` counts as zero whatever `p` is there.

    Examples
    --------
    >>> inner(np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    np.float64(6.0)
    """
    total = np.vdot(g, p)
    return total if total == total else np.sum(times(g, p))


# The sum of squares is the fastest way through an array that NumPy has: nan where one entry is, finite where all are.


def _has_no_nan(q):
    """Whether no entry is nan."""
    if type(q) is np.ndarray and q.dtype.char in "df":
        square = np.vdot(q, q)
        return square == square
    return not np.count_nonzero(q != q)


def has_no_zero(d):
    """Whether no entry is zero."""
    size = getattr(d, "size", 1)
    return bool(d.all()) if size > 4000 else np.count_nonzero(d) == size  # each is the faster one there


def is_finite(p):
    """Whether no entry is nan or infinite."""
    if isinstance(p, (float, complex)):
        return is_finite_number(p)
    if type(p) is np.ndarray and p.dtype.char in "df":
        square = np.vdot(p, p)
        if math.isfinite(square):
            return True
    return np.count_nonzero(np.isfinite(p)) == getattr(p, "size", 1)


def made_for(x, name, ndim, kind):
    """Raise where `x` is of another kind than what code was made for under that `name`.

    It must have so many axes, be no list where it has some, and be of `kind`: "real", "complex", or "float", which is
    real and no integer ("" is any).

    Examples
    --------
    >>> made_for(np.ones(3), "x", 1, "float")
    >>> made_for(np.ones((4, 3)), "k", 0, "real")
    Traceback (most recent call last):
    ...
    TypeError: made for a real number k, not for an array of float64 of shape (4, 3)
    >>> made_for(np.arange(3), "x", 1, "float")
    Traceback (most recent call last):
    ...
    TypeError: made for a float array x of dimension 1, not for an array of int64 of shape (3,)
    """
    shape = getattr(x, "shape", None if ndim else np.shape(x))
    if shape is not None and len(shape) == ndim:
        of = np.result_type(x).kind
        if not kind or (of == "c") is (kind == "complex") and not (of in "biu" and kind == "float"):
            return
    wanted = f"{kind} array {name} of dimension {ndim}" if ndim else f"{kind} number {name}"
    given = f"an array of {x.dtype} of shape {shape}" if shape else f"one of type {type(x).__name__}"
    raise TypeError(f"made for a {wanted.strip()}, not for {given}")


# ---------------------------------------------------------------- cotangents of parts


def selects_once(index):
    """Whether an index picks no element twice: then ``buffer[index] += g`` adds all of `g`.

    Only an array of integers can name an element twice.

    Examples
    --------
    >>> selects_once((slice(1, None), 0)), selects_once([0, 0])
    (True, False)
    """
    kind = type(index)
    if kind is int or kind is slice or index is None or index is Ellipsis:
        return True
    if kind is tuple:
        return all(selects_once(i) for i in index)
    index = np.asarray(index)
    return index.ndim == 0 or index.dtype == bool


def stays(x, index):
    """Which of the values that ``x[index] = values`` writes are there afterwards: the last one of each place.

    Examples
    --------
    >>> stays(np.zeros(3), [0, 0, 2])
    array([False,  True,  True])
    """
    stamps = np.zeros(np.shape(x), np.intp)
    numbers = np.arange(np.size(stamps[index])).reshape(np.shape(stamps[index]))
    stamps[index] = numbers
    return stamps[index] == numbers


def is_same(x, y) -> bool:
    """Are two arrays one piece of memory, looked at in one way?

    Examples
    --------
    >>> x = np.zeros(3)
    >>> is_same(x[1:], x[1:]), is_same(x[1:], x[:-1]), is_same(x, np.zeros(3))
    (True, False, False)
    """
    if x is y:
        return True
    if type(x) is not type(y) or x.shape != y.shape or x.strides != y.strides or x.dtype != y.dtype:
        return False
    return _address(x) == _address(y)


def _address(x) -> int:
    if isinstance(x, np.ndarray):
        return x.__array_interface__["data"][0]
    return x.__cuda_array_interface__["data"][0]


def add_at(buffer, index, value):
    """Add `value` to ``buffer[index]`` in place, repeated indices each counting, and return `buffer`.

    Examples
    --------
    >>> add_at(np.zeros(3), [0, 0, 2], np.array([1.0, 2.0, 3.0]))
    array([3., 0., 3.])
    """
    if selects_once(index):
        buffer[index] += value
    else:
        np.add.at(buffer, index, value)
    return buffer


def embed(g, x, index):
    """The cotangent of `x` when `g` is that of ``x[index]``: zeros like `x` with `g` added at `index`.

    Examples
    --------
    >>> embed(2.0, np.ones(3), 1)
    array([0., 2., 0.])
    """
    return add_at(np.zeros(np.shape(x), np.result_type(g)), index, g)


def sum_of_outers(pairs, x):
    """The sum of the outer products of pairs of vectors, a matrix like `x`.

    Examples
    --------
    >>> one, two = np.array([1.0, 2.0]), np.array([0.0, 1.0])
    >>> sum_of_outers([(one, one), (two, one)], np.zeros((2, 2)))
    array([[1., 2.],
           [3., 6.]])
    """
    if not pairs:
        return np.zeros_like(x)
    left, right = (np.concatenate(vectors).reshape(len(pairs), -1) for vectors in zip(*pairs, strict=True))
    return (left.T @ right).astype(x.dtype, copy=False)


def embed_diagonal(g, x, offset=0, axis1=0, axis2=1):
    """The cotangent of `x` when `g` is that of ``np.diagonal(x, offset, axis1, axis2)``.

    Examples
    --------
    >>> embed_diagonal(np.ones(2), np.zeros((2, 2)))
    array([[1., 0.],
           [0., 1.]])
    """
    out = np.zeros(np.shape(x), np.result_type(g))
    view = np.moveaxis(out, (axis1, axis2), (-2, -1))
    i = np.arange(np.diagonal(view, offset, -2, -1).shape[-1])
    view[..., i - min(int(offset), 0), i + max(int(offset), 0)] = g
    return out


def indices_like(x):
    """Each entry's index into the flat `x`, in the shape of `x`: what is done to it shows what is taken where.

    Examples
    --------
    >>> np.flip(indices_like(np.zeros((2, 2))))
    array([[3, 2],
           [1, 0]])
    """
    return np.reshape(np.arange(np.size(x)), np.shape(x))


def gather_adjoint(g, x, source):
    """The cotangent of `x` when `g` is that of the entries of the flat `x` at the indices `source`.

    Examples
    --------
    >>> gather_adjoint(np.ones(3), np.zeros((2, 2)), [0, 0, 3])
    array([[2., 0.],
           [0., 1.]])
    """
    return np.reshape(embed(np.ravel(g), np.ravel(x), np.ravel(source)), np.shape(x))


def from_rows(rows, x):
    """The cotangent of the array `x` from those of its rows.

    Parameters
    ----------
    rows : list
        ``rows[i]`` is the cotangent of ``x[i]``, or None for zero; rows missing at the end are zero.
    x : array

    Returns
    -------
    array
        Of the shape of `x`.

    Examples
    --------
    >>> from_rows([np.ones(2), None], np.zeros((3, 2)))
    array([[1., 1.],
           [0., 0.],
           [0., 0.]])
    """
    out = zeros_of(x)
    for i, row in enumerate(rows):
        if row is not None:
            out[i] = row
    return out


def part(g, i):
    """The `i`-th of the cotangents `g` of a sequence; None (zero) where there is none.

    Examples
    --------
    >>> part((None, 2.0), 1), part(None, 0), part([1.0], 3)
    (2.0, None, None)
    """
    return g[i] if g is not None and i < len(g) else None


def filled(g, out):
    """The cotangent `g` of `out`, with zeros where it is None.

    Examples
    --------
    >>> filled(None, np.ones(2)), filled(3.0, 1.0)
    (array([0., 0.]), 3.0)
    """
    return zeros_of(out) if g is None else g


# ---------------------------------------------------------------- what can be differentiated


def is_differentiable(x):
    """Whether `x` is a number or array of a floating or complex type (bfloat16 included).

    Examples
    --------
    >>> is_differentiable(1.0), is_differentiable(np.arange(3)), is_differentiable(True)
    (True, False, False)
    """
    if isinstance(x, (float, complex)):
        return True
    dtype = getattr(x, "dtype", None)
    return getattr(dtype, "kind", "") in ("f", "c") or getattr(dtype, "name", "") == "bfloat16"


def is_promotable(x):
    """Whether `x` is an integer or an array of integers, which differentiation promotes to float64.

    Examples
    --------
    >>> is_promotable(3), is_promotable(np.arange(3)), is_promotable(True), is_promotable(1.0)
    (True, True, False, False)
    """
    if isinstance(x, int):
        return not isinstance(x, bool)
    return getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u")


def zeros_of(x):
    """The zero cotangent of `x`: 0.0 for a Python number, fresh zeros for an array.

    Examples
    --------
    >>> zeros_of(3), zeros_of(np.ones(2, np.float32)), zeros_of(np.arange(2))
    (0.0, array([0., 0.], dtype=float32), array([0., 0.]))
    """
    if not hasattr(x, "dtype"):
        return 0.0 if np.ndim(x) == 0 else np.zeros(np.shape(x), np.result_type(np.asarray(x), np.float64))
    zeros = np.zeros(np.shape(x), x.dtype if is_differentiable(x) else np.float64)
    return zeros if isinstance(x, np.ndarray) else zeros[()]


# ---------------------------------------------------------------- trees of cotangents


def tree_add(a, b):
    """The sum of two cotangents of one value; None is zero, containers are added leaf by leaf.

    Examples
    --------
    >>> tree_add((1.0, None), (2.0, [3.0]))
    (3.0, [3.0])
    >>> tree_add(None, {"w": 1.0})
    {'w': 1.0}
    """
    if a is None:
        return b
    if b is None:
        return a
    if isinstance(a, (tuple, list)):
        items = [tree_add(part(a, i), part(b, i)) for i in range(max(len(a), len(b)))]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, dict):
        return {key: tree_add(a.get(key), b.get(key)) for key in [*a, *(k for k in b if k not in a)]}
    return a + b


def as_gradient(d, x, owned=False):
    """The finished gradient of argument `x` from its cotangent `d`.

    Parameters
    ----------
    d : array, number, container or None
        None is zero. May be broadcast, of a wider or complex type, read-only, or another's memory.
    x : array, number, or tuple, list, dict, namedtuple, dataclass of them
        The argument. Leaves that cannot be differentiated (strings, None) get None.
    owned : bool
        Whether `d` is known to be a fresh array that nobody else holds: then it is not copied.

    Returns
    -------
    array, number or container
        Of the structure, shapes and dtypes of `x` (float64 for integers; a Python float for a
        Python number), in memory of its own.

    Examples
    --------
    >>> as_gradient(1.0, np.zeros(2, np.float32))
    array([1., 1.], dtype=float32)
    >>> as_gradient((None, 2.0), (1.0, {"w": 3}))
    Traceback (most recent call last):
    ...
    TypeError: the cotangent of a dict must be a dict or None, not 2.0
    >>> as_gradient([None, {"w": 2.0}], [1.0, {"w": 3}])
    [0.0, {'w': 2.0}]
    """
    if type(x) is np.ndarray:
        if x.dtype.kind not in "fciuV" or x.dtype.names is not None:
            return None
        dtype = x.dtype if x.dtype.kind not in "iu" else np.dtype(np.float64)
        if d is None:
            return np.zeros(x.shape, dtype)
        if owned and type(d) is np.ndarray and d.shape == x.shape and d.dtype == dtype and d.flags.writeable:
            return d
        return np.array(unbroadcast(d, x), dtype)
    if isinstance(x, np.generic):
        if not (is_differentiable(x) or is_promotable(x)):
            return None
        return (x.dtype if is_differentiable(x) else np.dtype(np.float64)).type(0 if d is None else unbroadcast(d, x))
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return 0.0 if d is None else float(unbroadcast(d, x))
    if isinstance(x, complex):
        return 0j if d is None else complex(unbroadcast(d, x))
    if isinstance(x, (tuple, list)):
        if not (d is None or isinstance(d, (tuple, list)) or getattr(d, "ndim", 0) > 0):
            raise TypeError(f"the cotangent of a {type(x).__name__} must be a sequence or None, not {d!r}")
        if (number := _class_of_all(x)) is not None and (d is None or (len(d) == len(x) and _class_of_all(d))):
            return type(x)(map(number, [0.0] * len(x) if d is None else d))
        items = [as_gradient(part(d, i), leaf, owned) for i, leaf in enumerate(x)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        if not (d is None or isinstance(d, dict)):
            raise TypeError(f"the cotangent of a dict must be a dict or None, not {d!r}")
        return {key: as_gradient(d and d.get(key), leaf, owned) for key, leaf in x.items()}
    if hasattr(type(x), "__dataclass_fields__"):
        gradient = object.__new__(type(x))
        for name in type(x).__dataclass_fields__:
            leaf = d.get(name) if isinstance(d, dict) else getattr(d, name, None)
            object.__setattr__(gradient, name, as_gradient(leaf, getattr(x, name), owned))
        return gradient
    return None


def as_cotangent(d, x):
    """The cotangent `d` of `x` with zeros where it has none: as `as_gradient`, with dicts in the place of records.

    Examples
    --------
    >>> class Point:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> as_cotangent([None, {"x": 2.0, "y": None}], [Point(1.0, 2.0), Point(3.0, 4.0)])
    [{'x': 0.0, 'y': 0.0}, {'x': 2.0, 'y': 0.0}]
    """
    if isinstance(x, (tuple, list)):
        items = [as_cotangent(part(d, i), item) for i, item in enumerate(x)]
        return items if isinstance(x, list) else tuple(items)
    if isinstance(x, dict):
        return {key: as_cotangent(d and d.get(key), item) for key, item in x.items()}
    names = getattr(type(x), "__dataclass_fields__", None) or getattr(x, "__dict__", None)
    if names:
        return {name: as_cotangent(d and d.get(name), getattr(x, name)) for name in names}
    return as_gradient(d, x)


def _class_of_all(x):
    """The class of all elements of a list or tuple, if that is `float` or `np.float64`; else None."""
    classes = set(map(type, x)) if type(x) in (list, tuple) else ()
    return classes.pop() if len(classes) == 1 and classes <= {float, np.float64} else None


def instance(cls, **attributes):
    """An object with these attributes, as the constructor of its class has left it.

    Examples
    --------
    >>> class Point: ...
    >>> vars(instance(Point, x=1.0, y=2.0))
    {'x': 1.0, 'y': 2.0}
    """
    new = object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(new, name, value)
    return new


def slots_of(x):
    """A list (or dict) of absent cotangents, one per element of the container `x`, to be filled in place.

    Examples
    --------
    >>> slots_of((1.0, 2.0)), slots_of({"w": 1.0})
    ([None, None], {'w': None})
    """
    return dict.fromkeys(x) if isinstance(x, dict) else [None] * len(x)


def embed_item(g, x, index):
    """The cotangent of `x`, an array or a container, when `g` is that of ``x[index]``.

    Examples
    --------
    >>> embed_item(2.0, np.ones(3), 1), embed_item(2.0, (1.0, 1.0), 1)
    (array([0., 2., 0.]), [None, 2.0])
    """
    if hasattr(x, "dtype"):
        return embed(g, x, index)
    items = slots_of(x)
    items[index] = g
    return items


def from_items(items, x, at_end=False):
    """The cotangent of the sequence `x` from those of its first (or last) elements; the others are zero.

    Examples
    --------
    >>> from_items([1.0], [3.0, 4.0]), from_items([1.0], (3.0, 4.0), at_end=True)
    ([1.0, 0.0], (0.0, 1.0))
    """
    missing = [None] * (len(x) - len(items))
    items = missing + items if at_end else items + missing
    return from_rows(items, x) if hasattr(x, "dtype") else as_gradient(items, x)


def rows_of(g):
    """The rows of an array, as a list; those of a vector of doubles as Python numbers.

    Examples
    --------
    >>> rows_of(np.array([1.0, 2.0]))
    [1.0, 2.0]
    """
    return g.tolist() if g.ndim == 1 and g.dtype == np.float64 else list(g)


def shared_out(g, items):
    """The cotangents of `items` from the one of their sum.

    Examples
    --------
    >>> shared_out(2.0, [1.0, 3.0])
    [2.0, 2.0]
    """
    return [unbroadcast(g, x) for x in items]


def scalar_seed(out):
    """The cotangent 1 that a gradient starts from, where `out` is one real number.

    Raises
    ------
    TypeError
        Where `out` is no real scalar: it has no gradient.

    Examples
    --------
    >>> scalar_seed(np.float32(2.0))
    np.float32(1.0)
    """
    if out is None:
        raise TypeError("grad needs a function that returns a real scalar: this one returned None")
    kind = getattr(getattr(out, "dtype", None), "kind", "")
    if not (
        isinstance(out, (bool, int, float, complex)) or kind in ("b", "i", "u", "f", "c") or is_differentiable(out)
    ):
        raise TypeError(f"grad needs a function that returns a real scalar: this one returned a {type(out).__name__}")
    if np.shape(out) != ():
        raise TypeError(
            f"grad needs a function that returns a real scalar: this one returned an array of shape {np.shape(out)}"
            " (use jacobian, vjp or elementwise_grad)"
        )
    if np.iscomplexobj(out):
        raise TypeError(
            "grad needs a function that returns a real scalar: this one returned a complex number (use vjp)"
        )
    return np.ones_like(out)[()] if is_differentiable(out) and hasattr(out, "dtype") else 1.0
