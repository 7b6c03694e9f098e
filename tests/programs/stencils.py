"""Differential equations on grids, as textbooks write them: whole slices a step."""

import numpy as np

from tests.programs.corpus import kernel


def wave(n):
    return np.sin(np.linspace(0.3, 5.0, n)) + 1.2


def plane(n, m=None):
    return np.add.outer(wave(n), np.cos(np.linspace(0.0, 3.0, m or n)))


def cube(n):
    return np.add.outer(plane(n), wave(n)) / 2


@kernel("slices", small=(wave(7), 0.2, 4), large=(wave(1000), 0.2, 200), argnums=(0, 1))
def heat_1d(u0, k, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


@kernel("slices", small=(wave(7), 4), large=(wave(1000), 200))
def jacobi_1d(x, steps):
    a = x.copy()
    b = x.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3
    return np.sum(a * b)


@kernel("slices", small=(plane(5, 4), 3), large=(plane(100), 50))
def jacobi_2d(x, steps):
    a = x.copy()
    b = x.copy()
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return np.sum(a * a)


@kernel("slices", small=(cube(4), 2), large=(cube(24), 20))
def heat_3d(x, steps):
    a = x.copy()
    b = x.copy()
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a, b = b, a
    return np.sum(a * a)


@kernel("slices", small=(plane(4, 5), plane(4, 5), 3), large=(plane(80), plane(80), 40), argnums=(0, 1))
def fdtd_2d(ex, hz, steps):
    ey = np.zeros_like(ex)
    ex = ex.copy()
    hz = hz.copy()
    for t in range(steps):
        ey[0, :] = 0.1 * t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(hz * hz) + np.sum(ex * ey)


@kernel("slices", small=(plane(5), 2), large=(plane(40), 4))
def adi(u0, steps):
    n = len(u0)
    u = u0.copy()
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    a, b = -0.3, 1.6
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (0.3 * u[j, :-2] + 0.4 * u[j, 1:-1] + 0.3 * u[j, 2:] - a * q[1:-1, j - 1]) / (
                a * p[1:-1, j - 1] + b
            )
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, -1, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 1:-1] = v[1:-1, 1:-1]
    return np.sum(u * u)


@kernel("slices", small=(wave(8), 0.4, 4), large=(wave(1000), 0.4, 200), argnums=(0, 1))
def wave_equation(u0, c, steps):
    before = u0.copy()
    now = u0.copy()
    for _ in range(steps):
        after = np.zeros_like(now)
        after[1:-1] = 2 * now[1:-1] - before[1:-1] + c**2 * (now[2:] - 2 * now[1:-1] + now[:-2])
        before, now = now, after
    return np.sum(now * now)


@kernel("slices", small=(wave(8), 0.1, 4), large=(wave(1000), 0.1, 200), argnums=(0, 1))
def burgers(u0, nu, steps):
    dx, dt = 0.5, 0.05
    u = u0.copy()
    for _ in range(steps):
        un = u.copy()
        u[1:-1] = (
            un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - un[:-2]) + nu * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        )
        u[0] = un[-2]
        u[-1] = u[0]
    return np.sum(u**2)


@kernel("slices", small=(wave(8), 4), large=(wave(1000), 200))
def upwind(u0, steps):
    u = u0.copy()
    for _ in range(steps):
        u[1:] = u[1:] - 0.4 * u[1:] * (u[1:] - u[:-1])
    return np.sum(np.sin(u))


@kernel(
    "slices", small=(plane(5) * 0.2, plane(5) * 0.1, 3), large=(plane(80) * 0.2, plane(80) * 0.1, 30), argnums=(0, 1)
)
def gray_scott(u, v, steps):
    def laplacian(w):
        return np.roll(w, 1, 0) + np.roll(w, -1, 0) + np.roll(w, 1, 1) + np.roll(w, -1, 1) - 4 * w

    for _ in range(steps):
        uvv = u * v * v
        u = u + 0.16 * laplacian(u) - uvv + 0.035 * (1 - u)
        v = v + 0.08 * laplacian(v) + uvv - 0.095 * v
    return np.sum(v * v)


@kernel("slices", small=(plane(6), 3), large=(plane(80), 30))
def red_black(u0, sweeps):
    u = u0.copy()
    for _ in range(sweeps):
        u[1:-1:2, 1:-1] = 0.25 * (u[:-2:2, 1:-1] + u[2::2, 1:-1] + u[1:-1:2, :-2] + u[1:-1:2, 2:])
        u[2:-1:2, 1:-1] = 0.25 * (u[1:-2:2, 1:-1] + u[3::2, 1:-1] + u[2:-1:2, :-2] + u[2:-1:2, 2:])
    return np.sum(u * u)


@kernel("slices", small=(plane(5, 6), 0.1, 4), large=(plane(60, 60), 0.1, 40))
def pressure_poisson(b, dt, sweeps):
    p = np.zeros_like(b)
    for _ in range(sweeps):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, :-2]) * 0.25 + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * 0.25 - dt * b[1:-1, 1:-1]
        )
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return np.sum(p * p)


@kernel("slices", small=(plane(5), plane(4)), large=(plane(120), plane(100)))
def shallow_advection(h, w):
    n = min(len(h), len(w))
    flux = np.zeros_like(h)
    total = 0.0
    for k in range(1, n - 1):
        flux[k, 1:] = h[k, 1:] * h[k - 1, :-1] + w[k, 0]
        flux[k] *= 0.5
        total += np.mean(flux[k] ** 2)
    return total


@kernel("loops", small=(plane(4), 2), large=(plane(24), 4))
def gauss_seidel_2d(u0, sweeps):
    u = u0.copy()
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


@kernel("loops", small=(wave(6), 3), large=(wave(60), 20))
def heat_by_points(u0, steps):
    u = u0.copy()
    n = len(u)
    for _ in range(steps):
        new = np.zeros(n)
        for i in range(1, n - 1):
            new[i] = u[i] + 0.2 * (u[i + 1] - 2 * u[i] + u[i - 1])
        u = new
    return np.sum(u * u)


@kernel("loops", small=(wave(6), 0.3, 2), large=(wave(60), 0.3, 20), argnums=(0, 1))
def crank_nicolson(u0, r, steps):
    n = len(u0)
    u = u0.copy()
    for _ in range(steps):
        d = np.zeros(n)
        d[0] = u[0]
        d[n - 1] = u[n - 1]
        d[1:-1] = r * u[:-2] + (1 - 2 * r) * u[1:-1] + r * u[2:]
        c = np.zeros(n)
        for i in range(1, n - 1):
            m = 1 + 2 * r + r * c[i - 1]
            c[i] = -r / m
            d[i] = (d[i] + r * d[i - 1]) / m
        u[n - 1] = d[n - 1]
        for i in range(n - 2, 0, -1):
            u[i] = d[i] - c[i] * u[i + 1]
        u[0] = d[0]
    return np.sum(u * u)
