"""The types of what further NumPy functions give: transforms, differences, statistics, places, grids.

Each handler answers for a call as those in ``types`` do, and claims as little: what is not surely so at
run time stays open.

Examples
--------
>>> from s2sgrad.transform import ir
>>> x = ir.Value("x", types.of(np.ones(8, "f4")))
>>> types.infer(np.diff, (x,)).ndim, types.infer(np.fft.fft, (x,)).dtype
(1, 'complex64')
"""

from dataclasses import replace

import numpy as np

from s2sgrad.rules import placing
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.analysis.types import REAL, one_array
from s2sgrad.transform.ir import UNKNOWN, Kind, Type

_INDEX = np.dtype(np.intp).name
_DOUBLE = ("int", "float", "bool", "int64", "float64")


def _given(operand) -> Type:
    """The type of an operand, lists of numbers being arrays."""
    return types.array_like(types.type_of(operand))


def _is_given(operand) -> bool:
    """Is an argument something else than None?"""
    return operand is not None and types.constant(operand) is not None


def _alike(t: Type, dtype) -> Type:
    """An array of the shape of `t`, or a scalar where `t` is one."""
    if t.kind is Kind.NUMBER:
        return Type(Kind.NUMBER, dtype, 0, ())
    if t.kind is Kind.ARRAY and t.ndim:
        return one_array(dtype, t.ndim, t.shape)
    return Type(dtype=dtype)


def _of_dimension(t: Type, dtype) -> Type:
    """An array with the dimension of `t`, lengths unknown; nothing but the dtype where that is not surely one."""
    return one_array(dtype, t.ndim) if t.kind is Kind.ARRAY and t.ndim else Type(dtype=dtype)


def _flat_or_alike(t: Type, axis, dtype) -> Type:
    """What works along an axis, or on all elements in a row where `axis` is None."""
    value = types.constant(axis)
    if value is None:
        return one_array(dtype, 1)
    return _of_dimension(t, dtype) if isinstance(value, int) else Type(dtype=dtype)


def _together(dtypes) -> str | None:
    return types.strong(types.promote(dtypes))


def _floating(*given: Type) -> str | None:
    """The dtype of a quotient of what the operands hold together."""
    return types.averaged(types.promote([t.dtype for t in given]))


# ------------------------------------------------------------------------- differences, interpolation


@types.handles(np.diff)
def _diff(a, n=1, axis=-1, prepend=None, append=None) -> Type:
    t, count, place = _given(a), types.constant(n), types.constant(axis)
    if t.kind is not Kind.ARRAY or not t.ndim:
        return _of_dimension(t, None)
    ends = [_given(end) for end in (prepend, append) if end is not None and count != 0]
    t = replace(t, dtype=types.promote([t.dtype, *(end.dtype for end in ends)]))
    if not isinstance(count, int) or not isinstance(place, int) or not -t.ndim <= place < t.ndim:
        return _of_dimension(t, t.dtype)
    shape = list(types.axes_of(t))
    for end in ends:
        length = (types.axes_of(end) or (1,) * t.ndim)[place] if end.ndim in (0, t.ndim) else axes.ANY
        shape[place] = axes.more(shape[place], length) if isinstance(length, int) else axes.ANY
    for _ in range(count):
        shape[place] = axes.part(shape[place], 1, None, None)
    return one_array(t.dtype, shape=tuple(shape))


@types.handles(np.ediff1d)
def _ediff1d(ary, to_end=None, to_begin=None) -> Type:
    return one_array(types.strong(_given(ary).dtype), 1)


@types.handles(np.gradient)
def _gradient(f, *spacing, axis=None, edge_order=1) -> Type:
    t = _given(f)
    one = t.ndim == 1 or isinstance(types.constant(axis), int)
    return _alike(t, types.averaged(t.dtype)) if one else UNKNOWN


@types.handles(np.interp)
def _interp(x, xp, fp, **options) -> Type:
    t, values = _given(x), _given(fp)
    return _alike(t, None if not values.is_real else "float64")


