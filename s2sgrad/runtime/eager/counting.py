"""Questions with integers or bools for an answer, and the arithmetic of integers: no derivative flows through them."""

import numpy as np

from s2sgrad.runtime.eager.elementwise import array_of, as_reflected, operand_of, promoting, undifferentiable
from s2sgrad.runtime.eager.registry import enter, op
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh


def _plain(x):
    if isinstance(x, Tensor):
        refresh(x)
        return x._a
    return x


def _places(lines, values, side):
    """``np.searchsorted`` along the last axis."""
    if lines.ndim == 1:
        return np.searchsorted(lines, values, side)
    flat = zip(lines.reshape(-1, lines.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)
    return np.stack([np.searchsorted(a, v, side) for a, v in flat]).reshape(values.shape)


@op(method=False)
def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None):
    """Where to insert values into lines in order, so that they stay in order."""
    if side not in (None, "left", "right") or side == "left" and right:
        raise RuntimeError("searchsorted: side is 'left' or 'right', and agrees with right")
    side = side or ("right" if right else "left")
    found = np.asarray(_places(_plain(sorted_sequence), np.asarray(_plain(input)), side))
    return new(found.astype(np.int32 if out_int32 else np.int64), None)


@op(method=False)
def bucketize(input, boundaries, *, out_int32=False, right=False):
    """The number of the interval that each value lies in."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@op()
def bincount(input, weights=None, minlength=0):
    """How often each number occurs, or the sums of its weights."""
    numbers = _plain(input)
    if numbers.dtype.kind not in "iu":
        raise NotImplementedError(f"bincount: not defined for tensors of {input.dtype!r}: it counts integers")
    if numbers.ndim != 1 or numbers.size and numbers.min() < 0:
        raise RuntimeError("bincount: a vector of integers that are not negative is needed")
    w = None if weights is None else _plain(weights)
    a = np.bincount(numbers, w, minlength)
    out = new(a.astype(np.float32) if w is not None and w.dtype == np.float32 else a, None)
    return out if weights is None else undifferentiable("bincount", out, (weights,))


@op()
def histc(input, bins=100, min=0, max=0):
    """How many values lie in each of `bins` intervals of one length."""
    a = _plain(input)
    low, high = (a.min(), a.max()) if min == max == 0 and a.size else (min, max)
    counts, _ = np.histogram(a, bins, (low, high))
    return undifferentiable("histc", new(counts.astype(a.dtype), None), (input,))


@op(method=False)
def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """Which elements are among others."""
    return new(np.asarray(np.isin(_plain(elements), _plain(test_elements), assume_unique, invert)), None)


for _name, _function in (
    ("isneginf", np.isneginf),
    ("isposinf", np.isposinf),
    ("isreal", np.isreal),
):
    enter(_name, lambda input, _f=_function: new(np.asarray(_f(_plain(input))), None))


@op()
def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements (or slices along an axis) that differ from the one before."""
    a = _plain(input).reshape(-1) if dim is None else np.moveaxis(_plain(input), dim, 0)
    new_one = np.ones(len(a), bool)
    new_one[1:] = np.any((a[1:] != a[:-1]).reshape(max(len(a) - 1, 0), -1), axis=1)
    values = a[new_one] if dim is None else np.moveaxis(a[new_one], 0, dim)
    out = [undifferentiable("unique_consecutive", new(np.ascontiguousarray(values), None), (input,))]
    if return_inverse:
        inverse = np.cumsum(new_one) - 1
        out.append(new(inverse.reshape(input._a.shape) if dim is None else inverse, None))
    if return_counts:
        out.append(new(np.diff(np.append(np.flatnonzero(new_one), len(a))), None))
    return tuple(out) if len(out) > 1 else out[0]


def _of_integers(name, function):
    def forward(input, other):
        (x, y), d = promoting(operand_of(input), operand_of(other))
        if d.rank > 1:
            raise NotImplementedError(f"{name} is of integers, not of {d!r}")
        return new(np.asarray(function(array_of(x), array_of(y))), None)

    return enter(name, forward)


_of_integers("gcd", np.gcd)
_of_integers("lcm", np.lcm)
for _name, _function, _operator in (
    ("bitwise_left_shift", np.left_shift, "lshift"),
    ("bitwise_right_shift", np.right_shift, "rshift"),
):
    _f = _of_integers(_name, _function)
    setattr(Tensor, f"__{_operator}__", _f)
    setattr(Tensor, f"__r{_operator}__", as_reflected(_f))


@op()
def nextafter(input, other):
    """The next floating point number in a direction."""
    (x, y), _ = promoting(operand_of(input), operand_of(other))
    return undifferentiable("nextafter", new(np.asarray(np.nextafter(array_of(x), array_of(y))), None), (x, y))


@op()
def frexp(input):
    """Mantissas and exponents."""
    mantissa, exponent = np.frexp(_plain(input))
    scale = new(np.ldexp(1.0, -exponent).astype(mantissa.dtype), None)
    return input * scale, new(np.asarray(exponent.astype(np.int32)), None)


@op()
def ldexp(input, other):
    """``input * 2 ** other``."""
    return input * 2.0**other
