"""Sums and their kin, extrema, sorting: operations along axes."""

import itertools

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.rules.placing import kept_copy, shared_value, take_line
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast, floating
from s2sgrad.runtime.eager.naming import Naming, describe, under
from s2sgrad.runtime.eager.registry import FUNCTIONS, LINALG, enter, nn, op
from s2sgrad.runtime.eager.shapes import axis_of, remade
from s2sgrad.runtime.eager.tensor import Tensor, new, node_of, refresh
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.node import Form, make_node
from s2sgrad.runtime.record import recorder


def axes(x, dim):
    """`dim` as NumPy's ``axis``."""
    if dim is None or isinstance(dim, tuple | list) and not dim:
        return None
    if not isinstance(dim, tuple | list):
        dim = axis_of(x, dim)
        return dim if x._a.ndim else None
    found = [axis_of(x, d) for d in dim]
    if len(set(found)) < len(found):
        raise RuntimeError(f"a dim appears multiple times in {list(dim)}")
    return tuple(found) if x._a.ndim else None


def _all_axes(x, dim):
    axis = axes(x, dim)
    return tuple(range(x._a.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis


def _summable(x, dtype):
    if dtype is not None:
        return cast(x, dtypes.of(dtype))
    return cast(x, dtypes.int64) if x._a.dtype.kind in "bui" else x


@op()
def sum(input, dim=None, keepdim=False, *, dtype=None):  # noqa: A001
    """The sum, of all or along axes; of integers and bools in int64."""
    x = _summable(input, dtype)
    if dim is None and not keepdim:
        return _total(x)
    return call("Sum.1", np.sum, x, axis=axes(x, dim), keepdims=keepdim)


def _expanded(g, shape):
    """``np.broadcast_to`` of one number, which takes ten times as long."""
    return np.ndarray(shape, g.dtype, g.tobytes(), 0, (0,) * len(shape))  # bytes cannot be written to


# of the sum and the mean of all elements, the pullbacks need the shape only
_SUM = Form("Sum", _expanded, (None,), None, lambda: _recorded_expansion, 1)
_MEAN = Form(
    "Mean",
    lambda g, shape, count: _expanded(g / count, shape),
    (None,),
    None,
    lambda: lambda g, shape, count: _recorded_expansion(g / count, shape),
    2,
)
_recorded_expansion = recorder(np.broadcast_to)
for _form in (_SUM, _MEAN):
    describe(_form, Naming((0,), 1, True, ()))


def _total(x):
    if PAUSED.count or x._inference or not dtypes.differentiable(x._a.dtype):
        return call("Sum", np.sum, x)
    node = node_of(x)
    a = x._a
    return new(np.asarray(np.add.reduce(a, None)), node and make_node(_SUM, (a.shape,), node))


def _average(x):
    if PAUSED.count or x._inference or x._a.dtype.char not in "df" or not x._a.size:
        return call("Mean", np.mean, x)
    node = node_of(x)
    a = x._a
    return new(np.asarray(np.add.reduce(a, None) / a.size), node and make_node(_MEAN, (a.shape, a.size), node))


@op()
def mean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean, of all or along axes."""
    x = input if dtype is None else cast(input, dtypes.of(dtype))
    if not dtypes.differentiable(x._a.dtype):
        raise RuntimeError("mean(): the input must be floating point or complex: convert it first")
    if dim is None and not keepdim:
        return _average(x)
    return call("Mean.1", np.mean, x, axis=axes(x, dim), keepdims=keepdim)


@op()
def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum of what is not nan."""
    if input._a.dtype.kind == "c":
        raise RuntimeError("nansum is not defined for complex tensors: the sums of their parts are")
    x = _summable(input, dtype)
    return call("Nansum", np.nansum, x, axis=axes(x, dim), keepdims=keepdim)


@op()
def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of what is not nan."""
    numbers = FUNCTIONS["logical_not"](FUNCTIONS["isnan"](input))
    return nansum(input, dim, keepdim, dtype=dtype) / sum(numbers, dim, keepdim)


@op()
def prod(input, dim=None, keepdim=False, *, dtype=None):
    """The product, of all or along an axis."""
    x = _summable(input, dtype)
    return call("Prod" if dim is None else "Prod.1", np.prod, x, axis=axes(x, dim), keepdims=keepdim)


def _spread_arguments(args, dim, unbiased, correction):
    if args and isinstance(args[0], bool):
        unbiased, *args = args
    if args:
        dim, *args = args
    if args:
        unbiased = args[0]
    if correction is None:
        correction = 1 if unbiased else 0
    return dim, correction


def _spreading(x):
    if not dtypes.differentiable(x._a.dtype):
        raise RuntimeError("std and var are of floating point and complex tensors only: convert the tensor first")
    return x


@op()
def var(input, *args, dim=None, unbiased=True, correction=None, keepdim=False):
    """The variance, of all or along axes."""
    dim, correction = _spread_arguments(args, dim, unbiased, correction)
    return call("Var", np.var, _spreading(input), axis=axes(input, dim), ddof=correction, keepdims=keepdim)


@op()
def std(input, *args, dim=None, unbiased=True, correction=None, keepdim=False):
    """The standard deviation, of all or along axes."""
    dim, correction = _spread_arguments(args, dim, unbiased, correction)
    return call("Std", np.std, _spreading(input), axis=axes(input, dim), ddof=correction, keepdims=keepdim)


def _with_mean(spread, title):
    @under(title)
    def forward(input, *args, dim=None, unbiased=True, correction=None, keepdim=False):
        dim, correction = _spread_arguments(args, dim, unbiased, correction)
        return spread(input, dim=dim, correction=correction, keepdim=keepdim), mean(input, dim, keepdim)

    return forward


enter("var_mean", _with_mean(var, "VarMean"), method=False)
enter("std_mean", _with_mean(std, "StdMean"), method=False)


@op()
def logsumexp(input, dim, keepdim=False):
    """``log(sum(exp(input)))`` along axes."""
    return call("Logsumexp", neural.logsumexp, floating(input), _all_axes(input, dim), keepdim)


def _along(f, x, dim):
    """``f(x, axis)``; a tensor without dimensions is a line of one element."""
    axis = axis_of(x, dim)
    return f(x, axis) if x._a.ndim else remade(f(x.reshape(1), axis))


@op()
def cumsum(input, dim, *, dtype=None):
    """Sums from the beginning."""
    return _along(lambda x, axis: call("Cumsum", np.cumsum, x, axis), _summable(input, dtype), dim)


@op()
def cumprod(input, dim, *, dtype=None):
    """Products from the beginning."""
    return _along(lambda x, axis: call("Cumprod", np.cumprod, x, axis), _summable(input, dtype), dim)


_REACH = {2: 8, 4: 80, 8: 600}  # by the bytes of a number: exp of minus that is not too small


@op()
@under("Logcumsumexp")
def logcumsumexp(input, dim):
    """``log(cumsum(exp(input)))``, without overflow."""
    refresh(input)
    a = input._a
    if a.dtype.kind != "f":
        raise NotImplementedError(f"logcumsumexp: not defined for tensors of {input.dtype!r}")
    if not a.size:
        return input.cumsum(dim)
    if a.ndim and not (np.isfinite(a.max()) and a.max() - a.min() < _REACH[a.dtype.itemsize]):
        parts = input.unbind(dim)  # what exp makes 0 would be lost beside the largest
        return FUNCTIONS["stack"](list(itertools.accumulate(parts, FUNCTIONS["logaddexp"])), dim)
    top = input.detach().amax(dim, keepdim=True)
    return (input - top).exp().cumsum(dim).log() + top


@op()
def diff(input, n=1, dim=-1, prepend=None, append=None):
    """Differences of neighbours, what is put before and behind included."""
    if n == 0:
        return input.clone()
    around = [x for x in (prepend, input, append) if x is not None]
    if len(around) > 1:
        input = FUNCTIONS["cat"](around, dim)
    return call("Diff", np.diff, input, n, axis_of(input, dim))


@op(method=False)
def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Derivatives along axes by differences; places, or the distance between them, may be given for each."""
    dims = tuple(range(input._a.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    spacings = list(spacing) if isinstance(spacing, tuple | list) else [spacing] * len(dims)
    if len(spacings) != len(dims):
        raise RuntimeError(f"gradient: {len(spacings)} spacings for {len(dims)} dimensions: one is needed for each")
    return tuple(
        [
            call("Gradient", np.gradient, input, s, axis=axis_of(input, d), edge_order=edge_order)
            for s, d in zip(spacings, dims, strict=True)
        ]
    )


# ---------------------------------------------------------------- extrema


class _Extremes(tuple):
    """The smallest and the largest, also by name."""

    __slots__ = ()
    min = property(lambda self: self[0])
    max = property(lambda self: self[1])


class Named(tuple):
    """What operations with two results return: by position, and by name."""

    __slots__ = ()
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def picked(name, x, positions, dim, keepdim):
    """The elements of `x` at `positions` (one per line along `dim`), and the positions."""
    if x._a.ndim == 0:
        return Named((call(name, kept_copy, x), new(np.zeros((), np.int64), None)))
    places = np.expand_dims(positions, dim)
    values = call(name, np.take_along_axis, x, places, dim)
    if not keepdim:
        values = values.squeeze(dim)
    else:
        positions = places
    return Named((values, new(np.asarray(positions), None)))


def _extremum(name, full, arg):
    def forward(input, dim=None, keepdim=False, *, other=None):
        if isinstance(dim, Tensor) or other is not None:
            from s2sgrad.runtime.eager.elementwise import maximum, minimum

            return (maximum if full is np.max else minimum)(input, dim if other is None else other)
        refresh(input)
        if dim is None:
            return call(f"{name}.1", full, _ordered(input))
        if input._a.ndim == 0:
            return picked(name, input, None, 0, keepdim)
        dim = axis_of(input, dim)
        positions = np.asarray(arg(lines_of(input, dim), axis=dim))
        values = call(name, take_line, input, positions, dim, keepdim)
        return Named((values, new(np.expand_dims(positions, dim) if keepdim else positions, None)))

    return forward


max = enter("max", _extremum("Max", np.max, np.argmax))  # noqa: A001
min = enter("min", _extremum("Min", np.min, np.argmin))  # noqa: A001


def comparable(x, error=RuntimeError):
    refresh(x)
    if x._a.dtype.kind == "c":
        raise error("complex numbers have no order: extrema and sorting are not defined for them")
    return x._a


def lines_of(x, axis):
    """What is compared along an axis, or of all; it must not be nothing."""
    a = comparable(x)
    if not (a.size if axis is None else a.ndim == 0 or a.shape[axis]):
        raise IndexError("an empty axis has no element to choose: give a dim that is not empty")
    return a


def _ordered(x, dim=()):
    comparable(x, NotImplementedError)
    if not x._a.size:
        lines = _all_axes(x, dim)
        if not dim and dim != 0 or len(lines) == x._a.ndim and dim == ():
            raise RuntimeError("an empty tensor has no largest or smallest element: give a dim that is not empty")
        if any(x._a.shape[d] == 0 for d in lines):
            raise IndexError("an empty axis has no largest or smallest element")
    return x


@op()
def amax(input, dim=(), keepdim=False):
    """The largest, along axes; ties share the gradient."""
    return call("Amax", np.max, _ordered(input, dim), axis=axes(input, dim), keepdims=keepdim)


@op()
def amin(input, dim=(), keepdim=False):
    """The smallest, along axes; ties share the gradient."""
    return call("Amin", np.min, _ordered(input, dim), axis=axes(input, dim), keepdims=keepdim)


@op()
@under("Aminmax")
def aminmax(input, *, dim=None, keepdim=False):
    """The smallest and the largest."""
    dim = () if dim is None else dim
    return _Extremes((amin(input, dim, keepdim), amax(input, dim, keepdim)))


def _middle(a, axis):
    order = np.argsort(a, axis=axis, kind="stable")
    middle = np.take(order, (a.shape[axis] - 1) // 2, axis=axis)
    missing = np.isnan(a)
    return np.where(missing.any(axis), missing.argmax(axis), middle) if missing.any() else middle


def of_vector(function, x, *args):
    """Values and places of a tensor without axes, as of a vector of one element."""
    return Named([remade(t) for t in function(x.reshape(1), *args)])


@op()
def median(input, dim=None, keepdim=False):
    """The median: the lower of two, or nan. Of all, ties share the gradient; along an axis, one is picked."""
    comparable(input, NotImplementedError)
    if dim is None:
        flat = np.sort(input._a, axis=None)  # which puts nan last
        if not flat.size:
            return input.sum() + float("nan")
        value = flat[-1] if np.isnan(flat[-1]) else flat[(flat.size - 1) // 2]
        if not dtypes.differentiable(flat.dtype):
            return new(np.asarray(value), None)
        hit = input._a == value if value == value else np.isnan(input._a)
        share = (hit / np.sum(hit)).astype(input._a.dtype)
        return call("Median", shared_value, input, share)
    if input._a.ndim == 0:
        return of_vector(median, input, 0)
    dim = axis_of(input, dim)
    positions = _middle(input._a, dim)
    values = call("Median.1", take_line, input, positions, dim, keepdim)
    return Named((values, new(np.expand_dims(positions, dim) if keepdim else positions, None)))


@op()
def kthvalue(input, k, dim=-1, keepdim=False):
    """The k-th smallest along an axis."""
    dim = axis_of(input, dim)
    if input._a.ndim == 0:
        return of_vector(kthvalue, input, k)
    order = np.argsort(lines_of(input, dim), axis=dim, kind="stable")
    if not 0 < k <= order.shape[dim]:
        raise RuntimeError(f"kthvalue: k={k} is out of range for an axis of {order.shape[dim]}")
    positions = np.take(order, k - 1, axis=dim)
    values = call("Kthvalue", take_line, input, positions, dim, keepdim)
    return Named((values, new(np.expand_dims(positions, dim) if keepdim else positions, None)))


@op()
def sort(input, dim=-1, descending=False, stable=False):
    """In order along an axis, and the places where the elements were."""
    comparable(input)
    if input._a.ndim == 0:
        return Named((call("Sort", kept_copy, input), new(np.zeros((), np.int64), None)))
    dim = axis_of(input, dim)
    order = _order(input._a, dim, descending)
    return Named((call("Sort", np.take_along_axis, input, order, dim), new(order, None)))


def _order(a, dim, descending):
    if not descending:
        return np.argsort(a, axis=dim, kind="stable")
    flipped = np.argsort(np.flip(a, dim), axis=dim, kind="stable")
    return np.flip(a.shape[dim] - 1 - flipped, dim)


@op()
def argsort(input, dim=-1, descending=False, stable=False):
    """The places of the elements in order."""
    if input._a.ndim == 0:
        return new(np.zeros((), np.int64), None)
    return new(np.ascontiguousarray(_order(comparable(input), axis_of(input, dim), descending)), None)


@op()
def topk(input, k, dim=-1, largest=True, sorted=True):
    """The k largest (or smallest), and their places."""
    if input._a.ndim == 0:
        values, places = topk(input.reshape(1), k, dim, largest)
        return Named((remade(values), remade(places)))
    dim = axis_of(input, dim)
    order = _order(comparable(input), dim, largest)
    if not 0 <= k <= order.shape[dim]:
        raise RuntimeError(f"topk: k={k} is out of range for an axis of {order.shape[dim]}")
    order = np.take(order, range(k), axis=dim)
    return Named((call("Topk", np.take_along_axis, input, order, dim), new(order, None)))


def _running(name, compare):
    def forward(input, dim):
        dim = axis_of(input, dim)
        if input._a.ndim == 0:
            return of_vector(forward, input, 0)
        a = np.moveaxis(comparable(input, NotImplementedError), dim, 0)
        best = np.zeros(a.shape, np.int64)
        top = a[0].copy() if a.shape[0] else a
        at = np.zeros(a.shape[1:], np.int64)
        for i in range(a.shape[0]):
            better = compare(a[i], top) | np.isnan(a[i])
            top = np.where(better, a[i], top)
            at = np.where(better, i, at)
            best[i] = at
        places = np.moveaxis(best, 0, dim)
        return Named((call(name, np.take_along_axis, input, places, dim), new(places, None)))

    return forward


enter("cummax", _running("Cummax", np.greater_equal))
enter("cummin", _running("Cummin", np.less_equal))


def _index_of(arg):
    def forward(input, dim=None, keepdim=False):
        axis = None if dim is None else axis_of(input, dim)
        return new(np.asarray(arg(lines_of(input, axis), axis=axis, keepdims=keepdim)), None)

    return forward


enter("argmax", _index_of(np.argmax))
enter("argmin", _index_of(np.argmin))


@op()
def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The different elements."""
    from s2sgrad.runtime.eager.elementwise import undifferentiable

    if input._a.dtype.kind == "c":
        raise NotImplementedError("unique is not defined for complex tensors: they have no order")
    found = np.unique(input._a, False, return_inverse, return_counts, dim, equal_nan=False)
    values, *rest = found if isinstance(found, tuple) else (found,)
    values = undifferentiable("unique", new(values, None), (input,))
    return (values, *[new(f, None) for f in rest]) if rest else values


def _logical(function):
    def forward(input, dim=None, keepdim=False):
        a = input._a
        out = np.asarray(function(a, axis=axes(input, dim), keepdims=keepdim))
        return new(out.view(np.uint8) if a.dtype == np.uint8 else out, None)  # as bools were stored once

    return forward


enter("all", _logical(np.all))
enter("any", _logical(np.any))
enter("count_nonzero", lambda input, dim=None: new(np.asarray(np.count_nonzero(input._a, axis=axes(input, dim))), None))

# ---------------------------------------------------------------- norms


def _norm(x, order, dim, keepdim, name="LinalgVectorNorm"):
    return call(name, neural.norm, x, order, _all_axes(x, dim), keepdim)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """The norm of vectors."""
    x = x if dtype is None else cast(x, dtypes.of(dtype))
    if not dtypes.differentiable(x._a.dtype):
        raise RuntimeError(f"a norm is of floating point and complex tensors, not of {x.dtype!r}: give a dtype")
    if (ord < 0 or ord == np.inf) and any(x._a.shape[d] == 0 for d in _all_axes(x, dim)):
        raise RuntimeError(f"the norm of order {ord} of nothing is not defined: its vectors are empty")
    if ord == 0:  # of steps, through which no derivative flows
        return new(np.asarray(neural.norm(x._a, 0, _all_axes(x, dim), keepdim)), None)
    return _norm(x, ord, dim, keepdim)


@op()
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The norm of a tensor taken as a vector."""
    x = input if dtype is None else cast(input, dtypes.of(dtype))
    if p == "nuc":
        return LINALG["svdvals"](x).sum(-1)
    if isinstance(p, str) and p != "fro":
        raise RuntimeError(f"norm: the order is a number, 'fro' or 'nuc', not {p!r}")
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim)


LINALG["vector_norm"] = vector_norm


@op()
@under("Dist")
def dist(input, other, p=2):
    """The norm of the difference."""
    return norm(input - other, p)


# ---------------------------------------------------------------- softmax


def _softmax(name, function):
    def forward(input, dim=None, *, dtype=None, _stacklevel=3):
        x = input if dtype is None else cast(input, dtypes.of(dtype))
        if not dtypes.differentiable(x._a.dtype):
            raise NotImplementedError(f"{name} is not defined for {x.dtype!r}: give a dtype")
        if dim is None:
            dim = 0 if x._a.ndim in (0, 1, 3) else 1
        return _along(lambda x, axis: call(name, function, x, axis), x, dim)

    return forward


nn("softmax")(enter("softmax", _softmax("Softmax", neural.softmax)))
nn("log_softmax")(enter("log_softmax", _softmax("LogSoftmax", neural.log_softmax)))
