"""Derivatives of the distributions: densities, probabilities and quantiles, by the point and the parameters.

A continuous distribution is told by its `score`, the derivative of the logarithm of the standard density
by the point, and for its shape parameters by the derivatives of that logarithm (`slopes`) and of the
probability below a point (`tails`). All methods and the parameters `loc` and `scale` follow. A derivative
that is not told is none that the rule has: asked for, it is an error.
"""

import itertools
import linecache

import numpy as np
from scipy import special, stats

from s2sgrad.rules.scipy.special import beta_density, gamma_density, gammainc_slope
from s2sgrad.rules.table import jvp, vjp
from s2sgrad.runtime.arrays import times, unbroadcast

# ---------------------------------------------------------------- what all distributions have in common

_NUMBERS = itertools.count()


def from_text(text, names):
    """The function that `text` says, as if it stood in a file: the compiler reads it."""
    file = f"<distribution {next(_NUMBERS)}>"
    linecache.cache[file] = len(text), None, [text + "\n"], file
    return eval(compile(text, file, "eval"), {"unbroadcast": unbroadcast, "__name__": __name__, **names})


def register(method, head, parameters, defaults, slopes):
    """The rule of one method: ``slope(out, head, parameters, defaults)`` by each argument that has a slope.

    SciPy's methods take the shape parameters under the names that the distribution gives them, and so do the
    functions of a rule.
    """
    shapes = "".join(f"{name}, " for name in parameters)
    signature = f"out, {head}, {shapes}" + ", ".join(f"{name}={value}" for name, value in defaults.items())
    call = f"slope(out, {head}, ({shapes}), {', '.join(defaults)})"
    for name, slope in slopes.items():
        names = {"slope": slope}
        vjp(method, **{name: from_text(f"lambda g, {signature}: unbroadcast(g * {call}, {name})", names)})
        jvp(method, **{name: from_text(f"lambda t, {signature}: t * {call}", names)})


def within(out, slope):
    """`slope`, and zero where the logarithm `out` says that the point is outside of the support."""
    return np.where(np.isfinite(out), slope, 0.0)


def score_by_scale(score, z, shapes):
    """What a change of the scale does to the logarithm of a density."""
    return -(1 + z * score(z, *shapes))


def continuous(dist, score, slopes=(), tails=()):
    """The rules of all methods of a distribution."""
    names = [name.strip() for name in dist.shapes.split(",")] if dist.shapes else []
    standard = {"loc": 0, "scale": 1}
    register(
        dist.logpdf,
        *("x", names, standard),
        {
            "x": lambda out, x, s, loc, scale: within(out, score((x - loc) / scale, *s) / scale),
            "loc": lambda out, x, s, loc, scale: within(out, -score((x - loc) / scale, *s) / scale),
            "scale": lambda out, x, s, loc, scale: within(out, score_by_scale(score, (x - loc) / scale, s) / scale),
        },
    )
    register(
        dist.pdf,
        *("x", names, standard),
        {
            "x": lambda out, x, s, loc, scale: times(out, score((x - loc) / scale, *s) / scale),
            "loc": lambda out, x, s, loc, scale: -times(out, score((x - loc) / scale, *s) / scale),
            "scale": lambda out, x, s, loc, scale: times(out, score_by_scale(score, (x - loc) / scale, s) / scale),
        },
    )
    for name, slope in zip(names, slopes, strict=False):
        register(
            dist.logpdf,
            *("x", names, standard),
            {name: lambda out, x, s, loc, scale, slope=slope: within(out, slope((x - loc) / scale, *s))},
        )
        register(
            dist.pdf,
            *("x", names, standard),
            {name: lambda out, x, s, loc, scale, slope=slope: times(out, slope((x - loc) / scale, *s))},
        )
    for probability, logarithm, quantile, sign in [
        (dist.cdf, dist.logcdf, dist.ppf, 1.0),
        (dist.sf, dist.logsf, dist.isf, -1.0),
    ]:
        tail_rules(dist, names, probability, logarithm, quantile, sign)
        for name, tail in zip(names, tails, strict=False):
            shape_rules(dist, names, name, tail, probability, logarithm, quantile, sign)


