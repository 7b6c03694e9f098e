"""Programs as people of many fields write them: whole, unmodified, each with the engine that runs it."""

import numpy as np

from tests.programs.corpus import program

RNG = np.random.default_rng(5)

# ------------------------------------------------------------------------------- signals and images


def fft_by_halves(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft_by_halves(x[::2]), fft_by_halves(x[1::2])
    t = np.exp(-2j * np.pi * np.arange(n) / n)
    return np.concatenate([even + t[: n // 2] * odd, even + t[n // 2 :] * odd])


@program(RNG.normal(size=8), engine="compiled", smooth=True)
def recursive_fft(x):
    return np.sum(np.abs(fft_by_halves(x)[:3]) ** 2)


@program(RNG.normal(size=16), engine="compiled", smooth=True)
def fft_lowpass(x):
    spectrum = np.fft.rfft(x)
    freq = np.fft.rfftfreq(len(x), d=0.1)
    spectrum[freq > 2] = 0
    y = np.fft.irfft(spectrum, n=len(x))
    return np.sum((y - 1) ** 2)


def soft_minimum(a, b, c, gamma):
    a, b, c = -a / gamma, -b / gamma, -c / gamma
    m = max(a, b, c)
    return -gamma * (np.log(np.exp(a - m) + np.exp(b - m) + np.exp(c - m)) + m)


@program(np.array([0.0, 1.0, 2.0, 1.0]), np.array([0.5, 1.5, 1.0, 0.2]), engine="compiled", argnums=(0, 1))
def soft_dtw(x, y, gamma=0.5):
    n, m = len(x), len(y)
    cost = (x[:, None] - y[None, :]) ** 2
    r = np.full((n + 1, m + 1), np.inf)
    r[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r[i, j] = cost[i - 1, j - 1] + soft_minimum(r[i - 1, j], r[i, j - 1], r[i - 1, j - 1], gamma)
    return r[n, m]


# ------------------------------------------------------------------------------- physics


@program(1.0 + 0.1 * np.arange(12.0), engine="compiled", smooth=True)
def fdtd_with_permittivity(eps):
    n = len(eps)
    ez, hy = np.zeros(n), np.zeros(n - 1)
    record = []
    for t in range(12):
        hy += 0.5 * np.diff(ez)
        ez[1:-1] += 0.5 / eps[1:-1] * np.diff(hy)
        ez[3] += np.exp(-(((t - 4.0) / 2) ** 2))
        record.append(ez[7])
    return np.sum(np.array(record) ** 2)


# ------------------------------------------------------------------------------- curves


def natural_spline(x, y):
    n = len(x) - 1
    h = np.diff(x)
    a = np.zeros((n + 1, n + 1))
    b = np.zeros(n + 1)
    a[0, 0] = a[n, n] = 1
    for i in range(1, n):
        a[i, i - 1] = h[i - 1]
        a[i, i] = 2 * (h[i - 1] + h[i])
        a[i, i + 1] = h[i]
        b[i] = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
    c = np.linalg.solve(a, b)
    return y[:-1], np.diff(y) / h - h * (2 * c[:-1] + c[1:]) / 3, c[:-1], np.diff(c) / (3 * h)


@program(np.array([0.0, 1.0, 0.5, 2.0, 1.5]), engine="compiled", smooth=True)
def spline(y):
    x = np.arange(5.0)
    a, b, c, d = natural_spline(x, y)
    points = np.linspace(0.1, 3.9, 7)
    i = np.clip(np.searchsorted(x, points) - 1, 0, len(x) - 2)
    dx = points - x[i]
    return np.sum((a[i] + b[i] * dx + c[i] * dx**2 + d[i] * dx**3) ** 2)


@program(np.linspace(0.1, 1, 5).astype(np.float32), engine="compiled")
def single_precision(x):
    w = np.float32(0.5)
    y = np.zeros(5, dtype=np.float32)
    for i in range(5):
        y[i] = w * x[i] ** 2
    return (y * x).sum()


# ------------------------------------------------------------------------------- data


@program(RNG.normal(size=9), engine="compiled", smooth=True)
def calibration_curve(y):
    t = np.linspace(-1, 1, 9)
    coefficients = np.polyfit(t, y, 2)
    residual = y - np.polyval(coefficients, t)
    slope, _, _, _ = np.linalg.lstsq(np.column_stack([t, np.ones(9)]), y, rcond=None)
    return np.sum(residual**4) + slope[0] ** 2


@program(RNG.random(10), engine="compiled", smooth=True)
def weighted_counts(w):
    bins = np.digitize(np.linspace(0, 1, 10), np.array([0.3, 0.6]))
    h = np.bincount(bins, weights=w, minlength=3)
    return np.sum(h**2)


@program(RNG.random(10), engine="tape")
def weighted_histogram(w):
    h, _ = np.histogram(np.linspace(0, 1, 10), bins=3, weights=w)
    return np.sum(h**2)


@program(RNG.normal(size=(2, 5, 5)), engine="compiled", smooth=True)
def windows_of_an_image(x):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    y = (windows * np.arange(9.0).reshape(3, 3)).sum(axis=(-1, -2))
    return np.mean(y**2)


@program(RNG.normal(size=6), engine="tape")
def window_of_what_changes(x):
    y = x * 1.0
    windows = np.lib.stride_tricks.sliding_window_view(y, 3)
    y[2] = y[0] * 5
    return np.sum(windows**2)


@program(np.array([0.3, -0.7, 1.2]), engine="compiled", smooth=True)
def what_is_constant_in_lists(x):
    value = np.sum(np.polyval([1, 2, 3], x)) + np.polyval([0.5, -1.0], x[0])
    line = np.polyfit([0, 1, 2], x, 1)
    plane, _, _, _ = np.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], x, rcond=None)
    return value + line[0] * plane[1] + np.trapezoid([1.0, 2.0, 4.0], x) + np.corrcoef([1.0, 2.0, 4.0], x)[0, 1]
