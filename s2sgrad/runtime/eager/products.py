"""Products and linear algebra."""

import string

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast, of_one_type
from s2sgrad.runtime.eager.comparing import where
from s2sgrad.runtime.eager.naming import under
from s2sgrad.runtime.eager.registry import LINALG, enter, op
from s2sgrad.runtime.eager.shortcuts import product
from s2sgrad.runtime.eager.tensor import Tensor, new


def _multiplied(name, function, x, y):
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise TypeError("a matrix product is of two Tensors")
    of_one_type(x, y)
    try:
        return call(name, function, x, y)
    except RuntimeError as error:
        shapes = " and ".join(["x".join(map(str, t._a.shape)) for t in (x, y)])
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({shapes}): {error}") from None


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
enter(
    "inner",
    lambda input, other: (
        input * other if not (input.ndim and other.ndim) else _multiplied("Inner", np.inner, input, other)
    ),
)
enter("vdot", lambda input, other: _multiplied("Vdot", np.vdot, input, other))


def _kronecker(input, other):
    d = dtypes.promote(input.dtype, other.dtype)
    return call("Kron", np.kron, cast(input, d), cast(other, d))


enter("kron", lambda input, other: _kronecker(input, other))


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
@under("Addmm")
def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """``beta * input + alpha * mat1 @ mat2``."""
    return _scaled(beta, input) + alpha * mm(mat1, mat2)


@op()
@under("Addmv")
def addmv(input, mat, vec, *, beta=1, alpha=1):
    """``beta * input + alpha * mat @ vec``."""
    return _scaled(beta, input) + alpha * mv(mat, vec)


@op()
@under("Baddbmm")
def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """``beta * input + alpha * batch1 @ batch2``."""
    return _scaled(beta, input) + alpha * bmm(batch1, batch2)


@op()
@under("Addr")
def addr(input, vec1, vec2, *, beta=1, alpha=1):
    """``beta * input + alpha * outer(vec1, vec2)``."""
    return _scaled(beta, input) + alpha * outer(vec1, vec2)


@op()
@under("Addbmm")
def addbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """``beta * input + alpha * (batch1 @ batch2).sum(0)``."""
    return _scaled(beta, input) + alpha * bmm(batch1, batch2).sum(0)


def _lettered(arguments):
    """The equation that ``(operand, numbers, operand, numbers, ..., numbers of the result)`` says, and the operands."""
    count = len(arguments) // 2
    operands, axes = arguments[0 : 2 * count : 2], [*arguments[1 : 2 * count : 2], *arguments[2 * count :]]
    words = ["".join(["..." if i is ... else string.ascii_letters[i] for i in numbers]) for numbers in axes]
    return ",".join(words[:count]) + "".join([f"->{word}" for word in words[count:]]), operands


@op(method=False)
def einsum(equation, *operands):
    """Sums of products, by the letters of the axes; or by their numbers, after each operand and for the result."""
    if isinstance(equation, Tensor):
        equation, operands = _lettered((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], tuple | list):
        operands = tuple(operands[0])
    of_one_type(*operands)
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
    if input._a.shape[dim] != 3 or other._a.shape[dim] != 3:
        raise RuntimeError(
            f"cross: dimension {dim} must have length 3, the shapes are {list(input._a.shape)} and "
            f"{list(other._a.shape)}"
        )
    of_one_type(input, other)
    return call("Cross", np.cross, input, other, axis=dim)


enter("chain_matmul", lambda *matrices: LINALG["multi_dot"](matrices), method=False)
