"""Derivatives of the special functions.

The lines are those of the NIST Digital Library of Mathematical Functions (https://dlmf.nist.gov), whose
chapters the headings name. An order or a parameter by which SciPy knows no derivative is `unknown`.
"""

import math

import numpy as np
from scipy import special

from s2sgrad.errors import MissingRuleError
from s2sgrad.rules.table import elementwise, inactive, jvp, unknown, vjp
from s2sgrad.runtime.arrays import filled, over, part, times, unbroadcast

_TO_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)

# ---------------------------------------------------------------- elementary functions, entropies, losses

elementwise(special.cbrt, lambda t, x, out: over(t, 3 * out * out))
elementwise(special.exp2, lambda t, x, out: t * (math.log(2) * out))
elementwise(special.exp10, lambda t, x, out: t * (math.log(10) * out))
elementwise(special.expm1, lambda t, x, out: times(t, out + 1))
elementwise(special.log1p, lambda t, x: over(t, 1 + x))
elementwise(special.cosm1, lambda t, x: -t * np.sin(x))
elementwise(special.sindg, lambda t, x: t * (math.pi / 180) * special.cosdg(x))
elementwise(special.cosdg, lambda t, x: -t * (math.pi / 180) * special.sindg(x))
elementwise(special.tandg, lambda t, x, out: t * (math.pi / 180) * (1 + out * out))
elementwise(special.cotdg, lambda t, x, out: -t * (math.pi / 180) * (1 + out * out))


def exprel_partial(t, x, out):
    """``(exp(x) - exprel(x)) / x``, by its Taylor series where the difference cancels."""
    series = 1 / 2 + x * (1 / 3 + x * (1 / 8 + x * (1 / 30 + x * (1 / 144 + x * (1 / 840 + x / 5760)))))
    near = np.abs(x) < 0.02
    return t * np.where(near, series, (np.exp(x) - out) / np.where(near, 1, x))


elementwise(special.exprel, exprel_partial)
elementwise(special.expit, lambda t, x, out: t * (out * special.expit(-x)))
elementwise(special.logit, lambda t, x: over(t, x * (1 - x)))
elementwise(special.log_expit, lambda t, x: t * special.expit(-x))
elementwise(special.entr, lambda t, x: -times(t, np.log(x) + 1))
elementwise(special.rel_entr, lambda t, x, y: times(t, np.log(over(x, y)) + 1), lambda t, x, y: -over(t * x, y))
elementwise(special.kl_div, lambda t, x, y: times(t, np.log(over(x, y))), lambda t, x, y: t * (1 - over(x, y)))
elementwise(special.xlogy, lambda t, x, y: special.xlogy(t, y), lambda t, x, y: over(t * x, y))
elementwise(special.xlog1py, lambda t, x, y: special.xlog1py(t, y), lambda t, x, y: over(t * x, 1 + y))
elementwise(
    special.huber,
    lambda t, delta, r: t * np.maximum(np.abs(r) - delta, 0.0),
    lambda t, delta, r: t * np.clip(r, -delta, delta),
)
elementwise(
    special.pseudo_huber,
    lambda t, delta, r, out: t * (2 * out / delta - np.square(r) / (delta * np.hypot(1, r / delta))),
    lambda t, delta, r: t * r / np.hypot(1, r / delta),
)


def power_slope(logx, out, lmbda):
    """The derivative of the Box-Cox transform `out` by `lmbda`; `logx` is that of what is transformed."""
    near = np.abs(lmbda) < 1e-5
    series = np.square(logx) * (1 / 2 + lmbda * logx / 3)
    return np.where(near, series, ((1 + lmbda * out) * logx - out) / np.where(near, 1, lmbda))


