"""Recurrences, integrators, root finders, dynamic programming and networks, as textbooks write them."""

import cmath
import math

import numpy as np

from tests.programs.corpus import kernel


def line(n):
    return np.sin(np.linspace(0.4, 4.0, n)) + 1.5


def weights(n, m):
    return np.sin(np.add.outer(1.7 * np.arange(n), np.arange(m))) / np.sqrt(m)


@kernel("loops", small=(1.1, 0.4, 0.1, 5), large=(1.1, 0.4, 0.01, 1000), argnums=(0, 1))
def lotka_volterra(alpha, beta, h, steps):
    def slope(x, y):
        return alpha * x - beta * x * y, 0.1 * x * y - 0.4 * y

    x, y = 10.0, 5.0
    for _ in range(steps):
        k1x, k1y = slope(x, y)
        k2x, k2y = slope(x + h / 2 * k1x, y + h / 2 * k1y)
        k3x, k3y = slope(x + h / 2 * k2x, y + h / 2 * k2y)
        k4x, k4y = slope(x + h * k3x, y + h * k3y)
        x += h / 6 * (k1x + 2 * k2x + 2 * k3x + k4x)
        y += h / 6 * (k1y + 2 * k2y + 2 * k3y + k4y)
    return x * x + y


@kernel("slices", small=(line(4), 0.1, 4), large=(line(1000), 0.01, 100))
def runge_kutta(y, h, steps):
    def f(y):
        return np.sin(y) * y[::-1] - 0.1 * y

    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + 0.5 * h * k1)
        k3 = f(y + 0.5 * h * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(y * y)


@kernel("loops", small=(0.3, 0.1, 6), large=(0.3, 0.01, 1000), argnums=(0, 1))
def pendulum(theta, h, steps):
    omega = 0.0
    for _ in range(steps):
        omega -= h * math.sin(theta)
        theta += h * omega
    return theta * theta + omega * omega


@kernel("slices", small=(line(8).reshape(4, 2), 0.1, 3), large=(line(400).reshape(200, 2), 0.01, 3))
def n_body(x, h, steps):
    v = np.zeros_like(x)
    for _ in range(steps):
        d = x[None, :, :] - x[:, None, :]
        r2 = np.sum(d * d, axis=2) + 0.1
        a = np.sum(d / r2[:, :, None] ** 1.5, axis=1)
        v = v + h * a
        x = x + h * v
    return np.sum(x * x) + np.sum(v * v)


@kernel("loops", small=(line(9).reshape(3, 3), 0.1, 2), large=(line(36).reshape(12, 3), 0.01, 3))
def n_body_by_pairs(x0, h, steps):
    x = x0.copy()
    n = len(x)
    v = np.zeros((n, 3))
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                dz = x[i, 2] - x[j, 2]
                f = h / (dx * dx + dy * dy + dz * dz + 0.1) ** 1.5
                v[i, 0] -= f * dx
                v[i, 1] -= f * dy
                v[i, 2] -= f * dz
                v[j, 0] += f * dx
                v[j, 1] += f * dy
                v[j, 2] += f * dz
        x += h * v
    return np.sum(x * x)


@kernel("slices", small=(line(5), 0.3 * np.eye(2)), large=(line(200), 0.3 * np.eye(2)), argnums=(0, 1))
def kalman_filter(z, q):
    f = np.array([[1.0, 0.1], [0.0, 1.0]])
    h = np.array([[1.0, 0.0]])
    x = np.zeros(2)
    p = np.eye(2)
    loss = 0.0
    for t in range(len(z)):
        x = f @ x
        p = f @ p @ f.T + q
        y = z[t] - h @ x
        s = h @ p @ h.T + 0.5
        k = p @ h.T / s
        x = x + k @ y
        p = (np.eye(2) - k @ h) @ p
        loss += np.sum(y * y) / s[0, 0] + np.log(s[0, 0])
    return loss


@kernel("loops", small=(line(6), 0.2, 0.5), large=(line(500), 0.2, 0.5), argnums=(0, 1, 2))
def kalman_scalar(z, q, r):
    x = 0.0
    p = 1.0
    loss = 0.0
    for i in range(len(z)):
        p = p + q
        k = p / (p + r)
        e = z[i] - x
        loss += e * e / (p + r)
        x = x + k * e
        p = (1.0 - k) * p
    return loss


@kernel(
    "slices",
    small=(weights(5, 3), weights(3, 3)),
    large=(weights(100, 30), weights(30, 30)),
    argnums=(0, 1),
    smooth=False,
)
def viterbi(emission, transition):
    score = emission[0]
    for t in range(1, len(emission)):
        score = np.max(score[:, None] + transition, axis=0) + emission[t]
    return np.max(score)


@kernel(
    "loops", small=(weights(4, 3), weights(3, 3)), large=(weights(20, 8), weights(8, 8)), argnums=(0, 1), smooth=False
)
def viterbi_by_states(emission, transition):
    steps, n = emission.shape
    score = np.zeros((steps, n))
    for j in range(n):
        score[0, j] = emission[0, j]
    for t in range(1, steps):
        for j in range(n):
            best = -1e9
            for i in range(n):
                s = score[t - 1, i] + transition[i, j]
                if s > best:
                    best = s
            score[t, j] = best + emission[t, j]
    return np.max(score[steps - 1])


@kernel("slices", small=(weights(4, 3), weights(3, 3)), large=(weights(100, 30), weights(30, 30)), argnums=(0, 1))
def forward_algorithm(emission, transition):
    alpha = emission[0]
    for t in range(1, len(emission)):
        scores = alpha[:, None] + transition
        m = np.max(scores, axis=0)
        alpha = np.log(np.sum(np.exp(scores - m), axis=0)) + m + emission[t]
    return np.log(np.sum(np.exp(alpha)))


@kernel("loops", small=(line(4), line(5) * 0.9), large=(line(25), line(25) * 0.9), argnums=(0, 1), smooth=False)
def edit_cost(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        d[i, 0] = i * 0.5
    for j in range(1, m + 1):
        d[0, j] = j * 0.6
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            change = abs(a[i - 1] - b[j - 1])
            d[i, j] = min(d[i - 1, j] + 0.5 * a[i - 1], d[i, j - 1] + 0.6, d[i - 1, j - 1] + change)
    return d[n, m]


@kernel("loops", small=(line(4), line(4) * 0.8), large=(line(20), line(20) * 0.8), argnums=(0, 1))
def soft_warping(a, b):
    n, m = len(a), len(b)
    d = np.full((n + 1, m + 1), 1e3)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = (a[i - 1] - b[j - 1]) ** 2
            low = min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
            z = math.exp(low - d[i - 1, j]) + math.exp(low - d[i, j - 1]) + math.exp(low - d[i - 1, j - 1])
            d[i, j] = c + low - math.log(z)
    return d[n, m]


@kernel("slices", small=(weights(4, 4) + 1.3,), large=(weights(200, 200) * 5 + 1.3,), smooth=False)
def floyd_warshall(d0):
    d = d0.copy()
    for k in range(len(d)):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
    return np.sum(d)


@kernel("loops", small=(weights(4, 4) + 1.3,), large=(weights(12, 12) * 3 + 1.3,), smooth=False)
def floyd_warshall_by_entries(d0):
    d = d0.copy()
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return np.sum(d)


@kernel(
    "slices",
    small=(weights(4, 3), weights(5, 8), weights(2, 8), np.zeros(8)),
    large=(weights(50, 20), weights(60, 160), weights(40, 160), np.zeros(160)),
    argnums=(1, 3),
)
def lstm(xs, w, _, b):
    n = len(b) // 4
    h = np.zeros(n)
    c = np.zeros(n)
    loss = 0.0
    for x in xs:
        z = np.concatenate([x, h]) @ w + b
        i = 1 / (1 + np.exp(-z[:n]))
        f = 1 / (1 + np.exp(-z[n : 2 * n]))
        o = 1 / (1 + np.exp(-z[2 * n : 3 * n]))
        g = np.tanh(z[3 * n :])
        c = f * c + i * g
        h = o * np.tanh(c)
        loss = loss + np.sum(h * h)
    return loss


@kernel(
    "slices",
    small=(weights(4, 3), weights(3, 3), weights(3, 3)),
    large=(weights(100, 40), weights(40, 40), weights(40, 40)),
    argnums=(1, 2),
)
def recurrent_network(xs, w, u):
    h = np.zeros(len(u))
    out = np.zeros((len(xs), len(u)))
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ w + u @ h)
        out[t] = h
    return np.sum(out**2)


@kernel(
    "slices", small=(weights(5, 3), line(3), line(3)), large=(weights(500, 64), line(64), line(64)), argnums=(0, 1, 2)
)
def batch_norm(x, gamma, beta):
    for _ in range(3):
        mean = np.mean(x, axis=0)
        var = np.mean((x - mean) ** 2, axis=0)
        x = np.maximum(gamma * (x - mean) / np.sqrt(var + 1e-5) + beta, 0.0)
    return np.sum(x * x)


@kernel("slices", small=(weights(5, 5), weights(2, 2)), large=(weights(60, 60), weights(5, 5)), argnums=(0, 1))
def convolution(x, w):
    k = len(w)
    n, m = x.shape[0] - k + 1, x.shape[1] - k + 1
    y = np.zeros((n, m))
    for i in range(k):
        for j in range(k):
            y += w[i, j] * x[i : i + n, j : j + m]
    return np.sum(y * y)


@kernel("slices", small=(weights(5, 5), weights(2, 2)), large=(weights(30, 30), weights(5, 5)), argnums=(0, 1))
def convolution_by_windows(x, w):
    k = len(w)
    n, m = x.shape[0] - k + 1, x.shape[1] - k + 1
    y = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            y[i, j] = np.sum(x[i : i + k, j : j + k] * w)
    return np.sum(np.tanh(y))


@kernel("loops", small=(line(6), line(3)), large=(line(120), line(8)), argnums=(0, 1))
def convolution_1d(x, w):
    n, k = len(x), len(w)
    y = np.zeros(n - k + 1)
    for i in range(n - k + 1):
        s = 0.0
        for j in range(k):
            s += x[i + j] * w[j]
        y[i] = s
    return np.sum(y * y)


@kernel("loops", small=(2.0,), large=(2.0,))
def newton_root(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@kernel("loops", small=(0.3, 2), large=(0.3, 200), argnums=0)
def kepler(e, orbits):
    total = 0.0
    for k in range(orbits):
        m = 0.03 * k
        x = m
        while abs(x - e * math.sin(x) - m) > 1e-12:
            x = x - (x - e * math.sin(x) - m) / (1.0 - e * math.cos(x))
        total += math.cos(x)
    return total


@kernel("loops", small=(2.0, 5, 0.1), large=(2.0, 500, 1e-6))
def bisection(a, roots, tolerance):
    total = 0.0
    for k in range(1, roots + 1):
        low, high = 0.0, a + k
        while high - low > tolerance:
            mid = 0.5 * (low + high)
            if mid * mid > k:
                high = mid
            else:
                low = mid
        total += 0.5 * (low + high)
    return total


@kernel("loops", small=(line(4), line(4)[::-1].copy(), 6), large=(line(10), line(10)[::-1].copy(), 500))
def simulated_annealing(x, draws, steps):
    state = x[0]
    energy = (state - 0.3) ** 2 * x[1]
    temperature = 1.0
    best = energy
    n = len(draws)
    for k in range(steps):
        proposal = state + 0.3 * (draws[k % n] - 1.6) * temperature
        e = (proposal - 0.3) ** 2 * x[1] + 0.1 * x[2] * math.cos(proposal)
        if e < energy or math.exp((energy - e) / temperature) > draws[(3 * k) % n] / 2.5:
            state = proposal
            energy = e
        if energy < best:
            best = energy
        temperature *= 0.99
    return best + state


@kernel("loops", small=(0.7, 3), large=(0.7, 200))
def ray_marching(radius, rays):
    total = 0.0
    for k in range(rays):
        angle = 0.3 * k / rays
        c, s = math.cos(angle), math.sin(angle)
        t = 0.0
        for _ in range(30):
            x, y, z = t * c, t * s, -3.0 + t * c
            d = math.sqrt(x * x * 0.01 + y * y + z * z) - radius
            if d < 1e-4:
                break
            t = t + d
            if t > 10.0:
                break
        total += 1.0 / (1.0 + t)
    return total


@kernel("slices", small=(line(4), 0.2, 0.05), large=(line(20000), 0.2, 0.05), argnums=(0, 1, 2))
def black_scholes(s, sigma, r):
    k, t = 1.4, 0.5
    total = 0.0
    for _ in range(2):
        d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / (sigma * np.sqrt(t))
        d2 = d1 - sigma * np.sqrt(t)
        n1 = 1 / (1 + np.exp(-1.702 * d1))
        n2 = 1 / (1 + np.exp(-1.702 * d2))
        call = s * n1 - k * np.exp(-r * t) * n2
        total += np.sum(call)
        t = t + 0.5
    return total


@kernel("loops", small=(1.2, 0.2, 4), large=(1.2, 0.2, 40), argnums=(0, 1))
def binomial_tree(s, sigma, n):
    dt = 1.0 / n
    u = math.exp(sigma * math.sqrt(dt))
    p = (1.01 - 1 / u) / (u - 1 / u)
    values = [max(s * u ** (2 * i - n) - 1.0, 0.0) for i in range(n + 1)]
    for step in range(n):
        values = [0.99 * (p * values[i + 1] + (1 - p) * values[i]) for i in range(n - step)]
    return values[0]


@kernel("slices", small=(line(5), 1.1, 0.2), large=(line(200), 1.1, 0.2), argnums=(1, 2))
def monte_carlo(draws, s0, sigma):
    s = s0 * np.ones(50)
    for z in draws:
        s = s * np.exp((0.01 - 0.5 * sigma**2) * 0.1 + sigma * 0.3 * z * np.linspace(-1, 1, 50))
    return np.mean(np.maximum(s - 1.0, 0.0))


@kernel("loops", small=(line(6), 0.3), large=(line(1000), 0.3), argnums=(0, 1))
def exponential_smoothing(x, a):
    s = x[0]
    loss = 0.0
    for i in range(1, len(x)):
        loss += (x[i] - s) ** 2
        s = a * x[i] + (1 - a) * s
    return loss


@kernel("loops", small=(line(6), 0.3, 0.2), large=(line(500), 0.3, 0.2), argnums=(0, 1, 2))
def garch(returns, alpha, beta):
    variance = 0.5
    loss = 0.0
    for r in returns:
        loss += math.log(variance) + r * r / variance
        variance = 0.1 + alpha * r * r + beta * variance
    return loss


@kernel("loops", small=(line(5),), large=(line(500),))
def logistic_map(x):
    s = 0.0
    y = 0.3
    for i in range(len(x)):
        y = (x[i] + 1.0) * y * (1.0 - y)
        s += y * y
    return s


@kernel("loops", small=(line(4), 0.3), large=(line(60), 0.3), argnums=(0, 1))
def horner(c, x):
    total = 0.0
    for k in range(10):
        y = 0.0
        for i in range(len(c) - 1, -1, -1):
            y = y * (x + 0.01 * k) + c[i]
        total += y
    return total


@kernel(
    "slices",
    small=(line(6).reshape(3, 2), line(4).reshape(2, 2)),
    large=(line(2000).reshape(1000, 2), line(20).reshape(10, 2)),
)
def k_means(x, centres):
    for _ in range(3):
        d = np.sum((x[:, None, :] - centres[None, :, :]) ** 2, axis=2)
        w = np.exp(-d)
        w = w / np.sum(w, axis=1, keepdims=True)
        centres = w.T @ x / np.sum(w, axis=0)[:, None]
    return np.sum(centres**2)


# ---------------------------------------------------------------- complex numbers


@kernel("loops", small=(-0.3 + 0.2j, 6), large=(-0.3 + 0.2j, 1000), smooth=False)
def mandelbrot(c, steps):
    z = 0j
    for _ in range(steps):
        z = z * z + c
    return z.real * z.real + z.imag * z.imag


@kernel("loops", small=(-0.3, 0.2, 6), large=(-0.3, 0.2, 1000), argnums=(0, 1))
def escape_time(x, y, steps):
    c = complex(x, y)
    z = 0j
    total = 0.0
    for n in range(steps):
        z = z * z + c
        total += abs(z) / (n + 1)
    return total


@kernel("loops", small=(np.complex128(-0.4 + 0.6j), 5), large=(np.complex128(-0.4 + 0.6j), 200), smooth=False)
def newton_fractal(c, steps):
    z = 1.0 + 0.5j
    for _ in range(steps):
        z = z - (z**3 - c) / (3 * z**2)
    return abs(z - 0.3) ** 2


@kernel("loops", small=(line(5),), large=(line(60),))
def fourier_transform_by_loops(x):
    n = len(x)
    total = 0.0
    for k in range(n):
        s = 0j
        for t in range(n):
            s += x[t] * cmath.exp(-2j * cmath.pi * k * t / n)
        total += (k + 1) * abs(s) ** 2
    return total


@kernel("loops", small=(line(5),), large=(line(40),))
def fourier_transform_from_zero(x):
    n = len(x)
    total = 0.0
    for k in range(n):
        s = 0.0
        for t in range(n):
            s += x[t] * np.exp(-2j * np.pi * k * t / n)
        total += (k + 1) * (s.real**2 + s.imag**2)
    return total


@kernel("loops", small=(line(6), 0.3), large=(line(1000), 0.3), argnums=(0, 1))
def resonator(x, omega):
    pole = 0.95 * cmath.exp(1j * omega)
    s = 0j
    power = 0.0
    for v in x:
        s = s * pole + v
        power += (s * s.conjugate()).real
    return power


@kernel("loops", small=([0.3, -1.2, 0.8, 1.1], 0.4 + 0.7j), large=(list(line(30)), 0.4 + 0.7j), argnums=(0, 1))
def polynomial_at_a_complex_point(coefficients, z):
    p = 0j
    for a in coefficients:
        p = p * z + a
    return abs(p)


@kernel("loops", small=(2.0, 0.3, 0.1, 5), large=(2.0, 0.3, 0.1, 1000), argnums=(0, 1, 2))
def filter_response(r, l, c, points):
    total = 0.0
    for k in range(1, points + 1):
        w = 0.1 * k
        z = r + 1j * w * l + 1 / (1j * w * c)
        total += abs(1 / z)
    return total


@kernel("loops", small=(1.1, 5), large=(1.1, 1000))
def joukowski(r, points):
    lift = 0.0
    for k in range(points):
        z = r * cmath.exp(0.1j * k) + 0.1
        w = z + 1 / z
        lift += w.real * w.imag
    return lift


@kernel("loops", small=(0.7, 0.2, 5), large=(0.7, 0.2, 1000), argnums=(0, 1))
def rotating_phasors(a, phi, steps):
    total = 0.0
    z = cmath.rect(a, phi)
    for k in range(steps):
        z *= cmath.exp(0.1j) * (1 - 0.01 * a)
        total += cmath.phase(z) * cmath.sqrt(z + 2).real
    return total


@kernel("loops", small=(line(4).tolist(), 0.8, 3), large=(line(12).tolist(), 0.8, 5), argnums=(0, 1))
def kuramoto_by_pairs(theta, k, steps):
    theta = list(theta)
    n = len(theta)
    for _ in range(steps):
        new = []
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += math.sin(theta[j] - theta[i])
            new.append(theta[i] + 0.05 * (0.1 * i + k / n * s))
        theta = new
    total = 0.0
    for t in theta:
        total += math.cos(t)
    return total


def logs(n, m):
    p = weights(n, m) + 1.5
    return np.log(p / p.sum(axis=1, keepdims=True))


@kernel(
    "slices",
    small=(logs(3, 3), logs(3, 4), np.array([0, 2, 1, 3, 0])),
    large=(logs(8, 8), logs(8, 5), np.arange(200) % 5),
    argnums=(0, 1),
)
def hidden_markov_model(a, b, seen):
    alpha = b[:, seen[0]]
    for o in seen[1:]:
        alpha = np.logaddexp.reduce(alpha[:, None] + a, axis=0) + b[:, o]
    return np.logaddexp.reduce(alpha)


@kernel(
    "slices",
    small=(np.array([3.0, 1.2, 0.5, 0.3]), line(4)),
    large=(4.0 / (1 + np.arange(60.0)), line(60)),
    argnums=(0, 1),
)
def levinson(t, y):
    n = len(y)
    f = np.array([1.0 / t[0]])
    b = np.array([1.0 / t[0]])
    x = np.array([y[0] / t[0]])
    for k in range(1, n):
        ef = t[k:0:-1] @ f
        eb = t[1 : k + 1] @ b
        d = 1.0 - ef * eb
        f, b = (
            np.concatenate([f, [0.0]]) / d - ef / d * np.concatenate([[0.0], b]),
            np.concatenate([[0.0], b]) / d - eb / d * np.concatenate([f, [0.0]]),
        )
        ex = t[k:0:-1] @ x
        x = np.concatenate([x, [0.0]]) + (y[k] - ex) * b
    return np.sum(x**2)


@kernel("loops", small=(logs(5, 3), [1, 2]), large=(logs(40, 5), [1, 2, 3, 1, 4, 2]))
def ctc(logp, labels):
    ext = [0]
    for l in labels:
        ext.append(l)
        ext.append(0)
    n = len(ext)
    alpha = np.full(n, -30.0)
    alpha[0] = logp[0, 0]
    alpha[1] = logp[0, ext[1]]
    for t in range(1, len(logp)):
        new = np.full(n, -30.0)
        for s in range(n):
            a = alpha[s]
            if s > 0:
                a = np.logaddexp(a, alpha[s - 1])
            if s > 1 and ext[s] != 0 and ext[s] != ext[s - 2]:
                a = np.logaddexp(a, alpha[s - 2])
            new[s] = a + logp[t, ext[s]]
        alpha = new
    return -np.logaddexp(alpha[n - 1], alpha[n - 2])


@kernel("loops", small=(1.3, 0.7), large=(1.3, 0.7), argnums=(0, 1))
def fehlberg(a, y):
    t, h, steps = 0.0, 0.2, 0

    def f(t, y):
        return a * math.sin(t) - y * y

    while t < 3.0 and steps < 200:
        h = min(h, 3.0 - t)
        k1 = f(t, y)
        k2 = f(t + h / 4, y + h * k1 / 4)
        k3 = f(t + 3 * h / 8, y + h * (3 * k1 + 9 * k2) / 32)
        k4 = f(t + 12 * h / 13, y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
        k5 = f(t + h, y + h * (439 / 216 * k1 - 8 * k2 + 3680 / 513 * k3 - 845 / 4104 * k4))
        k6 = f(t + h / 2, y + h * (-8 / 27 * k1 + 2 * k2 - 3544 / 2565 * k3 + 1859 / 4104 * k4 - 11 / 40 * k5))
        e = abs(k1 / 360 - 128 / 4275 * k3 - 2197 / 75240 * k4 + k5 / 50 + 2 / 55 * k6)
        steps += 1
        if e <= 1e-6:
            t += h
            y = y + h * (25 / 216 * k1 + 1408 / 2565 * k3 + 2197 / 4104 * k4 - k5 / 5)
        h = 0.9 * h * min(2.0, max(0.3, (1e-6 / max(e, 1e-14)) ** 0.25))
    return y


@kernel("loops", small=(10.0, 120.0, 36.0, 8), large=(10.0, 120.0, 36.0, 500), argnums=(0, 1, 2))
def hodgkin_huxley(current, gna, gk, steps):
    v, m, h, n = -60.0, 0.05, 0.6, 0.32
    total = 0.0
    for _ in range(steps):
        am = 0.1 * (v + 40.0) / (1.0 - math.exp(-(v + 40.0) / 10.0))
        bm = 4.0 * math.exp(-(v + 65.0) / 18.0)
        ah = 0.07 * math.exp(-(v + 65.0) / 20.0)
        bh = 1.0 / (1.0 + math.exp(-(v + 35.0) / 10.0))
        an = 0.01 * (v + 55.0) / (1.0 - math.exp(-(v + 55.0) / 10.0))
        bn = 0.125 * math.exp(-(v + 65.0) / 80.0)
        i = gna * m**3 * h * (v - 50.0) + gk * n**4 * (v + 77.0) + 0.3 * (v + 54.4)
        v += 0.01 * (current - i)
        m += 0.01 * (am * (1.0 - m) - bm * m)
        h += 0.01 * (ah * (1.0 - h) - bh * h)
        n += 0.01 * (an * (1.0 - n) - bn * n)
        total += v * v * 1e-4
    return total


@kernel("loops", small=(0.5, 0.1, 0.2, 10), large=(0.5, 0.1, 0.2, 1000), argnums=(0, 1, 2))
def seir(beta, gamma, sigma, days):
    s, e, i, r = 0.99, 0.0, 0.01, 0.0
    peak = 0.0
    for _ in range(days):
        new = beta * s * i
        s, e, i, r = s - 0.1 * new, e + 0.1 * (new - sigma * e), i + 0.1 * (sigma * e - gamma * i), r + 0.1 * gamma * i
        peak = max(peak, i)
    return peak + r


@kernel("loops", small=(0.7, 3), large=(0.7, 20))
def gauss_legendre(k, n):
    total = 0.0
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(5):
            p0, p1 = 1.0, x
            for j in range(2, n + 1):
                p0, p1 = p1, ((2 * j - 1) * x * p1 - (j - 1) * p0) / j
            dp = n * (x * p1 - p0) / (x * x - 1.0)
            x -= p1 / dp
        w = 2.0 / ((1.0 - x * x) * dp * dp)
        total += w * math.exp(k * x)
    return total
