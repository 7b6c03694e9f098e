"""Derivatives of linear algebra: inverses, determinants, factorizations, norms, for stacks of matrices.

Written for complex matrices, where a cotangent `g` means the change ``Re(sum(conj(g) * t))``; for
real ones the conjugations do nothing. The formulas are those of M. Giles, "An extended collection of
matrix derivative results for forward and reverse mode algorithmic differentiation" (2008), and for
complex matrices of the same derivations with the conjugate transpose. A matrix that NumPy reads as
Hermitian (`eigh`, `cholesky`) gets a Hermitian cotangent.
"""

import numpy as np

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.table import inactive, jvp, linear, vjp
from s2sgrad.runtime.arrays import embed_diagonal, filled, over, part, times, unbroadcast, zeros_of


def adjoint(a):
    """The conjugate transpose of each matrix."""
    return np.conj(np.swapaxes(a, -1, -2))


def hermitian(a):
    """The Hermitian part of each matrix."""
    return (a + adjoint(a)) / 2


def diagonals(v):
    """A diagonal matrix of each vector."""
    return np.expand_dims(v, -1) * np.eye(np.shape(v)[-1], dtype=np.result_type(v))


def diagonal(a):
    """The diagonal of each matrix."""
    return np.diagonal(a, 0, -2, -1)


def as_matrices(s):
    """Numbers, one a matrix, shaped to multiply the matrices."""
    return np.expand_dims(s, (-1, -2))


def trace(a):
    return np.trace(a, 0, -2, -1)


# ---------------------------------------------------------------- inverses


def inv_pullback(g, out, a):
    return -(adjoint(out) @ g @ adjoint(out))


vjp(np.linalg.inv, a=inv_pullback)
jvp(np.linalg.inv, a=lambda t, out, a: -(out @ t @ out))


def as_inverted(a, out, tolerance, hermitian):
    """The matrix that `out` is the pseudoinverse of: of a Hermitian one, half is read."""
    if hermitian:
        a = np.tril(a) + adjoint(np.tril(a, -1))
    if tolerance is not None and not is_inverted(a, out):
        raise MissingRuleError(
            "np.linalg.pinv has no derivative rule where it leaves out singular values that are not about zero"
        )
    return a


def is_inverted(a, p):
    """Is `p` the pseudoinverse of all of `a`, up to rounding?"""
    rest, size, inverse = (np.max(np.abs(m), initial=0.0) for m in (a - a @ p @ a, a, p))
    rounding = 1e2 * np.finfo(a.dtype).eps * size * max(1.0, size * inverse * max(a.shape[-2:]))
    return bool(rest <= rounding or rest * inverse <= 1e-8)


inactive(is_inverted)


def pinv_pullback(g, out, a, rcond=None, hermitian=False, *, rtol=None):
    """Golub and Pereyra's formula; the rank must not change."""
    a = as_inverted(a, out, rtol if rcond is None else rcond, hermitian)
    p, ph, gh = out, adjoint(out), adjoint(g)
    d = -(ph @ g @ ph) + (gh @ p - a @ (p @ gh @ p)) @ ph + ph @ (p @ gh - p @ gh @ p @ a)
    return (d + adjoint(d)) / 2 if hermitian else d


def pinv_pushforward(t, out, a, rcond=None, hermitian=False, *, rtol=None):
    a = as_inverted(a, out, rtol if rcond is None else rcond, hermitian)
    t = (t + adjoint(t)) / 2 if hermitian else t
    p, ph, th = out, adjoint(out), adjoint(t)
    return -(p @ t @ p) + p @ ph @ (th - th @ a @ p) + (th - p @ a @ th) @ ph @ p


vjp(np.linalg.pinv, a=pinv_pullback)
jvp(np.linalg.pinv, a=pinv_pushforward)


