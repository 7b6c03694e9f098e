"""Loops and their adjoints as an expert writes them by hand.

What a step of a loop needs backwards is kept, nothing else; buffers are written in place; products that a sum
over steps is made of are put together to one matrix product at the end.
"""

import numpy as np

from benchmarks.functions import RNG, Case
from tests.programs.recurrences import lstm


def heat(u0, k, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def heat_hand(u0, k, steps):
    u = u0.copy()
    saved = []
    for _ in range(steps):
        lap = u[2:] - 2 * u[1:-1]
        lap += u[:-2]
        saved.append(lap)
        u[1:-1] += k * lap
    value = np.vdot(u, u)
    du = 2 * u
    dk = 0.0
    for lap in reversed(saved):
        inner = du[1:-1]
        dk += np.vdot(inner, lap)
        dlap = k * inner
        du[2:] += dlap
        du[:-2] += dlap
        dlap *= 2
        inner -= dlap
    return value, (du, dk)


def lstm_hand(xs, w, _, b):
    n = len(b) // 4
    m = xs.shape[1]
    h = np.zeros(n)
    c = np.zeros(n)
    loss = 0.0
    saved = []
    for x in xs:
        v = np.concatenate([x, h])
        z = v @ w
        z += b
        s = 1 / (1 + np.exp(-z[: 3 * n]))
        i, f, o = s[:n], s[n : 2 * n], s[2 * n :]
        g = np.tanh(z[3 * n :])
        before = c
        c = f * c + i * g
        t = np.tanh(c)
        h = o * t
        loss += h @ h
        saved.append((v, s, g, before, t, h))
    dzs = np.empty((len(xs), 4 * n))
    dh = np.zeros(n)
    dc = np.zeros(n)
    back = w[m:]
    for (_, s, g, before, t, h), dz in zip(reversed(saved), dzs[::-1], strict=True):
        i, f, o = s[:n], s[n : 2 * n], s[2 * n :]
        dh += 2 * h
        dc += dh * o * (1 - t * t)
        np.multiply(dc, g, out=dz[:n])
        np.multiply(dc, before, out=dz[n : 2 * n])
        np.multiply(dh, t, out=dz[2 * n : 3 * n])
        dz[: 3 * n] *= s * (1 - s)
        dz[3 * n :] = dc * i * (1 - g * g)
        dc *= f
        dh = back @ dz
    vs = np.array([v for v, *_ in saved])
    return loss, (vs.T @ dzs, dzs.sum(axis=0))


def lotka_volterra(a, b, h, steps):
    x, y = 10.0, 5.0
    for _ in range(steps):
        k1x = a * x - b * x * y
        k1y = 0.1 * x * y - 0.4 * y
        x2 = x + h / 2 * k1x
        y2 = y + h / 2 * k1y
        k2x = a * x2 - b * x2 * y2
        k2y = 0.1 * x2 * y2 - 0.4 * y2
        x3 = x + h / 2 * k2x
        y3 = y + h / 2 * k2y
        k3x = a * x3 - b * x3 * y3
        k3y = 0.1 * x3 * y3 - 0.4 * y3
        x4 = x + h * k3x
        y4 = y + h * k3y
        k4x = a * x4 - b * x4 * y4
        k4y = 0.1 * x4 * y4 - 0.4 * y4
        x = x + h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x)
        y = y + h / 6 * (k1y + 2 * k2y + 2 * k3y + k4y)
    return x * x + y


def slope(x, y, a, b):
    return a * x - b * x * y, 0.1 * x * y - 0.4 * y


def lotka_volterra_with_slope(a, b, h, steps):
    x, y = 10.0, 5.0
    for _ in range(steps):
        k1x, k1y = slope(x, y, a, b)
        k2x, k2y = slope(x + h / 2 * k1x, y + h / 2 * k1y, a, b)
        k3x, k3y = slope(x + h / 2 * k2x, y + h / 2 * k2y, a, b)
        k4x, k4y = slope(x + h * k3x, y + h * k3y, a, b)
        x = x + h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x)
        y = y + h / 6 * (k1y + 2 * k2y + 2 * k3y + k4y)
    return x * x + y


