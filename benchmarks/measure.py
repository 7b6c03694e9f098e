"""How times are compared: in one process, in turn, by their medians.

`clock` is ``time.perf_counter``, or ``time.thread_time`` where all that is measured runs in one thread: then what
other processes do on the machine disturbs less.
"""

import gc
import statistics
import time


def repetitions(function, sample=2e-3, clock=time.perf_counter):
    """How many calls of `function` take about `sample` seconds; warms it up too."""
    function()
    count = 1
    while True:
        begin = clock()
        for _ in range(count):
            function()
        taken = clock() - begin
        if taken >= sample / 2:
            return max(1, round(count * sample / taken))
        count *= 4


def interleaved(functions, seconds=2.0, clock=time.perf_counter):
    """Median seconds a call of each function.

    One sample of each is taken in turn, so that what disturbs the machine disturbs all of them alike; the
    first and the last round differ in time, never in kind.

    Parameters
    ----------
    functions : dict of str to callable
        Called without arguments.
    seconds : float
        Time spent on measuring, all functions together; at least seven rounds are made.
    clock : callable

    Returns
    -------
    dict of str to float
    """
    counts = {name: repetitions(function, clock=clock) for name, function in functions.items()}
    samples = {name: [] for name in functions}
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        end = clock() + seconds
        while clock() < end or len(next(iter(samples.values()))) < 7:
            for name, function in functions.items():
                count = counts[name]
                begin = clock()
                for _ in range(count):
                    function()
                samples[name].append((clock() - begin) / count)
            gc.collect(0)
    finally:
        if enabled:
            gc.enable()
    return {name: statistics.median(times) for name, times in samples.items()}


def duration(seconds):
    """A time for a table: ``12.3 µs``."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