@vjp(np.linalg.solve, "a", "b")
def solve_pullback(g, out, a, b):
    """``b`` gets ``solve(a^H, g)``, and `a` minus its product with the solution."""
    if np.ndim(b) == 1:
        db = np.linalg.solve(adjoint(a), np.expand_dims(g, -1))[..., 0]
        da = -np.expand_dims(db, -1) * np.expand_dims(np.conj(out), -2)
    else:
        db = np.linalg.solve(adjoint(a), g)
        da = -db @ adjoint(out)
    return unbroadcast(da, a), unbroadcast(db, b)


def solve_matrix_pushforward(t, out, a, b):
    if np.ndim(b) == 1:
        return -np.linalg.solve(a, t @ np.expand_dims(out, -1))[..., 0]
    return -np.linalg.solve(a, t @ out)


jvp(np.linalg.solve, a=solve_matrix_pushforward, b=lambda t, out, a, b: np.linalg.solve(a, t))


def as_square(a, b):
    """The matrix that `tensorsolve` solves with."""
    return np.reshape(a, (np.size(b), np.size(b)))


def tensorsolve_b_pullback(g, out, a, b):
    return np.reshape(np.linalg.solve(adjoint(as_square(a, b)), np.ravel(g)), np.shape(b))


def tensorsolve_a_pullback(g, out, a, b):
    return -np.reshape(np.outer(tensorsolve_b_pullback(g, out, a, b), np.conj(out)), np.shape(a))


vjp(np.linalg.tensorsolve, a=tensorsolve_a_pullback, b=tensorsolve_b_pullback)
jvp(
    np.linalg.tensorsolve,
    a=lambda t, out, a, b: -np.linalg.tensorsolve(a, np.tensordot(t, out, np.ndim(out))),
    b=lambda t, out, a, b: np.linalg.tensorsolve(a, t),
)


def matrix_power_pullback(g, out, a, n):
    """The sum over the places that a change can stand at in ``a @ ... @ a``."""
    if n == 0:
        return zeros_of(a)
    if n < 0:
        inverse = np.linalg.inv(a)
        return inv_pullback(matrix_power_pullback(g, out, inverse, -n), inverse, a)
    ah = adjoint(a)
    d, power = g, ah
    for _ in range(n - 1):
        d, power = d @ ah + power @ g, power @ ah
    return d


def matrix_power_pushforward(t, out, a, n):
    if n == 0:
        return zeros_of(out)
    if n < 0:
        inverse = np.linalg.inv(a)
        return matrix_power_pushforward(-(inverse @ t @ inverse), out, inverse, -n)
    d, power = t, a
    for _ in range(n - 1):
        d, power = d @ a + power @ t, power @ a
    return d


vjp(np.linalg.matrix_power, a=matrix_power_pullback)
jvp(np.linalg.matrix_power, a=matrix_power_pushforward)

# ---------------------------------------------------------------- determinants, traces


def minors(a):
    """The determinant of what is left without row i and column j, for each i and j."""
    n = np.shape(a)[-1]
    kept = np.array([[k for k in range(n) if k != i] for i in range(n)], dtype=int)
    return np.linalg.det(a[..., kept[:, None, :, None], kept[None, :, None, :]])


def cofactors(a):
    """The derivative of the determinant by each entry.

    By the inverse; by the minors for small matrices of determinant zero. (A large singular matrix is
    refused by `np.linalg.inv`.)
    """
    det = np.linalg.det(a)
    n = np.shape(a)[-1]
    if n <= 16 and np.any(det == 0):
        return minors(a) * (-1.0) ** np.add.outer(np.arange(n), np.arange(n)).astype(np.real(a).dtype)
    return as_matrices(det) * np.swapaxes(np.linalg.inv(a), -1, -2)


vjp(np.linalg.det, a=lambda g, out, a: as_matrices(g) * np.conj(cofactors(a)))
jvp(np.linalg.det, a=lambda t, out, a: np.sum(cofactors(a) * t, axis=(-2, -1)))


