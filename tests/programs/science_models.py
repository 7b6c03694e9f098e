"""Differential equations, likelihoods, geometry, finite elements and volumes, signals, chemistry, orbits."""

import math

import numpy as np

from tests.programs.corpus import program

R = np.random.default_rng(0)


def lotka(t, y, p):
    a, b, c, d = p
    return np.array([a * y[0] - b * y[0] * y[1], c * y[0] * y[1] - d * y[1]])


def rk45(f, t0, t1, y0, p, rtol=1e-4, atol=1e-6):
    """Dormand-Prince with step control."""
    c = [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1]
    A = [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    b = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0]
    bs = [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]
    t, y, h = t0, np.asarray(y0), 0.1
    while t < t1 - 1e-12:
        h = min(h, t1 - t)
        k = []
        for i in range(7):
            yi = y
            for j in range(i):
                yi = yi + h * A[i][j] * k[j]
            k.append(f(t + c[i] * h, yi, p))
        ynew = y + h * sum(b[i] * k[i] for i in range(7))
        yerr = h * sum((b[i] - bs[i]) * k[i] for i in range(7))
        err = 0.3
        if err <= 1.0:
            t = t + h
            y = ynew
        h = h * min(5.0, max(0.2, 0.9 * err**-0.2))
    return y


@program(np.array([1.1, 0.4, 0.1, 0.4]), engine="compiled")
def lotka_volterra_rk45(p):
    y = rk45(lotka, 0.0, 2.0, [10.0, 5.0], p)
    return np.sum((y - np.array([8.0, 4.0])) ** 2)


@program(np.array([0.5, 1.2]), engine="compiled")
def implicit_euler_newton(theta):
    k1, k2 = theta
    y = np.array([1.0, 0.0])
    h = 0.1
    for n in range(10):
        z = y.copy()
        for it in range(50):
            F = np.array([z[0] - y[0] + h * k1 * z[0] ** 2, z[1] - y[1] - h * (k1 * z[0] ** 2 - k2 * z[1])])
            J = np.array([[1 + 2 * h * k1 * z[0], 0.0], [-2 * h * k1 * z[0], 1 + h * k2]])
            dz = np.linalg.solve(J, -F)
            z += dz
            if np.max(np.abs(dz)) < 1e-12:
                break
        y = z
    return y[1] ** 2 + y[0]


DATA = R.normal(size=20) * 1.5 + 2


@program(np.array([1.0, 0.3]), engine="compiled")
def student_t_logpdf(params):
    mu, log_sigma = params[0], params[1]
    sigma = np.exp(log_sigma)
    nu = 4.0
    z = (DATA - mu) / sigma
    ll = -0.5 * (nu + 1) * np.log1p(z**2 / nu) - np.log(sigma)
    prior = -0.5 * mu**2 / 100.0 - 0.5 * log_sigma**2
    return ll.sum() + prior


XG = np.linspace(0, 1, 8)
YG = np.sin(5 * XG)


def rbf(X1, X2, length=1.0, sigma_f=1.0):
    sq = np.sum(X1**2, 1).reshape(-1, 1) + np.sum(X2**2, 1) - 2 * np.dot(X1, X2.T)
    return sigma_f**2 * np.exp(-0.5 / length**2 * sq)


@program(np.array([-1.0, 0.1, -2.0]), engine="compiled")
def gp_nll(theta):
    """GP negative log marginal likelihood as in the famous blog."""
    l, sf, noise = np.exp(theta)
    X = XG.reshape(-1, 1)
    K = rbf(X, X, length=l, sigma_f=sf) + noise**2 * np.eye(len(X))
    L = np.linalg.cholesky(K)
    S1 = np.linalg.solve(L, YG)
    S2 = np.linalg.solve(L.T, S1)
    return np.sum(np.log(np.diagonal(L))) + 0.5 * YG.dot(S2) + 0.5 * len(X) * np.log(2 * np.pi)


ZS = R.normal(size=(15, 1)).cumsum(0)


@program(np.array([0.9, -0.5, 0.2]), engine="compiled")
def kalman_loglik(params):
    phi = params[0]
    q = np.exp(params[1])
    r = np.exp(params[2])
    F = np.array([[1.0, 1.0], [0.0, phi]])
    H = np.array([[1.0, 0.0]])
    Q = q * np.eye(2)
    Rm = np.array([[r]])
    x = np.zeros(2)
    P = np.eye(2) * 10
    ll = 0.0
    for z in ZS:
        x = F @ x
        P = F @ P @ F.T + Q
        v = z - H @ x
        S = H @ P @ H.T + Rm
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ v
        P = (np.eye(2) - K @ H) @ P
        ll += -0.5 * (np.log(np.linalg.det(S)) + v @ np.linalg.inv(S) @ v + np.log(2 * np.pi))
    return ll


