"""Solvers, matrices, particles, series, iterators, options, cases, complex numbers."""

import itertools
import math
from collections import deque

import numpy as np

from tests.programs.corpus import program

R = np.random.default_rng(2)


@program(np.array([1.0, 2.0, 3.0]), engine="compiled")
def mean_field_ising(h):
    m = np.tanh(h)
    J = np.array([[0, 0.5, 0.2], [0.5, 0, 0.3], [0.2, 0.3, 0]])
    for _ in range(30):
        m_new = np.tanh(J @ m + h)
        if np.linalg.norm(m_new - m) < 1e-10:
            break
        m = 0.5 * m + 0.5 * m_new
    return m.sum()


@program(np.array([0.3, 0.2]), engine="compiled")
def secant_solver(p):
    f = lambda x: x**3 - p[0] * x - p[1]
    x0, x1 = 1.0, 1.5
    f0, f1 = f(x0), f(x1)
    while abs(f1) > 1e-13:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
    return x1


@program(np.array([1.0, -0.5, 0.2]), engine="tape")
def horner(c):
    def p(x, coeffs=c):
        r = 0.0
        for a in reversed(coeffs):
            r = r * x + a
        return r

    return sum(p(x) ** 2 for x in (0.1, 0.5, 0.9))


@program(R.normal(size=(4, 4)), engine="compiled")
def power_iteration(A):
    S = A @ A.T + np.eye(4)
    v = np.ones(4) / 2
    lam = 0
    for i in range(100):
        w = S.dot(v)
        lam_new = v.dot(w)
        v = w / np.linalg.norm(w)
        if i > 5 and abs(lam_new - lam) < 1e-13:
            break
        lam = lam_new
    return lam_new


@program(R.normal(size=(3, 3)) + 3 * np.eye(3), R.normal(size=3), argnums=(0, 1), engine="compiled")
def gauss_elim_pivot(A, b):
    A = A.copy()
    b = b.copy()
    n = len(b)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            m = A[i, k] / A[k, k]
            A[i, k:] -= m * A[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x**2)


@program(R.normal(size=(4, 3)), engine="compiled")
def gram_schmidt(V):
    Q = np.zeros_like(V)
    for j in range(V.shape[1]):
        v = V[:, j]
        for i in range(j):
            v = v - (Q[:, i] @ V[:, j]) * Q[:, i]
        Q[:, j] = v / np.linalg.norm(v)
    return np.sum(Q * np.arange(12).reshape(4, 3))


@program(R.normal(size=(5,)), engine="compiled")
def prefix_max_drawdown(r):
    eq = np.cumprod(1 + 0.1 * r)
    peak = eq[0]
    dd = 0.0
    for e in eq:
        if e > peak:
            peak = e
        dd = max(dd, (peak - e) / peak)
    return dd + eq[-1]


@program(np.array([0.1, 0.2, 0.4]), engine="compiled")
def garch_ll(theta, r=np.array([0.1, -0.2, 0.3, 0.05, -0.4])):
    omega, alpha, beta = theta
    T = len(r)
    sigma2 = np.empty(T)
    sigma2[0] = np.var(r)
    for t in range(1, T):
        sigma2[t] = omega + alpha * r[t - 1] ** 2 + beta * sigma2[t - 1]
    return 0.5 * np.sum(np.log(2 * np.pi * sigma2) + r**2 / sigma2)


@program(R.random((3, 4)) + 0.1, engine="compiled")
def sinkhorn(C, eps=0.3, n_iter=20):
    a = np.ones(3) / 3
    b = np.ones(4) / 4
    K = np.exp(-C / eps)
    u = np.ones_like(a)
    for _ in range(n_iter):
        v = b / (K.T @ u)
        u = a / (K @ v)
    P = u[:, None] * K * v[None, :]
    return (P * C).sum()


@program(R.random((4, 4)), engine="compiled")
def floyd_warshall(W):
    D = W + 0.1
    n = D.shape[0]
    for i in range(n):
        D[i, i] = 0
    for k in range(n):
        D = np.minimum(D, D[:, k : k + 1] + D[k : k + 1, :])
    return D.sum()