elementwise(
    special.boxcox,
    lambda t, x, lmbda: t * x ** (lmbda - 1),
    lambda t, x, lmbda, out: t * power_slope(np.log(x), out, lmbda),
)
elementwise(
    special.boxcox1p,
    lambda t, x, lmbda: t * (1 + x) ** (lmbda - 1),
    lambda t, x, lmbda, out: t * power_slope(np.log1p(x), out, lmbda),
)
elementwise(
    special.inv_boxcox,
    lambda t, y, lmbda, out: t * out ** (1 - lmbda),
    lambda t, y, lmbda, out: -t * out ** (1 - lmbda) * power_slope(np.log(out), y, lmbda),
)
elementwise(
    special.inv_boxcox1p,
    lambda t, y, lmbda, out: t * (1 + out) ** (1 - lmbda),
    lambda t, y, lmbda, out: -t * (1 + out) ** (1 - lmbda) * power_slope(np.log1p(out), y, lmbda),
)

# ---------------------------------------------------------------- the error function (DLMF 7)

elementwise(special.erf, lambda t, z: t * (_TO_ROOT_PI * np.exp(-z * z)))
elementwise(special.erfc, lambda t, z: -t * (_TO_ROOT_PI * np.exp(-z * z)))
elementwise(special.erfi, lambda t, z: t * (_TO_ROOT_PI * np.exp(z * z)))
elementwise(special.erfcx, lambda t, x, out: t * (2 * x * out - _TO_ROOT_PI))
elementwise(special.dawsn, lambda t, x, out: t * (1 - 2 * x * out))
elementwise(special.wofz, lambda t, z, out: t * (_TO_ROOT_PI * 1j - 2 * z * out))
elementwise(special.erfinv, lambda t, y, out: times(t, np.exp(out * out) / _TO_ROOT_PI))
elementwise(special.erfcinv, lambda t, y, out: -times(t, np.exp(out * out) / _TO_ROOT_PI))
elementwise(special.ndtr, lambda t, x: t * (np.exp(-x * x / 2) / _ROOT_TWO_PI))
elementwise(special.log_ndtr, lambda t, x, out: t * (np.exp(-x * x / 2 - out) / _ROOT_TWO_PI))
elementwise(special.ndtri, lambda t, y, out: times(t, np.exp(out * out / 2) * _ROOT_TWO_PI))
elementwise(special.ndtri_exp, lambda t, y, out: times(t, np.exp(out * out / 2 + y) * _ROOT_TWO_PI))
elementwise(
    special.owens_t,
    lambda t, h, a: -t * np.exp(-h * h / 2) * (special.ndtr(a * h) - 0.5) / _ROOT_TWO_PI,
    lambda t, h, a: t * np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
)


def voigt_slope(x, sigma, gamma):
    """The Faddeeva function's derivative at ``z``, over the root of 2 pi, and ``z``."""
    z = (x + 1j * gamma) / (sigma * math.sqrt(2))
    return (_TO_ROOT_PI * 1j - 2 * z * special.wofz(z)) / _ROOT_TWO_PI, z


elementwise(
    special.voigt_profile,
    lambda t, x, sigma, gamma: t * np.real(voigt_slope(x, sigma, gamma)[0]) / (math.sqrt(2) * sigma * sigma),
    lambda t, x, sigma, gamma, out: (
        -t * (out + np.real(voigt_slope(x, sigma, gamma)[0] * voigt_slope(x, sigma, gamma)[1]) / sigma) / sigma
    ),
    lambda t, x, sigma, gamma: -t * np.imag(voigt_slope(x, sigma, gamma)[0]) / (math.sqrt(2) * sigma * sigma),
)
vjp(
    special.fresnel,
    z=lambda g, out, z: unbroadcast(
        filled(part(g, 0), out[0]) * np.conj(np.sin(math.pi / 2 * z * z))
        + filled(part(g, 1), out[1]) * np.conj(np.cos(math.pi / 2 * z * z)),
        z,
    ),
)
jvp(
    special.fresnel,
    z=lambda t, out, z: (t * np.sin(math.pi / 2 * z * z), t * np.cos(math.pi / 2 * z * z)),
)

# ---------------------------------------------------------------- the gamma function and its kin (DLMF 5, 8, 25)