def slogdet_pullback(g, out, a):
    """The logarithm moves by the real part of ``trace(inv(a) @ t)``, the phase by the imaginary part."""
    gsign, glog = filled(part(g, 0), out[0]), filled(part(g, 1), out[1])
    inverse = adjoint(np.linalg.inv(a))
    if np.isrealobj(a):
        return as_matrices(glog) * inverse
    return as_matrices(glog + 1j * np.imag(gsign * np.conj(out[0]))) * inverse


def slogdet_pushforward(t, out, a):
    change = trace(np.linalg.solve(a, t))
    if np.isrealobj(a):
        return zeros_of(out[0]), change
    return out[0] * 1j * np.imag(change), np.real(change)


vjp(np.linalg.slogdet, a=slogdet_pullback)
jvp(np.linalg.slogdet, a=slogdet_pushforward)
linear(np.linalg.trace, lambda g, x, /, *, offset=0: embed_diagonal(np.expand_dims(g, -1), x, offset, -2, -1))
linear(np.linalg.diagonal, lambda g, x, /, *, offset=0: embed_diagonal(g, x, offset, -2, -1))

# ---------------------------------------------------------------- Cholesky, QR


def lower_half(a):
    """The lower triangle, the diagonal halved."""
    return np.tril(a) - diagonals(diagonal(a)) / 2


def cholesky_pullback(g, out, a, /, *, upper=False):
    if upper:
        g, out = adjoint(g), adjoint(out)
    middle = lower_half(adjoint(out) @ np.tril(g))
    left = np.linalg.solve(adjoint(out), middle)
    return hermitian(adjoint(np.linalg.solve(adjoint(out), adjoint(left))))


def cholesky_pushforward(t, out, a, /, *, upper=False):
    factor = adjoint(out) if upper else out
    middle = np.linalg.solve(factor, adjoint(np.linalg.solve(factor, hermitian(t))))
    change = factor @ lower_half(middle)
    return adjoint(change) if upper else change


vjp(np.linalg.cholesky, a=cholesky_pullback)
jvp(np.linalg.cholesky, a=cholesky_pushforward)


def tall(a):
    """Refuse a wide matrix: its QR factors are not a smooth function of the usual form."""
    if np.shape(a)[-2] < np.shape(a)[-1]:
        raise MissingRuleError("np.linalg.qr has a derivative rule for matrices with at least as many rows as columns")


def qr_pullback(g, out, a, mode="reduced"):
    tall(a)
    if mode == "r":
        q = np.linalg.qr(a)[0]
        return qr_pullback((None, g), (q, out), a)
    if mode != "reduced" and np.shape(a)[-2] != np.shape(a)[-1]:
        raise MissingRuleError(f"np.linalg.qr(mode={mode!r}) has no derivative rule; mode='reduced' has one")
    q, r = out[0], out[1]
    gq, gr = filled(part(g, 0), q), np.triu(filled(part(g, 1), r))
    m = np.triu(gr @ adjoint(r) - adjoint(q) @ gq)
    m = m + adjoint(m)
    d = gq + q @ (m - diagonals(diagonal(m)) / 2)
    return adjoint(np.linalg.solve(r, adjoint(d)))


def qr_pushforward(t, out, a, mode="reduced"):
    tall(a)
    if mode == "r":
        q = np.linalg.qr(a)[0]
        return qr_pushforward(t, (q, out), a)[1]
    if mode != "reduced" and np.shape(a)[-2] != np.shape(a)[-1]:
        raise MissingRuleError(f"np.linalg.qr(mode={mode!r}) has no derivative rule; mode='reduced' has one")
    q, r = out[0], out[1]
    tr = adjoint(np.linalg.solve(adjoint(r), adjoint(t)))
    x = adjoint(q) @ tr
    low = np.tril(x, -1)
    turn = low - adjoint(low) + diagonals(diagonal(x) - np.real(diagonal(x)))
    return q @ (turn - x) + tr, (x - turn) @ r


