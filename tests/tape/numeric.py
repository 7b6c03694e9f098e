"""Derivatives by the tape, and by finite differences to compare them with."""

import copy

import numpy as np

from s2sgrad.runtime.fallback import tape_vjp


def grad(f, position=0):
    """The tape's gradient of a scalar function."""

    def gradient(*args, **kwargs):
        _, pullback = tape_vjp(f, args, kwargs, [position], once=True)
        return pullback(1.0)[0]

    return gradient


def differences(f, x, step=1e-6):
    """Central differences of a scalar function of one array or number."""
    x = np.array(x, float)
    out = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        d = np.zeros_like(x)
        d[i] = step
        plus, minus = x + d, x - d
        if x.ndim == 0:
            plus, minus = float(plus), float(minus)
        out[i] = (f(copy.deepcopy(plus)) - f(copy.deepcopy(minus))) / (2 * step)
    return out
