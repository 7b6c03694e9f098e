"""`python -m s2sgrad`: show, check and export the derivative of a function in a file.

    python -m s2sgrad show model.py:loss
    python -m s2sgrad show model.py:loss --argnums w,b
    python -m s2sgrad show model.py:Model.energy --args "Model(), np.ones(3)"
    python -m s2sgrad check model.py:loss --args "np.ones(3), 2.0"
    python -m s2sgrad export model.py:loss -o loss_grad.py

The exit status is 0 where all went well, 1 where the answer is no (no source, a wrong gradient), 2 where
the request itself does not make sense.
"""

import argparse
import ast
import importlib.util
import inspect
import os
import sys
import traceback

import numpy as np
from rich.console import Console
from rich.syntax import Syntax

from s2sgrad import __version__
from s2sgrad.api import Derivative, grad
from s2sgrad.api.derivative import MODES
from s2sgrad.errors import ArgumentError, CompileError, S2SGradError
from s2sgrad.runtime.location import location_of
from s2sgrad.transform.emit.load import origin


class RequestError(Exception):
    """The command line asks for something that does not exist."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options)
    except (RequestError, ArgumentError) as error:
        return _complain(error, 2)
    except CompileError as error:
        hint = "" if options.args else "\nSay by --args what it is called with, if not arrays."
        return _complain(f"{error}{hint}", 1)
    except S2SGradError as error:
        return _complain(error, 1)
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _complain(error, status: int) -> int:
    print(f"s2sgrad: {error}", file=sys.stderr)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m s2sgrad", description="Show, check or export the derivative of a function of a Python file."
    )
    parser.add_argument("--version", action="version", version=f"s2sgrad {__version__}")
    commands = parser.add_subparsers(required=True, metavar="{show,check,export}")

    def add(name, command, text):
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        sub.set_defaults(command=command)
        sub.add_argument(
            "function", metavar="FILE.py:FUNCTION", help="a function (CLASS.NAME for a method) or derivative"
        )
        sub.add_argument(
            "--argnums",
            metavar="WHICH",
            help="arguments to differentiate: positions or names, separated by commas (default: the first)",
        )
        sub.add_argument(
            "--args",
            metavar="EXPRESSIONS",
            help='arguments as Python expressions, NumPy being np: "np.ones(3), 2.0, k=1"',
        )
        sub.add_argument("--mode", choices=MODES, help="what to differentiate by (default: auto)")
        return sub

    add("show", show, "print the generated source of the derivative")
    add("check", verify, "compare the derivative with finite differences at the arguments given by --args")
    sub = add("export", export, "write the derivative to a file that needs NumPy only")
    sub.add_argument("-o", "--output", metavar="PATH", help="the file to write (default: FUNCTION_grad.py)")
    return parser


# --------------------------------------------------------------------------------------- commands


def show(options) -> int:
    """Print the generated source; returns the exit status, as the other commands do."""
    derivative, _ = _called(options)
    source = derivative.source
    if sys.stdout.isatty():
        Console().print(Syntax(source.rstrip("\n"), "python", background_color="default"))
    else:
        print(source, end="" if source.endswith("\n") else "\n")
    return 0


def verify(options) -> int:
    """Compare the derivative with finite differences; the command is called ``check``."""
    derivative, module = _derivative(options)
    if options.args is None:
        raise RequestError('check needs arguments: --args "np.ones(3), 2.0"')
    print(_called_with(options.args, derivative.check, module, derivative))
    return 0


def export(options) -> int:
    """Write the derivative to a file of its own."""
    derivative, name = _called(options)
    path = options.output or f"{name.rpartition('.')[2]}_grad.py"
    try:
        derivative.export(path)
    except OSError as error:
        raise RequestError(f"cannot write {path}: {error.strerror}") from None
    print(f"wrote {path}")
    return 0


# --------------------------------------------------------------------------------- what is meant


def _called(options):
    """The derivative, called once where arguments are given, and the function's name."""
    derivative, module = _derivative(options)
    if options.args is not None:
        _called_with(options.args, derivative, module, derivative)
    return derivative, options.function.rpartition(":")[2]


def _called_with(text: str, call, module, derivative):
    """What `call` gives for the arguments in `text`; what the user's function raises there is told in short."""
    args, kwargs = _arguments(text, module, derivative)
    try:
        return call(*args, **kwargs)
    except S2SGradError:
        raise
    except Exception as error:
        what = "".join(traceback.format_exception_only(error)).rstrip()
        place = location_of(error) if origin(error) is None else None  # which a note tells already
        at = "" if place is None else f"\n  at {place}"
        raise RequestError(f"the derivative of {derivative.__name__} fails for --args {text!r}:\n{what}{at}") from None


def _derivative(options):
    file, colon, name = options.function.rpartition(":")
    if not colon or not name or not file:
        raise RequestError(f"say FILE.py:FUNCTION, not {options.function!r}")
    module = _load(file)
    found, owner = module, None
    for part in name.split("."):
        if not hasattr(found, part):
            known = sorted(k for k, v in vars(found).items() if callable(v) and not k.startswith("_"))
            listed = f"; it has {', '.join(known)}" if known else ""
            raise RequestError(f"{file} has no function {name!r}{listed}")
        owner, found = found, getattr(found, part)
    if not callable(found):
        raise RequestError(f"{name} in {file} is no function but {_article(type(found).__name__)}")
    if isinstance(found, Derivative):
        if options.argnums is None and options.mode is None:
            return found, module
        found = found.primal
    derivative = grad(found, _argnums(options.argnums), mode=options.mode or "auto")
    if isinstance(owner, type):
        holder = next((cls for cls in owner.__mro__ if vars(cls).get(part) is found), None)
        if holder is not None:
            derivative.__set_name__(holder, part)  # a method: arguments count from after self
    return derivative, module


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _load(file: str):
    """The file as a module, which finds its neighbours as it does when it is run."""
    if not os.path.isfile(file):
        raise RequestError(f"there is no file {file}")
    path = os.path.abspath(file)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules or name in sys.stdlib_module_names:
        name = f"{name}_file"  # a file types.py must not stand in for the module types
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise RequestError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(path))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RequestError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module


def _argnums(text: str | None):
    if text is None:
        return 0
    several = [int(part) if part.lstrip("-").isdigit() else part for part in map(str.strip, text.split(",")) if part]
    if not several:
        raise RequestError("--argnums names no argument")
    return several[0] if len(several) == 1 and "," not in text else tuple(several)


def _arguments(text: str, module, derivative):
    """The values of `text`, read as what stands between the parentheses of a call of the derivative."""
    try:
        call = ast.parse(f"f({text}\n)", "<--args>", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise SyntaxError("not a list of arguments")
        collect = compile(f"(lambda *args, **kwargs: (args, kwargs))({text}\n)", "<--args>", "eval")
    except SyntaxError as error:
        raise RequestError(f"--args {text!r} is not a list of Python expressions: {error.msg}") from None
    try:
        args, kwargs = eval(collect, {"np": np, "numpy": np, **vars(module)})
    except Exception as error:
        raise RequestError(f"--args {text!r} cannot be evaluated: {type(error).__name__}: {error}") from None
    try:
        inspect.signature(derivative).bind(*args, **kwargs)
    except TypeError as error:
        raise RequestError(f"--args {text!r} does not fit {derivative.__name__}: {error}") from None
    return args, kwargs