def trigamma(x):
    if np.iscomplexobj(x):
        raise MissingRuleError("scipy.special.psi of complex numbers has no derivative rule")
    return special.zeta(2.0, x)


elementwise(special.gamma, lambda t, z, out: t * (out * special.psi(z)))
elementwise(special.gammaln, lambda t, x: t * special.psi(x))
elementwise(special.loggamma, lambda t, z: t * special.psi(z))
elementwise(special.rgamma, lambda t, z, out: -t * (out * special.psi(z)))
elementwise(special.psi, lambda t, x: t * trigamma(x))
elementwise(special.polygamma, unknown, lambda t, n, x: t * special.polygamma(n + 1, x))
elementwise(special.factorial, lambda t, n, out: t * (out * special.psi(n + 1)))
elementwise(
    special.beta,
    lambda t, a, b, out: t * out * (special.psi(a) - special.psi(a + b)),
    lambda t, a, b, out: t * out * (special.psi(b) - special.psi(a + b)),
)
elementwise(
    special.betaln,
    lambda t, a, b: t * (special.psi(a) - special.psi(a + b)),
    lambda t, a, b: t * (special.psi(b) - special.psi(a + b)),
)
elementwise(
    (special.binom, special.comb),
    lambda t, n, k, out: t * out * (special.psi(n + 1) - special.psi(n - k + 1)),
    lambda t, n, k, out: t * out * (special.psi(n - k + 1) - special.psi(k + 1)),
)
elementwise(
    special.poch,
    lambda t, z, m, out: t * out * (special.psi(z + m) - special.psi(z)),
    lambda t, z, m, out: t * out * special.psi(z + m),
)
inactive(special.gammasgn, special.round)


def multigammaln_slope(a, d):
    return np.sum(special.psi(np.expand_dims(a, -1) - np.arange(d) / 2), axis=-1)


vjp(special.multigammaln, a=lambda g, out, a, d: g * multigammaln_slope(a, d))
jvp(special.multigammaln, a=lambda t, out, a, d: t * multigammaln_slope(a, d))
vjp(special.zeta, q=lambda g, out, x, q=None: unbroadcast(-g * x * special.zeta(x + 1, q), q))
jvp(special.zeta, q=lambda t, out, x, q=None: -t * x * special.zeta(x + 1, q))


def gamma_density(a, x):
    """The derivative of `gammainc` by `x`."""
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


_NODES, _WEIGHTS = special.roots_laguerre(60)


def gammainc_slope(a, x):
    """The derivative of ``gammainc(a, x)`` by `a`.

    By the power series (DLMF 8.7.1), differentiated term by term; for large `x` by that of the integral
    over the upper part, where the series would cancel.
    """
    dtype = np.result_type(a, x)
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    far = x > np.maximum(a, 0.0) + 12.0
    near = np.where(far | ~(x >= 0), 1.0, x)
    terms = int(np.max(near + 12 * np.sqrt(near), initial=0.0)) + 60
    total = np.zeros(np.shape(near))
    term = np.exp(special.xlogy(a, near) - near - special.gammaln(a + 1))
    for n in range(terms):
        total = total + term * (np.log(np.where(near == 0, 1.0, near)) - special.psi(a + n + 1))
        term = term * near / (a + n + 1)
    away = np.where(far, x, 12.0)
    places = np.expand_dims(away, -1) + _NODES
    logs = np.log(places)
    b = np.expand_dims(np.where(far, a, 1.0), -1)
    heights = np.exp((b - 1) * logs - np.expand_dims(away, -1) - special.gammaln(b)) * (logs - special.psi(b))
    slope = np.where(x >= 0, np.where(far, -np.sum(_WEIGHTS * heights, axis=-1), total), np.nan)
    return slope.astype(dtype if dtype.kind == "f" else float)[()]