def tail_rules(dist, names, probability, logarithm, quantile, sign):
    """By the point and by `loc` and `scale`: the density, with the sign of the tail."""
    standard = {"loc": 0, "scale": 1}
    register(
        probability,
        *("x", names, standard),
        {
            "x": lambda out, x, s, loc, scale: sign * dist.pdf(x, *s, loc, scale),
            "loc": lambda out, x, s, loc, scale: -sign * dist.pdf(x, *s, loc, scale),
            "scale": lambda out, x, s, loc, scale: -sign * (x - loc) / scale * dist.pdf(x, *s, loc, scale),
        },
    )
    register(
        logarithm,
        *("x", names, standard),
        {
            "x": lambda out, x, s, loc, scale: sign * within(out, np.exp(dist.logpdf(x, *s, loc, scale) - out)),
            "loc": lambda out, x, s, loc, scale: -sign * within(out, np.exp(dist.logpdf(x, *s, loc, scale) - out)),
            "scale": lambda out, x, s, loc, scale: (
                -sign * (x - loc) / scale * within(out, np.exp(dist.logpdf(x, *s, loc, scale) - out))
            ),
        },
    )
    register(
        quantile,
        *("q", names, standard),
        {
            "q": lambda out, q, s, loc, scale: sign / dist.pdf(out, *s, loc, scale),
            "loc": lambda out, q, s, loc, scale: np.ones_like(out),
            "scale": lambda out, q, s, loc, scale: (out - loc) / scale,
        },
    )


def shape_rules(dist, names, name, tail, probability, logarithm, quantile, sign):
    """By one shape parameter."""
    standard = {"loc": 0, "scale": 1}
    register(
        probability,
        *("x", names, standard),
        {name: lambda out, x, s, loc, scale: sign * np.where((out > 0) & (out < 1), tail((x - loc) / scale, *s), 0.0)},
    )
    register(
        logarithm,
        *("x", names, standard),
        {name: lambda out, x, s, loc, scale: sign * within(out, tail((x - loc) / scale, *s) / np.exp(out))},
    )
    register(
        quantile,
        *("q", names, standard),
        {name: lambda out, q, s, loc, scale: -tail((out - loc) / scale, *s) / dist.pdf(out, *s, loc, scale)},
    )


# ---------------------------------------------------------------- continuous distributions


def logarithm(z):
    """``log(z)``, and 0 outside of the support."""
    return np.log(np.where(z > 0, z, 1.0))


