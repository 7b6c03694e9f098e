"""Writes the page of supported functions, `functions.md`, from the rule table: ``python docs/functions.py``."""

import builtins
import cmath
import math
import operator
import pathlib
import sys

import numpy as np
import scipy.special
import scipy.stats

from s2sgrad import rules
from s2sgrad.rules import table

PAGE = pathlib.Path(__file__).with_name("functions.md")

HEAD = """\
# Supported functions

What has a derivative rule, in both engines. The page is written by `python docs/functions.py`; a test keeps it up to
date.

Each line names the arguments that a derivative flows to. To ask for one by another argument is an error, unless it is
an option, like an axis, or a choice, like a condition. What is not on this page may still be differentiated: functions
of NumPy and SciPy that are written in Python run on the tape by their source. What is not known to either is an error
that names the line; a rule of your own is a line ([README](../README.md#a-rule-of-your-own)).
"""

LIBRARIES = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "np.ndarray": np.ndarray,
    "math": math,
    "cmath": cmath,
    "operator": operator,
    "": builtins,
    "scipy.special": scipy.special,
}
METHODS_OF_UFUNCS = ("reduce", "accumulate", "outer", "reduceat", "at")


def public_names() -> dict:
    """Each callable of the table that users can call, and its names."""
    table.read_imported()
    found: dict = {}
    for library, module in LIBRARIES.items():
        for name, value in sorted(vars(module).items()):
            if not name.startswith("_"):
                note(found, f"{library}.{name}".lstrip("."), value)
            if isinstance(value, np.ufunc) and library == "np":
                for method in METHODS_OF_UFUNCS:
                    note(found, f"np.{name}.{method}", getattr(value, method))
    for name, dist in sorted(vars(scipy.stats).items()):
        for method in ("pdf", "pmf", "logpdf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
            note(found, f"scipy.stats.{name}.{method}", getattr(dist, method, None))
    return found


def note(found: dict, name: str, value) -> None:
    if callable(value) and table.lookup(value) is not None:
        found.setdefault(value, []).append(name)


def family(rule: table.Rule) -> str:
    """The module that says the rule."""
    functions = (*rule.partials, *rule.pullbacks.values(), rule.joint)
    homes = [f.__module__ for f in functions if f not in (None, table.unknown)]
    return next((home for home in homes if home.startswith("s2sgrad.rules.")), "")


def title(module: str) -> str:
    """What the first line of a module's docstring says that it is about."""
    first = sys.modules[module].__doc__.split("\n\n")[0].split("\n")[0].rstrip(".")
    for lead in ("Derivatives of the ", "Derivatives of "):
        first = first.removeprefix(lead)
    about = first.split(":")[0].split(", written")[0]
    library = " of SciPy" if ".scipy." in module else ""
    return about[0].upper() + about[1:] + library


def listed(names) -> str:
    return ", ".join(f"`{name}`" for name in names)


def functions(names) -> str:
    """Functions by name; the methods of a distribution behind its name."""
    groups: dict = {}
    for name in sorted(names):
        home, _, method = name.rpartition(".")
        groups.setdefault(home if home.startswith("scipy.stats.") else name, []).append(method)
    found = [f"`{n}` ({', '.join(m)})" if n.startswith("scipy.stats.") else f"`{n}`" for n, m in groups.items()]
    return ", ".join(found)


def page() -> str:
    families: dict = {}
    inactive = []
    for function, names in public_names().items():
        rule = table.lookup(function)
        if rule.kind == "inactive":
            inactive += names
        else:
            families.setdefault(family(rule), {}).setdefault(rule.differentiable, []).extend(names)
    parts = [HEAD]
    order = [module.__name__ for module in rules.FAMILIES]
    for module in [*(m for m in order if m in families), *sorted(families.keys() - set(order))]:
        parts.append(f"## {title(module)}\n")
        parts += [f"* by {listed(arguments)}: {functions(names)}" for arguments, names in families[module].items()]
        parts.append("")
    methods = sorted(rules.METHODS, key=lambda name: (rules.METHODS[name].function.__name__, name))
    parts += [
        "## Methods and attributes of arrays\n",
        f"* methods: {listed(f'x.{name}()' for name in methods)}",
        f"* attributes: {listed(f'x.{name}' for name in sorted(rules.ATTRIBUTES))}",
        f"* that no derivative flows through: {listed(f'x.{name}()' for name in sorted(rules.INACTIVE_METHODS))},",
        f"  {listed(f'x.{name}' for name in sorted(rules.INACTIVE_ATTRIBUTES))}",
        "",
        "## What no derivative flows through\n",
        "Questions, comparisons, indices, steps and allocations: they may be called with anything.\n",
        listed(sorted(inactive)),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
