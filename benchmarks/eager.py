"""Tensors used directly (``import s2sgrad.torch as torch``): against eager torch, HIPS and NumPy."""

import numpy as np

import s2sgrad.torch as ours
from benchmarks import functions, peers
from benchmarks.measure import duration, interleaved

LARGE = 1_000_000


def arithmetic_by_hand(x):
    """`functions.arithmetic` with its adjoint: next to nothing itself, so that what a tape adds shows."""
    y = x
    for _ in range(50):
        y = y * 1.01
        y = y + 0.1
    g = np.ones_like(x)
    for _ in range(50):
        g = g * 1.01
    return np.sum(y), g


def chain_by_hand(x):
    """`functions.chain` with its adjoint as an expert writes it: numbers as arrays, results in place."""
    y, saved = x, []
    for _ in range(25):
        s = y
        y = np.sin(y)
        y *= 1.1
        y += 0.1
        np.tanh(y, y)
        saved.append((s, y))
    g = np.ones_like(x)
    for s, t in reversed(saved):
        p = t * t
        np.subtract(1.0, p, p)
        p *= 1.1
        p *= np.cos(s)
        g *= p
    return np.sum(y), g


def exponentials(x):
    """A chain of ten exponentials of negative numbers: twenty operations."""
    for _ in range(10):
        x = np.exp(-x)
    return np.sum(x)


def black_scholes(x):
    """The prices of European calls, by their discounted stock prices over the strike."""
    spread = 0.3 * 1.5**0.5
    d = np.log(x) / spread + 0.5 * spread
    gain = x * (1 + np.erf(d / 2**0.5)) - (1 + np.erf((d - spread) / 2**0.5))
    return np.sum(0.5 * gain)


def rational(x):
    """Eleven operations, as in the losses of large models."""
    y = np.tanh(x) * x + 0.5
    z = np.exp(-y) / np.sqrt(y)
    return np.sum(z * z / (2 + x) - x)


def with_sine(x):
    """Eight operations, a sine among them: NumPy has no vector instructions for it in float64, torch has."""
    y = np.sin(x) * x
    z = np.tanh(y) + 0.5 * y
    return np.sum(z * z - x)


def backward(torch, function, array):
    """A call of forward and backward of a function that is written with ``np.``, on tensors of `torch`."""
    function = peers.rebound(function, torch)
    x = leaf(torch, array)

    def call():
        x.grad = None
        function(x).backward()
        return x.grad

    return call


def leaf(torch, array):
    return torch.tensor(array, requires_grad=True)


def tables():
    """The tables: title, headings, rows."""
    yield passes("with sines and tangents", functions.chain, chain_by_hand)
    yield passes("by numbers", functions.arithmetic, arithmetic_by_hand)
    yield operations()
    yield large()


def passes(name, function, by_hand):
    x = np.linspace(0.1, 1.0, 10)
    contest = {
        "tensors": backward(ours, function, x),
        "by hand": lambda: by_hand(x),
    }
    found = peers.available()
    if "torch" in found:
        contest["torch"] = backward(found["torch"], function, x)
    if "autograd" in found:
        contest["HIPS"] = peers.hips(function, (x,))
    g = contest["tensors"]().numpy()
    assert functions.disagreement(g, by_hand(x)[1]) < 1e-12
    times = interleaved(contest, seconds=4.0)
    names = {"tensors": "s2sgrad, tensors"}
    rows = [(names.get(n, n), duration(t), f"{t / times['tensors']:.2f}") for n, t in times.items()]
    return f"100 operations in a row on tensors of 10, {name}: forward and backward", ["", "time", "÷ tensors"], rows


def operations():
    a, b = np.linspace(0.1, 1.0, 10), np.linspace(1.0, 2.0, 10)
    m, w = np.ones((8, 8)), np.ones((8, 8))
    x, y, p, q = [leaf(ours, array) * 1.0 for array in (a, b, m, w)]  # results, as most operands are
    cases = {
        "x + y": (lambda: x + y, lambda: a + b),
        "x * y": (lambda: x * y, lambda: a * b),
        "x * 2.5": (lambda: x * 2.5, lambda: a * 2.5),
        "sin(x)": (lambda: ours.sin(x), lambda: np.sin(a)),
        "x @ y, 8×8": (lambda: p @ q, lambda: m @ w),
        "sum(x)": (lambda: ours.sum(x), lambda: np.sum(a)),
    }
    rows = []
    for name, (recorded, raw) in cases.items():
        times = interleaved({"recorded": recorded, "raw": raw}, seconds=0.7)
        rows.append(
            (name, duration(times["recorded"]), duration(times["raw"]), f"{times['recorded'] / times['raw']:.2f}")
        )
    return "One operation on tensors of 10, recorded", ["", "recorded", "NumPy", "÷ NumPy"], rows


def large():
    torch = peers.available().get("torch")
    rows = []
    contests = {
        "chain of sums and products": functions.arithmetic,
        "chain of exponentials": exponentials,
        "tanh, exp, sqrt": rational,
        "option prices": black_scholes,
        "with a sine": with_sine,
    }
    for name, function in contests.items():
        for dtype in (np.float64, np.float32):
            x = np.linspace(0.1, 1.0, LARGE, dtype=dtype)
            contest = {"tensors": backward(ours, function, x)}
            if torch is not None:
                contest["torch"] = backward(torch, function, x)
            times = interleaved(contest, seconds=2.0)
            shown = [duration(times["tensors"])]
            if torch is not None:
                shown += [duration(times["torch"]), f"{times['torch'] / times['tensors']:.2f}"]
            rows.append((f"{name}, {np.dtype(dtype)}", *shown))
    headings = ["", "tensors", *(["torch", "torch ÷ tensors"] if torch is not None else [])]
    return f"Elementwise operations on {LARGE:,} elements: forward and backward", headings, rows