@types.handles(np.trapezoid)
def _trapezoid(y, x=None, dx=1.0, axis=-1) -> Type:
    t = _given(y)
    if _is_given(x):
        dtype = _floating(t, _given(x))
    else:
        dtype = types.averaged(types.resolve(np.multiply, [_given(dx).dtype, t.dtype]))
    if t.kind is not Kind.ARRAY or not t.ndim or _is_given(x) and _given(x).ndim != 1:
        return Type(dtype=dtype)
    return one_array(dtype, t.ndim - 1) if t.ndim > 1 else Type(Kind.NUMBER, dtype, 0, ())


@types.handles(np.polyval)
def _polyval(p, x) -> Type:
    s, t = _given(p), _given(x)
    dtype = types.promote([s.dtype, t.dtype])
    if dtype != types.strong(t.dtype):  # of no coefficients it is that of `x`
        dtype = REAL if s.is_real and t.is_real else None
    return _alike(t, dtype) if t.kind is Kind.ARRAY and s.ndim == 1 else Type(dtype=dtype)


@types.handles(np.polyfit)
def _polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False) -> Type:
    t = _given(y)
    plain = types.constant(full) is False and types.constant(cov) is False
    return _of_dimension(t, _floating(t, _given(x), Type(dtype="int64"))) if plain else UNKNOWN


@types.handles(np.unwrap)
def _unwrap(p, *options, **keywords) -> Type:
    return _of_dimension(_given(p), types.averaged(_given(p).dtype))


# ----------------------------------------------------------------------------------------- transforms


def _spectrum(dtype) -> str | None:
    name = types.averaged(dtype)
    if name in (None, REAL):
        return None
    return np.result_type(name, np.complex64).name if np.dtype(name).kind in "fc" else None


def _transformed(a, dtype_of, whole) -> Type:
    """A transform keeps the lengths where it is `whole`: no other number of points was asked for."""
    t = _given(a)
    if t.kind is not Kind.ARRAY or not t.ndim:
        return UNKNOWN
    return one_array(dtype_of(t.dtype), t.ndim, t.shape if whole else None)


@types.handles(np.fft.fft, np.fft.ifft, np.fft.fftn, np.fft.ifftn, np.fft.fft2, np.fft.ifft2)
def _fft(a, n=None, *options, s=None, **keywords) -> Type:
    return _transformed(a, _spectrum, (n if s is None else s) is None or types.constant(n) is None and s is None)


@types.handles(np.fft.rfft, np.fft.rfftn, np.fft.rfft2, np.fft.ihfft)
def _rfft(a, *options, **keywords) -> Type:
    return _transformed(a, _spectrum, False)


@types.handles(np.fft.irfft, np.fft.irfftn, np.fft.irfft2, np.fft.hfft)
def _irfft(a, *options, **keywords) -> Type:
    return _transformed(a, types.modulus, False)


@types.handles(np.fft.fftshift, np.fft.ifftshift)
def _fftshift(x, *options, **keywords) -> Type:
    return _transformed(x, types.strong, True)


@types.handles(np.fft.fftfreq, np.fft.rfftfreq)
def _fftfreq(n, d=1.0, **keywords) -> Type:
    return one_array("float64" if isinstance(d, float) or types.type_of(d).dtype in _DOUBLE else None, 1)


# ----------------------------------------------------------------------------------------- statistics


@types.handles(np.quantile, np.percentile, np.nanquantile, np.nanpercentile)
def _quantile(a, q, axis=None, **options) -> Type:
    t, places = _given(a), _given(q)
    double = t.dtype == "float64" and places.dtype in _DOUBLE
    dtype = "float64" if double else REAL if t.is_real and places.is_real else None
    one = types.reduction(a, axis, options.get("keepdims", False), dtype)
    if places.kind is Kind.NUMBER:
        return one
    if places.kind is not Kind.ARRAY or not places.ndim or one.ndim is None:
        return Type(dtype=dtype)
    return one_array(dtype, shape=(*types.axes_of(places), *types.axes_of(one)))