elementwise(
    gammainc_slope,
    unknown,
    lambda t, a, x: t * gamma_density(a, x) * (np.log(x) - special.psi(a)),
)
elementwise(
    special.gammainc,
    lambda t, a, x: t * gammainc_slope(a, x),
    lambda t, a, x: times(t, gamma_density(a, x)),
)
elementwise(
    special.gammaincc,
    lambda t, a, x: -t * gammainc_slope(a, x),
    lambda t, a, x: -times(t, gamma_density(a, x)),
)
elementwise(
    special.gammaincinv,
    lambda t, a, y, out: -t * gammainc_slope(a, out) / gamma_density(a, out),
    lambda t, a, y, out: over(t, gamma_density(a, out)),
)
elementwise(
    special.gammainccinv,
    lambda t, a, y, out: -t * gammainc_slope(a, out) / gamma_density(a, out),
    lambda t, a, y, out: -over(t, gamma_density(a, out)),
)


def cut(n):
    """An order as SciPy takes it where it takes integers; a Python number stays one."""
    return n // 1 + (n < 0) * (n % 1 != 0)


def beta_density(a, b, x):
    """The derivative of `betainc` by `x`."""
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


elementwise(special.betainc, unknown, unknown, lambda t, a, b, x: times(t, beta_density(a, b, x)))
elementwise(special.betaincc, unknown, unknown, lambda t, a, b, x: -times(t, beta_density(a, b, x)))
elementwise(special.betaincinv, unknown, unknown, lambda t, a, b, y, out: over(t, beta_density(a, b, out)))
elementwise(special.betainccinv, unknown, unknown, lambda t, a, b, y, out: -over(t, beta_density(a, b, out)))

# distributions under their names in the Cephes library

elementwise(
    special.chdtr,
    lambda t, v, x: t * gammainc_slope(v / 2, x / 2) / 2,
    lambda t, v, x: times(t, gamma_density(v / 2, x / 2) / 2),
)
elementwise(
    special.chdtrc,
    lambda t, v, x: -t * gammainc_slope(v / 2, x / 2) / 2,
    lambda t, v, x: -times(t, gamma_density(v / 2, x / 2) / 2),
)
elementwise(
    special.chdtri,
    lambda t, v, p, out: -t * gammainc_slope(v / 2, out / 2) / gamma_density(v / 2, out / 2),
    lambda t, v, p, out: -over(2 * t, gamma_density(v / 2, out / 2)),
)
elementwise(
    special.gdtr,
    lambda t, a, b, x: t * gamma_density(b, a * x) * x,
    lambda t, a, b, x: t * gammainc_slope(b, a * x),
    lambda t, a, b, x: times(t, gamma_density(b, a * x) * a),
)
elementwise(
    special.gdtrc,
    lambda t, a, b, x: -t * gamma_density(b, a * x) * x,
    lambda t, a, b, x: -t * gammainc_slope(b, a * x),
    lambda t, a, b, x: -times(t, gamma_density(b, a * x) * a),
)
elementwise(special.pdtr, unknown, lambda t, k, m: -t * gamma_density(np.floor(k) + 1, m))
elementwise(special.pdtrc, unknown, lambda t, k, m: t * gamma_density(np.floor(k) + 1, m))
elementwise(
    special.bdtr, unknown, unknown, lambda t, k, n, p: -t * beta_density(np.floor(k) + 1, cut(n) - np.floor(k), p)
)
elementwise(
    special.bdtrc, unknown, unknown, lambda t, k, n, p: t * beta_density(np.floor(k) + 1, cut(n) - np.floor(k), p)
)


def student_density(df, x):
    height = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - np.log(math.pi * df) / 2
    return np.exp(height - (df + 1) / 2 * np.log1p(x * x / df))


elementwise(special.stdtr, unknown, lambda t, df, x: t * student_density(df, x))
elementwise(special.stdtrit, unknown, lambda t, df, p, out: over(t, student_density(df, out)))

# ---------------------------------------------------------------- exponential integrals (DLMF 6), dilogarithm (25)