def lotka_volterra_hand(a, b, h, steps):
    x, y = 10.0, 5.0
    half, sixth = h / 2, h / 6
    saved = []
    for _ in range(steps):
        k1x, k1y = (a - b * y) * x, (0.1 * x - 0.4) * y
        x2, y2 = x + half * k1x, y + half * k1y
        k2x, k2y = (a - b * y2) * x2, (0.1 * x2 - 0.4) * y2
        x3, y3 = x + half * k2x, y + half * k2y
        k3x, k3y = (a - b * y3) * x3, (0.1 * x3 - 0.4) * y3
        x4, y4 = x + h * k3x, y + h * k3y
        k4x, k4y = (a - b * y4) * x4, (0.1 * x4 - 0.4) * y4
        saved.append((x, y, x2, y2, x3, y3, x4, y4))
        x += sixth * (k1x + 2 * k2x + 2 * k3x + k4x)
        y += sixth * (k1y + 2 * k2y + 2 * k3y + k4y)
    dx, dy, da, db = 2 * x, 1.0, 0.0, 0.0
    for x1, y1, x2, y2, x3, y3, x4, y4 in reversed(saved):
        px, py = sixth * dx, sixth * dy
        da += px * x4
        db -= px * x4 * y4
        ex = px * (a - b * y4) + py * 0.1 * y4
        ey = py * (0.1 * x4 - 0.4) - px * b * x4
        dx += ex
        dy += ey
        qx, qy = 2 * px + h * ex, 2 * py + h * ey
        da += qx * x3
        db -= qx * x3 * y3
        ex = qx * (a - b * y3) + qy * 0.1 * y3
        ey = qy * (0.1 * x3 - 0.4) - qx * b * x3
        dx += ex
        dy += ey
        qx, qy = 2 * px + half * ex, 2 * py + half * ey
        da += qx * x2
        db -= qx * x2 * y2
        ex = qx * (a - b * y2) + qy * 0.1 * y2
        ey = qy * (0.1 * x2 - 0.4) - qx * b * x2
        dx += ex
        dy += ey
        qx, qy = px + half * ex, py + half * ey
        da += qx * x1
        db -= qx * x1 * y1
        dx += qx * (a - b * y1) + qy * 0.1 * y1
        dy += qy * (0.1 * x1 - 0.4) - qx * b * x1
    return x * x + y, (da, db)


def oscillator(y, p, h, steps):
    def f(y):
        return np.array([y[1], p[0] * (1 - y[0] * y[0]) * y[1] - p[1] * y[0]])

    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y * y)


def oscillator_hand(y, p, h, steps):
    mu, w = p.tolist()
    half, sixth = h / 2, h / 6

    def f(y):
        a, b = y
        return np.array([b, mu * (1 - a * a) * b - w * a])

    saved = []
    for _ in range(steps):
        k1 = f(y)
        y2 = y + half * k1
        k2 = f(y2)
        y3 = y + half * k2
        k3 = f(y3)
        y4 = y + h * k3
        k4 = f(y4)
        saved.append((y, y2, y3, y4))
        y = y + sixth * (k1 + 2 * k2 + 2 * k3 + k4)
    dmu = dw = 0.0

    def pull(y, d):
        nonlocal dmu, dw
        a, b = y
        d0, d1 = d
        t = 1 - a * a
        dmu += d1 * t * b
        dw -= d1 * a
        return np.array([-d1 * (2 * mu * a * b + w), d0 + d1 * mu * t])

    dy = 2 * y
    value = y @ y
    for y1, y2, y3, y4 in reversed(saved):
        d = sixth * dy
        e4 = pull(y4, d)
        e3 = pull(y3, 2 * d + h * e4)
        e2 = pull(y2, 2 * d + half * e3)
        e1 = pull(y1, d + half * e2)
        dy = dy + e1 + e2 + e3 + e4
    return value, (dy, np.array([dmu, dw]))


def roots(a, count):
    total = 0.0
    for k in range(count):
        x = a + k
        while abs(x * x - a) > 1e-12 * a:
            x = 0.5 * (x + a / x)
        total += x
    return total


def roots_hand(a, count):
    total = 0.0
    kept = []
    for k in range(count):
        x = a + k
        saved = []
        while abs(x * x - a) > 1e-12 * a:
            saved.append(x)
            x = 0.5 * (x + a / x)
        kept.append(saved)
        total += x
    da = 0.0
    for saved in reversed(kept):
        dx = 1.0
        for y in reversed(saved):
            t = 0.5 * dx
            q = t / y
            da += q
            dx = t - q * a / y
        da += dx
    return total, da


LINE = RNG.normal(size=1000)


def network(n, steps):
    """The arguments of `lstm` for states of `n` numbers."""
    w = RNG.normal(size=(2 * n, 4 * n)) / np.sqrt(2 * n)
    return RNG.normal(size=(steps, n)), w, None, np.zeros(4 * n)


STEPS = (1.1, 0.4, 0.01, 1000)
OSCILLATOR = np.array([0.5, 0.2]), np.array([1.1, 0.9]), 0.01, 1000
CASES = [
    Case("heat, 200 steps on 1000", heat, heat_hand, (LINE, 0.2, 200), (0, 1), 1.5),
    Case("LSTM of 14, 100 steps", lstm, lstm_hand, network(14, 100), (1, 3), 1.6),
    Case("LSTM of 128, 50 steps", lstm, lstm_hand, network(128, 50), (1, 3), 1.6),
    Case("RK4, 1000 steps, numbers", lotka_volterra, lotka_volterra_hand, STEPS, (0, 1), 2.0),
    Case("RK4, with a helper", lotka_volterra_with_slope, lotka_volterra_hand, STEPS, (0, 1), 2.0),
    Case("RK4, arrays of 2", oscillator, oscillator_hand, OSCILLATOR, (0, 1), 2.0),
    Case("Newton, 200 roots", roots, roots_hand, (7.0, 200), 0, 1.6),
]