@types.handles(np.median, np.nanmedian)
def _median(a, axis=None, out=None, overwrite_input=False, keepdims=False) -> Type:
    t = _given(a)
    return types.reduction(a, axis, keepdims, types.averaged(t.dtype) if t.is_real else None)


@types.handles(np.ptp)
def _ptp(a, axis=None, out=None, keepdims=False) -> Type:
    return types.reduction(a, axis, keepdims, types.strong(_given(a).dtype))


@types.handles(np.average)
def _average(a, axis=None, weights=None, returned=False, *, keepdims=False) -> Type:
    given = [_given(a), _given(weights)] if _is_given(weights) else [_given(a)]
    return types.reduction(a, axis, keepdims, _floating(*given)) if types.constant(returned) is False else UNKNOWN


@types.handles(np.cov, np.corrcoef)
def _cov(m, y=None, *options, **keywords) -> Type:
    given = [_given(m), _given(y)] if _is_given(y) else [_given(m)]
    if options or keywords.keys() - {"bias", "ddof"}:
        return UNKNOWN
    dtype = types.promote(["float64", *[t.dtype for t in given]])
    several = len(given) == 2 or given[0].ndim == 2 and axes.is_many(types.axes_of(given[0])[0])
    return one_array(dtype, 2) if several and all(t.kind is Kind.ARRAY and t.ndim for t in given) else Type(dtype=dtype)


@types.handles(np.bincount)
def _bincount(x, weights=None, minlength=0) -> Type:
    return one_array(_INDEX if not _is_given(weights) else "float64", 1)


@types.handles(np.histogram)
def _histogram(a, bins=10, range=None, density=None, weights=None) -> Type:  # noqa: A002 - NumPy's names
    counted = not _is_given(weights) and types.constant(density) in (None, False)
    edges = one_array(REAL if _given(a).is_real else None, 1)
    return types.several(one_array(_INDEX if counted else None, 1), edges)


@types.handles(np.partition)
def _partition(a, kth, axis=-1, *options, **keywords) -> Type:
    t = types.type_of(a)
    return _alike(t, t.dtype) if isinstance(types.constant(axis), int) else Type(dtype=t.dtype)


@types.handles(np.unique)
def _unique(ar, *options, **keywords) -> Type:
    return one_array(types.strong(_given(ar).dtype), 1) if not options and not keywords else UNKNOWN


# ------------------------------------------------------------------------------------ places, questions


@types.handles(np.argsort, np.argpartition)
def _argsort(a, *options, axis=-1, **keywords) -> Type:
    t = _given(a)
    return _alike(t, _INDEX) if t.kind is Kind.ARRAY and t.ndim and isinstance(types.constant(axis), int) else UNKNOWN


@types.handles(np.searchsorted)
def _searchsorted(a, v, side="left", sorter=None) -> Type:
    return _alike(_given(v), _INDEX)


@types.handles(np.digitize)
def _digitize(x, bins, right=False) -> Type:
    return _alike(_given(x), _INDEX)


@types.handles(np.nonzero)
def _nonzero(a) -> Type:
    t = _given(a)
    return Type(Kind.TUPLE, items=(one_array(_INDEX, 1),) * t.ndim) if t.kind is Kind.ARRAY and t.ndim else UNKNOWN


@types.handles(np.flatnonzero)
def _flatnonzero(a) -> Type:
    return one_array(_INDEX, 1)


@types.handles(np.argwhere)
def _argwhere(a) -> Type:
    return one_array(_INDEX, 2)


@types.handles(np.triu_indices, np.tril_indices)
def _triangle_indices(n, *options, **keywords) -> Type:
    return types.several(one_array(_INDEX, 1), one_array(_INDEX, 1))


@types.handles(np.triu_indices_from, np.tril_indices_from)
def _triangle_indices_from(arr, k=0) -> Type:
    return types.several(one_array(_INDEX, 1), one_array(_INDEX, 1))