continuous(stats.norm, lambda z: -z)
continuous(stats.halfnorm, lambda z: -z)
continuous(stats.expon, lambda z: -np.ones_like(z))
continuous(stats.uniform, lambda z: np.zeros_like(z))
continuous(stats.cauchy, lambda z: -2 * z / (1 + z * z))
continuous(stats.halfcauchy, lambda z: -2 * z / (1 + z * z))
continuous(stats.laplace, lambda z: -np.sign(z))
continuous(stats.logistic, lambda z: -np.tanh(z / 2))
continuous(stats.hypsecant, lambda z: -np.tanh(z))
continuous(stats.gumbel_r, lambda z: np.expm1(-z))
continuous(stats.gumbel_l, lambda z: -np.expm1(z))
continuous(stats.rayleigh, lambda z: 1 / z - z)
continuous(stats.maxwell, lambda z: 2 / z - z)
continuous(stats.arcsine, lambda z: (z - 0.5) / (z * (1 - z)))
continuous(stats.semicircular, lambda z: -z / (1 - z * z))
continuous(stats.levy, lambda z: (1 / z - 3) / (2 * z))
continuous(stats.moyal, lambda z: np.expm1(-z) / 2)
continuous(
    stats.beta,
    lambda z, a, b: (a - 1) / z - (b - 1) / (1 - z),
    slopes=[
        lambda z, a, b: np.log(z) - special.psi(a) + special.psi(a + b),
        lambda z, a, b: np.log1p(-z) - special.psi(b) + special.psi(a + b),
    ],
)
continuous(
    stats.gamma,
    lambda z, a: (a - 1) / z - 1,
    slopes=[lambda z, a: np.log(z) - special.psi(a)],
    tails=[lambda z, a: gammainc_slope(a, z)],
)
continuous(stats.erlang, lambda z, a: (a - 1) / z - 1)
continuous(
    stats.invgamma,
    lambda z, a: (1 / z - a - 1) / z,
    slopes=[lambda z, a: -np.log(z) - special.psi(a)],
    tails=[lambda z, a: -gammainc_slope(a, 1 / z)],
)
continuous(
    stats.chi2,
    lambda z, df: (df / 2 - 1) / z - 0.5,
    slopes=[lambda z, df: (np.log(z / 2) - special.psi(df / 2)) / 2],
    tails=[lambda z, df: gammainc_slope(df / 2, z / 2) / 2],
)
continuous(
    stats.chi,
    lambda z, df: (df - 1) / z - z,
    slopes=[lambda z, df: np.log(z) - (np.log(2.0) + special.psi(df / 2)) / 2],
    tails=[lambda z, df: gammainc_slope(df / 2, z * z / 2) / 2],
)
continuous(
    stats.t,
    lambda z, df: -(df + 1) * z / (df + z * z),
    slopes=[
        lambda z, df: (
            (
                special.psi((df + 1) / 2)
                - special.psi(df / 2)
                - 1 / df
                - np.log1p(z * z / df)
                + (df + 1) * z * z / (df * (df + z * z))
            )
            / 2
        )
    ],
)
continuous(
    stats.f,
    lambda z, dfn, dfd: (dfn / 2 - 1) / z - dfn * (dfn + dfd) / (2 * (dfd + dfn * z)),
)
continuous(
    stats.lognorm,
    lambda z, s: -(1 + np.log(z) / (s * s)) / z,
    slopes=[lambda z, s: (np.square(np.log(z) / s) - 1) / s],
    tails=[lambda z, s: -stats.norm.pdf(logarithm(z) / s) * logarithm(z) / (s * s)],
)
continuous(
    stats.pareto,
    lambda z, b: -(b + 1) / z,
    slopes=[lambda z, b: 1 / b - np.log(z)],
    tails=[lambda z, b: np.where(z > 1, np.maximum(z, 1.0) ** -b * np.log(np.maximum(z, 1.0)), 0.0)],
)
continuous(
    stats.lomax,
    lambda z, c: -(c + 1) / (1 + z),
    slopes=[lambda z, c: 1 / c - np.log1p(z)],
    tails=[lambda z, c: (1 + np.maximum(z, 0.0)) ** -c * np.log1p(np.maximum(z, 0.0))],
)
continuous(
    stats.powerlaw,
    lambda z, a: (a - 1) / z,
    slopes=[lambda z, a: 1 / a + np.log(z)],
    tails=[lambda z, a: np.clip(z, 0.0, 1.0) ** a * np.minimum(logarithm(z), 0.0)],
)
continuous(
    stats.gennorm,
    lambda z, beta: -beta * np.abs(z) ** (beta - 1) * np.sign(z),
    slopes=[
        lambda z, beta: 1 / beta + special.psi(1 / beta) / (beta * beta) - special.xlogy(np.abs(z) ** beta, np.abs(z))
    ],
    tails=[
        lambda z, beta: (
            np.sign(z)
            / 2
            * (
                gamma_density(1 / beta, np.abs(z) ** beta) * special.xlogy(np.abs(z) ** beta, np.abs(z))
                - gammainc_slope(1 / beta, np.abs(z) ** beta) / (beta * beta)
            )
        )
    ],
)
continuous(
    stats.truncnorm,
    lambda z, a, b: -z,
    slopes=[
        lambda z, a, b: stats.truncnorm.pdf(a, a, b),
        lambda z, a, b: -stats.truncnorm.pdf(b, a, b),
    ],
    tails=[
        lambda z, a, b: -stats.truncnorm.pdf(a, a, b) * stats.truncnorm.sf(z, a, b),
        lambda z, a, b: -stats.truncnorm.pdf(b, a, b) * stats.truncnorm.cdf(z, a, b),
    ],
)
continuous(
    stats.vonmises,
    lambda z, kappa: -kappa * np.sin(z),
    slopes=[lambda z, kappa: np.cos(z) - special.i1e(kappa) / special.i0e(kappa)],
)
continuous(
    stats.wrapcauchy,
    lambda z, c: -2 * c * np.sin(z) / (1 + c * c - 2 * c * np.cos(z)),
    slopes=[lambda z, c: -2 * c / (1 - c * c) - 2 * (c - np.cos(z)) / (1 + c * c - 2 * c * np.cos(z))],
)
continuous(
    stats.weibull_min,
    lambda z, c: (c - 1) / z - c * z ** (c - 1),
    slopes=[lambda z, c: 1 / c + np.log(z) * (1 - z**c)],
    tails=[lambda z, c: np.exp(-(np.maximum(z, 0.0) ** c)) * np.maximum(z, 0.0) ** c * logarithm(z)],
)
continuous(
    stats.invweibull,
    lambda z, c: (c * z**-c - c - 1) / z,
    slopes=[lambda z, c: 1 / c - np.log(z) * (1 - z**-c)],
    tails=[lambda z, c: np.exp(-(z**-c)) * z**-c * np.log(z)],
)
continuous(
    stats.dweibull,
    lambda z, c: ((c - 1) / np.abs(z) - c * np.abs(z) ** (c - 1)) * np.sign(z),
    slopes=[lambda z, c: 1 / c + np.log(np.abs(z)) * (1 - np.abs(z) ** c)],
    tails=[lambda z, c: np.sign(z) / 2 * np.exp(-(np.abs(z) ** c)) * special.xlogy(np.abs(z) ** c, np.abs(z))],
)
continuous(
    stats.fisk,
    lambda z, c: (c - 1 - 2 * c * z**c / (1 + z**c)) / z,
    slopes=[lambda z, c: 1 / c + np.log(z) * (1 - 2 * z**c / (1 + z**c))],
    tails=[lambda z, c: logarithm(z) * np.maximum(z, 0.0) ** c / np.square(1 + np.maximum(z, 0.0) ** c)],
)
continuous(
    stats.skewnorm,
    lambda z, a: -z + a * np.exp(stats.norm.logpdf(a * z) - special.log_ndtr(a * z)),
    slopes=[lambda z, a: z * np.exp(stats.norm.logpdf(a * z) - special.log_ndtr(a * z))],
    tails=[lambda z, a: -np.exp(-z * z * (1 + a * a) / 2) / (np.pi * (1 + a * a))],
)

