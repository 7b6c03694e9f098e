"""Finance, learning, sequences; parameters in containers and classes; ways of writing programs."""

import functools
import math
from typing import NamedTuple

import numpy as np

from tests.programs.corpus import program

R = np.random.default_rng(1)


MU = np.array([0.1, 0.12, 0.07])
C3 = R.normal(size=(3, 3))
COV = C3 @ C3.T + np.eye(3)


@program(np.array([0.2, 0.5, 0.3]), engine="compiled")
def sharpe_ratio(w, rf=0.02):
    w = np.asarray(w)
    assert w.ndim == 1 and np.all(np.isfinite(w))
    w = w / w.sum()
    port = w @ MU
    vol = math.sqrt(w @ COV @ w)
    return -(port - rf) / vol


@program(np.array([0.3, 0.3, 0.4]), engine="compiled")
def risk_parity(w):
    sigma = np.sqrt(np.dot(w, COV.dot(w)))
    mrc = COV.dot(w) / sigma
    rc = w * mrc
    target = sigma / len(w)
    return ((rc - target) ** 2).sum()


@program(100.0, 0.2, argnums=(0, 1), engine="compiled")
def crr_tree_american_put(S, sigma, K=105.0, T=1.0, r=0.05, N=20):
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(r * dt) - d) / (u - d)
    ST = np.array([S * u**j * d ** (N - j) for j in range(N + 1)])
    V = np.maximum(K - ST, 0)
    for i in range(N - 1, -1, -1):
        for j in range(i + 1):
            V[j] = np.exp(-r * dt) * (p * V[j + 1] + (1 - p) * V[j])
            V[j] = max(V[j], K - S * u**j * d ** (i - j))
    return V[0]


Z = R.normal(size=(12, 30))