elementwise(special.exp1, lambda t, z: -over(t * np.exp(-z), z))
elementwise(special.expi, lambda t, x: over(t * np.exp(x), x))
elementwise(
    special.expn,
    unknown,
    lambda t, n, x, out: -t * np.where(n < 1, out * (1 + over(1.0, x)), special.expn(np.maximum(cut(n) - 1, 0), x)),
)
elementwise(special.spence, lambda t, z: t * np.where(z == 1, -1.0, np.log(z) / np.where(z == 1, 1, 1 - z)))


def sinch(x):
    """The slope of the hyperbolic sine integral: sinh(x) / x."""
    return np.where(x == 0, 1.0, np.sinh(x) / np.where(x == 0, 1.0, x))


vjp(
    special.sici,
    x=lambda g, out, x: (
        times(filled(part(g, 0), out[0]), np.conj(np.sinc(x / math.pi)))
        + over(filled(part(g, 1), out[1]) * np.conj(np.cos(x)), np.conj(x))
    ),
)
jvp(special.sici, x=lambda t, out, x: (t * np.sinc(x / math.pi), over(t * np.cos(x), x)))
vjp(
    special.shichi,
    x=lambda g, out, x: (
        times(filled(part(g, 0), out[0]), np.conj(sinch(x)))
        + over(filled(part(g, 1), out[1]) * np.conj(np.cosh(x)), np.conj(x))
    ),
)
jvp(special.shichi, x=lambda t, out, x: (t * sinch(x), over(t * np.cosh(x), x)))
vjp(
    special.lambertw,
    z=lambda g, out, z, k=0, tol=1e-8: unbroadcast(over(g, np.conj(np.exp(out) * (1 + out))), z),
)
jvp(special.lambertw, z=lambda t, out, z, k=0, tol=1e-8: over(t, np.exp(out) * (1 + out)))

# ---------------------------------------------------------------- Bessel functions (DLMF 10), Airy (9), Struve (11)

elementwise(special.j0, lambda t, x: -t * special.j1(x))
elementwise(special.j1, lambda t, x: t * (special.j0(x) - special.jv(2, x)) / 2)
elementwise(special.y0, lambda t, x: -t * special.y1(x))
elementwise(special.y1, lambda t, x: t * (special.y0(x) - special.yv(2, x)) / 2)
elementwise(special.i0, lambda t, x: t * special.i1(x))
elementwise(special.i1, lambda t, x: t * (special.i0(x) + special.iv(2, x)) / 2)
elementwise(special.i0e, lambda t, x, out: t * (special.i1e(x) - np.sign(x) * out))
elementwise(special.i1e, lambda t, x, out: t * ((special.i0e(x) + special.ive(2, x)) / 2 - np.sign(x) * out))
elementwise(special.k0, lambda t, x: -t * special.k1(x))
elementwise(special.k1, lambda t, x: -t * (special.k0(x) + special.kv(2, x)) / 2)
elementwise(special.k0e, lambda t, x, out: t * (out - special.k1e(x)))
elementwise(special.k1e, lambda t, x, out: t * (out - (special.k0e(x) + special.kve(2, x)) / 2))
elementwise(special.jv, unknown, lambda t, v, z: t * (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2)
elementwise(special.yv, unknown, lambda t, v, z: t * (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2)
elementwise(special.yn, unknown, lambda t, n, x: t * (special.yv(cut(n) - 1.0, x) - special.yv(cut(n) + 1.0, x)) / 2)
elementwise(special.iv, unknown, lambda t, v, z: t * (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2)
elementwise(special.kv, unknown, lambda t, v, z: -t * (special.kv(v - 1, z) + special.kv(v + 1, z)) / 2)
elementwise(special.kn, unknown, lambda t, n, x: -t * (special.kv(cut(n) - 1.0, x) + special.kv(cut(n) + 1.0, x)) / 2)
elementwise(special.kve, unknown, lambda t, v, z, out: t * (out - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2))
elementwise(special.hankel1, unknown, lambda t, v, z: t * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)) / 2)
elementwise(special.hankel2, unknown, lambda t, v, z: t * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)) / 2)


