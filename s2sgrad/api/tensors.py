"""A NumPy function as one operation on tensors: forward as written, backward by the compiled pullback."""

import functools

import numpy as np

from s2sgrad.api.derivative import Transform
from s2sgrad.runtime.eager.creation import made
from s2sgrad.runtime.eager.function import Function
from s2sgrad.runtime.eager.tensor import Tensor
from s2sgrad.runtime.grad_mode import forced_recording, is_recording


def compile(f):  # noqa: A001
    """Make `f`, a function of arrays, one recorded operation on tensors.

    Parameters
    ----------
    f : callable
        Of arrays and numbers, written in plain NumPy; it returns an array, a number, or a tuple of them.

    Returns
    -------
    callable
        Called with tensors, it returns tensors; gradients flow to the tensors among its positional
        arguments, also those of gradients. What is not a tensor is handed on as it is.

    Examples
    --------
    >>> import numpy as np
    >>> import s2sgrad
    >>> import s2sgrad.torch as torch
    >>> @s2sgrad.compile
    ... def energy(x, k):
    ...     return k * np.sum(x**2)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> energy(x, 3.0).backward()
    >>> x.grad
    tensor([ 6., 12.])
    """
    if not callable(f):
        raise TypeError(f"compile takes a function, not {f!r}")

    @functools.wraps(f)
    def compiled(*args):
        places = tuple([i for i, a in enumerate(args) if isinstance(a, Tensor)])
        if not places:
            return f(*args)
        return CompiledFunction.apply(f, places, *args)

    return compiled


class CompiledFunction(Function):
    """The operation: its context keeps the pullback."""

    @staticmethod
    def forward(ctx, f, places, *args):
        tensors = [args[i] for i in places]
        plain = [a.numpy(force=True) if isinstance(a, Tensor) else a for a in args]
        with forced_recording():  # the function may itself run on the tape
            value, ctx.pull = _transform(f, places).answer(tuple(plain), {})
        ctx.f, ctx.places = f, places
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*tensors)
        ctx.several = isinstance(value, tuple)
        if ctx.several:
            return tuple([made(np.array(v)) for v in value])
        return made(np.array(value))

    @staticmethod
    def backward(ctx, *grads):
        tensors = ctx.saved_tensors
        found = [None] * len(ctx.others)
        if is_recording():
            pull = _pullback(ctx.f, ctx.places, len(ctx.others), len(grads) if ctx.several else None)
            others = tuple([a for i, a in enumerate(ctx.others) if i not in ctx.places])
            cotangents = compile(pull)(*tensors, *grads, *others)
        else:
            plain = [g.numpy() for g in grads]
            with forced_recording():
                cotangents = [made(np.array(c)) for c in ctx.pull(plain)]
        for i, c in zip(ctx.places, cotangents, strict=True):
            found[i] = c
        return (None, None, *found)


@functools.lru_cache(maxsize=256)
def _transform(f, places):
    return Transform(f, "vjp", places, False, "auto", 0)


@functools.lru_cache(maxsize=256)
def _pullback(f, places, count, results):
    """The pullback of `f` as a function of its arguments and the cotangents."""
    from s2sgrad.api.products import value_and_pullback

    n = len(places)

    def pulled(*args):
        tensors, rest = args[:n], args[n:]
        cotangents, others = rest[: results or 1], iter(rest[results or 1 :])

        def of_tensors(*values):
            values = iter(values)
            return f(*[next(values) if i in places else next(others) for i in range(count)])

        pull = value_and_pullback(of_tensors, tensors, False)[1]
        return pull(tuple(cotangents) if results else cotangents[0])

    return pulled
