"""Order statistics, moments of several variables, distances, integrals: compositions."""

import numpy as np

from s2sgrad.rules.placing import take_line
from s2sgrad.runtime.eager.call import call
from s2sgrad.runtime.eager.comparing import clamp, where
from s2sgrad.runtime.eager.dtypes import differentiable
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.reductions import Named, axis_of, comparable, lines_of, norm, of_vector, sort
from s2sgrad.runtime.eager.registry import enter, nn, op
from s2sgrad.runtime.eager.tensor import Tensor, new

# ---------------------------------------------------------------- in order


@op()
def msort(input):
    """In order along the first axis."""
    return sort(input, 0).values


_PLACES = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


def _quantile(input, q, dim, keepdim, interpolation, counts):
    """Quantiles along an axis, of the first of each line in order, as many as `counts` says of it."""
    x = input.reshape(-1) if dim is None else input
    axis = 0 if dim is None else axis_of(x, dim)
    x = x.movedim(axis, -1) if x._a.ndim else x.reshape(1)
    if isinstance(q, Tensor) and (q._a.ndim > 1 or q._a.dtype != input._a.dtype):
        raise RuntimeError("quantile() q must be a number or a tensor of at most one axis, of the type of the input")
    q = np.asarray(q._a if isinstance(q, Tensor) else q, float)
    if q.size and not (q.min() >= 0 and q.max() <= 1):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    if interpolation not in ("linear", "midpoint", *_PLACES):
        raise RuntimeError(f"quantile() interpolation must be a known one, not {interpolation!r}")
    if not x._a.shape[-1]:
        raise RuntimeError("quantile() input tensor must be non-empty")
    ordered = sort(x, -1).values
    last = np.broadcast_to(counts(ordered._a)[..., None] - 1, (*ordered._a.shape[:-1], 1))
    places = q.reshape(-1) * np.maximum(last, 0)
    if interpolation in _PLACES:
        places = _PLACES[interpolation](places)
    below = np.floor(places).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(last, 0))
    weight = np.where(places > below, 0.5, 0.0) if interpolation == "midpoint" else places - below
    weight = new(weight.astype(ordered._a.dtype), None)
    low, high = [call("Gather", np.take_along_axis, ordered, at, -1) for at in (below, above)]
    low, high, weight = [t.movedim(-1, 0) for t in (low, high, weight)]
    out = where(weight == 0, low, low + weight * (high - low))
    if keepdim:
        out = out.reshape(-1, *[1] * input._a.ndim) if dim is None else out.unsqueeze(axis + 1)
    return out if q.ndim else out[0]


@op()
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """Quantiles, of all or along an axis; nan where there is a nan."""
    out = _quantile(input, q, dim, keepdim, interpolation, lambda a: np.full(a.shape[:-1], a.shape[-1]))
    missing = input.isnan()
    missing = missing.any() if dim is None else missing.any(dim, keepdim)
    if not missing._a.any():
        return out
    return where(missing, float("nan"), out)


@op()
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear"):
    """Quantiles of what is not nan."""
    return _quantile(input, q, dim, keepdim, interpolation, lambda a: np.count_nonzero(~np.isnan(a), -1))