def ive_slope(v, z):
    """That of ``iv(v, z)``, scaled as `ive` is."""
    return (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2


# the scaling, ``exp(-abs(z.real))``, is no analytic function
vjp(
    special.ive,
    z=lambda g, out, v, z: unbroadcast(
        g * np.conj(ive_slope(v, z)) - np.sign(np.real(z)) * np.real(g * np.conj(out)), z
    ),
)
jvp(special.ive, z=lambda t, out, v, z: t * ive_slope(v, z) - np.sign(np.real(z)) * np.real(t) * out)


def struve_term(v, x):
    return (x / 2) ** v / (math.sqrt(math.pi) * special.gamma(v + 1.5))


elementwise(
    special.struve,
    unknown,
    lambda t, v, x: t * (special.struve(v - 1, x) - special.struve(v + 1, x) + struve_term(v, x)) / 2,
)
elementwise(
    special.modstruve,
    unknown,
    lambda t, v, x: t * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + struve_term(v, x)) / 2,
)


def airy_pullback(g, out, z):
    ai, aip, bi, bip = [filled(part(g, i), out[i]) for i in range(4)]
    d = ai * np.conj(out[1]) + aip * np.conj(z * out[0]) + bi * np.conj(out[3]) + bip * np.conj(z * out[2])
    return unbroadcast(d, z)


vjp(special.airy, z=airy_pullback)
jvp(special.airy, z=lambda t, out, z: (t * out[1], t * z * out[0], t * out[3], t * z * out[2]))


def curvature(n, z, value, slope, sign):
    """The second derivative of a spherical Bessel function, by its differential equation (DLMF 10.47)."""
    return -2 * slope / z + value * (n * (n + 1) / (z * z) - sign)


def spherical_jn_slope(out, n, z, derivative):
    return curvature(n, z, special.spherical_jn(n, z), out, 1) if derivative else special.spherical_jn(n, z, True)


def spherical_yn_slope(out, n, z, derivative):
    return curvature(n, z, special.spherical_yn(n, z), out, 1) if derivative else special.spherical_yn(n, z, True)


def spherical_in_slope(out, n, z, derivative):
    return curvature(n, z, special.spherical_in(n, z), out, -1) if derivative else special.spherical_in(n, z, True)


def spherical_kn_slope(out, n, z, derivative):
    return curvature(n, z, special.spherical_kn(n, z), out, -1) if derivative else special.spherical_kn(n, z, True)


vjp(
    special.spherical_jn,
    z=lambda g, out, n, z, derivative=False: unbroadcast(g * np.conj(spherical_jn_slope(out, n, z, derivative)), z),
)
jvp(special.spherical_jn, z=lambda t, out, n, z, derivative=False: t * spherical_jn_slope(out, n, z, derivative))
vjp(
    special.spherical_yn,
    z=lambda g, out, n, z, derivative=False: unbroadcast(g * np.conj(spherical_yn_slope(out, n, z, derivative)), z),
)
jvp(special.spherical_yn, z=lambda t, out, n, z, derivative=False: t * spherical_yn_slope(out, n, z, derivative))
vjp(
    special.spherical_in,
    z=lambda g, out, n, z, derivative=False: unbroadcast(g * np.conj(spherical_in_slope(out, n, z, derivative)), z),
)
jvp(special.spherical_in, z=lambda t, out, n, z, derivative=False: t * spherical_in_slope(out, n, z, derivative))
vjp(
    special.spherical_kn,
    z=lambda g, out, n, z, derivative=False: unbroadcast(g * np.conj(spherical_kn_slope(out, n, z, derivative)), z),
)
jvp(special.spherical_kn, z=lambda t, out, n, z, derivative=False: t * spherical_kn_slope(out, n, z, derivative))

# ---------------------------------------------------------------- elliptic integrals (DLMF 19)


def ellipd(m):
    """``(K(m) - E(m)) / m``."""
    return special.elliprd(0, 1 - m, 1) / 3