@program(100.0, 0.2, argnums=(0, 1), engine="compiled")
def asian_mc(S0, sigma):
    n_steps, n_paths = Z.shape
    dt = 1.0 / n_steps
    S = np.full(n_paths, S0)
    total = np.zeros(n_paths)
    for t in range(n_steps):
        S = S * np.exp((0.03 - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * Z[t])
        total += S
    payoff = np.maximum(total / n_steps - 100.0, 0.0)
    return np.exp(-0.03) * payoff.mean()


def norm_cdf(x):
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


@program(100.0, 0.2, argnums=(0, 1), engine="compiled")
def black_scholes(S, sigma, option_type="call"):
    K, T, r = 95.0, 0.5, 0.01
    d1 = (math.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    if option_type == "call":
        return S * norm_cdf(d1) - K * math.exp(-r * T) * norm_cdf(d2)
    elif option_type == "put":
        return K * math.exp(-r * T) * norm_cdf(-d2) - S * norm_cdf(-d1)
    raise ValueError(f"unknown option type {option_type!r}")


@program(0.04, np.array([5.0, 5.0, 105.0]), argnums=(0, 1), engine="compiled")
def bond_duration(y, cashflows):
    pv = sum(cf / (1 + y) ** t for t, cf in enumerate(cashflows, 1))
    return sum(t * cf / (1 + y) ** t for t, cf in enumerate(cashflows, start=1)) / pv


X = R.normal(size=(12, 3))
YB = (X @ np.array([1.0, -2.0, 0.5]) > 0).astype(float)


@program(np.array([0.1, 0.2, -0.3]), 0.05, argnums=(0, 1), engine="compiled")
def logistic_regression(w, b, l2=0.1):
    z = X.dot(w) + b
    p = 1 / (1 + np.exp(-z))
    eps = 1e-12
    ll = YB * np.log(p + eps) + (1 - YB) * np.log(1 - p + eps)
    return -np.mean(ll) + l2 * np.sum(w**2) / 2


YC = R.integers(0, 3, 12)


@program(
    {"W1": R.normal(size=(3, 5)), "b1": np.zeros(5), "W2": R.normal(size=(5, 3)), "b2": np.zeros(3)}, engine="compiled"
)
def mlp_dict(params):
    h = np.maximum(0, X @ params["W1"] + params["b1"])
    logits = h @ params["W2"] + params["b2"]
    logits = logits - logits.max(axis=1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    nll = -logp[np.arange(len(YC)), YC].mean()
    reg = 0.0
    for name, p in params.items():
        if name.startswith("W"):
            reg = reg + np.sum(p**2)
    return nll + 1e-3 * reg


PTS = np.concatenate([R.normal(size=(8, 2)), R.normal(size=(8, 2)) + 3])


@program((np.zeros(2), R.normal(size=(2, 2)), np.zeros((2, 2))), engine="tape")
def gmm_nll(params):
    logits, means, log_scales = params
    log_w = logits - np.log(np.sum(np.exp(logits)))
    comps = []
    for k in range(2):
        z = (PTS - means[k]) / np.exp(log_scales[k])
        comps.append(log_w[k] - 0.5 * np.sum(z**2, axis=1) - np.sum(log_scales[k]) - np.log(2 * np.pi))
    comps = np.array(comps)
    m = comps.max(axis=0)
    return -np.sum(m + np.log(np.exp(comps - m).sum(axis=0)))


@program(R.normal(size=(2, 2)), engine="compiled")
def em_unrolled(mu0):
    mu = mu0.copy()
    pi = np.ones(2) / 2
    for it in range(5):
        d = ((PTS[:, None, :] - mu[None]) ** 2).sum(-1)
        r = pi * np.exp(-0.5 * d)
        r /= r.sum(axis=1, keepdims=True)
        Nk = r.sum(axis=0)
        mu = (r.T @ PTS) / Nk[:, np.newaxis]
        pi = Nk / len(PTS)
    return np.sum(mu**2) + pi[0]


P6 = R.random((6, 6))
P6 = P6 + P6.T
np.fill_diagonal(P6, 0)
P6 /= P6.sum()


@program(R.normal(size=(6, 2)), engine="tape")
def tsne_loss(Y):
    sum_Y = np.sum(np.square(Y), 1)
    num = 1 / (1 + np.add(np.add(-2 * np.dot(Y, Y.T), sum_Y).T, sum_Y))
    num[range(6), range(6)] = 0
    Q = num / np.sum(num)
    Q = np.maximum(Q, 1e-12)
    return np.sum(P6 * np.log(np.maximum(P6, 1e-12) / Q))


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(x, g, b, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return g * (x - mu) / np.sqrt(var + eps) + b


def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def mha(x, c_attn, c_proj, n_head):
    x = x @ c_attn
    qkv_heads = list(map(lambda x: np.split(x, n_head, axis=-1), np.split(x, 3, axis=-1)))
    causal_mask = (1 - np.tri(x.shape[0])) * -1e10
    out_heads = [attention(q, k, v, causal_mask) for q, k, v in zip(*qkv_heads)]
    return np.hstack(out_heads) @ c_proj


@program(
    {"c_attn": R.normal(size=(4, 12)) * 0.3, "c_proj": R.normal(size=(4, 4)) * 0.3, "g": np.ones(4), "b": np.zeros(4)},
    engine="tape",
)
def picogpt_block(p):
    x = np.sin(np.arange(20.0)).reshape(5, 4)
    x = x + mha(layer_norm(x, p["g"], p["b"]), p["c_attn"], p["c_proj"], n_head=2)
    return np.mean(x**2)


SEQX = R.normal(size=(5, 3))


def sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-x)), np.exp(x) / (1 + np.exp(x)))


@program(R.normal(size=(16, 7)) * 0.4, np.zeros(16), argnums=(0, 1), engine="compiled")
def lstm(W, b):
    H = 4
    h = np.zeros(H)
    c = np.zeros(H)
    outputs = []
    for x in SEQX:
        z = W @ np.concatenate([x, h]) + b
        i, f, o, g = np.split(z, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.sum(np.stack(outputs) ** 2)


IM = R.random((2, 6, 6))


def im2col(x, k):
    C, H, W = x.shape
    s = x.strides
    view = np.lib.stride_tricks.as_strided(x, (C, H - k + 1, W - k + 1, k, k), (s[0], s[1], s[2], s[1], s[2]))
    return view


@program(R.normal(size=(3, 2, 3, 3)), engine="compiled")
def conv_stride_tricks(w):
    cols = im2col(IM, 3)
    out = np.einsum("cijkl,fckl->fij", cols, w)
    out = np.maximum(out, 0.01 * out)
    pooled = out.reshape(3, 2, 2, 2, 2).max(axis=(2, 4))
    return pooled.sum()


@program(R.normal(size=(5, 3)), R.normal(size=(3, 3)), argnums=(0, 1), engine="compiled")
def crf_nll(emit, trans):
    tags = [0, 2, 1, 1, 0]
    score = emit[0, tags[0]]
    for t in range(1, len(tags)):
        score += trans[tags[t - 1], tags[t]] + emit[t, tags[t]]
    alpha = emit[0]
    for t in range(1, emit.shape[0]):
        m = alpha[:, None] + trans
        mx = m.max(0)
        alpha = emit[t] + mx + np.log(np.exp(m - mx).sum(0))
    a = alpha.max()
    return a + np.log(np.sum(np.exp(alpha - a))) - score


@program(R.normal(size=8), engine="compiled")
def sorted_wasserstein(x):
    y = np.linspace(-1, 1, 8)
    return np.mean(np.abs(np.sort(x) - np.sort(y)) ** 2)


@program(R.normal(size=9), engine="tape")
def quantile_loss(x):
    q = np.quantile(x, [0.1, 0.5, 0.9])
    iqr = np.subtract(*np.percentile(x, [75, 25]))
    return q.sum() + iqr**2 + np.median(x)


@program(R.normal(size=10), engine="compiled")
def soft_histogram(x):
    edges = np.linspace(-3, 3, 7)
    centers = 0.5 * (edges[1:] + edges[:-1])
    w = np.exp(-0.5 * ((x[:, np.newaxis] - centers) / 0.5) ** 2)
    h = w.sum(axis=0) / w.sum()
    ref = np.ones_like(h) / h.size
    return -(ref * np.log(h)).sum()


class Body(NamedTuple):
    mass: float
    pos: np.ndarray
    vel: np.ndarray


@program(
    [Body(1.0, np.array([0.0, 0.0]), np.array([0.0, 0.0])), Body(0.5, np.array([1.0, 0.0]), np.array([0.0, 1.0]))],
    engine="compiled",
)
def nbody_namedtuples(bodies):
    dt = 0.05
    for _ in range(5):
        new = []
        for i, b in enumerate(bodies):
            acc = np.zeros(2)
            for j, other in enumerate(bodies):
                if i == j:
                    continue
                d = other.pos - b.pos
                acc += other.mass * d / (np.linalg.norm(d) ** 2 + 0.01) ** 1.5
            v = b.vel + dt * acc
            new.append(Body(b.mass, b.pos + dt * v, v))
        bodies = new
    return sum(0.5 * b.mass * b.vel @ b.vel for b in bodies)


class Optimizer:
    def __init__(self, lr=0.1, momentum=0.9):
        self.lr = lr
        self.momentum = momentum
        self.v = None

    def step(self, x, g):
        if self.v is None:
            self.v = np.zeros_like(x)
        self.v = self.momentum * self.v - self.lr * g
        return x + self.v


@program(np.array([1.0, 2.0]), engine="tape")
def unrolled_optimizer_class(x):
    opt = Optimizer()
    for _ in range(5):
        opt.v = opt.v
        x = opt.step(x, 2 * x + np.sin(x))
    return np.sum(x**2)


class Layer:
    def __init__(self, W, b, act=np.tanh):
        self.W, self.b, self.act = W, b, act

    def __call__(self, x):
        return self.act(x @ self.W + self.b)


class Net:
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@program([(R.normal(size=(3, 4)), np.zeros(4)), (R.normal(size=(4, 1)), np.zeros(1))], engine="tape")
def class_network(params):
    net = Net([Layer(W, b) for W, b in params])
    return np.mean((net.forward(X)[:, 0] - YB) ** 2)


@program(1.3, engine="tape")
def lambdas_in_list(x):
    fs = [np.sin, lambda t: t**2, math.exp, lambda t, k=3: k * t]
    y = x
    for f in fs:
        y = f(y)
    return y


def power_law(x, a, b=1.0):
    return a * x**b


@program(np.array([1.0, 2.0]), engine="compiled")
def partials(x):
    f = functools.partial(power_law, b=2.5)
    g = functools.partial(f, x)
    return np.sum(g(3.0))


TREE = {
    "value": 0,
    "children": [{"value": 1, "children": []}, {"value": 2, "children": [{"value": 3, "children": []}]}],
}


def tree_sum(node, w, depth=0):
    s = w[node["value"]] * 0.5**depth
    for child in node["children"]:
        s = s + np.tanh(tree_sum(child, w, depth + 1))
    return s


@program(np.array([0.1, 0.2, 0.3, 0.4]), engine="compiled")
def tree_recursion(w):
    return tree_sum(TREE, w) ** 2


@program(np.array([0.3, 0.7]), engine="tape")
def memo_dict(x):
    cache = {}

    def fib(n):
        if n in cache:
            return cache[n]
        r = x[n] if n < 2 else fib(n - 1) * 0.9 + fib(n - 2) * x[0]
        cache[n] = r
        return r

    return fib(10)


@program(np.array([2.0, 3.0]), engine="compiled")
def generator_sum(x):
    def terms():
        for i in range(5):
            yield x[i % 2] ** i / math.factorial(i)

    return sum(terms())


@program(2.0, engine="compiled")
def until_convergence(a):
    x = a
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            return new
        x = new


def integrate(f, y0, t, method="euler"):
    ys = [y0]
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        y = ys[-1]
        if method == "euler":
            y = y + h * f(y)
        elif method == "heun":
            k = f(y)
            y = y + h / 2 * (k + f(y + h * k))
        else:
            raise ValueError(method)
        ys.append(y)
    return np.array(ys)


@program(np.array([0.5, 2.0]), engine="compiled")
def string_options(p):
    t = np.linspace(0, 1, 11)
    sol = integrate(lambda y: p[0] * y * (1 - y / p[1]), 0.1, t, method="heun")
    return np.sum((sol - 0.2) ** 2)


@program(np.array([1.0, 2.0, 3.0]), engine="compiled")
def none_defaults(x, weights=None, axis=None):
    x = np.atleast_1d(x)
    if weights is None:
        weights = np.ones_like(x)
    if not isinstance(x, np.ndarray):
        raise TypeError("array expected")
    return np.average(x**2, weights=weights, axis=axis)


@program(np.arange(6.0) + 1, engine="compiled")
def work_arrays_out(x):
    tmp = np.empty_like(x)
    np.multiply(x, 2.0, out=tmp)
    np.sin(tmp, out=tmp)
    np.add(tmp, x, tmp)
    return tmp.sum()


@program(np.array([-1.0, 0.5, 2.0]), engine="compiled")
def masked_assignment(x):
    y = x.copy()
    y[y < 0] = 0
    mask = y > 1
    y[mask] = np.log(y[mask]) + 1
    y[~mask] *= 3
    return np.sum(y**2)


@program(np.array([0.3, 1.2]), engine="compiled")
def complex_impedance(p):
    Rr, C = p
    w = np.logspace(0, 2, 5)
    Zc = 1 / (1j * w * C)
    H = Zc / (Rr + Zc)
    return np.sum(20 * np.log10(np.abs(H))) + np.angle(H).sum()
