"""Samples of the rules of SciPy's functions."""

import numpy as np
import scipy.special
import scipy.stats

from s2sgrad.rules import table

table.read_imported()

_UNARY = {  # names, from, to
    "cbrt exp2 exp10 expm1 log1p cosm1 sindg cosdg exprel expit log_expit loggamma": (0.3, 1.6),
    "cbrt exp2 exp10 expm1 cosm1 sindg cosdg exprel expit log_expit": (-1.6, -0.3),
    "tandg cotdg": (20.0, 60.0),
    "logit ndtri ellipk ellipe ellipkm1 erfcinv": (0.2, 0.8),
    "entr gamma gammaln rgamma psi exp1 spence y0 y1 k0 k1 k0e k1e": (0.4, 2.4),
    "gamma gammaln rgamma psi": (-0.8, -0.2),
    "erfinv": (-0.8, 0.8),
    "ndtri_exp": (-3.0, -0.3),
    "erf erfc erfi erfcx dawsn ndtr log_ndtr j0 j1 i0 i1 i0e i1e expi sici shichi fresnel airy": (0.3, 1.8),
    "erf erfc erfi erfcx dawsn ndtr log_ndtr j0 j1 i0 i1 i0e i1e fresnel airy": (-1.8, -0.3),
    "lambertw factorial wofz": (0.3, 2.5),
}
_COMPLEX = [
    "expm1", "log1p", "erf", "erfc", "erfcx", "erfi", "dawsn", "wofz", "ndtr", "log_ndtr", "exp1", "spence", "sici",
    "shichi", "fresnel", "airy", "lambertw",
]  # fmt: skip

_SEVERAL = {  # name: arguments; a tuple is an interval
    "xlogy": [(0.2, 2.0), (0.2, 2.0)],
    "xlog1py": [(0.2, 2.0), (0.2, 2.0)],
    "rel_entr": [(0.2, 2.0), (0.2, 2.0)],
    "kl_div": [(0.2, 2.0), (0.2, 2.0)],
    "huber": [(0.8, 1.2), (-2.0, 2.0)],
    "pseudo_huber": [(0.8, 1.2), (-2.0, 2.0)],
    "boxcox": [(0.3, 2.0), (0.3, 2.0)],
    "boxcox1p": [(0.3, 2.0), (-1.3, -0.3)],
    "inv_boxcox": [(0.3, 1.0), (0.3, 1.0)],
    "inv_boxcox1p": [(0.3, 1.0), (0.3, 1.0)],
    "owens_t": [(-1.0, 1.0), (-1.0, 1.0)],
    "voigt_profile": [(-1.0, 1.0), (0.3, 1.0), (0.3, 1.0)],
    "polygamma": [2, (0.4, 2.0)],
    "beta": [(0.4, 2.0), (0.4, 2.0)],
    "betaln": [(0.4, 2.0), (0.4, 2.0)],
    "binom": [(3.0, 5.0), (0.4, 2.0)],
    "comb": [(3.0, 5.0), (0.4, 2.0)],
    "poch": [(0.4, 2.0), (0.4, 2.0)],
    "gammainc": [(0.4, 4.0), (0.4, 30.0)],
    "gammaincc": [(0.4, 4.0), (0.4, 5.0)],
    "gammaincinv": [(0.4, 4.0), (0.2, 0.8)],
    "gammainccinv": [(0.4, 4.0), (0.2, 0.8)],
    "betainc": [1.3, 0.7, (0.2, 0.8)],
    "betaincc": [1.3, 0.7, (0.2, 0.8)],
    "betaincinv": [1.3, 0.7, (0.2, 0.8)],
    "betainccinv": [1.3, 0.7, (0.2, 0.8)],
    "chdtr": [(0.4, 4.0), (0.4, 5.0)],
    "chdtrc": [(0.4, 4.0), (0.4, 5.0)],
    "chdtri": [(0.4, 4.0), (0.2, 0.8)],
    "gdtr": [(0.4, 2.0), (0.4, 2.0), (0.4, 2.0)],
    "gdtrc": [(0.4, 2.0), (0.4, 2.0), (0.4, 2.0)],
    "pdtr": [3.0, (0.4, 4.0)],
    "pdtrc": [3.0, (0.4, 4.0)],
    "bdtr": [3.0, 6, (0.2, 0.8)],
    "bdtrc": [3.0, 6, (0.2, 0.8)],
    "stdtr": [3.5, (-2.0, 2.0)],
    "stdtrit": [3.5, (0.2, 0.8)],
    "expn": [np.array([[0], [1], [3]]), (0.4, 2.0)],
    "jv": [1.5, (0.4, 2.0)],
    "yv": [1.5, (0.4, 2.0)],
    "yn": [2, (0.4, 2.0)],
    "iv": [1.5, (0.4, 2.0)],
    "ive": [1.5, (0.4, 2.0)],
    "kv": [1.5, (0.4, 2.0)],
    "kn": [np.array([[0], [2]]), (0.4, 2.0)],
    "kve": [1.5, (0.4, 2.0)],
    "hankel1": [1.5, (0.4, 2.0)],
    "hankel2": [1.5, (0.4, 2.0)],
    "struve": [1.5, (0.4, 2.0)],
    "modstruve": [1.5, (0.4, 2.0)],
    "spherical_jn": [2, (0.4, 2.0)],
    "spherical_yn": [2, (0.4, 2.0)],
    "spherical_in": [2, (0.4, 2.0)],
    "spherical_kn": [2, (0.4, 2.0)],
    "ellipkinc": [(0.2, 1.4), (0.2, 0.8)],
    "ellipeinc": [(0.2, 1.4), (0.2, 0.8)],
    "ellipj": [(0.2, 1.4), 0.4],
    "agm": [(0.2, 1.4), (0.2, 1.4)],
    "hyp0f1": [1.5, (-1.0, 1.0)],
    "hyp1f1": [1.5, 2.5, (-1.0, 1.0)],
    "hyperu": [1.5, 2.5, (0.4, 2.0)],
    "hyp2f1": [1.5, 2.5, 3.5, (-0.6, 0.6)],
    "eval_legendre": [np.array([[0], [1], [4]]), (-0.9, 0.9)],
    "eval_chebyt": [np.array([[0], [1], [4]]), (-0.9, 0.9)],
    "eval_chebyu": [np.array([[0], [1], [4]]), (-0.9, 0.9)],
    "eval_hermite": [np.array([[0], [1], [4]]), (-0.9, 0.9)],
    "eval_hermitenorm": [np.array([[0], [1], [4]]), (-0.9, 0.9)],
    "eval_laguerre": [np.array([[0], [1], [4]]), (0.2, 0.9)],
    "eval_genlaguerre": [np.array([[0], [1], [4]]), 0.5, (0.2, 0.9)],
    "eval_gegenbauer": [np.array([[0], [1], [4]]), 0.5, (-0.9, 0.9)],
    "eval_jacobi": [np.array([[0], [1], [4]]), 0.5, 1.5, (-0.9, 0.9)],
    "sph_harm_y": [np.array([[0], [3], [3]]), np.array([[0], [-2], [3]]), (0.4, 2.0), (0.4, 2.0)],
    "zeta": [2.5, (0.4, 2.0)],
    "multigammaln": [(2.0, 4.0), 3],
}