# ---------------------------------------------------------------- discrete distributions


def discrete(dist, slopes, tails=()):
    """The rules of a distribution of whole numbers, by its shape parameters."""
    names = [name.strip() for name in dist.shapes.split(",")]
    for name, slope in slopes.items():
        register(
            dist.logpmf,
            *("k", names, {"loc": 0}),
            {name: lambda out, k, s, loc, slope=slope: within(out, slope(k - loc, *s))},
        )
        register(
            dist.pmf,
            *("k", names, {"loc": 0}),
            {name: lambda out, k, s, loc, slope=slope: times(out, slope(k - loc, *s))},
        )
    for name, tail in dict(tails).items():
        for probability, sign in ((dist.cdf, 1.0), (dist.sf, -1.0)):
            register(
                probability,
                *("k", names, {"loc": 0}),
                {name: lambda out, k, s, loc, tail=tail, sign=sign: sign * tail(np.floor(k - loc), *s)},
            )
        for log_probability, sign in ((dist.logcdf, 1.0), (dist.logsf, -1.0)):
            register(
                log_probability,
                *("k", names, {"loc": 0}),
                {name: lambda out, k, s, loc, tail=tail, sign=sign: sign * tail(np.floor(k - loc), *s) / np.exp(out)},
            )


discrete(
    stats.poisson,
    {"mu": lambda k, mu: k / mu - 1},
    {"mu": lambda k, mu: np.where(k < 0, 0.0, -gamma_density(np.maximum(k, 0) + 1, mu))},
)
discrete(
    stats.bernoulli,
    {"p": lambda k, p: k / p - (1 - k) / (1 - p)},
    {"p": lambda k, p: np.where(k == 0, -np.ones_like(p), 0.0)},
)
discrete(
    stats.binom,
    {"p": lambda k, n, p: k / p - (n - k) / (1 - p)},
    {
        "p": lambda k, n, p: np.where(
            (k < 0) | (k >= n), 0.0, -beta_density(np.clip(k, 0, n - 1) + 1, n - np.clip(k, 0, n - 1), p)
        )
    },
)
discrete(
    stats.geom,
    {"p": lambda k, p: 1 / p - (k - 1) / (1 - p)},
    {"p": lambda k, p: np.where(k < 1, 0.0, k * (1 - p) ** (np.maximum(k, 1) - 1))},
)
discrete(
    stats.nbinom,
    {
        "n": lambda k, n, p: special.psi(k + n) - special.psi(n) + np.log(p),
        "p": lambda k, n, p: n / p - k / (1 - p),
    },
    {"p": lambda k, n, p: np.where(k < 0, 0.0, beta_density(n, np.maximum(k, 0) + 1, p))},
)

