"""Special functions of one tensor, and of a number and a tensor."""

import math

import numpy as np

from s2sgrad.rules import special
from s2sgrad.runtime.eager.call import call, floating
from s2sgrad.runtime.eager.elementwise import UNARY, promoting_to_float
from s2sgrad.runtime.eager.registry import enter, op
from s2sgrad.runtime.eager.shortcuts import binary, unary

for _name in ("lgamma", "digamma", "erfinv"):
    UNARY[_name] = enter(_name, unary(_name.capitalize(), getattr(special, _name)))

_logaddexp2 = binary("Logaddexp2", np.logaddexp2, promoting_to_float)


@op()
def logaddexp2(input, other):
    """``log2(2 ** input + 2 ** other)``."""
    return _logaddexp2(input, other)


@op(method=False)
def polygamma(n, input):
    """The derivative of order `n` of `digamma`."""
    if not isinstance(n, int) or n < 0:
        raise RuntimeError(f"polygamma(n, x): n is an integer that is not negative, not {n!r}")
    return call("Polygamma", special.polygamma, n, floating(input))


enter("polygamma", lambda input, n: polygamma(n, input), function_too=False)


@op()
def mvlgamma(input, p):
    """The logarithm of the multivariate gamma function of dimension `p`."""
    terms = [UNARY["lgamma"](input - i / 2) for i in range(p)]
    return sum(terms[1:], terms[0]) + p * (p - 1) / 4 * math.log(math.pi)
