"""The gradients of functions of tensors against finite differences: `gradcheck` and `gradgradcheck`.

Each differentiable result is compared with respect to each input, as two matrices: entry by entry, or, in
fast mode, along one random direction and one random cotangent. A complex result is two real ones.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from s2sgrad.errors import GradcheckError
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.backward import grad
from s2sgrad.runtime.eager.function import Function
from s2sgrad.runtime.eager.jacobians import (
    Subject,
    as_tuple,
    block,
    is_complex,
    pulled,
    repeats,
    requires_grad,
    slopes,
    units,
)
from s2sgrad.runtime.eager.ops import stack, zeros_like
from s2sgrad.runtime.eager.tensor import new


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Whether the gradients of `func` agree with finite differences of it.

    Parameters
    ----------
    func : callable
        Of the inputs; returns a Tensor or a tuple of them.
    inputs : Tensor or tuple
        Those tensors that require grad are moved, in place, and put back.
    eps : float
        The step of the central differences. It suits float64.
    atol, rtol : float
        How far numbers may be apart, absolutely and relative to the finite difference.
    raise_exception : bool
        Raise where they disagree, instead of returning False.
    nondet_tol : float
        How far two backward passes of the same graph may be apart.
    check_undefined_grad : bool
        Also check that backward takes None for zero.
    check_grad_dtypes : bool
        Also check the types of the gradients.
    check_batched_grad : bool
        Also check ``is_grads_batched``.
    check_backward_ad, check_forward_ad, check_batched_forward_grad : bool
        Which mode is checked: here it is always backward.
    fast_mode : bool
        Compare along one random direction, instead of entry by entry.
    masked : bool, optional
        Concerns sparse tensors, which there are none of.

    Returns
    -------
    bool

    Raises
    ------
    GradcheckError
        Naming the result and the input, with both matrices.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> gradcheck(torch.sin, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("nothing to check: one of check_forward_ad and check_backward_ad should be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("check_batched_grad=True requires check_backward_ad=True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("check_batched_forward_grad=True requires check_forward_ad=True")
    if check_forward_ad:
        raise NotImplementedError("tensors have no forward mode: leave check_forward_ad (check_fwd_over_rev) out")
    subject = Subject(func, as_tuple(inputs), eps)
    _check_inputs(subject.inputs)
    outputs = subject.call()
    try:
        _check_gradients(subject, outputs, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode)
        outputs = _differentiable(outputs)
        if outputs:
            if check_batched_grad:
                for i, out in enumerate(outputs):
                    _check_batched(subject, i, out)
            _check_zeros(subject, outputs)
            if check_undefined_grad:
                _check_undefined(subject)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """Whether the gradients of the gradients of `func` agree with finite differences.

    Parameters
    ----------
    grad_outputs : Tensor or tuple of Tensor, optional
        The cotangents of the results; random where left out.
    gen_non_contig_grad_outputs : bool
        Whether the random ones have gaps in their memory.
    check_rev_over_rev, check_fwd_over_rev : bool
        Which mode is checked: here it is always backward.
    func, inputs, eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes
        As in `gradcheck`, and so are `check_batched_grad`, `fast_mode` and `masked`.

    Examples
    --------
    >>> import s2sgrad.torch as torch
    >>> gradgradcheck(torch.sin, torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("nothing to check: one of check_fwd_over_rev and check_rev_over_rev should be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("check_undefined_grad=True requires check_rev_over_rev=True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("check_batched_grad=True requires check_rev_over_rev=True")
    inputs = as_tuple(inputs)
    if grad_outputs is None:
        random = np.random.default_rng(0)
        outputs = _differentiable(as_tuple(func(*inputs)))
        if not outputs:
            raise TypeError("gradgradcheck needs a function with a result that requires grad: this one has none")
        vectors = tuple([_cotangent(random, o._a, gen_non_contig_grad_outputs) for o in outputs])
    else:
        vectors = as_tuple(grad_outputs)
    count = len(inputs)
    moved = [i for i, x in enumerate(inputs) if requires_grad(x)]

    def gradient(*values):
        outputs = _differentiable(as_tuple(func(*values[:count])))
        found = grad(outputs, [values[i] for i in moved], values[count:], create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None])

    return gradcheck(
        gradient,
        inputs + vectors,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _cotangent(random, a, gaps):
    """A random cotangent for a result; with `gaps`, every second element of its memory is not part of it."""
    full = random.uniform(-1, 1, (*a.shape[:-1], 2 * a.shape[-1]) if gaps and a.ndim else a.shape)
    if a.dtype.kind == "c":
        full = full + 1j * random.uniform(-1, 1, full.shape)
    full = np.asarray(full, a.dtype)
    return new(full[..., ::2] if gaps and a.ndim else full, None).requires_grad_()


# ---------------------------------------------------------------- what is checked


def _differentiable(outputs):
    return tuple([o for o in outputs if o.requires_grad])


def _check_inputs(inputs):
    for i, x in enumerate(inputs):
        if not requires_grad(x):
            continue
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"input {i} requires gradient and is not a double precision floating point or complex tensor, "
                f"but {x.dtype!r}: the check will likely fail",
                UserWarning,
                stacklevel=3,
            )
        if x._a.size and any(s == 0 and n > 1 for s, n in zip(x._a.strides, x._a.shape, strict=True)):
            raise RuntimeError(
                f"input {i} has a dimension with stride 0: its elements share memory and cannot be moved one by one; "
                "pass a contiguous() copy"
            )
    if not any(map(requires_grad, inputs)):
        raise ValueError("gradcheck needs at least one input that requires gradient: none has requires_grad=True")


# ---------------------------------------------------------------- the two sides compared


@dataclass(frozen=True, slots=True)
class _Probe:
    """The vectors that fast mode projects on.

    Attributes
    ----------
    along : list of (array, array)
        For each moved input, a direction of its real and one of its imaginary parts.
    across : dict of array
        For each differentiable result, by its place, a cotangent.
    """

    along: list
    across: dict

    def gradients(self, matrix, j):
        """The gradients of input `j`, along its direction."""
        real, imaginary = self.along[j]
        if matrix.dtype.kind == "c":
            return (real @ matrix.real + 1j * (imaginary @ matrix.imag))[None]
        return (real @ matrix)[None]

    def allowed(self, atol, place, j, complex_input):
        """The absolute tolerance: a projection adds up the errors of the entries."""
        real, imaginary = self.along[j]
        return atol * float((real.sum() + imaginary.sum() * complex_input) * self.across[place].sum())


def _random_probe(moved, outputs):
    random = np.random.default_rng(0)

    def unit(t):
        v = random.uniform(size=t._a.size)
        return v / (np.linalg.norm(v) if v.size else 1.0)

    return _Probe([(unit(x), unit(x)) for x in moved], {i: unit(o) for i, o in enumerate(outputs)})


def _check_gradients(subject, outputs, atol, rtol, nondet_tol, check_dtypes, fast_mode):
    """Compare both sides, for each pair of a differentiable result and an input."""
    moved = subject.moved
    places = [i for i, o in enumerate(outputs) if o.requires_grad]
    if not places:
        _check_constant(subject, outputs, nondet_tol if fast_mode else 0.0)
        return
    probe = _random_probe(moved, outputs) if fast_mode else None
    found = [slopes(subject, x, outputs, probe and probe.along[j]) for j, x in enumerate(moved)]
    for number, place, part in _pieces(outputs, places):
        analytical = _gradients(outputs[place], moved, part, probe and probe.across[place], nondet_tol, check_dtypes)
        for j, x in enumerate(moved):
            got, expected = analytical[j], block(found[j], outputs, place, _PARTS[part])
            allowed = atol
            if probe is not None:
                got = probe.gradients(got, j)
                expected = (expected @ probe.across[place])[:, None]
                allowed = probe.allowed(atol, place, j, is_complex(x))
            if not np.allclose(got, expected, rtol, allowed):
                text = _mismatch(number, j, part, expected, got)
                if probe is not None:
                    text += _entry_by_entry(subject, outputs, place, j, part, rtol, atol)
                raise GradcheckError(text)


_PARTS = {None: np.asarray, "imaginary": np.imag, "real": np.real}


def _pieces(outputs, places):
    """What is compared: the number of a result among the differentiable ones, its place, and which part of it."""
    for i, place in enumerate(places):
        yield i, place, "imaginary" if is_complex(outputs[place]) else None
    for i, place in enumerate(places):
        if is_complex(outputs[place]):
            yield i, place, "real"


def _gradients(out, moved, part, across=None, nondet_tol=None, check_dtypes=False):
    """The gradients of a part of a result, for all unit cotangents or for `across`; twice, with a `nondet_tol`."""
    unit = 1j if part == "imaginary" else 1.0

    def once():
        return pulled(out, moved, [unit * v for v in (units(out._a) if across is None else [across])], check_dtypes)

    found = once()
    if nondet_tol is not None and not repeats(found, once(), nondet_tol):
        raise GradcheckError(
            "Backward is not reentrant: two passes through one graph with the same cotangent give different "
            f"gradients, further apart than nondet_tol={nondet_tol}"
        )
    return found


def _mismatch(number, j, part, numerical, analytical):
    note = f"While considering the {part} part of complex outputs only, " if part else ""
    return f"{note}Jacobian mismatch for output {number} with respect to input {j},\n{_both(numerical, analytical)}"


def _both(numerical, analytical):
    return f"numerical: {new(numerical, None)}\nanalytical: {new(analytical, None)}\n"


def _entry_by_entry(subject, outputs, place, j, part, rtol, atol):
    """What slow mode would compare, to be shown after a failure in fast mode."""
    x = subject.moved[j]
    expected = block(slopes(subject, x, outputs), outputs, place, _PARTS[part])
    (got,) = _gradients(outputs[place], [x], part)
    text = (
        "These are projections on random vectors, as fast mode compares them. Entry by entry:\n"
        f"{_both(expected, got)}The largest difference is {np.max(np.abs(expected - got), initial=0.0)}.\n"
    )
    if np.allclose(got, expected, rtol, atol):
        text += "All entries are close: the check may pass with fast_mode=False.\n"
    return text


# ---------------------------------------------------------------- what else must hold


def _check_constant(subject, outputs, tolerance):
    """Results that nothing flows from must not depend on the inputs; results without a derivative may."""
    for x in subject.moved:
        matrices = slopes(subject, x, outputs)
        for i, o in enumerate(outputs):
            if dtypes.differentiable(o._a.dtype) and np.any(np.abs(block(matrices, outputs, i)) > tolerance):
                raise GradcheckError(
                    "Numerical gradient for function expected to be zero: its results do not require grad, "
                    "but they change with the inputs"
                )


def _check_batched(subject, i, out):
    """Cotangents pulled back together and one by one must give the same."""
    random = np.random.default_rng(0)
    moved = subject.moved
    vectors = [_cotangent(random, out._a, False).detach() for _ in range(2)]
    single = [grad(out, moved, v, retain_graph=True, materialize_grads=True) for v in vectors]
    together = grad(out, moved, stack(vectors), retain_graph=True, is_grads_batched=True, materialize_grads=True)
    for j, (rows, batch) in enumerate(zip(zip(*single, strict=True), together, strict=True)):
        if not np.allclose(batch.detach()._a, np.stack([r.detach()._a for r in rows]), 1e-5, 1e-8):
            raise GradcheckError(f"the batched gradients of output {i} with respect to input {j} are wrong:\n{batch}")


def _check_zeros(subject, outputs):
    """Zero cotangents must give zero gradients."""
    found = grad(outputs, subject.moved, [zeros_like(o) for o in outputs], allow_unused=True)
    if any(g is not None and np.any(g.detach()._a != 0) for g in found):
        raise GradcheckError("backward not multiplied by grad_output: gradients of zero cotangents are not zero")


class _Undefined(Function):
    """The identity, through which no gradient flows."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return None


def _check_undefined(subject):
    """Backward must take the absence of all cotangents, or of one of several, for zeros."""
    count = len(_differentiable(subject.call()))
    for chosen in [range(count), *([i] for i in range(count) if count > 1)]:
        outputs = _differentiable(subject.call())
        outputs = [_Undefined.apply(o) if i in chosen else o for i, o in enumerate(outputs)]
        try:
            found = grad(outputs, subject.moved, [zeros_like(o) for o in outputs], allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError(
                f"backward does not handle undefined output grads, as None or zeros: {error}; "
                "check_undefined_grad=False leaves this out"
            ) from error
        if any(g is not None and np.any(g.detach()._a != 0) for g in found):
            raise GradcheckError(
                "input grads must be zero or None where all output grads are undefined or zero: these are not; "
                "check_undefined_grad=False leaves this out"
            )
