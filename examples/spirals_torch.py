"""A program written for torch that runs on NumPy: only the import differs.

Run with ``python examples/spirals_torch.py``.
"""

import numpy as np

import s2sgrad.torch as torch


def spirals(n, seed=0):
    """Points on two spirals, and which of them each point is on."""
    rng = np.random.default_rng(seed)
    t = np.sqrt(rng.random(n)) * 2.5 * np.pi
    side = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    points = np.stack([side * t * np.cos(t), side * t * np.sin(t)], axis=1) / 8 + 0.02 * rng.normal(size=(n, 2))
    return torch.tensor(points), torch.tensor((side > 0) * 1.0)


def train(steps=400, n=200, units=24, rate=0.01):
    """Train two layers; returns the loss of every step and the share of points that are told right."""
    x, y = spirals(n)
    rng = np.random.default_rng(1)
    sizes = [(2, units), (units, units), (units, 1)]
    weights = [torch.tensor(rng.normal(size=s) * np.sqrt(2 / s[0]), requires_grad=True) for s in sizes]
    biases = [torch.zeros(s[1], dtype=torch.float64, requires_grad=True) for s in sizes]
    params = weights + biases
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in params]
    curve = []
    for step in range(1, steps + 1):
        h = x
        for w, b in zip(weights[:-1], biases[:-1], strict=True):
            h = torch.relu(h @ w + b)
        scores = (h @ weights[-1] + biases[-1]).squeeze(1)
        loss = (torch.log1p(torch.exp(-scores.abs())) + torch.relu(scores) - scores * y).mean()
        for p in params:
            p.grad = None
        loss.backward()
        with torch.no_grad():
            for p, (m, v) in zip(params, moments, strict=True):
                m += 0.1 * (p.grad - m)
                v += 0.01 * (p.grad**2 - v)
                p -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.99**step)).sqrt() + 1e-8)
        curve.append(loss.item())
    return curve, ((scores > 0) == (y > 0.5)).double().mean().item()


def main():
    curve, right = train()
    for step in range(0, len(curve), 50):
        print(f"step {step:4d}  loss {curve[step]:.4f}")
    print(f"{100 * right:.0f} % of the points are told right")


if __name__ == "__main__":
    main()
