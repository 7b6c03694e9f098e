"""``torch.linalg``: factorizations, solutions, functions and norms of matrices."""

import collections
import math

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.rules.factorizations import lu_factors, pivoted
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.arranging import powers_of
from s2sgrad.runtime.eager.call import call, of_one_type
from s2sgrad.runtime.eager.comparing import where
from s2sgrad.runtime.eager.elementwise import undifferentiable
from s2sgrad.runtime.eager.products import cross, matmul
from s2sgrad.runtime.eager.reductions import norm
from s2sgrad.runtime.eager.registry import FUNCTIONS, LINALG, enter, linalg, op
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh


def _named(names):
    """What operations with several results return: by position, and by name."""
    return collections.namedtuple("Result", names)  # noqa: PYI024 (the names are those of each operation)


def _square(x, name):
    if x._a.ndim < 2 or x._a.shape[-1] != x._a.shape[-2]:
        raise RuntimeError(f"{name}: the matrices must be square, not of shape {list(x._a.shape)}")
    refresh(x)


def _solved(name, function, *args, **kwargs):
    for x in args:
        if isinstance(x, Tensor) and not dtypes.differentiable(x._a.dtype):
            raise RuntimeError(f"{name}: the matrices must be floating point or complex, not {x.dtype!r}")
    try:
        return call(name, function, *args, **kwargs)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(f"{name}: {error}") from None


class LinAlgError(RuntimeError):
    """A matrix does not allow what was asked."""


LINALG["LinAlgError"] = LinAlgError


def _entered(name, *more):
    """Enter in ``torch.linalg``, and under `more` in ``torch``."""

    def decorate(f):
        linalg(name)(f)
        for n in more:
            enter(n, f)
        return f

    return decorate


_Slogdet = _named("sign logabsdet")
_Qr = _named("Q R")
_Eigen = _named("eigenvalues eigenvectors")
_Svd = _named("U S Vh")


@_entered("inv", "inverse")
def inv(A):
    """The inverse."""
    _square(A, "inv")
    return _solved("LinalgInvEx", np.linalg.inv, A)


@_entered("det", "det")
def det(A):
    """The determinant."""
    _square(A, "det")
    return _solved("LinalgDet", np.linalg.det, A)


@_entered("slogdet", "slogdet")
def slogdet(A):
    """Sign and logarithm of the determinant."""
    _square(A, "slogdet")
    return _Slogdet(*_solved("LinalgSlogdet", np.linalg.slogdet, A))


@op()
def logdet(input):
    """The logarithm of the determinant."""
    sign, size = slogdet(input)
    return size + sign.log() if input.is_complex() else where(sign < 0, math.nan, size)


@_entered("solve")
def solve(A, B, *, left=True):
    """The solution of ``A @ X = B``."""
    _square(A, "solve")
    of_one_type(A, B)
    if not left:
        return solve(A.mT, B.mT).mT
    return _solved("LinalgSolveEx", np.linalg.solve, A, B)


@_entered("cholesky", "cholesky")
def cholesky(A, *, upper=False):
    """The Cholesky factor."""
    _square(A, "cholesky")
    out = _solved("LinalgCholeskyEx", np.linalg.cholesky, A)
    return out.mH if upper else out