# ---------------------------------------------------------------- distributions of vectors


def deviations(x, mean, cov):
    """``x - mean`` with an axis for the variables, and that times the inverse of the covariance."""
    lone = np.size(mean) == 1 if mean is not None else np.ndim(cov) < 2 or np.shape(cov)[0] == 1
    d = np.expand_dims(x, -1) if lone and np.ndim(x) < 2 else x
    d = d if mean is None else d - mean
    if np.ndim(cov) == 2:
        return d, np.linalg.solve(cov, np.expand_dims(d, -1))[..., 0]
    return d, d / cov


def normal_mean(g, x, mean, cov):
    """The cotangent of ``mean - x``, before it is summed up."""
    d, scaled = deviations(x, mean, cov)
    return np.expand_dims(np.reshape(g, np.shape(d)[:-1]), -1) * scaled


def normal_point(g, x, mean, cov):
    return np.reshape(-normal_mean(g, x, mean, cov), np.shape(x))


def normal_covariance(g, x, mean, cov):
    """The cotangent of a matrix, of a vector of variances, or of one variance for all."""
    d, scaled = deviations(x, mean, cov)
    g = np.reshape(g, np.shape(d)[:-1])
    if np.ndim(cov) == 2:
        squares = np.expand_dims(scaled, -1) * np.expand_dims(scaled, -2)
        return unbroadcast(np.expand_dims(g, (-1, -2)) * (squares - np.linalg.inv(cov)) / 2, cov)
    return unbroadcast(np.expand_dims(g, -1) * (scaled * scaled - 1 / cov) / 2, cov)


def normal_change(t, out, x, mean, cov):
    """The change of the logarithm for a change `t` of ``mean - x``."""
    return np.reshape(np.sum(t * deviations(x, mean, cov)[1], axis=-1), np.shape(out))