@program(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 1.0, 0.5, 3.0]), argnums=(0, 1), engine="compiled")
def thomas(a_, d):
    n = len(d)
    a = -0.5 * np.ones(n - 1)
    b = 2 + a_
    c = -0.3 * np.ones(n - 1)
    cp = np.zeros(n - 1)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    x = dp.copy()
    for i in range(n - 2, -1, -1):
        x[i] -= cp[i] * x[i + 1]
    return x @ x


@program(R.normal(size=(6, 2)), engine="compiled")
def lennard_jones(pos):
    n = len(pos)
    pos = 2 * pos
    e = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            r2 = np.dot(d, d)
            if r2 > 16.0:
                continue
            s6 = (1.0 / r2) ** 3
            e += 4 * (s6**2 - s6)
    return np.log1p(e**2)


@program(np.linspace(0, 1, 9), engine="compiled")
def upwind_advection(u):
    c = 0.4
    for n in range(10):
        un = u.copy()
        u[1:] = un[1:] - c * (un[1:] - un[:-1])
    return np.sum(u**2)


@program(np.linspace(0.2, 1, 8), engine="tape")
def crank_nicolson_callback(u0):
    history = []

    def record(u, t):
        history.append((t, u.sum()))

    n = len(u0)
    L = np.diag(-2 * np.ones(n)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    A = np.eye(n) - 0.1 * L
    B = np.eye(n) + 0.1 * L
    u = u0
    for k in range(5):
        u = np.linalg.solve(A, B @ u)
        record(u, k)
    return sum(s**2 for _, s in history)


@program(
    {
        "layers": [{"W": R.normal(size=(3, 4)), "b": np.zeros(4)}, {"W": R.normal(size=(4, 2)), "b": np.zeros(2)}],
        "scale": 1.5,
    },
    engine="compiled",
)
def nested_dict_net(params, activation="tanh"):
    acts = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0)}
    h = np.ones((2, 3)) * 0.3
    for layer in params["layers"]:
        h = acts[activation](h @ layer["W"] + layer["b"])
    return params["scale"] * np.sum(h**2)


@program({"a": 1.0, "b": np.array([1.0, 2.0])}, engine="compiled")
def dict_items_reg(p):
    return sum(np.sum(v**2) for v in p.values()) + sum(np.sum(np.abs(v)) for k, v in p.items() if k != "a")


@program([np.array([1.0, 2.0]), np.array([3.0])], engine="compiled")
def list_total(ws):
    flat = np.concatenate([w.ravel() for w in ws])
    return np.linalg.norm(flat) + len(ws)


@program(R.normal(size=5), engine="compiled")
def zero_grad_argmax(x):
    i = int(np.argmax(x))
    j = np.argsort(x)[0]
    return x[i] * 2 - x[j] ** 2


@program(np.array([0.2, 0.5, 0.3]), engine="compiled")
def entropy_where(p):
    p = p / p.sum()
    return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0))


@program(np.array([[1.0, 2.0], [3.0, 4.0]]), engine="compiled")
def star_unpack(x):
    a, *rest = x
    return a @ rest[0]


@program(np.array([1.0, 2.0, 3.0]), engine="compiled")
def deque_window(x):
    d = deque(maxlen=2)
    s = 0.0
    for v in x:
        d.append(v)
        s += sum(d) ** 2
    return s


@program(np.array([1.0, 2.0, 3.0]), engine="compiled")
def accumulate_iter(x):
    return sum(v**2 for v in itertools.accumulate(x))


@program(np.array([1.0, 2.0, 3.0]), engine="compiled")
def walrus_and_ternary(x):
    return (n := np.linalg.norm(x)) * (1 if n > 1 else 2) + n**2


COUNT = 0


@program(np.array([0.5, 1.5]), 3, engine="compiled")
def int_arg_power(x, n):
    r = np.ones_like(x)
    for _ in range(n):
        r *= x
    return r.sum()