# name: shape parameters, points
CONTINUOUS = {
    "norm": ([], (-2.0, 2.0)),
    "halfnorm": ([], (0.3, 2.0)),
    "expon": ([], (0.3, 2.0)),
    "uniform": ([], (0.2, 0.8)),
    "cauchy": ([], (-2.0, 2.0)),
    "halfcauchy": ([], (0.3, 2.0)),
    "laplace": ([], (0.3, 2.0)),
    "logistic": ([], (-2.0, 2.0)),
    "hypsecant": ([], (-2.0, 2.0)),
    "gumbel_r": ([], (-1.0, 2.0)),
    "gumbel_l": ([], (-2.0, 1.0)),
    "rayleigh": ([], (0.3, 2.0)),
    "maxwell": ([], (0.3, 2.0)),
    "arcsine": ([], (0.2, 0.8)),
    "semicircular": ([], (-0.8, 0.8)),
    "levy": ([], (0.3, 2.0)),
    "moyal": ([], (-1.0, 2.0)),
    "beta": ([1.7, 2.3], (0.2, 0.8)),
    "gamma": ([1.7], (0.3, 3.0)),
    "erlang": ([2.0], (0.3, 3.0)),
    "invgamma": ([1.7], (0.3, 3.0)),
    "chi2": ([3.4], (0.3, 4.0)),
    "chi": ([3.4], (0.3, 3.0)),
    "t": ([3.4], (-2.0, 2.0)),
    "f": ([3.4, 4.6], (0.3, 3.0)),
    "lognorm": ([0.7], (0.3, 3.0)),
    "pareto": ([1.7], (1.2, 3.0)),
    "lomax": ([1.7], (0.3, 3.0)),
    "powerlaw": ([1.7], (0.2, 0.8)),
    "gennorm": ([1.7], (0.3, 2.0)),
    "truncnorm": ([-1.2, 1.7], (-1.0, 1.5)),
    "vonmises": ([1.7], (-2.0, 2.0)),
    "wrapcauchy": ([0.4], (0.3, 2.8)),
    "weibull_min": ([1.7], (0.3, 2.0)),
    "invweibull": ([1.7], (0.3, 2.0)),
    "dweibull": ([1.7], (-2.0, -0.3)),
    "fisk": ([1.7], (0.3, 2.0)),
    "skewnorm": ([0.8], (-1.5, 2.0)),
}
DISCRETE = {
    "poisson": ([1.7], [0.0, 2.0, 5.0]),
    "bernoulli": ([0.3], [0.0, 1.0, 1.0]),
    "binom": ([5, 0.3], [0.0, 2.0, 4.0]),
    "geom": ([0.3], [1.0, 2.0, 5.0]),
    "nbinom": ([3.4, 0.3], [0.0, 2.0, 5.0]),
}