U0 = R.random((10, 6))
E0 = R.normal(size=(10, 6))
OBS = np.cumsum(R.normal(size=10))


@program(np.array([0.8, 0.4]), engine="compiled")
def particle_filter_fixed(params):
    phi, s = params
    n = 6
    particles = np.zeros(n)
    ll = 0.0
    for t in range(len(OBS)):
        particles = phi * particles + s * E0[t]
        logw = -0.5 * (OBS[t] - particles) ** 2
        m = logw.max()
        w = np.exp(logw - m)
        ll += m + np.log(w.mean())
        w /= w.sum()
        particles = np.full(n, np.dot(w, particles)) * 0.5 + 0.5 * particles
    return -ll


SEQ = [0, 1, 1, 0, 2, 2, 1]


def logsumexp(a, axis=None):
    m = np.max(a, axis=axis, keepdims=True)
    out = np.log(np.sum(np.exp(a - m), axis=axis, keepdims=True)) + m
    if axis is None:
        return out.item()
    return np.squeeze(out, axis=axis)


@program({"pi": R.normal(size=2), "A": R.normal(size=(2, 2)), "B": R.normal(size=(2, 3))}, engine="tape")
def hmm_forward(params):
    log_pi = params["pi"] - logsumexp(params["pi"])
    log_A = params["A"] - logsumexp(params["A"], axis=1)[:, None]
    log_B = params["B"] - logsumexp(params["B"], axis=1)[:, None]
    alpha = log_pi + log_B[:, SEQ[0]]
    for o in SEQ[1:]:
        alpha = logsumexp(alpha[:, None] + log_A, axis=0) + log_B[:, o]
    return -logsumexp(alpha)


class Surface:
    def __init__(self, R, n, z):
        self.R = R
        self.n = n
        self.z = z

    def refract(self, y, u, n1):
        phi = (self.n - n1) / self.R
        return y, (n1 * u - phi * y) / self.n


@program(np.array([50.0, -50.0]), engine="compiled", smooth=True)
def lens_paraxial(radii):
    surfaces = [Surface(radii[0], 1.5, 0.0), Surface(radii[1], 1.0, 5.0)]
    y, u, n = 10.0, 0.0, 1.0
    z = 0.0
    for s in surfaces:
        y = y + u * (s.z - z)
        z = s.z
        y, u = s.refract(y, u, n)
        n = s.n
    return -10.0 / u


def rotz(q):
    c, s = np.cos(q), np.sin(q)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def trans(x, y, z):
    T = np.eye(4)
    T[:3, 3] = [x, y, z]
    return T


@program(np.array([0.1, 0.5, -0.3]), engine="compiled")
def robot_fk(q):
    T = np.eye(4)
    for qi, li in zip(q, [1.0, 0.8, 0.5]):
        T = T @ rotz(qi) @ trans(li, 0, 0)
    p = T[:3, 3]
    return np.linalg.norm(p - np.array([1.0, 1.0, 0.0])) ** 2


def qmul(a, b):
    w1, x1, y1, z1 = a
    w2, x2, y2, z2 = b
    return np.array(
        [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ]
    )


@program(np.array([0.9, 0.1, 0.3, -0.2]), engine="compiled")
def quaternion_rotate(q):
    q = q / np.linalg.norm(q)
    v = np.array([0.0, 1.0, 2.0, 3.0])
    conj = q * np.array([1, -1, -1, -1])
    r = qmul(qmul(q, v), conj)
    return r[1:] @ np.array([1.0, 0.5, -0.3])


NODES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5]])


TRIS = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]])


@program(np.array([1.0, 2.0, 0.5, 1.5]), engine="compiled")
def fem_poisson(kappa):
    n = len(NODES)
    K = np.zeros((n, n))
    b = np.zeros(n)
    for e, tri in enumerate(TRIS):
        x = NODES[tri]
        area = 0.5 * abs((x[1, 0] - x[0, 0]) * (x[2, 1] - x[0, 1]) - (x[2, 0] - x[0, 0]) * (x[1, 1] - x[0, 1]))
        B = np.array(
            [
                [x[1, 1] - x[2, 1], x[2, 1] - x[0, 1], x[0, 1] - x[1, 1]],
                [x[2, 0] - x[1, 0], x[0, 0] - x[2, 0], x[1, 0] - x[0, 0]],
            ]
        ) / (2 * area)
        ke = kappa[e] * area * B.T @ B
        for i in range(3):
            b[tri[i]] += area / 3
            for j in range(3):
                K[tri[i], tri[j]] += ke[i, j]
    for i in range(2):
        K[i, :] = 0
        K[i, i] = 1
        b[i] = 0
    u = np.linalg.solve(K, b)
    return np.sum(u**2)


