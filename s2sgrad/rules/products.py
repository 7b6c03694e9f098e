"""Derivatives of the bilinear products, from `dot` to `einsum` and `convolve`.

A product is linear in each factor: the tangent is the product with that factor replaced, and the
cotangent of one factor is a product of `g` with the conjugate of the other.
"""

import operator

import numpy as np

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.table import alias, jvp, vjp
from s2sgrad.runtime.arrays import part, unbroadcast, widened

# ---------------------------------------------------------------- matmul and its kin


def matmul_first(g, out, x1, x2):
    if np.ndim(x2) == 1:
        return unbroadcast(np.expand_dims(g, -1) * np.conj(x2), x1)
    if np.ndim(x1) == 2 and np.ndim(x2) == 2:
        return unbroadcast(g @ np.conj(x2).T, x1)
    if np.ndim(x1) == 1 and np.ndim(x2) == 2:
        return unbroadcast(np.conj(x2) @ g, x1)
    if np.ndim(x1) == 1:
        return unbroadcast((np.conj(x2) @ np.expand_dims(g, -1))[..., 0], x1)
    return unbroadcast(g @ np.conj(np.swapaxes(x2, -1, -2)), x1)


def matmul_second(g, out, x1, x2):
    if np.ndim(x1) == 2 and np.ndim(x2) == 2:
        return unbroadcast(np.conj(x1).T @ g, x2)
    if np.ndim(x1) == 1 and np.ndim(x2) == 1:
        return unbroadcast(np.conj(x1) * g, x2)
    if np.ndim(x1) == 1:
        return unbroadcast(np.expand_dims(np.conj(x1), -1) * np.expand_dims(g, -2), x2)
    if np.ndim(x1) == 2 and np.ndim(x2) == 1:
        return unbroadcast(np.conj(x1).T @ g, x2)
    if np.ndim(x2) == 1:
        return unbroadcast((np.conj(np.swapaxes(x1, -1, -2)) @ np.expand_dims(g, -1))[..., 0], x2)
    return unbroadcast(np.conj(np.swapaxes(x1, -1, -2)) @ g, x2)


vjp(np.matmul, x1=matmul_first, x2=matmul_second)
jvp(np.matmul, x1=lambda t, out, x1, x2: np.matmul(t, x2), x2=lambda t, out, x1, x2: np.matmul(x1, t))
alias(np.matmul, operator.matmul)


def dot_first(g, out, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * np.conj(b), a)
    if np.ndim(b) == 1:
        return unbroadcast(np.expand_dims(g, -1) * np.conj(b), a)
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        return unbroadcast(g @ np.conj(b).T, a)
    axes = (tuple(range(np.ndim(a) - 1, np.ndim(g))), tuple(range(1, np.ndim(b))))
    return unbroadcast(np.tensordot(g, np.moveaxis(np.conj(b), -2, 0), axes), a)


