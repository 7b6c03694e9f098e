"""Run random programs: ``python -m tests.random_programs --count 1000 --seed 1``."""

import argparse
import collections
import sys
import time

from .judge import Fault, judge
from .limits import Endless, limited
from .programs import numbered
from .reduce import reduced

SECOND = 8  # of so many programs one is differentiated twice


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many programs (1000)")
    parser.add_argument("--seed", type=int, default=0, help="which row of programs (0)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first one in its row (0)")
    parser.add_argument("--every", type=int, default=500, help="print progress after so many (500)")
    parser.add_argument("--reasons", type=int, default=12, help="how many reasons for the tape to print (12)")
    parser.add_argument("--whole", action="store_true", help="print failing programs as they are, without shrinking")
    options = parser.parse_args()
    began = time.perf_counter()
    counts, engines, reasons = collections.Counter(), collections.Counter(), collections.Counter()
    second = 0
    for done, number in enumerate(range(options.start, options.start + options.count), 1):
        program = numbered(options.seed, number)
        twice = number % SECOND == 0
        try:
            with limited():
                verdict = judge(program, twice)
        except (Fault, Endless) as fault:
            counts["wrong"] += 1
            if not options.whole and isinstance(fault, Fault):
                program = reduced(program, fault.kind, twice)
            print(f"\n--seed {options.seed} --start {number} is wrong ({fault})\n\n{program}\n", flush=True)
        else:
            counts[verdict.outcome] += 1
            engines[verdict.engine] += verdict.outcome in ("right", "kink", "large")
            second += verdict.second
            if verdict.reason:
                reasons[verdict.reason] += 1
        if done % options.every == 0 or done == options.count:
            print(summary(counts, engines, second, time.perf_counter() - began), flush=True)
    for reason, count in reasons.most_common(options.reasons):
        print(f"{count:7d}  {reason}")
    return 1 if counts["wrong"] else 0


def summary(counts, engines, second, seconds) -> str:
    run = engines["compiled"] + engines["tape"]
    share = engines["compiled"] / run if run else 0.0
    said = ", ".join(f"{name} {counts[name]}" for name in ("right", "wrong", "kink", "large", "raises", "refused"))
    return f"{sum(counts.values())}: {said}; compiled {share:.1%} of {run}; twice {second}; {seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