@program(3.0, engine="compiled")
def complex_step_style(x):
    z = complex(x, 0.5)
    w = np.exp(1j * z) * z.conjugate()
    return abs(w) ** 2 + w.real


@program(np.array([1 + 2j, 0.5 - 1j]), engine="compiled")
def complex_gradient(z):
    return np.sum(np.abs(z**2 + 1))


@program(R.normal(size=(4, 4)), engine="compiled")
def fancy_block_write(x):
    y = np.zeros((4, 4))
    idx = np.array([0, 2])
    y[np.ix_(idx, idx)] = x[np.ix_(idx, idx)] ** 2
    y[idx, :] += x[1]
    return np.sum(y**2)


@program(np.array([3.0, 1.0, 2.0]), engine="tape")
def inplace_sort_weights(x):
    y = x.copy()
    order = y.argsort()[::-1]
    y[order] = y[order] * np.array([1.0, 2.0, 3.0])
    return (y * np.arange(3)).sum()


@program(np.linspace(0.1, 0.9, 6), engine="tape")
def ema_class_closure(x):
    class EMA:
        def __init__(self, alpha):
            self.alpha, self.value = alpha, None

        def update(self, v):
            self.value = v if self.value is None else self.alpha * v + (1 - self.alpha) * self.value
            return self.value

    e = EMA(0.3)
    return sum(e.update(v) ** 2 for v in x)


@program(np.array([1.0, 2.0]), engine="compiled")
def kwargs_dispatch(x):
    def model(x, *, gain=1.0, **extra):
        return gain * x**2 + extra.get("offset", 0.0)

    cfg = {"gain": 2.0, "offset": x[0]}
    return np.sum(model(x, **cfg))


@program(np.array([1.0, 2.0, 4.0]), engine="compiled")
def match_statement(x):
    total = 0.0
    for i, v in enumerate(x):
        match i % 3:
            case 0:
                total += v**2
            case 1:
                total *= v
            case _:
                total -= np.log(v)
    return total


@program(np.array([[2.0, 1.0], [1.0, 3.0]]), engine="compiled")
def eigen_sym(A):
    S = 0.5 * (A + A.T)
    w, V = np.linalg.eigh(S)
    return w[-1] ** 2 + (V[:, 0] ** 2) @ np.array([1.0, 2.0])


@program(R.normal(size=(3, 2)), engine="compiled")
def pca_explained(X):
    Xc = X - X.mean(axis=0)
    C = np.cov(Xc.T)
    w = np.linalg.eigvalsh(C)
    return w[-1] / w.sum()


@program(R.normal(size=8), np.array([0.2, 0.5, 0.3]), argnums=(0, 1), engine="compiled")
def fir_and_corr(x, h):
    y = np.convolve(x, h, mode="same")
    c = np.correlate(y, x, mode="full")
    return np.max(c) + np.sum(y**2)


@program(R.random(6), engine="compiled")
def running_stats_welford(x):
    mean, M2 = 0.0, 0.0
    for n, v in enumerate(x, 1):
        delta = v - mean
        mean += delta / n
        M2 += delta * (v - mean)
    return M2 / (len(x) - 1) + mean


@program(np.array([1.5]), engine="compiled")
def shape_one(x):
    w = np.zeros(3)
    w[:] = x
    w *= np.arange(1, 4)
    return float(w.sum()) ** 2


@program(np.array([0.3, 0.4]), engine="tape")
def try_finally_log(x):
    log = []
    try:
        y = np.sum(np.sqrt(x))
    finally:
        log.append("done")
    return y


@program(np.array([0.3, -0.4]), engine="compiled", smooth=True)
def try_value_error(x):
    def safe_log(v):
        if v <= 0:
            raise ValueError("neg")
        return math.log(v)

    s = 0.0
    for v in x:
        try:
            s += safe_log(v)
        except ValueError:
            s += v**2
    return s