METHODS = ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
BY_GAMMA = ("gamma", "invgamma", "chi2", "chi", "gennorm")  # no second derivative of probabilities by the shape


def symmetric(t):
    return (t + t.T) / 2 if np.shape(t) == (2, 2) else t


def add(sample, A):
    """Add the samples: `A` makes arrays."""

    def drawn(arguments, *shape):
        arrays = [A(*shape, low=a[0], high=a[1]) if isinstance(a, tuple) else a for a in arguments]
        return [np.float64(a) if type(a) is float else a for a in arrays]

    for names, interval in _UNARY.items():
        for name in names.split():
            sample(f"scipy.special.{name}", *drawn([interval], 3), complex_too=name in _COMPLEX)
    for name, arguments in _SEVERAL.items():
        rule = table.lookup(getattr(scipy.special, name))
        active = [n for n, a in zip(rule.parameters, arguments, strict=False) if isinstance(a, tuple)]
        once = name.startswith(("gammainc", "chdtr", "gdtr"))
        sample(f"scipy.special.{name}", *drawn(arguments, 3), active=tuple(active), once=once)
    for name in ("spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"):
        sample(f"scipy.special.{name}", 2, A(3, low=0.4, high=2.0), derivative=True, active=("z",))
    sample("scipy.special.loggamma scipy.special.gamma scipy.special.rgamma", A(3) + 1j, once=True)
    sample("scipy.special.exprel", np.array([0.0, 0.019, -0.021]))
    for name in ("beta", "xlogy", "hyp1f1", "betainc"):  # arguments of several shapes
        arguments = [(0.4, 0.9)] * len(table.lookup(getattr(scipy.special, name)).parameters)
        last = table.lookup(getattr(scipy.special, name)).differentiable
        sample(f"scipy.special.{name}", *drawn(arguments[:-1], 2, 1), A(3, low=0.2, high=0.8), active=last)
    for axis in (None, 0, (0, 1)):
        sample("scipy.special.softmax scipy.special.log_softmax", A(2, 3), axis=axis, complex_too=True)
        for keepdims in (True, False):
            sample("scipy.special.logsumexp", A(2, 3), axis=axis, keepdims=keepdims, complex_too=True)
            sample("scipy.special.logsumexp", A(2, 3), axis=axis, b=A(3, low=0.2), keepdims=keepdims)
    sample("special_scipy.gammainc_slope", np.float64(1.7), A(3, low=0.2, high=30.0), active=("x",))
    for name in ("jv", "yv", "iv", "ive", "kv", "kve", "hankel1", "hankel2"):
        sample(f"scipy.special.{name}", 1.5, A(3, low=0.4, high=2.0), active=("z",), complex_too=True)
    sample("special_scipy.ellipd", A(3, low=-0.8, high=0.8))

    for name, (shapes, interval) in CONTINUOUS.items():
        points, places = A(3, low=interval[0], high=interval[1]), A(3, low=0.2, high=0.8)
        for method in METHODS:
            once = name in BY_GAMMA and "pdf" not in method
            once = once or name not in ("norm", "beta", "skewnorm") and method not in ("logpdf", "pdf", "cdf", "ppf")
            at = places if method in ("ppf", "isf") else 0.3 + 1.4 * points
            sample(f"scipy.stats.{name}.{method}", at, *shapes, loc=0.3, scale=np.float64(1.4), once=once)
        sample(f"scipy.stats.{name}.logpdf", points, *shapes, active=("x",))
    for name, (shapes, points) in DISCRETE.items():
        for method in ("logpmf", "pmf", "cdf", "logcdf", "sf", "logsf"):
            for k in points if "log" not in method or name == "binom" else points[:1]:
                if not (name == "bernoulli" and k == 1.0 and method in ("cdf", "sf")):
                    sample(f"scipy.stats.{name}.{method}", k, *shapes)
    cov = np.array([[1.0, 0.3], [0.3, 2.0]])
    for method in ("scipy.stats.multivariate_normal.logpdf", "scipy.stats.multivariate_normal.pdf"):
        sample(method, A(2), A(2), cov, project=symmetric)
        sample(method, A(3, 2), A(2), cov, project=symmetric)
        sample(method, A(3, 2), A(2), np.array([1.3, 0.7]))
        sample(method, A(3, 2), A(2), 1.3)
        sample(method, A(2), cov=cov, project=symmetric)
        sample(method, A(3), 0.4, 1.3)
        sample(method, A(3))
    sample("scipy.stats.dirichlet.logpdf", np.array([0.2, 0.3]), np.array([1.2, 0.7, 2.3]))
    points = np.array([[0.2, 0.1], [0.3, 0.5], [0.5, 0.4]])
    sample("scipy.stats.dirichlet.logpdf", points, np.array([1.2, 0.7, 2.3]), project=centred)


def centred(t):
    """Points whose entries add up to 1 move so that they do."""
    return t - np.mean(t, axis=0) if np.ndim(t) == 2 else t