@types.handles(np.diag_indices)
def _diag_indices(n, ndim=2) -> Type:
    count = types.constant(ndim)
    return Type(Kind.TUPLE, items=(one_array("int64", 1),) * count) if isinstance(count, int) else UNKNOWN


@types.handles(np.isclose)
def _isclose(a, b, *options, **keywords) -> Type:
    kind, ndim, shape = types.broadcast([_given(a), _given(b)])
    return Type(kind, "bool", ndim, shape) if kind is Kind.ARRAY else Type(dtype="bool")


@types.handles(np.isin)
def _isin(element, *options, **keywords) -> Type:
    t = _given(element)
    return _alike(t, "bool") if t.kind is Kind.ARRAY else Type(dtype="bool")


# --------------------------------------------------------------------------------------- copies, parts


@types.handles(np.ix_)
def _ix(*places) -> Type:
    given = [_given(p) for p in places]
    if not all(t.kind is Kind.ARRAY and t.ndim == 1 and (t.dtype or "").startswith(("int", "bool")) for t in given):
        return UNKNOWN
    return types.several(*[one_array(_INDEX, len(given)) for _ in given])


@types.handles(np.ndarray.flatten)
def _flatten(a, order="C") -> Type:
    t = types.type_of(a)
    return one_array(t.dtype, 1, (axes.size(types.axes_of(t)),) if t.ndim else None)


@types.handles(np.add.accumulate, np.multiply.accumulate, np.maximum.accumulate, np.minimum.accumulate)
def _accumulated(array, axis=0) -> Type:
    t = types.type_of(array)
    return _alike(t, t.dtype if t.dtype in ("float64", "float32", "complex128") else None)


@types.handles(np.take)
def _take(a, indices, axis=None, **options) -> Type:
    t, places = _given(a), _given(indices)
    dtype = types.strong(t.dtype)
    if options or t.kind is not Kind.ARRAY or t.ndim is None or places.ndim is None:
        return Type(dtype=dtype)
    if types.constant(axis) is None:
        return _alike(places, dtype)
    place = types.constant(axis)
    if not isinstance(place, int) or not -t.ndim <= place < t.ndim or places.kind is Kind.UNKNOWN:
        return Type(dtype=dtype)
    shape = list(types.axes_of(t))
    shape[place % t.ndim : place % t.ndim + 1] = types.axes_of(places)
    return one_array(dtype, shape=tuple(shape)) if shape else Type(dtype=dtype)


@types.handles(np.take_along_axis)
def _take_along_axis(arr, indices, axis=-1) -> Type:
    return _flat_or_alike(_given(arr), axis, types.strong(_given(arr).dtype))


@types.handles(np.repeat)
def _repeat(a, repeats, axis=None) -> Type:
    return _flat_or_alike(_given(a), axis, types.strong(_given(a).dtype))


@types.handles(np.delete)
def _delete(arr, obj, axis=None) -> Type:
    return _flat_or_alike(_given(arr), axis, types.strong(_given(arr).dtype))


@types.handles(np.insert)
def _insert(arr, obj, values, axis=None) -> Type:
    return _flat_or_alike(_given(arr), axis, types.strong(_given(arr).dtype))


@types.handles(np.append)
def _append(arr, values, axis=None) -> Type:
    s, t = _given(arr), _given(values)
    return _flat_or_alike(s, axis, _together([s.dtype, t.dtype]))


@types.handles(np.compress)
def _compress(condition, a, axis=None) -> Type:
    return _flat_or_alike(_given(a), axis, types.strong(_given(a).dtype))


@types.handles(np.extract)
def _extract(condition, arr) -> Type:
    return one_array(types.strong(_given(arr).dtype), 1)


