"""All benchmarks, one table each: ``python -m benchmarks [gradients kernels hand reading tape eager ...]``."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported: one thread for everybody

import argparse  # noqa: E402
import gc  # noqa: E402
import importlib.util  # noqa: E402
import inspect  # noqa: E402
import pathlib  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import tracemalloc  # noqa: E402

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks import eager as tensors  # noqa: E402
from benchmarks import functions, hand, peers  # noqa: E402
from benchmarks.measure import duration, interleaved  # noqa: E402
from s2sgrad import grad, value_and_grad  # noqa: E402
from tests.programs import factorizations, recurrences, stencils  # noqa: E402, F401 (they register kernels)
from tests.programs.corpus import KERNELS  # noqa: E402

CONSOLE = Console()
PEERS = {
    "autograd": ("HIPS", peers.hips),
    "torch": ("torch", peers.torch),
    "jax": ("jax.jit", peers.jax),
}


def report(title, headings, rows):
    table = Table(title=title, title_justify="left")
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left", no_wrap=not i)
    for row in rows:
        table.add_row(*row)
    CONSOLE.print(table)
    CONSOLE.print()


def gradients():
    """The compiled gradient against a hand-written adjoint and against the peers."""
    present = peers.available()
    rows = []
    for case in functions.CASES:
        compiled = value_and_grad(case.function, case.argnums, mode="compiled")
        on_tape = value_and_grad(case.function, case.argnums, mode="tape")
        error = functions.disagreement(compiled(*case.args)[1], case.hand(*case.args)[1])
        assert error < 1e-12, f"{case.name}: hand-written and compiled gradient differ by {error:.1e}"
        contest = {
            "hand": lambda case=case: case.hand(*case.args),
            "compiled": lambda case=case, compiled=compiled: compiled(*case.args),
            "tape": lambda case=case, on_tape=on_tape: on_tape(*case.args),
        }
        for module in present:
            contest[module] = PEERS[module][1](case.function, case.args, case.argnums)
        times = interleaved(contest, seconds=4.0)
        hand = times.pop("hand")
        row = [case.name, duration(hand), f"≤ {case.aim}"]
        rows.append(row + [f"{times[n] / hand:.2f}" if n in times else "-" for n in ("compiled", "tape", *PEERS)])
    headings = ["", "by hand", "aim", "compiled", "tape", *(name for name, _ in PEERS.values())]
    report("Value and gradient: time relative to a hand-written NumPy adjoint (lower is better)", headings, rows)


AIMS = {"slices": ("a step works on slices of arrays", 4.0, 3.0), "loops": ("a step works on single numbers", 8.0, 6.0)}


def kernels():
    """The gradients of the kernels of the tests, at sizes at which a call takes milliseconds, against the functions."""
    for group, (title, most, median) in AIMS.items():
        rows, ratios = [], []
        for kernel in (k for k in KERNELS if k.group == group):
            derivative = value_and_grad(kernel.function, kernel.argnums, mode="compiled")
            contest = {
                "primal": lambda kernel=kernel: kernel.function(*kernel.args),
                "gradient": lambda kernel=kernel, derivative=derivative: derivative(*kernel.args),
            }
            with np.errstate(all="ignore"):
                times = interleaved(contest, seconds=0.6, clock=time.thread_time)
            ratios.append(times["gradient"] / times["primal"])
            mark = "" if ratios[-1] <= most else f"> {most:g}"
            rows.append((kernel.function.__name__, duration(times["primal"]), f"{ratios[-1]:.2f}", mark))
        rows.append(("median", "", f"{statistics.median(ratios):.2f}", f"≤ {median:g}"))
        rows.append(("largest", "", f"{max(ratios):.2f}", f"≤ {most:g}"))
        report(f"Kernels in which {title}", ["", "function", "gradient ÷ function", ""], rows)


def by_hand():
    """Loops: the compiled gradient against the adjoint that an expert writes."""
    rows = []
    for case in hand.CASES:
        compiled = value_and_grad(case.function, case.argnums, mode="compiled")
        error = functions.disagreement(compiled(*case.args)[1], case.hand(*case.args)[1])
        assert error < 1e-9, f"{case.name}: hand-written and compiled gradient differ by {error:.1e}"
        contest = {
            "function": lambda case=case: case.function(*case.args),
            "hand": lambda case=case: case.hand(*case.args),
            "compiled": lambda case=case, compiled=compiled: compiled(*case.args),
        }
        times = interleaved(contest, seconds=2.0, clock=time.thread_time)
        ratios = [f"{times[a] / times[b]:.2f}" for a, b in (("hand", "function"), ("compiled", "hand"))]
        rows.append((case.name, duration(times["function"]), *ratios, f"≤ {case.aim}"))
    report(
        "Loops: value and gradient relative to a hand-written NumPy adjoint",
        ["", "function", "by hand ÷ function", "compiled ÷ by hand", "aim"],
        rows,
    )


def reading():
    """Reading ``x[i]`` in a loop: the cotangent of `x` is added to in place, so time is linear in its length."""
    derivative = grad(functions.read_one_by_one, mode="compiled")
    rows, before = [], None
    for n in (2_000, 20_000, 200_000):
        x = np.linspace(0.1, 1.0, n)
        taken = interleaved({"gradient": lambda x=x: derivative(x)}, seconds=1.0, clock=time.thread_time)["gradient"]
        rows.append((f"{n:,}", duration(taken), duration(taken / n), "" if before is None else f"{taken / before:.1f}"))
        before = taken
    report("Reading x[i] in a loop", ["n", "gradient", "per entry", "÷ the row above"], rows)


def tape():
    """100 operations on arrays of 10, forward and backward."""
    x = np.linspace(0.1, 1.0, 10)
    on_tape = value_and_grad(functions.chain, mode="tape")
    contest = {"tape": lambda: on_tape(x)}
    for module in peers.available():
        contest[module] = PEERS[module][1](functions.chain, (x,))
    times = interleaved(contest, seconds=4.0)
    names = {"tape": "s2sgrad, tape", **{module: name for module, (name, _) in PEERS.items()}}
    rows = [(names[n], duration(t), f"{t / times['tape']:.2f}") for n, t in times.items()]
    report("A chain of 100 operations on arrays of 10: forward and backward", ["", "time", "÷ tape"], rows)


def eager():
    """Tensors used directly, in the manner of torch."""
    for title, headings, rows in tensors.tables():
        report(title, headings, rows)


def fresh(function, folder, number):
    """A copy of `function` in a module of its own, that no cache knows."""
    path = pathlib.Path(folder, f"fresh_{number}.py")
    path.write_text("import numpy as np\n\n\n" + inspect.getsource(function))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function.__name__)


COLD = """
import time, numpy as np
from benchmarks.functions import fifty_lines
from s2sgrad import grad
x, w = np.linspace(0.1, 1.0, 10), np.array([0.5, 0.7])
begin = time.perf_counter()
grad(fifty_lines, (0, 1), mode="compiled")(x, w)
print(time.perf_counter() - begin)
"""


def first():
    """From decoration to the first gradient of a function of fifty lines."""
    x, w = np.linspace(0.1, 1.0, 10), np.array([0.5, 0.7])
    lines = len(inspect.getsource(functions.fifty_lines).splitlines())
    warm = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(15):
            function = fresh(functions.fifty_lines, folder, number)
            begin = time.perf_counter()
            grad(function, (0, 1), mode="compiled")(x, w)
            warm.append(time.perf_counter() - begin)
    command = [sys.executable, "-c", COLD]
    cold = [float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    rows = [
        ("in a fresh process", duration(statistics.median(cold)), "≤ 100 ms"),
        ("later functions", duration(statistics.median(warm)), "≤ 100 ms"),
    ]
    report(f"Decorate to first gradient, a function of {lines} lines", ["", "median", "aim"], rows)


def loop():
    """A long Python loop over tiny arrays: what compiling costs beside running."""
    x = np.array([0.2, 0.5])
    ratios, firsts, laters = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(5):
            derivative = grad(fresh(functions.small_loop, folder, number), mode="compiled")
            times = []
            for _ in range(8):
                begin = time.perf_counter()
                derivative(x)
                times.append(time.perf_counter() - begin)
            firsts.append(times[0])
            laters.append(statistics.median(times[1:]))
            ratios.append(firsts[-1] / laters[-1])
    row = [
        duration(statistics.median(firsts)),
        duration(statistics.median(laters)),
        duration(statistics.median([a - b for a, b in zip(firsts, laters, strict=True)])),
        "≤ 100 ms",
        f"{statistics.median(ratios):.2f}",
        "≤ 3",
    ]
    headings = ["first gradient", "later ones", "difference", "aim", "ratio", "aim"]
    report("2,000 iterations over arrays of 2", headings, [row])


def resident():
    """Resident memory of this process in MB."""
    import resource

    statm = pathlib.Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def memory():
    """A chain of 100,000 nodes on the tape: depth is no danger and memory comes back."""
    x = np.linspace(0.1, 1.0, 10)
    derivative = grad(functions.long_chain, mode="tape")
    derivative(x)  # imports, caches and the allocator's own store are not what is measured
    gc.collect()
    gc.disable()  # what comes back comes back without the collector's help: no cycles
    resident_before, begin = resident(), time.perf_counter()
    derivative(x)
    taken, growth = time.perf_counter() - begin, resident() - resident_before
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    derivative(x)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.enable()
    row = [duration(taken), f"{(peak - before) / 1e6:.1f} MB", f"{(after - before) / 1e6:.3f} MB"]
    row.append(f"{growth:+.1f} MB")
    report(
        "A chain of 100,000 nodes on the tape",
        ["time", "memory at the peak", "left afterwards", "resident, before to after"],
        [row],
    )


BENCHMARKS = {
    "gradients": gradients,
    "kernels": kernels,
    "hand": by_hand,
    "reading": reading,
    "tape": tape,
    "eager": eager,
    "first": first,
    "loop": loop,
    "memory": memory,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], default=[], help="which; all if none is named")
    names = parser.parse_args().names or list(BENCHMARKS)
    CONSOLE.print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}, one thread\n")
    for name in names:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
