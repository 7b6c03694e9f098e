"""Fit two decaying exponentials to noisy data, with SciPy's least squares and the Jacobian of the model as written.

Run with ``python examples/curve_fit.py``; needs SciPy.
"""

import numpy as np
from scipy.optimize import least_squares

from s2sgrad import jacobian

TRUE = np.array([3.0, 1.5, 1.0, 0.2])  # amplitude and rate, twice


def model(p, t):
    return p[0] * np.exp(-p[1] * t) + p[2] * np.exp(-p[3] * t)


def residuals(p, t, y):
    return model(p, t) - y


def fit(n=100, noise=0.01):
    """The parameters that fit `n` samples best, and SciPy's account of how they were found."""
    t = np.linspace(0.0, 8.0, n)
    y = model(TRUE, t) + noise * np.random.default_rng(0).normal(size=n)
    found = least_squares(residuals, np.array([1.0, 1.0, 1.0, 0.1]), jac=jacobian(residuals), args=(t, y))
    return found.x, found


def main():
    p, found = fit()
    print("true ", TRUE)
    print("found", p.round(3), f"after {found.nfev} evaluations")


if __name__ == "__main__":
    main()
