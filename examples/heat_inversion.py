"""Find how warm a rod was from how warm it is now: gradients through a loop that writes into its array.

The problem is badly posed, so that what is found is the smoothest of what fits.

Run with ``python examples/heat_inversion.py``; needs SciPy.
"""

import numpy as np
from scipy.optimize import minimize

from s2sgrad import value_and_grad


def diffuse(start, k, steps):
    u = start.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def objective(start, measured, k, steps, weight):
    off = diffuse(start, k, steps) - measured
    return np.sum(off**2) + weight * np.sum(np.diff(start) ** 2)


gradient = value_and_grad(objective)


def invert(n=50, steps=200, k=0.2, noise=1e-3):
    """The temperatures that were, and those that were found from what became of them."""
    x = np.linspace(0.0, 1.0, n)
    truth = np.exp(-80 * (x - 0.3) ** 2) + 0.6 * np.exp(-120 * (x - 0.7) ** 2)
    measured = diffuse(truth, k, steps) + noise * np.random.default_rng(0).normal(size=n)
    found = minimize(gradient, np.zeros(n), args=(measured, k, steps, 1e-5), jac=True, method="L-BFGS-B")
    return truth, found.x


def main():
    truth, found = invert()
    for was, is_ in zip(truth[::3], found[::3], strict=True):
        print(f"{was:6.3f} {is_:6.3f} " + "#" * round(40 * max(is_, 0.0)))
    print("largest error", np.max(np.abs(truth - found)).round(3))


if __name__ == "__main__":
    main()
