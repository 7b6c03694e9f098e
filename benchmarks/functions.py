"""The functions that are measured, as users write them, each with an adjoint as an expert writes it.

An adjoint here reuses every forward value, computes nothing twice, fills no zeros and works in place
where that is faster.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """A function and its hand-written value and gradient at a point, with the ratio that is aimed for."""

    name: str
    function: Callable
    hand: Callable
    args: tuple
    argnums: object
    aim: float


def scalar(x):
    y = np.sin(x) * x + np.exp(-x * x)
    return y / (1.0 + x * x)


def scalar_hand(x):
    s = np.sin(x)
    xx = x * x
    e = np.exp(-xx)
    d = 1.0 + xx
    value = (s * x + e) / d
    return value, (np.cos(x) * x + s - 2.0 * x * (e + value)) / d


def scalar_math(x):
    y = math.sin(x) * x + math.exp(-x * x)
    return y / (1.0 + x * x)


def scalar_math_hand(x):
    s = math.sin(x)
    xx = x * x
    e = math.exp(-xx)
    d = 1.0 + xx
    value = (s * x + e) / d
    return value, (math.cos(x) * x + s - 2.0 * x * (e + value)) / d


def small_array(x, a, b):
    h = np.tanh(a * x + b)
    r = h * np.exp(-x * x)
    return np.sum(r * r)


def small_array_hand(x, a, b):
    h = np.tanh(a * x + b)
    e = np.exp(-x * x)
    r = h * e
    dr = 2.0 * r
    dh = dr * e
    dh *= 1.0 - h * h
    dx = dr * r
    dx *= x
    dx *= -2.0
    dx += a * dh
    return np.sum(r * r), (dx, dh * x, dh)


def network(params, x, labels):
    h = x
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    scores = h @ W + b
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(scores), axis=1))
    return np.mean(log_total - scores[np.arange(len(labels)), labels])


def network_hand(params, x, labels):
    layers = [x]
    for W, b in params[:-1]:
        h = layers[-1] @ W
        h += b
        layers.append(np.tanh(h, out=h))
    W, b = params[-1]
    scores = layers[-1] @ W
    scores += b
    scores -= np.max(scores, axis=1, keepdims=True)
    rows = np.arange(len(labels))
    d = np.exp(scores)
    total = np.sum(d, axis=1)
    value = np.mean(np.log(total) - scores[rows, labels])
    d /= total[:, None]
    d[rows, labels] -= 1.0
    d /= len(labels)
    gradient = []
    for (W, _), h in zip(reversed(params), reversed(layers), strict=True):
        gradient.append((h.T @ d, np.sum(d, axis=0)))
        if h is not x:
            d = d @ W.T
            h *= h
            np.subtract(1.0, h, out=h)
            d *= h
    return value, gradient[::-1]


def regression(params, x, y):
    h = x
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    r = h @ W + b - y
    return np.mean(r * r)


def regression_hand(params, x, y):
    layers = [x]
    for W, b in params[:-1]:
        h = layers[-1] @ W
        h += b
        layers.append(np.tanh(h, out=h))
    W, b = params[-1]
    d = layers[-1] @ W
    d += b
    d -= y
    value = np.vdot(d, d) / d.size
    d *= 2.0 / d.size
    gradient = []
    for (W, _), h in zip(reversed(params), reversed(layers), strict=True):
        gradient.append((h.T @ d, np.sum(d, axis=0)))
        if h is not x:
            d = d @ W.T
            h *= h
            np.subtract(1.0, h, out=h)
            d *= h
    return value, gradient[::-1]


def mlp(batch, *sizes):
    """The arguments of `network`."""
    params = [(RNG.normal(0, 1 / np.sqrt(m), (m, n)), np.zeros(n)) for m, n in zip(sizes[:-1], sizes[1:], strict=True)]
    return params, RNG.normal(size=(batch, sizes[0])), RNG.integers(0, sizes[-1], batch)


def fit(batch, *sizes):
    """The arguments of `regression`."""
    params, x, _ = mlp(batch, *sizes)
    return params, x, RNG.normal(size=(batch, sizes[-1]))


CASES = [
    Case("scalar, NumPy", scalar, scalar_hand, (0.7,), 0, 1.6),
    Case("scalar, math", scalar_math, scalar_math_hand, (0.7,), 0, 1.6),
    Case("array of 10", small_array, small_array_hand, tuple(RNG.normal(size=(3, 10))), (0, 1, 2), 2.0),
    Case("MLP fit, 32", regression, regression_hand, fit(32, 8, 32, 1), 0, 1.4),
    Case("MLP digits, 32", network, network_hand, mlp(32, 64, 64, 32, 10), 0, 1.4),
    Case("MLP, 512×784", network, network_hand, mlp(512, 784, 512, 10), 0, 1.1),
]


def disagreement(one, other):
    """The largest relative difference of two gradients, each leaf relative to its largest entry."""
    if isinstance(one, (list, tuple)):
        return max(disagreement(a, b) for a, b in zip(one, other, strict=True))
    return float(np.max(np.abs(one - other)) / np.max(np.abs(other)))


def chain(x):
    """100 operations on a small array."""
    y = x
    for _ in range(25):
        y = np.sin(y)
        y = y * 1.1
        y = y + 0.1
        y = np.tanh(y)
    return np.sum(y)


def arithmetic(x):
    """100 operations by numbers on a small array."""
    y = x
    for _ in range(50):
        y = y * 1.01
        y = y + 0.1
    return np.sum(y)


def small_loop(x):
    """2,000 iterations on an array of two."""
    for _ in range(2000):
        x = x * 0.999 + 0.001 * np.sin(x)
    return np.sum(x)


def read_one_by_one(x):
    """The sum of squares, entry by entry."""
    s = 0.0
    for i in range(len(x)):
        s += x[i] * x[i]
    return s


def long_chain(x):
    """100,000 operations one after the other."""
    y = x
    for _ in range(100_000):
        y = y * 1.000001
    return np.sum(y)


def fifty_lines(x, w):
    n = len(x)
    mean = np.sum(x) / n
    centred = x - mean
    variance = np.mean(centred * centred)
    deviation = np.sqrt(variance + 1e-6)
    z = centred / deviation
    a = np.tanh(w[0] * z)
    b = np.sin(w[1] * z + a)
    c = a * b - z
    if mean > 0:
        c = c * 2.0
        gate = 1.0 / (1.0 + np.exp(-c))
    else:
        gate = np.tanh(c)
    d = gate * a + (1.0 - gate) * b
    e = np.exp(-d * d)
    s = 0.0
    for k in range(1, 4):
        term = e**k / k
        s = s + np.sum(term)
        e = e * np.cos(term)
    f = np.maximum(d, 0.1 * d)
    g = np.where(f > 0, np.log1p(np.abs(f)), f)
    h = np.concatenate([g[1:], g[:1]])
    i = h - g
    energy = np.sum(i * i)
    j = np.cos(h) * np.sin(g)
    k = np.clip(j, -0.5, 0.5)
    m = np.outer(k, k)
    t = m @ x
    u = t / (1.0 + np.abs(t))
    v = np.sqrt(1.0 + u * u)
    q = v * u - v
    r = q.reshape(2, -1)
    p = np.sum(r, axis=1)
    smooth = (q[2:] - 2.0 * q[1:-1] + q[:-2]) ** 2
    penalty = 0.1 * np.sum(smooth)
    o = np.mean(p * p)
    low, high = np.min(q), np.max(q)
    spread = high - low
    ratio = energy / (1.0 + o)
    balance = np.logaddexp(ratio, spread)
    norm = np.sqrt(np.sum(w * w))
    total = s + energy + penalty
    total = total * balance + norm
    total = total / (1.0 + variance)
    loss = total + o * spread
    regular = 0.01 * np.sum(np.abs(w))
    return loss + regular