@program(np.array([1.0, 2.0, 0.5, 1.5]), engine="compiled")
def fem_add_at(kappa):
    n = 5
    K = np.zeros((n, n))
    ke = kappa[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    conn = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    ii = np.repeat(conn, 2, axis=1).ravel()
    jj = np.tile(conn, (1, 2)).ravel()
    np.add.at(K, (ii, jj), ke.ravel())
    free = np.arange(1, n)
    u = np.linalg.solve(K[np.ix_(free, free)], np.ones(n - 1))
    return u[-1]


@program(np.linspace(0, 1, 10), engine="compiled")
def finite_volume_burgers(u0):
    u = u0.copy()
    dx, dt = 0.1, 0.02
    for _ in range(15):
        f = 0.5 * u**2
        up = np.roll(u, -1)
        a = np.maximum(np.abs(u), np.abs(up))
        flux = 0.5 * (f + np.roll(f, -1)) - 0.5 * a * (up - u)
        u = u - dt / dx * (flux - np.roll(flux, 1))
    return np.sum(u**2) * dx


def minmod(a, b):
    return np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0.0)


@program(np.sin(np.linspace(0, 6, 12)) + 1.5, engine="compiled")
def muscl(u):
    n = u.size
    for _ in range(5):
        ue = np.pad(u, 2, mode="wrap")
        d = np.diff(ue)
        s = minmod(d[:-1], d[1:])
        uL = ue[1:-1] + 0.5 * s
        F = uL**2 / 2
        u = u - 0.05 * (F[1 : n + 1] - F[:n])
    return (u * np.arange(n)).sum()


IMG = R.random((8, 8))


@program(R.normal(size=(3, 3)), engine="compiled")
def conv2d_loops(kernel):
    h, w = IMG.shape
    kh, kw = kernel.shape
    out = np.zeros((h - kh + 1, w - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(IMG[i : i + kh, j : j + kw] * kernel)
    return np.mean(np.maximum(out, 0))


def downsample(x):
    return 0.25 * (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2])


def upsample(x):
    return np.kron(x, np.ones((2, 2)))


@program(R.random((8, 8)), engine="compiled")
def laplacian_pyramid(x):
    pyr = []
    while x.shape[0] > 2:
        small = downsample(x)
        pyr.append(x - upsample(small))
        x = small
    pyr.append(x)
    return sum(np.abs(level).sum() * 2**i for i, level in enumerate(pyr))


@program(np.array([1.0, 3.0, 2.0, 4.0]), engine="compiled")
def interp_table(fp):
    xp = np.array([0.0, 1.0, 2.0, 3.0])
    x = np.linspace(-0.5, 3.5, 9)
    return (np.interp(x, xp, fp) ** 2).mean()


@program(np.array([0.04, 3.0, 1.0]), engine="compiled")
def robertson(k):
    def rhs(y):
        r1, r2, r3 = k[0] * y[0], k[1] * y[1] * y[2], k[2] * y[1] ** 2
        return np.array([-r1 + r2, r1 - r2 - r3, r3])

    y = np.array([1.0, 0.0, 0.0])
    dt = 0.05
    for _ in range(20):
        k1 = rhs(y)
        k2 = rhs(y + dt / 2 * k1)
        k3 = rhs(y + dt / 2 * k2)
        k4 = rhs(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y[2]


@program(np.array([1.0, 0.0, 0.0, 1.1]), engine="compiled")
def kepler_leapfrog(s):
    r, v = s[:2].copy(), s[2:].copy()
    dt = 0.05
    a = -r / np.linalg.norm(r) ** 3
    for _ in range(40):
        v += 0.5 * dt * a
        r += dt * v
        a = -r / np.linalg.norm(r) ** 3
        v += 0.5 * dt * a
    energy = 0.5 * np.dot(v, v) - 1 / np.linalg.norm(r)
    return energy + r[0]


@program(0.7, argnums=0, engine="compiled")
def kepler_equation(M):
    e = 0.3
    E = M if e < 0.8 else math.pi
    for _ in range(100):
        dE = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= dE
        if abs(dE) < 1e-14:
            break
    return 2 * math.atan2(math.sqrt(1 + e) * math.sin(E / 2), math.sqrt(1 - e) * math.cos(E / 2))


@program(0.03, 0.025, 0.3, 0.5, -0.2, engine="compiled", argnums=(0, 2, 4))
def sabr(f, k, alpha, nu, rho):
    beta = 0.5
    fk = (f * k) ** ((1 - beta) / 2)
    l = math.log(f / k)
    z = nu / alpha * fk * l
    x = math.log((math.sqrt(1 - 2 * rho * z + z * z) + z - rho) / (1 - rho))
    a = alpha / (fk * (1 + (1 - beta) ** 2 / 24 * l * l))
    return a * z / x * (1 + ((1 - beta) ** 2 / 24 * alpha**2 / fk**2 + rho * beta * nu * alpha / (4 * fk)))