def dot_second(g, out, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.conj(a) * g, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return unbroadcast(np.conj(a) * g, b)
    if np.ndim(a) == 2 and np.ndim(b) <= 2:
        return unbroadcast(np.conj(a).T @ g, b)
    axes = tuple(range(np.ndim(a) - 1))
    d = np.tensordot(np.conj(a), g, (axes, axes))
    return unbroadcast(d if np.ndim(b) == 1 else np.moveaxis(d, 0, -2), b)


vjp(np.dot, a=dot_first, b=dot_second)
jvp(np.dot, a=lambda t, out, a, b: np.dot(t, b), b=lambda t, out, a, b: np.dot(a, t))


def inner_first(g, out, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * np.conj(b), a)
    axes = (tuple(range(np.ndim(a) - 1, np.ndim(g))), tuple(range(np.ndim(b) - 1)))
    return unbroadcast(np.tensordot(g, np.conj(b), axes), a)


def inner_second(g, out, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(np.conj(a) * g, b)
    axes = tuple(range(np.ndim(a) - 1))
    return unbroadcast(np.tensordot(g, np.conj(a), (axes, axes)), b)


vjp(np.inner, a=inner_first, b=inner_second)
jvp(np.inner, a=lambda t, out, a, b: np.inner(t, b), b=lambda t, out, a, b: np.inner(a, t))

vjp(
    np.outer,
    a=lambda g, out, a, b: unbroadcast(np.reshape(g @ np.conj(np.ravel(b)), np.shape(a)), a),
    b=lambda g, out, a, b: unbroadcast(np.reshape(np.conj(np.ravel(a)) @ g, np.shape(b)), b),
)
jvp(np.outer, a=lambda t, out, a, b: np.outer(t, b), b=lambda t, out, a, b: np.outer(a, t))
vjp(
    np.linalg.outer,
    x1=lambda g, out, x1, x2, /: unbroadcast(g @ np.conj(x2), x1),
    x2=lambda g, out, x1, x2, /: unbroadcast(np.conj(x1) @ g, x2),
)
jvp(np.linalg.outer, x1=lambda t, out, x1, x2, /: np.outer(t, x2), x2=lambda t, out, x1, x2, /: np.outer(x1, t))

# `vdot` and `vecdot` conjugate their first factor
vjp(
    np.vdot,
    a=lambda g, out, a, b: unbroadcast(np.reshape(np.conj(g) * b, np.shape(a)), a),
    b=lambda g, out, a, b: unbroadcast(np.reshape(g * a, np.shape(b)), b),
)
jvp(np.vdot, a=lambda t, out, a, b: np.vdot(t, b), b=lambda t, out, a, b: np.vdot(a, t))


def vecdot_first(g, out, x1, x2, *, axis=-1):
    return unbroadcast(np.conj(np.expand_dims(g, axis)) * x2, x1)


def vecdot_second(g, out, x1, x2, *, axis=-1):
    return unbroadcast(np.expand_dims(g, axis) * x1, x2)


for product in (np.vecdot, np.linalg.vecdot):
    vjp(product, x1=vecdot_first, x2=vecdot_second)
    jvp(
        product,
        x1=lambda t, out, x1, x2, *, axis=-1: np.vecdot(t, x2, axis=axis),
        x2=lambda t, out, x1, x2, *, axis=-1: np.vecdot(x1, t, axis=axis),
    )

if hasattr(np, "matvec"):
    vjp(
        np.matvec,
        x1=lambda g, out, x1, x2: unbroadcast(np.expand_dims(g, -1) * np.expand_dims(np.conj(x2), -2), x1),
        x2=lambda g, out, x1, x2: unbroadcast(np.matvec(np.conj(np.swapaxes(x1, -1, -2)), g), x2),
    )
    jvp(np.matvec, x1=lambda t, out, x1, x2: np.matvec(t, x2), x2=lambda t, out, x1, x2: np.matvec(x1, t))
    vjp(  # conjugates the vector
        np.vecmat,
        x1=lambda g, out, x1, x2: unbroadcast(np.matvec(x2, np.conj(g)), x1),
        x2=lambda g, out, x1, x2: unbroadcast(np.expand_dims(x1, -1) * np.expand_dims(g, -2), x2),
    )
    jvp(np.vecmat, x1=lambda t, out, x1, x2: np.vecmat(t, x2), x2=lambda t, out, x1, x2: np.vecmat(x1, t))

# ---------------------------------------------------------------- tensordot, kron, cross


def tensordot_axes(a, b, axes):
    """The contracted axes of `a` and of `b` and the free ones of each, none of them negative."""
    if np.ndim(axes) == 0:
        first, second = list(range(np.ndim(a) - axes, np.ndim(a))), list(range(axes))
    else:
        first = [i % np.ndim(a) for i in np.atleast_1d(axes[0]).tolist()]
        second = [i % np.ndim(b) for i in np.atleast_1d(axes[1]).tolist()]
    return (
        first,
        second,
        [i for i in range(np.ndim(a)) if i not in first],
        [i for i in range(np.ndim(b)) if i not in second],
    )


def tensordot_first(g, out, a, b, axes=2):
    first, second, free_a, free_b = tensordot_axes(a, b, axes)
    d = np.tensordot(g, np.conj(b), (list(range(len(free_a), np.ndim(g))), free_b))
    order = free_a + [first[k] for k in np.argsort(second).tolist()]
    return unbroadcast(np.transpose(d, np.argsort(order)), a)


def tensordot_second(g, out, a, b, axes=2):
    first, second, free_a, free_b = tensordot_axes(a, b, axes)
    d = np.tensordot(np.conj(a), g, (free_a, list(range(len(free_a)))))
    order = [second[k] for k in np.argsort(first).tolist()] + free_b
    return unbroadcast(np.transpose(d, np.argsort(order)), b)


vjp(np.tensordot, a=tensordot_first, b=tensordot_second)
jvp(
    np.tensordot,
    a=lambda t, out, a, b, axes=2: np.tensordot(t, b, axes),
    b=lambda t, out, a, b, axes=2: np.tensordot(a, t, axes),
)


def kron_factors(g, a, b):
    """Both factors with the same number of axes, and `g` with an axis for each of either, in turns."""
    n = max(np.ndim(a), np.ndim(b))
    a = np.reshape(a, (1,) * (n - np.ndim(a)) + np.shape(a))
    b = np.reshape(b, (1,) * (n - np.ndim(b)) + np.shape(b))
    return np.reshape(g, [k for pair in zip(np.shape(a), np.shape(b), strict=True) for k in pair]), a, b


def kron_first(g, out, a, b):
    g, _, b_full = kron_factors(g, a, b)
    axes = (tuple(range(1, np.ndim(g), 2)), tuple(range(np.ndim(b_full))))
    return unbroadcast(np.reshape(np.tensordot(g, np.conj(b_full), axes), np.shape(a)), a)


def kron_second(g, out, a, b):
    g, a_full, _ = kron_factors(g, a, b)
    axes = (tuple(range(0, np.ndim(g), 2)), tuple(range(np.ndim(a_full))))
    return unbroadcast(np.reshape(np.tensordot(g, np.conj(a_full), axes), np.shape(b)), b)


vjp(np.kron, a=kron_first, b=kron_second)
jvp(np.kron, a=lambda t, out, a, b: np.kron(t, b), b=lambda t, out, a, b: np.kron(a, t))


def require_space(a, b, axisa, axisb):
    if np.shape(a)[axisa] != 3 or np.shape(b)[axisb] != 3:
        raise MissingRuleError("np.cross has a derivative rule for vectors of three components only")


def cross_first(g, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    require_space(a, b, axisa if axis is None else axis, axisb if axis is None else axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    d = np.cross(np.conj(np.moveaxis(b, axisb, -1)), np.moveaxis(g, axisc, -1))
    return np.moveaxis(unbroadcast(d, np.moveaxis(a, axisa, -1)), -1, axisa)


def cross_second(g, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    require_space(a, b, axisa if axis is None else axis, axisb if axis is None else axis)
    if axis is not None:
        axisa = axisb = axisc = axis
    d = np.cross(np.moveaxis(g, axisc, -1), np.conj(np.moveaxis(a, axisa, -1)))
    return np.moveaxis(unbroadcast(d, np.moveaxis(b, axisb, -1)), -1, axisb)


vjp(np.cross, a=cross_first, b=cross_second)
jvp(
    np.cross,
    a=lambda t, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None: np.cross(t, b, axisa, axisb, axisc, axis),
    b=lambda t, out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None: np.cross(a, t, axisa, axisb, axisc, axis),
)

# ---------------------------------------------------------------- einsum


def einsum_terms(subscripts, ndims):
    """The labels of each operand and of the result, ellipses and an implicit result spelt out.

    Examples
    --------
    >>> einsum_terms("ij,jk", [2, 2])
    (['ij', 'jk'], 'ik')
    >>> einsum_terms("...i->...", [3])
    (['ABi'], 'AB')
    """
    if not isinstance(subscripts, str):
        raise MissingRuleError("np.einsum has a derivative rule for subscripts in a string only")
    inputs, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in subscripts]
    sizes = [n - len(s.replace("...", "")) if "..." in s else 0 for s, n in zip(terms, ndims, strict=True)]
    dots = "".join(spare[: max(sizes)])
    terms = [s.replace("...", dots[len(dots) - n :]) for s, n in zip(terms, sizes, strict=True)]
    if not arrow:
        named = inputs.replace("...", "").replace(",", "")
        result = "..." + "".join(c for c in sorted(set(named)) if named.count(c) == 1)
    return terms, result.replace("...", dots)


def einsum_cotangent(g, terms, result, operands, i, optimize):
    """The cotangent of operand `i`: an einsum of `g` and the other operands.

    A label that only this operand has was summed over: a vector of ones spreads it again. One that
    it has twice was a diagonal: an identity matrix puts it back there.
    """
    others = [k for k in range(len(operands)) if k != i]
    labels = [result] + [terms[k] for k in others]
    factors = [g] + [np.conj(widened(operands[k], g)) for k in others]
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in "".join(terms)]
    own = ""
    for axis, c in enumerate(terms[i]):
        if c in own:
            n = np.shape(operands[i])[axis]
            labels, factors = [*labels, c + spare[0]], [*factors, np.eye(n, dtype=np.result_type(g))]
            own, spare = own + spare[0], spare[1:]
        else:
            own = own + c
            if all(c not in s for s in labels):
                n = np.shape(operands[i])[axis]
                labels, factors = [*labels, c], [*factors, np.ones(n, np.result_type(g))]
    subscripts = ",".join(labels) + "->" + own
    if optimize or len(factors) > 2:
        return unbroadcast(np.einsum(subscripts, *factors, optimize=True), operands[i])
    return unbroadcast(np.einsum(subscripts, *factors), operands[i])


def einsum_pullback(g, out, subscripts, *operands, optimize=False):
    terms, result = einsum_terms(subscripts, [np.ndim(x) for x in operands])
    return [einsum_cotangent(g, terms, result, operands, i, optimize) for i in range(len(operands))]


def einsum_pushforward(t, out, subscripts, *operands, optimize=False):
    changes = [
        np.einsum(subscripts, *operands[:i], part(t, i), *operands[i + 1 :], optimize=optimize)
        for i in range(len(operands))
        if part(t, i) is not None
    ]
    return sum(changes[1:], changes[0])


vjp(np.einsum, operands=einsum_pullback)
jvp(np.einsum, operands=einsum_pushforward)

# ---------------------------------------------------------------- chains


def chain_pullback(g, out, arrays):
    """For each factor the conjugate of what stands left of it, `g`, and of what stands right of it."""
    first, last = np.ndim(arrays[0]), np.ndim(arrays[-1])
    mats = [np.conj(x) for x in arrays]
    mats = [np.reshape(mats[0], (1, -1)) if first == 1 else mats[0], *mats[1:]]
    mats = [*mats[:-1], np.reshape(mats[-1], (-1, 1)) if last == 1 else mats[-1]]
    g = np.reshape(g, (np.shape(mats[0])[0], np.shape(mats[-1])[1]))
    cotangents = []
    for i, x in enumerate(arrays):
        d = g
        for m in mats[:i]:
            d = m.T @ d
        for m in reversed(mats[i + 1 :]):
            d = d @ m.T
        cotangents = [*cotangents, unbroadcast(np.reshape(d, np.shape(x)), x)]
    return cotangents


def chain_pushforward(t, out, arrays):
    changes = [
        np.linalg.multi_dot([*arrays[:i], part(t, i), *arrays[i + 1 :]])
        for i in range(len(arrays))
        if part(t, i) is not None
    ]
    return sum(changes[1:], changes[0])


vjp(np.linalg.multi_dot, arrays=chain_pullback)
jvp(np.linalg.multi_dot, arrays=chain_pushforward)

# ---------------------------------------------------------------- convolution


def full_window(g, n, m, mode, swapped):
    """`g` put back at its place in the full convolution of lengths `n` and `m`."""
    if mode == "full":
        return g
    if mode == "valid":
        start = min(n, m) - 1
    else:
        start = (min(n, m) - 1) // 2
        if swapped:
            start = n + m - 1 - max(n, m) - start
    return np.pad(g, (start, n + m - 1 - start - np.size(g)))


def line(v):
    """What `convolve` takes a number for."""
    return v if np.ndim(v) else np.reshape(v, 1)


def convolve_first(g, out, a, v, mode="full"):
    g = full_window(g, np.size(a), np.size(v), mode, False)
    return unbroadcast(np.reshape(np.correlate(g, line(v), "valid"), np.shape(a)), a)


def convolve_second(g, out, a, v, mode="full"):
    g = full_window(g, np.size(a), np.size(v), mode, False)
    return unbroadcast(np.reshape(np.correlate(g, line(a), "valid"), np.shape(v)), v)


def correlate_first(g, out, a, v, mode="valid"):
    g = full_window(g, np.size(a), np.size(v), mode, np.size(a) < np.size(v))
    return unbroadcast(np.convolve(g, v, "valid"), a)


def correlate_second(g, out, a, v, mode="valid"):
    g = full_window(g, np.size(a), np.size(v), mode, np.size(a) < np.size(v))
    return unbroadcast(np.conj(np.correlate(g, a, "valid"))[::-1], v)


vjp(np.convolve, a=convolve_first, v=convolve_second)
jvp(
    np.convolve,
    a=lambda t, out, a, v, mode="full": np.convolve(t, v, mode),
    v=lambda t, out, a, v, mode="full": np.convolve(a, t, mode),
)


def untrimmed(g, a1, a2):
    """`g` with zeros for the leading coefficients that a product of polynomials leaves out where they are zero."""
    return np.concatenate([np.zeros(np.size(a1) + np.size(a2) - 1 - np.size(g), np.result_type(g)), g])


vjp(
    np.polymul,
    a1=lambda g, out, a1, a2: convolve_first(untrimmed(g, a1, a2), out, a1, a2),
    a2=lambda g, out, a1, a2: convolve_second(untrimmed(g, a1, a2), out, a1, a2),
)
jvp(
    np.polymul,
    a1=lambda t, out, a1, a2: np.convolve(t, a2)[np.size(a1) + np.size(a2) - 1 - np.size(out) :],
    a2=lambda t, out, a1, a2: np.convolve(a1, t)[np.size(a1) + np.size(a2) - 1 - np.size(out) :],
)
vjp(np.correlate, a=correlate_first, v=correlate_second)
jvp(
    np.correlate,
    a=lambda t, out, a, v, mode="valid": np.correlate(t, v, mode),
    v=lambda t, out, a, v, mode="valid": np.correlate(a, t, mode),
)