@_entered("qr", "qr")
def qr(A, mode="reduced"):
    """An orthonormal and an upper triangular factor."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr: the mode is 'reduced', 'complete' or 'r', not {mode!r}")
    if A._a.ndim < 2:
        raise RuntimeError(f"qr is of matrices, not of the shape {list(A._a.shape)}")
    rows, columns = A._a.shape[-2:]
    if mode == "r":  # whose derivative needs Q
        r = _solved("LinalgQr", np.linalg.qr, A.detach(), mode)
        return _Qr(FUNCTIONS["zeros"](0, dtype=A.dtype), undifferentiable("qr(mode='r')", r, (A,)))
    if mode == "complete" and rows > columns:
        both = _solved("LinalgQr", np.linalg.qr, A.detach(), mode)
        return _Qr(*[undifferentiable("qr(mode='complete')", out, (A,)) for out in both])
    if rows >= columns:
        return _Qr(*_solved("LinalgQr", np.linalg.qr, A))
    q, r = _solved("LinalgQr", np.linalg.qr, A[..., :rows])  # the columns beyond add to R only
    return _Qr(q, FUNCTIONS["cat"]((r, q.mH @ A[..., rows:]), -1))


@_entered("eigh")
def eigh(A, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    _square(A, "eigh")
    return _Eigen(*_solved("LinalgEigh", np.linalg.eigh, A, UPLO))


@_entered("eigvalsh")
def eigvalsh(A, UPLO="L"):
    """Eigenvalues of Hermitian matrices."""
    _square(A, "eigvalsh")
    return eigh(A, UPLO)[0]


@_entered("svd")
def svd(A, full_matrices=True):
    """The singular value decomposition."""
    return _Svd(*_solved("LinalgSvd", np.linalg.svd, A, full_matrices))


@_entered("svdvals")
def svdvals(A):
    """The singular values."""
    return _solved("LinalgSvd", np.linalg.svd, A, False)[1]


@_entered("pinv", "pinverse")
def pinv(A, *, rtol=None):
    """The pseudoinverse: singular values of at most `rtol` of the largest one count as zero."""
    if rtol is None:
        return _solved("LinalgPinv", np.linalg.pinv, A)
    return _solved("LinalgPinv", np.linalg.pinv, A, rtol=rtol._a if isinstance(rtol, Tensor) else rtol)


@_entered("matrix_power", "matrix_power")
def matrix_power(A, n):
    """An integer power."""
    return _solved("MatrixPower", np.linalg.matrix_power, A, n)


@_entered("matrix_exp", "matrix_exp")
def matrix_exp(A):
    """The exponential of matrices."""
    _square(A, "matrix_exp")
    return call("LinalgMatrixExp", neural.matrix_exp, A)


@linalg()
def multi_dot(tensors):
    """A product of several matrices."""
    out = tensors[0]
    for x in tensors[1:]:
        out = out @ x
    return out


@linalg("norm")
def linalg_norm(A, ord=None, dim=None, keepdim=False):
    """A vector norm, or a matrix norm where there are two axes."""
    if ord is None or A._a.ndim == 1 or isinstance(dim, int):
        return norm(A, 2 if ord is None else ord, dim, keepdim)
    return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim)


@linalg()
def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False):
    """The norm of matrices."""
    if A._a.ndim < 2:
        raise RuntimeError(f"matrix_norm is of matrices, not of the shape {list(A._a.shape)}")
    if ord == "fro":
        return norm(A, 2, dim, keepdim)
    if ord in ("nuc", 2, -2):
        values = svdvals(A.movedim(dim, (-2, -1)))
        out = values.sum(-1) if ord == "nuc" else _extreme(values, -1, ord > 0)
        return out.unsqueeze(-1).unsqueeze(-1) if keepdim else out
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"matrix_norm: the order is 'fro', 'nuc', or a number of 1, 2 and inf, not {ord!r}")
    rows, columns = (dim[0], dim[1]) if abs(ord) == 1 else (dim[1], dim[0])
    sums = A.abs().sum(rows, keepdim=True)
    out = _extreme(sums, columns, ord > 0, True)
    return out if keepdim else out.squeeze(dim)


def _extreme(values, dim, largest, keepdim=False):
    """The largest or the smallest norm along an axis; the largest of none is zero."""
    if largest and not values._a.shape[dim]:
        return values.sum(dim, keepdim)
    return values.amax(dim, keepdim) if largest else values.amin(dim, keepdim)


@linalg("diagonal")
def linalg_diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """The diagonal of matrices."""
    return A.diagonal(offset, dim1, dim2)


LINALG["matmul"] = matmul
LINALG["vecdot"] = lambda x, y, *, dim=-1: (x.conj() * y).sum(dim)
LINALG["cross"] = cross


@linalg()
def matrix_rank(A, *, tol=None):
    """The rank of matrices."""
    return new(np.asarray(np.linalg.matrix_rank(A._a, tol)), None)


@linalg()
def cond(A, p=None):
    """The condition number of matrices."""
    if p in (None, 2, -2):
        values = svdvals(A)
        if not values._a.shape[-1]:
            return values.sum(-1)
        return values[..., 0] / values[..., -1] if p != -2 else values[..., -1] / values[..., 0]
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


@linalg()
def tensorsolve(A, B, dims=None):
    """The solution of ``tensordot(A, X, X.ndim) == B``."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A._a.ndim - len(dims), A._a.ndim)))
    shape = A._a.shape[B._a.ndim :]
    return solve(A.reshape(B._a.size, -1), B.reshape(-1)).reshape(*shape)