@op()
@under("Nanmedian")
def nanmedian(input, dim=None, keepdim=False):
    """The median of what is not nan: the lower of two."""
    if dim is None:
        numbers = input[~input.isnan()]
        return numbers.median() if numbers._a.size else input.sum()
    axis = axis_of(input, dim)
    if input._a.ndim == 0:
        return of_vector(nanmedian, input, 0)
    a = comparable(input)
    order = np.argsort(a, axis=axis, kind="stable")
    counts = np.count_nonzero(~np.isnan(a), axis, keepdims=True)
    positions = np.take_along_axis(order, np.maximum(counts - 1, 0) // 2, axis)
    values = call("Nanmedian", take_line, input, positions.squeeze(axis), axis, keepdim)
    return Named((values, new(positions if keepdim else positions.squeeze(axis), None)))


@op()
def mode(input, dim=-1, keepdim=False):
    """The commonest value along an axis, the smallest of several; and its last place."""
    axis = axis_of(input, dim)
    if input._a.ndim == 0:
        return of_vector(mode, input, 0)
    a = np.moveaxis(lines_of(input, axis), axis, -1)
    same = a[..., :, None] == a[..., None, :]
    counts = same.sum(-1)
    common = counts == counts.max(-1, keepdims=True)
    beyond = np.inf if differentiable(a.dtype) else a.max(initial=0)
    least = np.where(common, a, np.asarray(beyond, a.dtype)).min(-1, keepdims=True)
    hit = common & (a == least)
    positions = np.asarray(a.shape[-1] - 1 - np.argmax(hit[..., ::-1], -1))
    values = call("Mode", take_line, input, positions, axis, keepdim)
    return Named((values, new(np.expand_dims(positions, axis) if keepdim else positions, None)))


# ---------------------------------------------------------------- several variables


@op()
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariances of variables, which are the rows."""
    x = input.reshape(1, -1) if input._a.ndim < 2 else input
    w = new(np.ones(x._a.shape[1], x._a.dtype), None) if fweights is None else fweights.to(x.dtype)
    w = w if aweights is None else w * aweights
    total = w.sum()
    lost = correction if aweights is None else correction * (w * aweights).sum() / total
    centred = x - (x * w).sum(1, keepdim=True) / total
    out = (centred * w) @ centred.mH / clamp((total - lost).real, min=0.0)
    return out.reshape(()) if x._a.shape[0] == 1 else out


@op()
def corrcoef(input):
    """The correlations of variables, which are the rows."""
    c = cov(input)
    if c._a.ndim == 0:
        return c / c
    scale = c.diagonal().sqrt()
    return clamp(c / scale.unsqueeze(1) / scale.unsqueeze(0), -1.0, 1.0)


@op(method=False)
@under("Cdist")
def cdist(x1, x2, p=2.0, compute_mode=None):
    """The distances between all rows of two matrices."""
    return norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@nn()
def pdist(input, p=2.0):
    """The distances between all pairs of rows."""
    i, j = np.triu_indices(input._a.shape[0], 1)
    return norm(input[new(i, None)] - input[new(j, None)], p, -1)


enter("pdist", pdist, method=False)


@nn()
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The distances between vectors along the last axis."""
    return norm(x1 - x2 + eps, p, -1, keepdim)


enter("pairwise_distance", pairwise_distance, method=False)


@op()
@under("Renorm")
def renorm(input, p, dim, maxnorm):
    """Slices along an axis scaled down to a norm of at most `maxnorm`."""
    if input._a.ndim < 2:
        raise RuntimeError("renorm: the tensor has no slices, being of less than two dimensions")
    others = tuple(i for i in range(input._a.ndim) if i != axis_of(input, dim))
    sizes = norm(input, p, others, True)
    return input * where(sizes > maxnorm, maxnorm / (sizes + 1e-7), 1.0)


# ---------------------------------------------------------------- integrals


def _steps(y, x, dx, dim):
    """The products of widths and mean heights of the trapezoids along an axis."""
    axis = axis_of(y, dim)
    lead = (slice(None),) * axis
    heights = (y[(*lead, slice(1, None))] + y[(*lead, slice(None, -1))]) / 2
    if x is None:
        return heights * dx
    widths = x.diff(dim=-1 if x._a.ndim == 1 else dim)
    return heights * (widths.reshape(-1, *[1] * (y._a.ndim - 1 - axis)) if x._a.ndim == 1 else widths)


@op("trapz", method=False)
def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral by trapezoids along an axis."""
    return _steps(y, x, dx, dim).sum(dim)


@op(method=False)
def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integrals by trapezoids from the beginning of an axis."""
    return _steps(y, x, dx, dim).cumsum(dim)
