"""Special functions: those of ``torch.special``, and the names that some of them have in ``torch``."""

import math

import numpy as np

from s2sgrad.rules import bessel, gaussian, neural
from s2sgrad.rules import special as gamma
from s2sgrad.runtime.eager.call import call, floating
from s2sgrad.runtime.eager.comparing import clamp
from s2sgrad.runtime.eager.elementwise import UNARY, operand_of, promoting_to_float
from s2sgrad.runtime.eager.reductions import logsumexp
from s2sgrad.runtime.eager.registry import FUNCTIONS, NN, SPECIAL, enter, op, special
from s2sgrad.runtime.eager.shortcuts import binary, unary
from s2sgrad.runtime.eager.tensor import Tensor


def _of_real_numbers(name, function):
    """An operation of one real tensor: the function would take complex numbers and drop their imaginary part."""

    def general(x):
        x = floating(x)
        if x._a.dtype.kind == "c":
            raise NotImplementedError(f"{name}: not defined for tensors of {x.dtype!r}")
        return call(name, function, x)

    return unary(name, function, general)


for _name, _function in (
    ("lgamma", gamma.lgamma),
    ("digamma", gamma.digamma),
    ("erfinv", gaussian.erfinv),
    ("i0", np.i0),
):
    UNARY[_name] = enter(_name, _of_real_numbers(_name.capitalize(), _function))

# ---------------------------------------------------------------- of two tensors


def _of_two(name, title, function):
    recorded = binary(title, function, promoting_to_float)

    def forward(input, other):
        return recorded(operand_of(input), operand_of(other))

    forward.__name__ = forward.__qualname__ = name
    return forward


enter("logaddexp2", _of_two("logaddexp2", "Logaddexp2", np.logaddexp2))
enter("xlogy", _of_two("xlogy", "Xlogy", neural.xlogy))
special("xlog1py")(_of_two("xlog1py", "SpecialXlog1Py", neural.xlog1py))


def _of_second(name, title, function):
    """A function whose derivative with respect to its first argument is not known in closed form."""

    def forward(input, other):
        (a, x), _ = promoting_to_float(operand_of(input), operand_of(other))
        if isinstance(a, Tensor) and a.requires_grad:
            raise NotImplementedError(
                f"the derivative for '{name}: input' is not implemented: detach() the first argument"
            )
        return call(title, function, a, x)

    forward.__name__ = forward.__qualname__ = name
    return forward


enter("igamma", _of_second("igamma", "Igamma", gamma.gammainc))
enter("igammac", _of_second("igammac", "Igammac", gamma.gammaincc))
special("zeta")(_of_second("zeta", "SpecialZeta", gamma.zeta))


@op(method=False)
def polygamma(n, input):
    """The derivative of order `n` of `digamma`."""
    if not isinstance(n, int) or n < 0:
        raise RuntimeError(f"polygamma(n, x): n is an integer that is not negative, not {n!r}")
    return call("Polygamma", gamma.polygamma, n, floating(input))


enter("polygamma", lambda input, n: polygamma(n, input), function_too=False)


@op()
def mvlgamma(input, p):
    """The logarithm of the multivariate gamma function of dimension `p`."""
    terms = [UNARY["lgamma"](input - i / 2) for i in range(p)]
    return sum(terms[1:], terms[0]) + p * (p - 1) / 4 * math.log(math.pi)


@op()
def logit(input, eps=None):
    """``log(input / (1 - input))``, of the input within `eps` and ``1 - eps`` where that is given."""
    return UNARY["logit"](input if eps is None else clamp(input, eps, 1 - eps))


# ---------------------------------------------------------------- torch.special

_OF_ONE = {
    "erfcx": gaussian.erfcx, "ndtr": gaussian.ndtr, "log_ndtr": gaussian.log_ndtr, "ndtri": gaussian.ndtri,
    "entr": neural.entropy,
}  # fmt: skip
for _name, _function in _OF_ONE.items():
    special(_name)(unary(f"Special{_name.title().replace('_', '')}", _function))


def _bessel(title, function, order):
    def forward(input):
        return call(title, function, order, floating(input))

    return forward


special("i0e")(_bessel("SpecialI0E", bessel.ive, 0))
special("i1")(_bessel("SpecialI1", bessel.iv, 1))
special("i1e")(_bessel("SpecialI1E", bessel.ive, 1))

_SAME = {
    "gammaln": "lgamma", "psi": "digamma", "multigammaln": "mvlgamma", "expit": "sigmoid", "gammainc": "igamma",
    "gammaincc": "igammac",
    **{n: n for n in ("digamma", "polygamma", "erf", "erfc", "erfinv", "exp2", "expm1", "log1p", "sinc", "round")},
    **{n: n for n in ("xlogy", "logit", "i0")},
}  # fmt: skip
SPECIAL.update({name: FUNCTIONS[other] for name, other in _SAME.items()})
SPECIAL.update(logsumexp=logsumexp, softmax=NN["softmax"], log_softmax=NN["log_softmax"])