@linalg()
def tensorinv(A, ind=2):
    """The inverse as of a map of tensors with `ind` axes."""
    shape = A._a.shape
    return inv(A.reshape(math.prod(shape[:ind]), -1)).reshape(*shape[ind:], *shape[:ind])


@op()
def cholesky_solve(input, L, upper=False):
    """The solution of ``A @ X = input`` by the Cholesky factor of ``A``."""
    return solve(L.mH @ L if upper else L @ L.mH, input)


@op()
def cholesky_inverse(input, upper=False):
    """The inverse of a matrix by its Cholesky factor."""
    return inv(input.mH @ input if upper else input @ input.mH)


@linalg()
def solve_triangular(A, B, *, upper, left=True, unitriangular=False):
    """The solution of a triangular system."""
    T = A.triu() if upper else A.tril()
    if unitriangular:
        eye = new(np.eye(A._a.shape[-1], dtype=A._a.dtype), None)
        T = T * (1 - eye) + eye
    return solve(T, B, left=left)


LINALG["vander"] = lambda x, *, N=None: powers_of(x, N, True)

# ---------------------------------------------------------------- general eigenvalues


@_entered("eig")
def eig(A):
    """Eigenvalues and eigenvectors."""
    _square(A, "eig")
    if not A.is_complex():
        A = A.to(A.dtype.to_complex())
    return _Eigen(*_solved("LinalgEig", np.linalg.eig, A))


@_entered("eigvals")
def eigvals(A):
    """Eigenvalues."""
    return eig(A)[0]


# ---------------------------------------------------------------- triangular factors

_Lu = _named("P L U")
_LuFactor = _named("LU pivots")


def _factors(A):
    """The row order of the pivots, and the triangular factors of `A` in that order."""
    refresh(A)
    order = pivoted(A._a)
    rows = call("Gather", np.take_along_axis, A, order[..., None], -2)
    m, n = A._a.shape[-2:]
    k = min(m, n)
    L, U = call("LinalgLu", lu_factors, rows[..., :k, :k])
    if m > k:
        L = FUNCTIONS["cat"]([L, solve(U.mT, rows[..., k:, :].mT).mT], -2)
    if n > k:
        U = FUNCTIONS["cat"]([U, solve(L, rows[..., k:])], -1)
    return order, L, U


@_entered("lu")
def lu(A, *, pivot=True):
    """A permutation, a lower and an upper triangular factor."""
    if not pivot:
        raise NotImplementedError("lu: pivot=False is left out, as there are matrices that have no such factors")
    order, L, U = _factors(A)
    P = np.swapaxes(np.eye(order.shape[-1], dtype=A._a.dtype)[order], -1, -2)
    return _Lu(new(np.ascontiguousarray(P), None), L, U)


@_entered("lu_factor")
def lu_factor(A, *, pivot=True):
    """Both triangular factors in one matrix, and the rows that were exchanged, counted from 1."""
    order, L, U = _factors(A)
    m, n = A._a.shape[-2:]
    k = min(m, n)
    both = FUNCTIONS["cat"]([U, U.new_zeros(*U._a.shape[:-2], m - k, n)], -2) if m > k else U
    lower = L.tril(-1)
    lower = FUNCTIONS["cat"]([lower, L.new_zeros(*L._a.shape[:-1], n - k)], -1) if n > k else lower
    return _LuFactor(both + lower, new(_exchanges(order, k), None))


