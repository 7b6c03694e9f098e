"""``out=``: results written into tensors that are there already. It is not recorded."""

import functools

import numpy as np

from s2sgrad.runtime.eager import arranging, counting, products, reductions, special, statistics  # noqa: F401
from s2sgrad.runtime.eager.elementwise import UNARY
from s2sgrad.runtime.eager.inplace import assigned, check_writable
from s2sgrad.runtime.eager.registry import FUNCTIONS
from s2sgrad.runtime.eager.tensor import Tensor
from s2sgrad.runtime.grad_mode import is_recording


def into(out, function, *args, **kwargs):
    """The result of ``function(*args, **kwargs)``, written into the tensor `out` (or several)."""
    given = out if isinstance(out, tuple | list) else (out,)
    operands = [v for a in (*args, *kwargs.values()) for v in (a if isinstance(a, tuple | list) else (a,))]
    if is_recording() and any(isinstance(t, Tensor) and t.requires_grad for t in (*given, *operands)):
        raise RuntimeError("out= is not recorded, but one of the arguments requires grad: assign the result instead")
    value = function(*args, **kwargs)
    results = value if isinstance(value, tuple) else (value,)
    if len(results) != len(given):
        raise RuntimeError(f"out= of {len(given)} tensors for an operation with {len(results)} results")
    for t, result in zip(given, results, strict=True):
        _fill_out(t, result)
    return out


def _fill_out(t, value):
    if not isinstance(t, Tensor):
        raise TypeError(f"out= is a Tensor, not {type(t).__name__}")
    if not t._a.size and t._base is None and value._a.size:  # an empty tensor takes the shape of the result
        t._a = np.empty(value._a.shape, t._a.dtype)
    check_writable(t)
    assigned(t, value)


def taking_out(function):
    """`function`, with an argument ``out=``."""

    @functools.wraps(function)
    def forward(*args, out=None, **kwargs):
        return function(*args, **kwargs) if out is None else into(out, function, *args, **kwargs)

    return forward


_INTO = (
    *("add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "pow", "remainder", "fmod"),
    *("floor_divide", "float_power", "maximum", "minimum", "fmax", "fmin", "atan2", "arctan2", "hypot", "logaddexp"),
    *("logaddexp2", "copysign", "xlogy", "clamp", "clip", "clamp_min", "clamp_max", "lerp", "addcmul", "addcdiv"),
    *("nan_to_num", "heaviside", "nextafter", "ldexp", "polygamma", "frac", "abs", "absolute", "round", "sgn"),
    *(name for name in UNARY if name in FUNCTIONS),
    *("lt", "le", "gt", "ge", "eq", "ne", "less", "less_equal", "greater", "greater_equal", "not_equal", "isclose"),
    *("logical_and", "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor"),
    *("bitwise_not", "gcd", "lcm", "isposinf", "isneginf", "signbit", "bucketize", "searchsorted"),
    *("sum", "mean", "prod", "nansum", "nanmean", "var", "std", "amax", "amin", "max", "min", "median", "nanmedian"),
    *("all", "any", "argmax", "argmin", "argsort", "logsumexp", "cumsum", "cumprod", "logcumsumexp", "diff", "norm"),
    *("sort", "topk", "kthvalue", "msort", "mode", "quantile", "nanquantile", "cummax", "cummin", "renorm"),
    *("matmul", "mm", "mv", "bmm", "dot", "inner", "outer", "ger", "addmm", "addmv", "addr", "baddbmm", "addbmm"),
    *("kron", "tensordot", "cross", "inverse", "cholesky", "cholesky_solve", "cholesky_inverse", "softmax"),
    *("log_softmax", "cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"),
    *("row_stack", "diag", "tril", "triu", "where", "gather", "index_select", "masked_select", "take", "nonzero"),
    *("take_along_dim", "scatter", "scatter_add", "index_add", "index_copy", "roll", "conj_physical"),
)  # fmt: skip

for _name in dict.fromkeys(_INTO):
    if "out" not in (FUNCTIONS[_name].__kwdefaults__ or ()):
        FUNCTIONS[_name] = taking_out(FUNCTIONS[_name])