def normal_point_change(t, out, x, mean, cov):
    return -normal_change(np.reshape(t, np.shape(deviations(x, mean, cov)[0])), out, x, mean, cov)


def normal_covariance_change(t, out, x, mean, cov):
    d, scaled = deviations(x, mean, cov)
    if np.ndim(cov) == 2:
        change = np.sum(scaled * (scaled @ t), axis=-1) - np.trace(np.linalg.solve(cov, t))
    else:
        change = np.sum(np.broadcast_to(t * (scaled * scaled - 1 / cov), np.shape(d)), axis=-1)
    return np.reshape(change / 2, np.shape(out))


vjp(
    stats.multivariate_normal.logpdf,
    x=lambda g, out, x, mean=None, cov=1, allow_singular=False: normal_point(g, x, mean, cov),
    mean=lambda g, out, x, mean=None, cov=1, allow_singular=False: unbroadcast(normal_mean(g, x, mean, cov), mean),
    cov=lambda g, out, x, mean=None, cov=1, allow_singular=False: normal_covariance(g, x, mean, cov),
)
jvp(
    stats.multivariate_normal.logpdf,
    x=lambda t, out, x, mean=None, cov=1, allow_singular=False: normal_point_change(t, out, x, mean, cov),
    mean=lambda t, out, x, mean=None, cov=1, allow_singular=False: normal_change(t, out, x, mean, cov),
    cov=lambda t, out, x, mean=None, cov=1, allow_singular=False: normal_covariance_change(t, out, x, mean, cov),
)
vjp(
    stats.multivariate_normal.pdf,
    x=lambda g, out, x, mean=None, cov=1, allow_singular=False: normal_point(g * out, x, mean, cov),
    mean=lambda g, out, x, mean=None, cov=1, allow_singular=False: unbroadcast(
        normal_mean(g * out, x, mean, cov), mean
    ),
    cov=lambda g, out, x, mean=None, cov=1, allow_singular=False: normal_covariance(g * out, x, mean, cov),
)
jvp(
    stats.multivariate_normal.pdf,
    x=lambda t, out, x, mean=None, cov=1, allow_singular=False: out * normal_point_change(t, out, x, mean, cov),
    mean=lambda t, out, x, mean=None, cov=1, allow_singular=False: out * normal_change(t, out, x, mean, cov),
    cov=lambda t, out, x, mean=None, cov=1, allow_singular=False: out * normal_covariance_change(t, out, x, mean, cov),
)


def whole(x, alpha):
    """The point with as many entries as `alpha`, which are shaped to multiply it."""
    if np.shape(x)[0] != np.shape(alpha)[0]:
        x = np.concatenate([x, np.expand_dims(1 - np.sum(x, axis=0), 0)])
    return x, np.reshape(alpha, (-1,) + (1,) * (np.ndim(x) - 1))


def dirichlet_point_slope(x, alpha):
    """By the entries that are given, be it all or all but the last, which the others make up to 1."""
    point, a = whole(x, alpha)
    slope = (a - 1) / point
    return slope if np.shape(point) == np.shape(x) else slope[:-1] - slope[-1:]


def dirichlet_slope(x, alpha):
    point, a = whole(x, alpha)
    return np.log(point) + special.psi(np.sum(alpha)) - special.psi(a)


vjp(
    stats.dirichlet.logpdf,
    x=lambda g, out, x, alpha: g * dirichlet_point_slope(x, alpha),
    alpha=lambda g, out, x, alpha: np.sum(np.reshape(g * dirichlet_slope(x, alpha), (np.size(alpha), -1)), axis=1),
)
jvp(
    stats.dirichlet.logpdf,
    x=lambda t, out, x, alpha: np.sum(t * dirichlet_point_slope(x, alpha), axis=0),
    alpha=lambda t, out, x, alpha: np.tensordot(t, dirichlet_slope(x, alpha), 1),
)