elementwise(
    ellipd,
    lambda t, m, out: (
        t
        * np.where(m == 0, 3 * math.pi / 32, (special.ellipk(m) - (2 - m) * out) / np.where(m == 0, 1, 2 * m * (1 - m)))
    ),
)
elementwise(special.ellipk, lambda t, m, out: t * (out - ellipd(m)) / (2 * (1 - m)))
elementwise(special.ellipkm1, lambda t, p, out: -t * (out - ellipd(1 - p)) / (2 * p))
elementwise(special.ellipe, lambda t, m: -t * ellipd(m) / 2)


def ellipd_incomplete(phi, m):
    """``(F(phi, m) - E(phi, m)) / m``."""
    difference = special.ellipkinc(phi, m) - special.ellipeinc(phi, m)
    return np.where(m == 0, (2 * phi - np.sin(2 * phi)) / 4, difference / np.where(m == 0, 1, m))


def ellipkinc_slope(phi, m, out):
    sine = np.sin(phi)
    rest = np.sin(2 * phi) / (2 * np.sqrt(1 - m * sine * sine))
    return (out - ellipd_incomplete(phi, m) - rest) / (2 * (1 - m))


elementwise(
    special.ellipkinc,
    lambda t, phi, m: t / np.sqrt(1 - m * np.square(np.sin(phi))),
    lambda t, phi, m, out: t * ellipkinc_slope(phi, m, out),
)
elementwise(
    special.ellipeinc,
    lambda t, phi, m: t * np.sqrt(1 - m * np.square(np.sin(phi))),
    lambda t, phi, m: -t * ellipd_incomplete(phi, m) / 2,
)


def agm_partial(t, a, b, out):
    """That of ``pi (a + b) / (4 K(m))``, where ``m = ((a - b) / (a + b)) ** 2``."""
    m = np.square((a - b) / (a + b))
    k = special.ellipk(m)
    slope = (k - ellipd(m)) / (2 * (1 - m))
    return t * out * (1 / (a + b) - slope / k * 4 * b * (a - b) / (a + b) ** 3)


elementwise(special.agm, agm_partial, lambda t, a, b, out: agm_partial(t, b, a, out))


def ellipj_pullback(g, out, u, m):
    sn, cn, dn, _ = out
    gs, gc, gd, gp = [filled(part(g, i), out[i]) for i in range(4)]
    return unbroadcast(gs * cn * dn - gc * sn * dn - gd * m * sn * cn + gp * dn, u)


vjp(special.ellipj, u=ellipj_pullback)
jvp(
    special.ellipj,
    u=lambda t, out, u, m: (
        t * out[1] * out[2],
        -t * out[0] * out[2],
        -t * m * out[0] * out[1],
        t * out[2],
    ),
)

# ---------------------------------------------------------------- hypergeometric functions (DLMF 13, 15, 16)

elementwise(special.hyp0f1, unknown, lambda t, v, z: t * special.hyp0f1(v + 1, z) / v)
elementwise(special.hyp1f1, unknown, unknown, lambda t, a, b, x: t * (a / b) * special.hyp1f1(a + 1, b + 1, x))
elementwise(special.hyperu, unknown, unknown, lambda t, a, b, x: -t * a * special.hyperu(a + 1, b + 1, x))
elementwise(
    special.hyp2f1,
    *(unknown, unknown, unknown),
    lambda t, a, b, c, z: t * (a * b / c) * special.hyp2f1(a + 1, b + 1, c + 1, z),
)

# ---------------------------------------------------------------- orthogonal polynomials (DLMF 18), harmonics (14.30)

