"""Products and linear algebra."""

import math

import numpy as np

from s2sgrad.rules import neural
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast
from s2sgrad.runtime.eager.comparing import where
from s2sgrad.runtime.eager.reductions import norm
from s2sgrad.runtime.eager.registry import LINALG, enter, linalg, op
from s2sgrad.runtime.eager.shortcuts import product
from s2sgrad.runtime.eager.tensor import Tensor, new, refresh


def _same_type(*tensors):
    found = {x._a.dtype for x in tensors}
    if len(found) > 1:
        raise RuntimeError(
            f"expected tensors of one dtype, but found {' and '.join(repr(x.dtype) for x in tensors)}: convert one"
        )


def _multiplied(name, function, x, y):
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise TypeError("a matrix product is of two Tensors")
    _same_type(x, y)
    try:
        return call(name, function, x, y)
    except ValueError as error:
        raise RuntimeError(f"shapes {list(x._a.shape)} and {list(y._a.shape)} cannot be multiplied: {error}") from None


@op()
def matmul(input, other):
    """The matrix product, with broadcasting over leading axes."""
    if input._a.ndim == 0 or isinstance(other, Tensor) and other._a.ndim == 0:
        raise RuntimeError("both arguments of matmul need at least one dimension")
    name = {(2, 2): "Mm", (2, 1): "Mv", (1, 1): "Dot"}.get((input._a.ndim, getattr(other, "ndim", 0)), "Matmul")
    return _multiplied(name, np.matmul, input, other)


_product = product("Mm", np.matmul, lambda x, y: matmul(x, y) if isinstance(y, Tensor) else NotImplemented)
Tensor.__matmul__ = lambda self, other: _product(self, other)
Tensor.__rmatmul__ = lambda self, other: matmul(other, self) if isinstance(other, Tensor) else NotImplemented


def _of_dimensions(name, title, m, n):
    def forward(input, other):
        if input._a.ndim != m or other._a.ndim != n:
            raise RuntimeError(
                f"{name} is of tensors with {m} and {n} dimensions, not {input._a.ndim} and {other._a.ndim}"
            )
        return _multiplied(title, np.matmul, input, other)

    return enter(name, forward)


mm = _of_dimensions("mm", "Mm", 2, 2)
mv = _of_dimensions("mv", "Mv", 2, 1)
bmm = _of_dimensions("bmm", "Bmm", 3, 3)
dot = _of_dimensions("dot", "Dot", 1, 1)
enter("inner", lambda input, other: _multiplied("Inner", np.inner, input, other))
enter("vdot", lambda input, other: _multiplied("Vdot", np.vdot, input, other))
enter("kron", lambda input, other: _multiplied("Kron", np.kron, input, other))


@op("ger")
def outer(input, vec2):
    """The outer product of vectors."""
    if input._a.ndim != 1 or vec2._a.ndim != 1:
        raise RuntimeError(f"outer: vectors are expected, not tensors of {input._a.ndim} and {vec2._a.ndim} dimensions")
    return input.unsqueeze(1) * vec2.unsqueeze(0)


def _scaled(beta, x):
    """``beta * x``; 0 without a look at `x`, where beta is 0."""
    return beta * x if beta else where(new(np.zeros((), bool), None), x, 0)


@op()
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """``beta * input + alpha * mat1 @ mat2``."""
    return _scaled(beta, input) + alpha * mm(mat1, mat2)


@op()
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """``beta * input + alpha * mat @ vec``."""
    return _scaled(beta, input) + alpha * mv(mat, vec)


@op()
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """``beta * input + alpha * batch1 @ batch2``."""
    return _scaled(beta, input) + alpha * bmm(batch1, batch2)


@op()
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return _scaled(beta, input) + alpha * outer(vec1, vec2)


@op()
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """``beta * input + alpha * (batch1 @ batch2).sum(0)``."""
    return _scaled(beta, input) + alpha * bmm(batch1, batch2).sum(0)


@op(method=False)
def einsum(equation, *operands):
    """Sums of products, by the letters of the axes."""
    if len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = tuple(operands[0])
    _same_type(*operands)
    if operands[0].dtype is dtypes.bfloat16:  # which NumPy's own does not take
        return cast(einsum(equation, *[cast(x, dtypes.float32) for x in operands]), dtypes.bfloat16)
    return call("Einsum", np.einsum, equation, *operands)


@op(method=False)
def tensordot(a, b, dims=2):
    """Sums of products over several axes."""
    return call("Tensordot", np.tensordot, a, b, dims)


@op()
def cross(input, other, dim=-1):
    """The cross product of vectors in space."""
    return call("Cross", np.cross, input, other, axis=dim)


enter("chain_matmul", lambda *matrices: LINALG["multi_dot"](matrices), method=False)

# ---------------------------------------------------------------- linalg


def _square(x, name):
    if x._a.ndim < 2 or x._a.shape[-1] != x._a.shape[-2]:
        raise RuntimeError(f"{name}: the matrices must be square, not of shape {list(x._a.shape)}")
    refresh(x)


def _solved(name, function, *args, **kwargs):
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
    return tuple(_solved("LinalgSlogdet", np.linalg.slogdet, A))


@op()
def logdet(input):
    """The logarithm of the determinant."""
    sign, size = slogdet(input)
    return size + sign.log() if input.is_complex() else size


@_entered("solve")
def solve(A, B, *, left=True):
    """The solution of ``A @ X = B``."""
    _square(A, "solve")
    _same_type(A, B)
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
    return tuple(_solved("LinalgQr", np.linalg.qr, A, mode))


@_entered("eigh")
def eigh(A, UPLO="L"):
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    _square(A, "eigh")
    return tuple(_solved("LinalgEigh", np.linalg.eigh, A, UPLO))


@_entered("eigvalsh")
def eigvalsh(A, UPLO="L"):
    """Eigenvalues of Hermitian matrices."""
    _square(A, "eigvalsh")
    return eigh(A, UPLO)[0]


@_entered("svd")
def svd(A, full_matrices=True):
    """The singular value decomposition."""
    return tuple(_solved("LinalgSvd", np.linalg.svd, A, full_matrices))


@_entered("svdvals")
def svdvals(A):
    """The singular values."""
    return _solved("LinalgSvd", np.linalg.svd, A, False)[1]


@_entered("pinv", "pinverse")
def pinv(A, *, rtol=None):
    """The pseudoinverse."""
    return _solved("LinalgPinv", np.linalg.pinv, A)


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
    if ord == "fro":
        return norm(A, 2, dim, keepdim)
    if ord in ("nuc", 2, -2):
        values = svdvals(A.movedim(dim, (-2, -1)))
        out = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        return out.unsqueeze(-1).unsqueeze(-1) if keepdim else out
    rows, columns = (dim[0], dim[1]) if abs(ord) == 1 else (dim[1], dim[0])
    sums = A.abs().sum(rows, keepdim=True)
    out = sums.amax(columns, keepdim=True) if ord > 0 else sums.amin(columns, keepdim=True)
    return out if keepdim else out.squeeze(dim)


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