vjp(np.linalg.qr, a=qr_pullback)
jvp(np.linalg.qr, a=qr_pushforward)

# ---------------------------------------------------------------- eigenvalues, singular values


def gaps(w):
    """``w[j] - w[i]`` for each pair, and 1 on the diagonal."""
    n = np.shape(w)[-1]
    return np.expand_dims(w, -2) - np.expand_dims(w, -1) + np.eye(n, dtype=np.result_type(w))


def off_diagonal(a):
    return a * (1 - np.eye(np.shape(a)[-1], dtype=np.result_type(a)))


def per_gap(x, gap, asked):
    """``x / gap``; nan where a gap is zero and is `asked` for: then the vectors are no function of the matrix."""
    return np.where((gap == 0) & asked, np.nan, over(x, gap))


def at_all(g):
    """Is a cotangent, or tangent, not all zero?"""
    return np.any(g != 0, axis=(-2, -1), keepdims=True)


def of_pairs(g):
    """Of which pairs of vectors, the columns, is one asked for by the cotangent `g`?"""
    vectors = np.any(g != 0, axis=-2)
    return np.expand_dims(vectors, -1) | np.expand_dims(vectors, -2)


def eigh_pullback(g, out, a, UPLO="L"):
    """Eigenvectors of equal eigenvalues have no derivative: nan."""
    w, v = out[0], out[1]
    gw, gv = filled(part(g, 0), w), filled(part(g, 1), v)
    turn = per_gap(off_diagonal(adjoint(v) @ gv), gaps(w), of_pairs(gv))
    return hermitian(v @ (diagonals(gw) + turn) @ adjoint(v))


def eigh_pushforward(t, out, a, UPLO="L"):
    w, v = out[0], out[1]
    change = adjoint(v) @ hermitian(t) @ v
    return np.real(diagonal(change)), v @ per_gap(off_diagonal(change), gaps(w), at_all(t))


