"""Jacobians of functions of tensors as matrices: by differences of the function, and by backward passes.

A matrix has a row for each entry of an input, or for each direction in which the input is moved, and a column
for each entry of a result, or for each of its cotangents. An entry of a complex input is moved along both
axes: ``d/dx + 1j d/dy`` is what backward gives.
"""

import itertools
import warnings
from dataclasses import dataclass

import numpy as np

from s2sgrad.errors import GradcheckError, OnceDifferentiableError
from s2sgrad.runtime.differences import central
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.backward import grad
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh


def as_tuple(values):
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def requires_grad(x):
    return isinstance(x, Tensor) and x.requires_grad


def is_complex(x):
    return x._a.dtype.kind == "c"


@dataclass(frozen=True, slots=True)
class Subject:
    """A function at a point."""

    func: object
    inputs: tuple
    eps: float

    @property
    def moved(self):
        """The inputs that a derivative is taken with respect to."""
        return [x for x in self.inputs if requires_grad(x)]

    def call(self):
        outputs = as_tuple(self.func(*self.inputs))
        for o in outputs:
            if not isinstance(o, Tensor):
                raise TypeError(f"the checked function must return Tensors, not {type(o).__name__}")
        return outputs


# ---------------------------------------------------------------- by differences


def slopes(subject, x, outputs, along=None):
    """How `outputs` change with the input `x`, along its real and along its imaginary axis.

    Returns
    -------
    list of array
        One matrix, or two for a complex input; the columns belong to all entries of all results.
    """
    refresh(x)
    axes = (1.0, 1j) if is_complex(x) else (1.0,)
    found = []
    for i, axis in enumerate(axes):
        directions = units(x._a) if along is None else [along[i].reshape(x._a.shape)]
        rows = [_slope(subject, x._a, axis * d, outputs) for d in directions]
        found.append(np.stack(rows) if rows else np.zeros((0, sum(o._a.size for o in outputs))))
    return found


def _slope(subject, a, direction, outputs):
    origin = a.copy()

    def at(step):
        a[...] = origin + step * direction
        return _flat(subject.call(), outputs, subject.eps)

    try:
        return central(at, subject.eps)
    finally:
        a[...] = origin


def _flat(outputs, models, eps):
    """The results as one long vector; they must look as those of the first call."""
    for o, model in zip(outputs, models, strict=True):
        for what in ("shape", "dtype"):
            now, before = getattr(o, what), getattr(model, what)
            if now != before:
                raise AssertionError(
                    f"func must return results of the same {what} when inputs are perturbed by {eps}: "
                    f"got {now} after {before}"
                )
    return np.concatenate([np.zeros(0), *[o._a.reshape(-1).astype(_wide(o)) for o in outputs]])


def _wide(t):
    return np.complex128 if is_complex(t) else np.float64


def units(a):
    """The directions of single entries."""
    for place in itertools.product(*map(range, a.shape)):
        direction = np.zeros(a.shape)
        direction[place] = 1.0
        yield direction


def block(matrices, outputs, i, part=np.asarray):
    """What `slopes` found for result `i`, or for its real or imaginary part, as one matrix."""
    start = sum(o._a.size for o in outputs[:i])
    parts = [part(m[:, start : start + outputs[i]._a.size]) for m in matrices]
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


# ---------------------------------------------------------------- by backward passes


def pulled(out, inputs, cotangents, check_dtypes=False):
    """The gradients of `inputs` for each cotangent of `out`: a matrix per input, a column per cotangent."""
    columns = [[] for _ in inputs]
    for v in cotangents:
        seed = new(np.asarray(v, out._a.dtype).reshape(out._a.shape), None)
        try:
            found = grad(out, inputs, seed, retain_graph=True, allow_unused=True)
        except OnceDifferentiableError as error:
            raise GradcheckError(f"a derivative of the function has no derivative: {error}") from error
        for column, g, x in zip(columns, found, inputs, strict=True):
            if check_dtypes and g is not None and g.dtype != x.dtype:
                raise GradcheckError(f"a gradient has a dtype mismatch: {g.dtype!r} for an input of {x.dtype!r}")
            column.append(np.zeros(x._a.size) if g is None else g.detach()._a.reshape(-1))
    empty = [np.zeros((x._a.size, 0), x._a.dtype) for x in inputs]
    return [np.stack([*e.T, *c], 1) if c else e for e, c in zip(empty, columns, strict=True)]


def repeats(first, second, tolerance):
    """Whether two lists of matrices are the same, up to `tolerance`."""
    with np.errstate(invalid="ignore"):  # of infinite gradients the difference is nan
        return not any((np.abs(a - b) > tolerance).any() for a, b in zip(first, second, strict=True))


# ---------------------------------------------------------------- the matrices by themselves


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """The differences of the first result of ``fn(inputs)``, by each tensor of `target` that requires grad."""
    _deprecated("get_numerical_jacobian", grad_out)
    inputs = as_tuple(inputs)
    subject = Subject(lambda *values: fn(values), inputs, eps)
    outputs = subject.call()
    _refuse_complex(outputs, "get_numerical_jacobian")
    moved = [x for x in as_tuple(inputs if target is None else target) if requires_grad(x)]
    return tuple([_blocks(subject, x, outputs)[0] for x in moved])


def get_numerical_jacobian_wrt_specific_input(fn, input_idx, inputs, outputs, eps, input=None, is_forward_ad=False):
    """The differences of the results of ``fn(*inputs)`` by one input, or by another tensor `input`."""
    x = inputs[input_idx] if input is None else input
    outputs = as_tuple(outputs)
    if not requires_grad(x):
        raise AssertionError("the input must have requires_grad=True")
    if (not is_forward_ad or is_complex(x)) and any(map(is_complex, outputs)):
        raise AssertionError("the results must be real: take real or imaginary parts first")
    return tuple(_blocks(Subject(fn, as_tuple(inputs), eps), x, outputs))


def _blocks(subject, x, outputs):
    matrices = slopes(subject, x, outputs)
    found = []
    for i, o in enumerate(outputs):
        if dtypes.differentiable(o._a.dtype):
            found.append(new(block(matrices, outputs, i).astype((x if is_complex(x) else o)._a.dtype), None))
    return found


def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """What backward gives for `output`, by each input; whether it repeats, and whether sizes and types fit."""
    _deprecated("get_analytical_jacobian", grad_out)
    _refuse_complex((output,), "get_analytical_jacobian")
    moved = [x for x in as_tuple(inputs) if requires_grad(x)]
    first, second = [pulled(output, moved, units(output._a)) for _ in range(2)]
    types_fit = all(m.dtype == x._a.dtype for m, x in zip(first, moved, strict=True))
    return tuple([new(m, None) for m in first]), repeats(first, second, nondet_tol), True, types_fit


def _deprecated(name, grad_out):
    warnings.warn(f"{name} is deprecated: use gradcheck, or functional.jacobian", FutureWarning, stacklevel=3)
    if grad_out != 1.0:
        raise ValueError("grad_out must be 1.0: no other value is supported")


def _refuse_complex(outputs, name):
    if any(map(is_complex, outputs)):
        raise ValueError(f"{name} takes functions with non-complex outputs only: take real or imaginary parts first")
