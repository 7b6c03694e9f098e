"""Minimise Rosenbrock's banana valley with SciPy's BFGS and the gradient of the function as written.

Run with ``python examples/rosenbrock.py``; needs SciPy.
"""

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.optimize import minimize

from s2sgrad import value_and_grad


def rosenbrock(x):
    valley = x[1:] - x[:-1] ** 2
    slope = 1.0 - x[:-1]
    return np.sum(100.0 * valley**2 + slope**2)


gradient = value_and_grad(rosenbrock)


def solve(n=20):
    """Minimise in `n` dimensions, once with the exact gradient and once with SciPy's finite differences."""
    start = np.full(n, -1.2)
    start[1::2] = 1.0
    options = {"gtol": 1e-8, "maxiter": 5000}
    exact = minimize(gradient, start, jac=True, method="BFGS", options=options)
    differences = minimize(rosenbrock, start, method="BFGS", options={**options, "gtol": 1e-5})
    return exact, differences


def main():
    console = Console()
    exact, differences = solve()
    table = Table(title=f"Rosenbrock in {exact.x.size} dimensions, BFGS")
    for heading in ("gradient", "converged", "iterations", "calls", "largest error"):
        table.add_column(heading, justify="left" if heading == "gradient" else "right")
    for name, result in (("value_and_grad", exact), ("finite differences", differences)):
        error = np.max(np.abs(result.x - 1.0))
        table.add_row(name, "yes" if result.success else "no", str(result.nit), str(result.nfev), f"{error:.1e}")
    console.print(table)
    console.print("\nThe gradient that BFGS was given:\n")
    console.print(gradient.source, markup=False, highlight=False, soft_wrap=True)
    if not exact.success or np.max(np.abs(exact.x - 1.0)) > 1e-6:
        raise SystemExit(f"BFGS did not converge to the minimum: {exact.message}")


if __name__ == "__main__":
    main()