@types.handles(np.tile)
def _tile(A, reps) -> Type:  # noqa: N803 - NumPy's name
    t, times = _given(A), types.shape_of(reps)[0]
    if times is None or t.ndim is None:
        return Type(dtype=types.strong(t.dtype))
    return one_array(types.strong(t.dtype), max(t.ndim, times))


@types.handles(np.pad)
def _pad(array, pad_width, mode="constant", **options) -> Type:
    t = _given(array)
    return _of_dimension(t, types.strong(t.dtype)) if isinstance(types.constant(mode), str) else Type(dtype=t.dtype)


@types.handles(np.resize)
def _resize(a, new_shape) -> Type:
    ndim, shape, _ = types.shape_of(new_shape)
    return one_array(types.strong(_given(a).dtype), ndim, shape)


@types.handles(np.fliplr, np.flipud)
def _flipped(m) -> Type:
    t = types.type_of(m)
    return _alike(t, t.dtype) if t.kind is Kind.ARRAY else UNKNOWN


@types.handles(np.rot90)
def _rot90(m, k=1, axes=(0, 1)) -> Type:
    return _of_dimension(types.type_of(m), types.type_of(m).dtype)


@types.handles(np.atleast_1d)
def _atleast_1d(*arrays) -> Type:
    return _at_least(arrays, 1)


@types.handles(np.atleast_2d)
def _atleast_2d(*arrays) -> Type:
    return _at_least(arrays, 2)


@types.handles(np.atleast_3d)
def _atleast_3d(*arrays) -> Type:
    return _at_least(arrays, 3)


def _at_least(arrays, ndim) -> Type:
    if len(arrays) != 1:
        return UNKNOWN
    t = _given(arrays[0])
    if t.ndim is None or t.kind not in (Kind.ARRAY, Kind.NUMBER):
        return Type(Kind.ARRAY, types.strong(t.dtype)) if t.kind in (Kind.ARRAY, Kind.NUMBER) else UNKNOWN
    if t.ndim >= ndim:
        return replace(t, dtype=types.strong(t.dtype))
    before = (1,) * (ndim - t.ndim)
    shape = (*before, *types.axes_of(t)) if ndim < 3 or t.ndim == 0 else None
    return one_array(types.strong(t.dtype), ndim, shape)


@types.handles(np.hstack)
def _hstack(tup, **options) -> Type:
    return _pasted(tup, options, 1)


@types.handles(np.vstack)
def _vstack(tup, **options) -> Type:
    return _pasted(tup, options, 2)


@types.handles(np.dstack)
def _dstack(tup, **options) -> Type:
    return _pasted(tup, options, 3)


@types.handles(np.column_stack)
def _column_stack(tup, **options) -> Type:
    return _pasted(tup, options, 2)


def _pasted(tup, options, least) -> Type:
    """Arrays joined, of `least` dimensions or more: that of the one that has most, for they must be equal."""
    common = types.parts_of(tup)
    if common is None or options:
        return UNKNOWN
    return one_array(common.dtype, None if common.ndim is None else max(common.ndim, least))


@types.handles(np.diagflat)
def _diagflat(v, k=0) -> Type:
    return one_array(types.strong(_given(v).dtype), 2)


@types.handles(np.meshgrid)
def _meshgrid(*xi, indexing="xy", sparse=False, copy=True) -> Type:
    return types.several(*[one_array(types.strong(_given(x).dtype), len(xi)) for x in xi])


@types.handles(np.lib.stride_tricks.sliding_window_view)
def _sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False) -> Type:
    t, more = _given(x), types.shape_of(window_shape)[0]
    known = t.kind is Kind.ARRAY and t.ndim and more is not None
    return one_array(t.dtype, t.ndim + more) if known else UNKNOWN


# --------------------------------------------------------------------------- products, linear algebra


@types.handles(np.kron)
def _kron(a, b) -> Type:
    s, t = _given(a), _given(b)
    dtype = _together([s.dtype, t.dtype])
    known = all(x.kind is Kind.ARRAY and x.ndim for x in (s, t))
    return one_array(dtype, max(s.ndim, t.ndim)) if known else Type(dtype=dtype)


