"""Linear algebra from its definitions: factorizations, solves and iterations, entry by entry and row by row."""

import numpy as np

from tests.programs.corpus import kernel


def line(n):
    return np.sin(np.linspace(0.4, 4.0, n)) + 1.5


def square(n):
    i = np.arange(n)
    return np.cos(np.add.outer(i, 2.0 * i)) + n * np.eye(n)


def definite(n):
    m = square(n)
    return m @ m.T / n + np.eye(n)


@kernel("loops", small=(definite(4),), large=(definite(16),))
def cholesky(a):
    n = len(a)
    l = np.zeros((n, n))  # noqa: E741
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= l[i, k] * l[j, k]
            l[i, j] = s / l[j, j]
        s = a[i, i]
        for k in range(i):
            s -= l[i, k] ** 2
        l[i, i] = np.sqrt(s)
    return np.sum(l * l * l)


@kernel("slices", small=(definite(4),), large=(definite(60),))
def cholesky_by_columns(a):
    n = len(a)
    l = np.zeros_like(a)  # noqa: E741
    for j in range(n):
        l[j, j] = np.sqrt(a[j, j] - l[j, :j] @ l[j, :j])
        l[j + 1 :, j] = (a[j + 1 :, j] - l[j + 1 :, :j] @ l[j, :j]) / l[j, j]
    return np.sum(np.log(np.diag(l))) + np.sum(l)


@kernel("loops", small=(square(4),), large=(square(14),))
def lu(a):
    n = len(a)
    a = a.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a * a)


@kernel("slices", small=(square(4)[[1, 3, 0, 2]],), large=(square(60)[::-1].copy(),))
def lu_pivoted(a):
    n = len(a)
    a = a.copy()
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(np.log(np.abs(np.diag(a))))


@kernel("slices", small=(square(4),), large=(square(30),))
def gram_schmidt(a):
    n = a.shape[1]
    q = a.copy()
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.sum(q[:, k] ** 2))
        q[:, k] /= r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], q[:, j])
            q[:, j] -= q[:, k] * r[k, j]
    return np.sum(q**3) + np.sum(r * r)


@kernel("slices", small=(square(4),), large=(square(60),))
def householder(a):
    n = len(a)
    r = a.copy()
    for k in range(n - 1):
        v = r[k:, k].copy()
        v[0] += np.sign(v[0]) * np.sqrt(np.sum(v * v))
        v /= np.sqrt(np.sum(v * v))
        r[k:, k:] -= 2.0 * np.outer(v, v @ r[k:, k:])
    return np.sum(np.log(np.abs(np.diag(r)))) + np.sum(np.triu(r) ** 2)


@kernel("loops", small=(square(4), line(4)), large=(square(30), line(30)), argnums=(0, 1))
def triangular_solve(l, b):  # noqa: E741
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= l[i, j] * x[j]
        x[i] = s / l[i, i]
    return np.sum(x * x)


@kernel("slices", small=(square(4), line(4)), large=(square(200), line(200)), argnums=(0, 1))
def triangular_solve_by_rows(l, b):  # noqa: E741
    x = b.copy()
    for i in range(len(b)):
        x[i] -= l[i, :i] @ x[:i]
        x[i] /= l[i, i]
    return np.sum(x * x)


@kernel("slices", small=(line(6) * 0.2,), large=(line(200) * 0.002,))
def durbin(r):
    n = len(r)
    y = np.zeros(n)
    y[0] = -r[0]
    alpha = -r[0]
    beta = 1.0
    for k in range(1, n):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y * y)


@kernel(
    "loops",
    small=(line(5), line(5) + 3, line(5), line(5)),
    large=(line(300), line(300) + 3, line(300), line(300)),
    argnums=(0, 1, 2, 3),
)
def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.zeros(n)
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x * x)


@kernel("loops", small=(square(4), square(4)), large=(square(12), square(12)), argnums=(0, 1))
def matrix_product(a, b):
    n = len(a)
    c = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(n):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


@kernel("loops", small=(square(4), line(4), 3), large=(square(20), line(20), 5), argnums=(0, 1))
def gauss_seidel(a, b, sweeps):
    n = len(b)
    x = np.zeros(n)
    for _ in range(sweeps):
        for i in range(n):
            s = b[i]
            for j in range(n):
                if j != i:
                    s -= a[i, j] * x[j]
            x[i] = s / a[i, i]
    return np.sum(x * x)


@kernel("slices", small=(definite(4), line(4), 3), large=(definite(200), line(200), 40), argnums=(0, 1))
def conjugate_gradients(a, b, steps):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r
    rr = r @ r
    for _ in range(steps):
        ap = a @ p
        alpha = rr / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        rr_new = r @ r
        p = r + rr_new / rr * p
        rr = rr_new
    return np.sum(x * x)


@kernel("slices", small=(definite(4), line(4), 1e-6), large=(definite(100), line(100), 1e-10), argnums=(0, 1))
def conjugate_gradients_until(a, b, tolerance):
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    rr = r @ r
    for k in range(len(b)):
        ap = a @ p
        alpha = rr / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rr_new = r @ r
        if np.sqrt(rr_new) < tolerance:
            break
        p = r + (rr_new / rr) * p
        rr = rr_new
    return x @ b


@kernel("slices", small=(definite(4), line(4), 6), large=(definite(200), line(200), 50))
def power_iteration(a, v, steps):
    for _ in range(steps):
        w = a @ v
        v = w / np.linalg.norm(w)
    return v @ a @ v


@kernel("slices", small=(definite(4), line(4), 4), large=(definite(200), line(200), 50), argnums=(0, 1))
def jacobi_solver(a, b, steps):
    d = np.diag(a)
    x = np.zeros(len(b))
    for _ in range(steps):
        x = (b - (a @ x - d * x)) / (d + 5.0)
    return np.sum(x * x)


@kernel("loops", small=(square(4),), large=(square(14),))
def determinant(a):
    n = len(a)
    a = a.copy()
    d = 1.0
    for k in range(n):
        d *= a[k, k] / n
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= f * a[k, j]
    return d
