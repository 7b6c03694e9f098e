"""Finding the source of functions."""

import functools
import importlib.util
import sys

import gast
import numpy as np
import pytest

from s2sgrad.errors import CompileError
from s2sgrad.transform.frontend.source import find


def text(function):
    return gast.unparse(find(function).node).strip()


first, second = lambda x: x + 1, lambda x: x + 2  # noqa: E731
table = dict(
    one=lambda t: t
    + 1,
    two=[lambda t, x: t * x, lambda t, x: (
        t / x)],
)  # fmt: skip


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 2 * function(*args)

    return wrapper


class Model:
    @doubled
    def step(self, x,
             y=1,
    ):  # fmt: skip
        """Says
        much."""

        def inner(z, *, k=lambda q: q):
            return z * x * k(y)

        return inner(x)

    def recursive(self, n):
        return self.recursive(n - 1) if n else 0


def test_lambdas_of_one_line_are_told_apart():
    assert text(first) == "lambda x: x + 1"
    assert text(second) == "lambda x: x + 2"


def test_lambdas_inside_of_a_statement_over_several_lines():
    assert text(table["one"]) == "lambda t: t + 1"
    assert [text(f) for f in table["two"]] == ["lambda t, x: t * x", "lambda t, x: t / x"]


def test_a_lambda_in_a_lambda():
    outer = lambda x: lambda y: x * y  # noqa: E731
    assert text(outer) == "lambda x: lambda y: x * y"
    assert text(outer(2)) == "lambda y: x * y"


def test_methods_and_wrapped_functions_with_the_lines_of_the_file():
    found = find(Model.step.__wrapped__)
    assert found.node.name == "step"
    assert found.location().text.strip() == "def step(self, x,"
    assert "inner" in text(Model.step.__wrapped__)
    assert text(Model.step).startswith("@functools.wraps(function)\ndef wrapper")
    assert find(Model().recursive) is find(Model.recursive)


def test_functions_of_numpy_are_found_too():
    assert find(np.linalg.norm.__wrapped__).node.name == "norm"


def test_no_source(tmp_path):
    names = {}
    exec("def f(x):\n    return x", names)
    with pytest.raises(CompileError, match="f has no source .typed at the prompt"):
        find(names["f"])
    with pytest.raises(CompileError, match="sin is no Python function: there is no source"):
        find(np.sin)


def imported(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_calls_on_names_that_the_module_imports_in_a_function_of_many_names(tmp_path):
    path = tmp_path / "many_names.py"
    names = ", ".join(f"name{i}.value.sum(x)" for i in range(150))  # more than an instruction can count to
    body = f"    if x is None:\n        return [{names}]\n    return np.sin(x) + np.linalg.norm(x)\n"
    path.write_text(f"import numpy as np\n\n\ndef f(x):\n{body}")
    assert "np.sin(x) + np.linalg.norm(x)" in text(imported(path).f)


def test_a_file_that_changed_after_its_import_is_noticed(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x * 2\n")
    module = imported(path)
    path.write_text("def f(x):\n    return x * 3\n")
    with pytest.raises(CompileError, match="was the file changed after its import"):
        find(module.f)


class Private:
    def hidden(self):
        return self.__inner() + len([self.__x for _ in range(2)]) + self.__dict__["y"]


def test_private_names_are_those_of_the_class():
    text = gast.unparse(find(Private.hidden).node)
    assert "self._Private__inner()" in text
    assert "self._Private__x" in text
    assert "self.__dict__" in text
