"""Train a digit classifier, written in plain NumPy, with the compiled gradient of its loss.

The data are the 1,797 handwritten 8x8 digits that come with scikit-learn. The network is a stack of
tanh layers and a softmax, its weights a list of ``(W, b)`` pairs. At the end the generated backward
source is printed and raced against a gradient of the same network written by hand.

Run with ``make demo``, or with ``python examples/digits.py`` where scikit-learn and matplotlib are installed.
"""

import os
import pathlib
import statistics
import sys
import time

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.syntax import Syntax
from rich.table import Table

from s2sgrad import value_and_grad

SIZES = (64, 64, 32, 10)
EPOCHS = 60
BATCH = 64
PICTURE = pathlib.Path(__file__).parent / "output" / "digits_loss.png"


# The network, as a person writes it


def predict(params, images):
    """The unnormalised log probability of each class for each image."""
    h = images
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    return h @ W + b


def loss(params, images, labels):
    """Mean cross-entropy of the labels."""
    scores = predict(params, images)
    scores = scores - np.max(scores, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(scores), axis=1))
    return np.mean(log_total - scores[np.arange(len(labels)), labels])


# The same gradient, written by hand by someone who takes care


def hand_written(params, images, labels):
    """Value and gradient of `loss`: forward values are reused, nothing is computed twice."""
    layers = [images]
    for W, b in params[:-1]:
        layers.append(np.tanh(layers[-1] @ W + b))
    W, b = params[-1]
    scores = layers[-1] @ W + b
    scores -= np.max(scores, axis=1, keepdims=True)
    rows = np.arange(len(labels))
    d = np.exp(scores)
    total = np.sum(d, axis=1)
    value = np.mean(np.log(total) - scores[rows, labels])
    d /= total[:, None]  # softmax minus one-hot, over the batch: the cotangent of the scores
    d[rows, labels] -= 1.0
    d /= len(labels)
    gradient = []
    for (W, _), h in zip(reversed(params), reversed(layers), strict=True):
        gradient.append((h.T @ d, np.sum(d, axis=0)))
        if h is not images:
            d = d @ W.T
            d *= 1.0 - h * h
    return value, gradient[::-1]


# Data, training, measuring


def load(seed=0):
    """The digits, scaled to [0, 1], split 80 : 20 into training and test."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = digits.data / 16.0, digits.target
    order = np.random.default_rng(seed).permutation(len(labels))
    images, labels = images[order], labels[order]
    split = len(labels) * 4 // 5
    return (images[:split], labels[:split]), (images[split:], labels[split:])


def initialise(sizes=SIZES, seed=0):
    """A list of ``(W, b)`` pairs, one a layer."""
    rng = np.random.default_rng(seed)
    return [(rng.normal(0, 1 / np.sqrt(m), (m, n)), np.zeros(n)) for m, n in zip(sizes[:-1], sizes[1:], strict=True)]


class Adam:
    """Adam (Kingma and Ba, 2015) on a list of ``(W, b)`` pairs, in place."""

    def __init__(self, params, rate=3e-3):
        self.rate, self.steps = rate, 0
        self.leaves = [leaf for pair in params for leaf in pair]
        self.mean = [np.zeros_like(leaf) for leaf in self.leaves]
        self.square = [np.zeros_like(leaf) for leaf in self.leaves]

    def step(self, gradient):
        self.steps += 1
        rate = self.rate * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps)
        for p, g, m, s in zip(self.leaves, (g for pair in gradient for g in pair), self.mean, self.square, strict=True):
            m += 0.1 * (g - m)
            s += 0.001 * (g * g - s)
            p -= rate * m / (np.sqrt(s) + 1e-8)


def train(gradient, params, images, labels, epochs=EPOCHS, console=None):
    """Train in place; returns the loss of every step."""
    rng = np.random.default_rng(1)
    optimiser = Adam(params)
    curve = []
    columns = (
        TextColumn("training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs, loss {task.fields[loss]:.4f},"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=epochs, loss=float("nan"))
        for _ in range(epochs):
            order = rng.permutation(len(labels))
            for start in range(0, len(labels), BATCH):
                batch = order[start : start + BATCH]
                value, g = gradient(params, images[batch], labels[batch])
                optimiser.step(g)
                curve.append(float(value))
            progress.update(task, advance=1, loss=np.mean(curve[-len(labels) // BATCH :]))
    return curve


def accuracy(params, images, labels):
    return float(np.mean(np.argmax(predict(params, images), axis=1) == labels))


def disagreement(one, other):
    """The largest relative difference between two gradients, each leaf relative to its largest entry."""
    pairs = zip((g for pair in one for g in pair), (g for pair in other for g in pair), strict=True)
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)


def race(first, second, *args, rounds=300):
    """Median seconds of two functions, timed in turn."""
    times = ([], [])
    for _ in range(rounds):
        for function, record in zip((first, second), times, strict=True):
            begin = time.perf_counter()
            function(*args)
            record.append(time.perf_counter() - begin)
    return tuple(statistics.median(record) for record in times)


def draw(curve, path=PICTURE):
    """Write the loss curve, with its running mean over an epoch."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    window = min(len(curve), 23)
    mean = np.convolve(curve, np.full(window, 1 / window), mode="valid")
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    axes.semilogy(curve, color="0.8", label="one batch")
    axes.semilogy(np.arange(window - 1, len(curve)), mean, label="mean over an epoch")
    axes.set(xlabel="step", ylabel="cross-entropy", title="Digits, trained with the compiled gradient")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main():
    console = Console()
    (images, labels), (test_images, test_labels) = load()
    console.print(f"{len(labels)} digits to learn from, {len(test_labels)} to test on; layers {SIZES}")

    params = initialise()
    gradient = value_and_grad(loss, mode="compiled")
    curve = train(gradient, params, images, labels, console=console)

    console.print("\nThe backward source that did it:\n")
    if sys.stdout.isatty():
        console.print(Syntax(gradient.source, "python", word_wrap=True))
    else:
        print(gradient.source)
    draw(curve)

    batch = (params, images[:BATCH], labels[:BATCH])
    difference = disagreement(gradient(*batch)[1], hand_written(*batch)[1])
    compiled, hand = race(gradient, hand_written, *batch)
    score = accuracy(params, test_images, test_labels)

    table = Table(show_header=False)
    table.add_row("test accuracy", f"{100 * score:.1f} %")
    table.add_row(f"compiled gradient, batch of {BATCH}", f"{1e6 * compiled:.0f} µs")
    table.add_row("hand-written gradient", f"{1e6 * hand:.0f} µs")
    table.add_row("compiled ÷ hand-written", f"{compiled / hand:.2f}")
    table.add_row("largest relative difference", f"{difference:.1e}")
    table.add_row("loss curve", os.path.relpath(PICTURE))
    console.print(table)

    if difference > 1e-12:
        raise SystemExit(f"the two gradients disagree: {difference:.1e}")
    if score < 0.96:
        raise SystemExit(f"test accuracy {score:.3f} is below 0.96")


if __name__ == "__main__":
    main()
