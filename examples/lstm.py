"""An LSTM written by hand in NumPy, trained to continue a wave.

Run with ``python examples/lstm.py``.
"""

import numpy as np

from s2sgrad import value_and_grad


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def predict(params, series):
    """For each element of a series the guess at the next one."""
    W, b, out = params["W"], params["b"], params["out"]
    n = len(out)
    h, c = np.zeros(n), np.zeros(n)
    guesses = []
    for x in series:
        gates = W @ np.concatenate([np.array([x]), h]) + b
        i, f, o = sigmoid(gates[:n]), sigmoid(gates[n : 2 * n]), sigmoid(gates[2 * n : 3 * n])
        c = f * c + i * np.tanh(gates[3 * n :])
        h = o * np.tanh(c)
        guesses.append(out @ h)
    return np.array(guesses)


def loss(params, series):
    return np.mean((predict(params, series[:-1]) - series[1:]) ** 2)


gradient = value_and_grad(loss)


def initialise(units=12, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(4 * units, units + 1)) / np.sqrt(units + 1)
    return {"W": W, "b": np.zeros(4 * units), "out": rng.normal(size=units) / np.sqrt(units)}


def train(steps=300, length=60, rate=0.02):
    """Adam on one wave; returns the parameters and the loss of every step."""
    series = np.sin(np.arange(length) * 0.4)
    params, curve = initialise(), []
    mean = {name: np.zeros_like(p) for name, p in params.items()}
    square = {name: np.zeros_like(p) for name, p in params.items()}
    for step in range(1, steps + 1):
        value, d = gradient(params, series)
        curve.append(float(value))
        for name, p in params.items():
            mean[name] = 0.9 * mean[name] + 0.1 * d[name]
            square[name] = 0.999 * square[name] + 0.001 * d[name] ** 2
            p -= rate * (mean[name] / (1 - 0.9**step)) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
    return params, curve


def main():
    _, curve = train()
    for step in range(0, len(curve), 50):
        print(f"step {step:4d}  loss {curve[step]:.5f}")
    print(f"at the end loss {curve[-1]:.5f}; {gradient.engine}\n")
    print(gradient.source)


if __name__ == "__main__":
    main()
