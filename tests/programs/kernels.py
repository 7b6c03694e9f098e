"""Kernels as textbooks write them: arrays filled and changed element by element, slice by slice, through views."""

import numpy as np

from tests.programs.corpus import program

LINE = np.linspace(0.5, 1.7, 6)
SQUARE = np.linspace(0.3, 1.9, 16).reshape(4, 4) + 2 * np.eye(4)


@program(LINE, engine="compiled", smooth=True)
def alias_in_loop(x):
    a = x * 1.0
    b = a
    for i in range(1, 6):
        a[i] += b[i - 1] * a[i]
    return np.sum(b * b)


@program(LINE, engine="compiled", smooth=True)
def view_in_loop(x):
    a = x * 1.0
    v = a[1:]
    for i in range(3):
        a[i] = a[i] * v[i] + v[i + 1]
    return np.sum(v * a[:-1])


@program(LINE, engine="compiled", smooth=True)
def view_written_in_loop(x):
    a = x * 1.0
    v = a[1:]
    for i in range(3):
        v[i] *= a[i]
        a[i] = v[i + 1] * 2
    return np.sum(v * a[:-1]) + v[0] * a[2]


@program(LINE, engine="compiled", smooth=True)
def cond_store(x):
    a = x * 1.0
    for i in range(1, 6):
        if a[i] > 1.0:
            a[i] = a[i - 1] * a[i]
        else:
            a[i - 1] += a[i] ** 2
    return np.sum(a**2)


@program(LINE, engine="compiled", smooth=True)
def cond_alias(x):
    a = x * 1.0
    b = a
    if x[0] > 0:
        a[0] = a[1] * a[2]
    return np.sum(b * x) + a[0]


@program(LINE, engine="compiled", smooth=True)
def nonlinear_whole(x):
    u = x.copy()
    for t in range(4):
        u[1:-1] = np.sin(u[1:-1]) * u[2:] + u[:-2] ** 2
    return np.sum(np.exp(u * 0.1))


@program(LINE, engine="compiled", smooth=True)
def exp_then_overwrite(x):
    y = np.exp(x)
    z = np.sqrt(y)
    y[0] = 3.0
    z *= y
    y *= z
    return np.sum(y * z)


@program(LINE, engine="compiled", smooth=True)
def rebind_in_loop(x):
    u = x * 1.0
    for t in range(3):
        v = u
        u = u * 1.5
        u[t] += v[t + 1] * v[t]
        v[0] = 2.0 * v[1]
    return np.sum(u * u) + np.sum(v)


@program(LINE, engine="compiled", smooth=True)
def three_buffers(x):
    a = x * 1.0
    b = x * 2.0
    c = np.zeros(6)
    for t in range(5):
        c[1:-1] = a[2:] * b[:-2] + a[1:-1]
        a, b, c = b, c, a
    return np.sum(a * b) + np.sum(c)


@program(LINE, engine="compiled", smooth=True)
def old_copy(x):
    u = x * 1.0
    for t in range(4):
        old = u.copy()
        for i in range(1, 5):
            u[i] = old[i - 1] * old[i + 1] + 0.1 * old[i]
    return np.sum(u**2)