def eigvalsh_pullback(g, out, a, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    return v @ (np.expand_dims(g, -1) * adjoint(v))


def eigvalsh_pushforward(t, out, a, UPLO="L"):
    v = np.linalg.eigh(a, UPLO)[1]
    return np.real(diagonal(adjoint(v) @ hermitian(t) @ v))


vjp(np.linalg.eigh, a=eigh_pullback)
jvp(np.linalg.eigh, a=eigh_pushforward)
vjp(np.linalg.eigvalsh, a=eigvalsh_pullback)
jvp(np.linalg.eigvalsh, a=eigvalsh_pushforward)


def like_argument(g, a):
    """`g`, real where `a` is: eigenvalues of real matrices can be complex."""
    return g if np.iscomplexobj(a) else np.real(g)


def eig_pullback(g, out, a):
    """Eigenvectors are of norm 1; what depends on their phases, which are arbitrary, has no derivative: nan."""
    w, v = out[0], out[1]
    gw, gv = filled(part(g, 0), w), filled(part(g, 1), v)
    change = adjoint(v) @ gv
    along = diagonal(change)
    turns = np.any(np.abs(np.imag(along)) > 1e-9 * np.sum(np.abs(gv), axis=-2), axis=-1)[..., None, None]
    turn = per_gap(
        off_diagonal(change - (adjoint(v) @ v) * np.expand_dims(np.real(along), -2)), np.conj(gaps(w)), at_all(gv)
    )
    inner = np.where(turns, np.nan, diagonals(gw) + turn)
    return like_argument(np.linalg.solve(adjoint(v), inner @ adjoint(v)), a)


def eig_pushforward(t, out, a):
    w, v = out[0], out[1]
    change = np.linalg.solve(v, t @ v)
    moved = v @ per_gap(off_diagonal(change), gaps(w), at_all(t))
    return diagonal(change), moved - v * np.expand_dims(np.real(diagonal(adjoint(v) @ moved)), -2)


def eig_of(a, w):
    """Eigenvectors in the order of the eigenvalues `w`, which were computed without them."""
    found, v = np.linalg.eig(a)
    left = np.abs(np.expand_dims(found, -2) - np.expand_dims(w, -1))
    order = np.zeros(np.shape(w), int)
    for i in range(np.shape(w)[-1]):
        order[..., i] = np.argmin(left[..., i, :], axis=-1)
        np.put_along_axis(left, order[..., i][..., None, None], np.inf, -1)
    return np.take_along_axis(v, order[..., None, :], -1)


def eigvals_pullback(g, out, a):
    v = eig_of(a, out)
    return like_argument(np.linalg.solve(adjoint(v), np.expand_dims(g, -1) * adjoint(v)), a)


def eigvals_pushforward(t, out, a):
    v = eig_of(a, out)
    return diagonal(np.linalg.solve(v, t @ v))


vjp(np.linalg.eig, a=eig_pullback)
jvp(np.linalg.eig, a=eig_pushforward)
vjp(np.linalg.eigvals, a=eigvals_pullback)
jvp(np.linalg.eigvals, a=eigvals_pushforward)


def thin_svd(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return u, s, vh


def svd_pullback(g, out, a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        u, _, vh = thin_svd(a)
        return u @ (np.expand_dims(g, -1) * vh)
    k = np.shape(out[1])[-1]
    u, s, vh = out[0][..., :k], out[1], out[2][..., :k, :]
    gu, gs, gvh = filled(part(g, 0), out[0]), filled(part(g, 1), s), filled(part(g, 2), out[2])
    if np.any(gu[..., k:]) or np.any(gvh[..., k:, :]):
        raise MissingRuleError("what full_matrices=True adds to an SVD has no derivative: use full_matrices=False")
    gu, gv, v = gu[..., :k], adjoint(gvh[..., :k, :]), adjoint(vh)
    uu, vv, row = adjoint(u) @ gu, adjoint(v) @ gv, np.expand_dims(s, -2)
    turn_u = per_gap(off_diagonal(uu - adjoint(uu)), gaps(s * s), of_pairs(gu))
    turn_v = per_gap(off_diagonal(vv - adjoint(vv)), gaps(s * s), of_pairs(gv))
    middle = turn_u * row + np.expand_dims(s, -1) * turn_v + diagonals(gs)
    if np.iscomplexobj(a):
        phase = np.expand_dims(np.imag(diagonal(uu)), -2)
        middle = middle + 1j * diagonals(per_gap(phase, row, at_all(gu))[..., 0, :])
    d = u @ middle @ vh
    if np.shape(a)[-2] > k:
        d = d + per_gap(gu - u @ uu, row, at_all(gu)) @ vh
    if np.shape(a)[-1] > k:
        d = d + u @ adjoint(per_gap(gv - v @ vv, row, at_all(gv)))
    return d


def svd_pushforward(t, out, a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        u, _, vh = thin_svd(a)
        return np.real(diagonal(adjoint(u) @ t @ adjoint(vh)))
    k = np.shape(out[1])[-1]
    if full_matrices and np.shape(a)[-2] != np.shape(a)[-1]:
        raise MissingRuleError("what full_matrices=True adds to an SVD has no derivative: use full_matrices=False")
    u, s, v = out[0], out[1], adjoint(out[2])
    row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
    change = adjoint(u) @ t @ v
    turn_u = per_gap(off_diagonal(change * row + column * adjoint(change)), gaps(s * s), at_all(t))
    turn_v = per_gap(off_diagonal(column * change + adjoint(change) * row), gaps(s * s), at_all(t))
    if np.iscomplexobj(a):
        phase = np.expand_dims(np.imag(diagonal(change)), -2)
        turn_u = turn_u + 1j * diagonals(per_gap(phase, row, at_all(t))[..., 0, :])
    du, dv = u @ turn_u, v @ turn_v
    if np.shape(a)[-2] > k:
        du = du + per_gap(t @ v - u @ change, row, at_all(t))
    if np.shape(a)[-1] > k:
        dv = dv + per_gap(adjoint(t) @ u - v @ adjoint(change), row, at_all(t))
    return du, np.real(diagonal(change)), adjoint(dv)


vjp(np.linalg.svd, a=svd_pullback)
jvp(np.linalg.svd, a=svd_pushforward)
vjp(np.linalg.svdvals, x=lambda g, out, x, /: svd_pullback(g, out, x, compute_uv=False))
jvp(np.linalg.svdvals, x=lambda t, out, x, /: svd_pushforward(t, out, x, compute_uv=False))

# ---------------------------------------------------------------- norms


def direction(x):
    """``x / |x|``, and 0 at 0."""
    return over(x, np.abs(x))


def even_shares(hits, like, axis):
    """One over the number of hits along `axis`, at the hits, in the real type of `like`."""
    ones = np.where(hits, np.ones_like(np.real(like)), 0.0)
    return over(ones, np.sum(ones, axis=axis, keepdims=True))


def vector_norm_slope(x, out, ord, axis):
    """The gradient of the vector norm `out` (kept axes) by `x`: zero at zero, ties of an extremum shared."""
    if ord is None or ord == 2:
        return over(x, out)
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return direction(x)
    if ord == np.inf or ord == -np.inf:
        return direction(x) * even_shares(np.abs(x) == out, x, axis)
    if ord > 1:
        return direction(x) * over(np.abs(x), out) ** (ord - 1)
    return over(direction(x), over(np.abs(x), out) ** (1 - ord))


def matrix_norm_slope(x, out, ord, rows, columns):
    """The gradient of the matrix norm `out` (kept axes) by `x`, whose matrices lie in two of its axes."""
    if ord is None or ord == "fro":
        return over(x, out)
    if ord == 1 or ord == -1:
        return direction(x) * even_shares(np.sum(np.abs(x), axis=rows, keepdims=True) == out, x, columns)
    if ord == np.inf or ord == -np.inf:
        return direction(x) * even_shares(np.sum(np.abs(x), axis=columns, keepdims=True) == out, x, rows)
    u, s, vh = thin_svd(np.moveaxis(x, (rows, columns), (-2, -1)))
    if ord == "nuc":
        tiny = np.finfo(np.result_type(s)).eps * max(np.shape(u)[-2], np.shape(vh)[-1])
        shares = np.where(s > tiny * np.max(s, axis=-1, keepdims=True, initial=0.0), np.ones_like(s), 0.0)
    elif ord == 2:
        shares = even_shares(s == np.max(s, axis=-1, keepdims=True), s, -1)
    else:
        shares = even_shares(s == np.min(s, axis=-1, keepdims=True), s, -1)
    return np.moveaxis(u @ (np.expand_dims(shares, -1) * vh), (-2, -1), (rows, columns))


def norm_slope(x, out, ord, axis, keepdims):
    """The gradient of each norm by the entries that it is the norm of."""
    if axis is None and (ord is None or np.ndim(x) == 1):
        return vector_norm_slope(x, out, ord, None)
    if axis is None:
        axis = (0, 1)
    if not keepdims:
        out = np.expand_dims(out, axis)
    if isinstance(axis, tuple) and len(axis) == 2:
        return matrix_norm_slope(x, out, ord, axis[0], axis[1])
    return vector_norm_slope(x, out, ord, axis)


def norm_pullback(g, out, x, ord=None, axis=None, keepdims=False):
    if ord is None and axis is None:
        return times(g, over(x, out))
    slope = norm_slope(x, out, ord, axis, keepdims)
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    return times(g, slope)


def norm_pushforward(t, out, x, ord=None, axis=None, keepdims=False):
    change = np.real(np.conj(norm_slope(x, out, ord, axis, keepdims)) * t)
    return np.sum(change, axis=axis, keepdims=keepdims)


vjp(np.linalg.norm, x=norm_pullback)
jvp(np.linalg.norm, x=norm_pushforward)