elementwise(special.eval_legendre, unknown, lambda t, n, x: t * special.eval_gegenbauer(n - 1, 1.5, x))
elementwise(special.eval_chebyt, unknown, lambda t, n, x: t * n * special.eval_chebyu(n - 1, x))
elementwise(special.eval_chebyu, unknown, lambda t, n, x: t * 2 * special.eval_gegenbauer(n - 1, 2.0, x))
elementwise(special.eval_hermite, unknown, lambda t, n, x: t * 2 * n * special.eval_hermite(np.maximum(n - 1, 0), x))
elementwise(
    special.eval_hermitenorm, unknown, lambda t, n, x: t * n * special.eval_hermitenorm(np.maximum(n - 1, 0), x)
)
elementwise(special.eval_laguerre, unknown, lambda t, n, x: -t * special.eval_genlaguerre(n - 1, 1.0, x))
elementwise(
    special.eval_genlaguerre,
    *(unknown, unknown),
    lambda t, n, alpha, x: -t * special.eval_genlaguerre(n - 1, alpha + 1.0, x),
)
elementwise(
    special.eval_gegenbauer,
    *(unknown, unknown),
    lambda t, n, alpha, x: t * 2 * alpha * special.eval_gegenbauer(n - 1, alpha + 1.0, x),
)
elementwise(
    special.eval_jacobi,
    *(unknown, unknown, unknown),
    lambda t, n, alpha, beta, x: (
        t * (n + alpha + beta + 1) / 2 * special.eval_jacobi(n - 1, alpha + 1.0, beta + 1.0, x)
    ),
)


def polar_slope(n, m, theta, phi, out):
    above = np.sqrt(np.maximum((n - m) * (n + m + 1), 0)) * np.exp(-1j * phi)
    return m * out / np.tan(theta) + above * special.sph_harm_y(n, np.minimum(m + 1, n), theta, phi)


vjp(
    special.sph_harm_y,
    theta=lambda g, out, n, m, theta, phi: unbroadcast(g * np.conj(polar_slope(n, m, theta, phi, out)), theta),
    phi=lambda g, out, n, m, theta, phi: unbroadcast(g * np.conj(1j * m * out), phi),
)
jvp(
    special.sph_harm_y,
    theta=lambda t, out, n, m, theta, phi: t * polar_slope(n, m, theta, phi, out),
    phi=lambda t, out, n, m, theta, phi: t * 1j * m * out,
)

# ---------------------------------------------------------------- of whole axes


def spread(g, axis, keepdims):
    return g if axis is None or keepdims else np.expand_dims(g, axis)


def logsumexp_shares(out, a, axis, keepdims):
    """How much each entry of `a` counts in the result."""
    out = spread(out, axis, keepdims)
    return np.exp(a - np.where(np.isfinite(out), out, 0.0))


def logsumexp_pullback(g, out, a, axis=None, b=None, keepdims=False):
    d = spread(g, axis, keepdims) * np.conj(logsumexp_shares(out, a, axis, keepdims))
    return d if b is None else unbroadcast(d * b, a)


def logsumexp_weights_pullback(g, out, a, axis=None, b=None, keepdims=False):
    return unbroadcast(spread(g, axis, keepdims) * np.conj(logsumexp_shares(out, a, axis, keepdims)), b)


def logsumexp_pushforward(t, out, a, axis=None, b=None, keepdims=False):
    change = t * logsumexp_shares(out, a, axis, keepdims)
    return np.sum(change if b is None else b * change, axis=axis, keepdims=keepdims)


vjp(special.logsumexp, a=logsumexp_pullback, b=logsumexp_weights_pullback)
jvp(
    special.logsumexp,
    a=logsumexp_pushforward,
    b=lambda t, out, a, axis=None, b=None, keepdims=False: np.sum(
        t * logsumexp_shares(out, a, axis, keepdims), axis=axis, keepdims=keepdims
    ),
)
vjp(
    special.softmax,
    x=lambda g, out, x, axis=None: np.conj(out) * (g - np.sum(g * np.conj(out), axis=axis, keepdims=True)),
)
jvp(special.softmax, x=lambda t, out, x, axis=None: out * (t - np.sum(t * out, axis=axis, keepdims=True)))
vjp(
    special.log_softmax,
    x=lambda g, out, x, axis=None: g - np.conj(np.exp(out)) * np.sum(g, axis=axis, keepdims=True),
)
jvp(special.log_softmax, x=lambda t, out, x, axis=None: t - np.sum(np.exp(out) * t, axis=axis, keepdims=True))