@program(SQUARE, engine="compiled", smooth=True)
def cholesky(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for j in range(n):
        s = A[j, j] + 5.0
        for k in range(j):
            s -= L[j, k] ** 2
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = A[i, j]
            for k in range(j):
                t -= L[i, k] * L[j, k]
            L[i, j] = t / L[j, j]
    return np.sum(L * L * L)


@program(SQUARE, engine="compiled", smooth=True)
def lu_decomposition(A):
    n = A.shape[0]
    U = A.copy()
    L = np.eye(n)
    for k in range(n):
        for i in range(k + 1, n):
            L[i, k] = U[i, k] / U[k, k]
            U[i, k:] -= L[i, k] * U[k, k:]
    return np.sum(np.log(np.abs(np.diag(U)))) + np.sum(L * L)


@program(SQUARE, engine="compiled", smooth=True)
def determinant_by_elimination(A):
    n = A.shape[0]
    U = A.copy()
    for k in range(n - 1):
        for i in range(k + 1, n):
            f = U[i, k] / U[k, k]
            for j in range(k, n):
                U[i, j] -= f * U[k, j]
    d = 1.0
    for i in range(n):
        d *= U[i, i]
    return d


@program(LINE, engine="compiled", smooth=True)
def thomas(x):
    n = 6
    a = x * 0.1
    b = x + 2.0
    c = x * 0.2
    d = x**2
    cp = np.zeros(n)
    dp = np.zeros(n)
    s = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    s[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        s[i] = dp[i] - cp[i] * s[i + 1]
    return np.sum(s**2)


@program(LINE, engine="compiled")
def dp_table(x):
    n = len(x)
    D = np.zeros((n + 1, n + 1))
    for i in range(n + 1):
        D[i, 0] = 0.3 * i
        D[0, i] = 0.4 * i
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            cost = (x[i - 1] - x[n - j]) ** 2
            D[i, j] = min(D[i - 1, j] + 0.31, D[i, j - 1] + 0.27, D[i - 1, j - 1] + cost)
    return D[n, n]


@program(LINE, engine="compiled", smooth=True)
def softdp(x):
    n = len(x)
    D = np.zeros((n + 1, n + 1))
    for i in range(1, n + 1):
        for j in range(1, n + 1):
            c = (x[i - 1] - 0.5 * x[j - 1]) ** 2
            D[i, j] = c - np.log(np.exp(-D[i - 1, j]) + np.exp(-D[i, j - 1]) + np.exp(-D[i - 1, j - 1]))
    return D[n, n]


@program(LINE, engine="compiled", smooth=True)
def prefix(x):
    p = np.empty(len(x))
    p[0] = x[0]
    for i in range(1, len(x)):
        p[i] = p[i - 1] + x[i] * x[i - 1]
    return np.sum(p * x)


@program(SQUARE, engine="compiled", smooth=True)
def gauss_seidel(A):
    x = np.zeros(4)
    b = A[0]
    for it in range(6):
        for i in range(4):
            s = 0.0
            for j in range(4):
                if j != i:
                    s += A[i, j] * x[j]
            x[i] = (b[i] - s) / A[i, i]
    return np.sum(x**2)


@program(SQUARE, engine="compiled", smooth=True)
def jacobi2d(u0):
    u = u0.copy()
    for it in range(5):
        un = u.copy()
        u[1:-1, 1:-1] = 0.25 * (un[2:, 1:-1] + un[:-2, 1:-1] + un[1:-1, 2:] + un[1:-1, :-2]) ** 2
    return np.sum(u**2)


@program(LINE, engine="compiled", smooth=True)
def fdtd(e0):
    e = e0.copy()
    h = np.zeros(5)
    for t in range(6):
        h += 0.5 * (e[1:] - e[:-1])
        e[1:-1] += 0.5 * (h[1:] - h[:-1])
        e[0] = np.sin(0.1 * t)
    return np.sum(e**2) + np.sum(h * h)


@program(LINE, engine="compiled", smooth=True)
def conv(x):
    n = len(x)
    w = x[:3]
    y = np.zeros(n - 2)
    for i in range(n - 2):
        for k in range(3):
            y[i] += w[k] * x[i + k]
    return np.sum(y**2)


@program(SQUARE, engine="compiled", smooth=True)
def matmul_loops(A):
    n = 4
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * A[k, j]
    return np.sum(np.sin(C * 0.01))


@program(SQUARE, engine="compiled", smooth=True)
def gram_schmidt(A):
    Q = A.copy()
    for j in range(4):
        for k in range(j):
            Q[:, j] -= np.dot(Q[:, k], A[:, j]) * Q[:, k]
        Q[:, j] /= np.sqrt(np.sum(Q[:, j] ** 2))
    return np.sum(Q**3)


@program(SQUARE, engine="compiled")
def floyd(A):
    D = A.copy()
    for k in range(4):
        for i in range(4):
            for j in range(4):
                D[i, j] = np.minimum(D[i, j], D[i, k] + 0.9 * D[k, j])
    return np.sum(D**2)


@program(LINE, engine="compiled", smooth=True)
def durbin(r):
    n = len(r)
    y = np.empty(n)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta = (1 - alpha * alpha) * beta + 3.0
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y**2)


@program(LINE, engine="compiled", smooth=True)
def early_while(x):
    u = x * 1.0
    it = 0
    while np.max(np.abs(u)) > 0.3 and it < 20:
        u *= 0.8
        u[0] += 0.01 * u[1] * u[2]
        it += 1
    return np.sum(u**2)


@program(LINE, engine="compiled", smooth=True)
def break_in(x):
    u = x * 1.0
    for i in range(1, 6):
        u[i] = u[i] * u[i - 1]
        if u[i] > 0.9:
            break
        u[i] += 0.3
    return np.sum(u**2)


@program(LINE.astype(np.float32), engine="compiled")
def single_precision_buffer(x):
    w = np.zeros(6, dtype=np.float32)
    w[:] = x**2
    w[1:] *= x[1:]
    return np.sum(w)


@program(LINE, engine="compiled")
def mask(x):
    y = x * 1.0
    m = y > 1.0
    y[m] = y[m] ** 2
    y[~m] *= 3.0
    y[y > 2.5] = 1.0
    return np.sum(y * x)


@program(SQUARE, engine="compiled", smooth=True)
def row_swap(m):
    a = m * 1.0
    a[0], a[1] = a[1] * 1.0, a[0] * 1.0
    a[2] = a[0] * a[1]
    return np.sum(a**2)


@program(LINE, engine="compiled", smooth=True)
def chained(x):
    a = np.zeros(3)
    b = np.zeros(3)
    a[0] = b[1] = x[0] * x[1]
    a[2] = x[2]
    return np.sum(a * a) + np.sum(b * x[:3])


@program(LINE, engine="compiled", smooth=True)
def overlap(x):
    u = x * 1.0
    u[1:] = u[:-1]
    u[1:] += u[:-1] * u[1:]
    u[::2] = u[1::2] * 2
    u[::-1] *= x
    return np.sum(u**2)


@program(LINE, engine="compiled", smooth=True)
def twice_same_view(x):
    y = x * 1.0
    v = y[1:4]
    w = v[1:]
    w[0] = v[0] * y[5]
    v *= 2.0
    y[2] += w[1]
    return np.sum(w * w) + np.sum(v) + np.sum(y * x)


@program(LINE, engine="compiled", smooth=True)
def inner_fresh(x):
    s = 0.0
    for t in range(3):
        out = np.zeros(6)
        for i in range(6):
            out[i] = x[i] * (t + 1)
            out[i] *= out[i]
        s += np.sum(out)
        out[0] = 0.0
    return s + out[1]


@program(LINE, engine="compiled", smooth=True)
def helper(x):
    def g(v):
        w = np.zeros(3)
        for i in range(3):
            w[i] = v[i] * v[i + 1]
        return w

    u = x * 1.0
    u[:3] += g(u)
    u[3:] *= g(u)
    return np.sum(u)


@program(LINE, engine="compiled", smooth=True)
def early_return(x):
    u = x * 1.0
    for i in range(6):
        u[i] *= x[i]
        if u[i] > 1.5:
            return np.sum(u) * u[i]
    return np.sum(u)


@program(LINE, engine="compiled", smooth=True)
def unread_branch(x):
    u = x * 1.0
    v = u[2:]
    if x[0] > 100:
        u = x * 2.0
    u[3] = 7.0 * x[0]
    return np.sum(v)


@program(LINE, engine="compiled", smooth=True)
def reduce_after(x):
    u = np.zeros(6)
    for i in range(6):
        u[i:] += x[i]
    u /= np.sum(u)
    return np.sum(u * u)


@program(SQUARE, engine="compiled", smooth=True)
def transposed(m):
    a = m * 1.0
    t = a.T
    t[0, 1:] = m[2, :3] * a[1, 1]
    a[0] += t[0]
    return np.sum(a * t)


@program(LINE, engine="compiled", smooth=True)
def ternary(x):
    u = x * 1.0
    for i in range(1, 6):
        u[i] = u[i - 1] * 2 if u[i] > 1 else u[i] * u[i - 1]
    return np.sum(u)
