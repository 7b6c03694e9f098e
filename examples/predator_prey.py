"""Estimate the parameters of an ordinary differential equation from a trajectory, stepping in place.

The Lotka-Volterra equations are integrated by Runge-Kutta steps that write into one array of states, as people write
it; the gradient goes back through all of them.

Run with ``python examples/predator_prey.py``; needs SciPy.
"""

import numpy as np
from scipy.optimize import minimize

from s2sgrad import value_and_grad

TRUE = np.array([1.1, 0.4, 0.1, 0.4])


def slope(y, p):
    prey, hunters = y
    return np.array([p[0] * prey - p[1] * prey * hunters, p[2] * prey * hunters - p[3] * hunters])


def trajectory(p, steps, dt):
    states = np.empty((steps + 1, 2))
    states[0] = 10.0, 5.0
    for i in range(steps):
        y = states[i]
        k1 = slope(y, p)
        k2 = slope(y + dt / 2 * k1, p)
        k3 = slope(y + dt / 2 * k2, p)
        k4 = slope(y + dt * k3, p)
        states[i + 1] = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states


def misfit(p, observed, dt):
    return np.mean((trajectory(p, len(observed) - 1, dt) - observed) ** 2)


gradient = value_and_grad(misfit)


def estimate(steps=100, dt=0.1):
    observed = trajectory(TRUE, steps, dt)
    start = TRUE * np.array([0.9, 1.1, 0.9, 1.1])
    return minimize(gradient, start, args=(observed, dt), jac=True, method="BFGS", options={"gtol": 1e-8})


def main():
    found = estimate()
    print("true ", TRUE)
    print("found", found.x.round(6), f"after {found.nfev} gradients, which were {gradient.engine}")
    print("\nThe gradient:\n")
    print(gradient.source)


if __name__ == "__main__":
    main()