def _exchanges(order, count):
    """The exchanges of rows that lead to an order, one after another, as LAPACK counts them."""
    out = np.empty((*order.shape[:-1], count), np.int32)
    for at in np.ndindex(order.shape[:-1]):
        rows = list(range(order.shape[-1]))
        for i in range(count):
            j = rows.index(order[at][i])
            rows[i], rows[j] = rows[j], rows[i]
            out[(*at, i)] = j + 1
    return out


def _order_of(pivots, rows):
    """The order that exchanges of rows lead to."""
    out = np.empty((*pivots.shape[:-1], rows), np.int64)
    for at in np.ndindex(pivots.shape[:-1]):
        order = np.arange(rows)
        for i, j in enumerate(pivots[at] - 1):
            order[[i, j]] = order[[j, i]]
        out[at] = order
    return out


@op(method=False)
def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    """The permutation and the factors of `lu_factor`."""
    m, n = LU_data._a.shape[-2:]
    k = min(m, n)
    order = _order_of(LU_pivots._a, m)
    P = np.ascontiguousarray(np.swapaxes(np.eye(m, dtype=LU_data._a.dtype)[order], -1, -2))
    eye = new(np.eye(m, k, dtype=LU_data._a.dtype), None)
    return _Lu(new(P, None), LU_data[..., :k].tril(-1) + eye, LU_data[..., :k, :].triu())


@linalg()
def lu_solve(LU, pivots, B, *, left=True, adjoint=False):
    """The solution of a system by the factors of `lu_factor`."""
    P, L, U = lu_unpack(LU, pivots)
    A = P @ L @ U
    return solve(A.mH if adjoint else A, B, left=left)


enter("lu", lu_factor)
enter("lu_solve", lambda b, LU_data, LU_pivots: lu_solve(LU_data, LU_pivots, b))


# ---------------------------------------------------------------- least squares, and answers that say whether they are

_Lstsq = _named("solution residuals rank singular_values")


@_entered("lstsq")
def lstsq(A, B, rcond=None, *, driver="gelsy"):
    """The solution of ``A @ X = B`` with the smallest sum of squares."""
    of_one_type(A, B)
    vector = B._a.ndim == 1 or A._a.ndim - 1 == B._a.ndim and A._a.shape[:-1] == B._a.shape
    X = pinv(A) @ (B.unsqueeze(-1) if vector else B)
    X = X.squeeze(-1) if vector else X
    m, n = A._a.shape[-2:]
    rank = np.asarray(np.linalg.matrix_rank(A._a))
    none = FUNCTIONS["zeros"](0, dtype=A.dtype)
    full = m > n and not vector and np.all(rank == n) and driver != "gelsy"
    residuals = ((A @ X - B).abs() ** 2).sum(-2) if full else none
    return _Lstsq(X, residuals, new(rank, None), none)


def _with_info(name, function, result):
    kind = _named(f"{result} info")

    def forward(*args, check_errors=False, **kwargs):
        out = function(*args, **kwargs)
        return kind(out, new(np.zeros(args[0]._a.shape[:-2], np.int32), None))

    forward.__doc__ = f"`{name}`, and a zero: matrices that do not allow it are an error here."
    LINALG[f"{name}_ex"] = forward


_with_info("inv", inv, "inverse")
_with_info("solve", solve, "result")
_with_info("cholesky", cholesky, "L")

# ---------------------------------------------------------------- the older names


def old_svd(input, some=True, compute_uv=True):
    """``linalg.svd``, with the right vectors as columns."""
    U, S, Vh = LINALG["svd"](input, not some)
    return _named("U S V")(U, S, Vh.mH)


enter("svd", old_svd)


@op()
def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False):
    """The solution of ``A @ X = input``, of a triangular ``A``."""
    T = A.mT if transpose else A
    X = solve_triangular(T, input, upper=upper != transpose, unitriangular=unitriangular)
    return _named("solution cloned_coefficient")(X, A.clone())


enter("nuclear_norm", lambda input: matrix_norm(input, "nuc"), method=False)