@types.handles(np.cross)
def _cross(a, b, *options, **keywords) -> Type:
    s, t = _given(a), _given(b)
    dtype = _together([s.dtype, t.dtype])
    if options or keywords or not all(x.kind is Kind.ARRAY and x.ndim for x in (s, t)):
        return Type(dtype=dtype)
    if 3 in (types.axes_of(s)[-1], types.axes_of(t)[-1]):  # of vectors in the plane it is a number each
        return one_array(dtype, max(s.ndim, t.ndim))
    return Type(Kind.ARRAY if max(s.ndim, t.ndim) > 1 else Kind.UNKNOWN, dtype)


@types.handles(np.tensordot)
def _tensordot(a, b, axes=2) -> Type:
    s, t, count = _given(a), _given(b), types.constant(axes)
    dtype = _together([s.dtype, t.dtype])
    if not isinstance(count, int) or s.ndim is None or t.ndim is None or s.ndim + t.ndim <= 2 * count:
        return Type(dtype=dtype)
    return one_array(dtype, shape=types.axes_of(s)[: s.ndim - count] + types.axes_of(t)[count:])


@types.handles(np.linalg.eigvalsh)
def _eigvalsh(a, UPLO="L") -> Type:  # noqa: N803 - NumPy's name
    t = types.type_of(a)
    return types.stacked(t, 1, types.modulus(t.dtype))


@types.handles(np.linalg.pinv)
def _pinv(a, *options, **keywords) -> Type:
    t = types.type_of(a)
    return _of_dimension(t, types.averaged(t.dtype))


@types.handles(np.linalg.matrix_power)
def _matrix_power(a, n) -> Type:
    t = types.type_of(a)
    return _alike(t, None if t.dtype is None or not t.dtype.startswith(("float", "complex")) else t.dtype)


@types.handles(np.linalg.lstsq)
def _lstsq(a, b, rcond=None) -> Type:
    s, t = _given(a), _given(b)
    dtype = types.averaged(types.promote([s.dtype, t.dtype]))
    real = types.modulus(dtype)
    return types.several(_of_dimension(t, dtype), one_array(real, 1), UNKNOWN, one_array(real, 1))


# ------------------------------------------------------------------------------------------- numbers


def _number(scalar):
    """The type of ``np.float32(x)`` and the like: of a number, that number."""

    def handler(value=0) -> Type:
        known = _given(value).kind is Kind.NUMBER
        return Type(Kind.NUMBER, np.dtype(scalar).name, 0, ()) if known else UNKNOWN

    return handler


for _scalar in (np.float64, np.float32, np.float16, np.int64, np.int32, np.complex128, np.complex64):
    types.handles(_scalar)(_number(_scalar))


@types.handles(placing.complex_of)
def _complex_of(real, imag) -> Type:
    kind, ndim, shape = types.broadcast([_given(real), _given(imag)])
    return Type(kind, None, ndim, shape) if kind is Kind.ARRAY else UNKNOWN


@types.handles(np.logspace, np.geomspace)
def _logspace(start, stop, num=50, *options, **keywords) -> Type:
    ends = [types.type_of(start), types.type_of(stop)]
    plain = all(t.kind is Kind.NUMBER and t.dtype in _DOUBLE for t in ends) and not options and not keywords
    return one_array("float64", 1) if plain else UNKNOWN


@types.handles(np.tri)
def _tri(N, M=None, k=0, dtype=None) -> Type:  # noqa: N803 - NumPy's names
    return one_array("float64" if dtype is None else None, 2)


@types.handles(np.indices)
def _indices(dimensions, *options, **keywords) -> Type:
    ndim = types.shape_of(dimensions)[0]
    return UNKNOWN if options or keywords or ndim is None else one_array("int64", ndim + 1)


@types.handles(np.vander)
def _vander(x, *options, **keywords) -> Type:
    return one_array(REAL if _given(x).is_real else None, 2)
