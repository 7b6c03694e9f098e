"""What the project promises about itself: its dependencies, its floors, its public names, its examples."""

import importlib
import importlib.util
import inspect
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

import numpy as np
import pytest

import s2sgrad
from s2sgrad.rules import table

ROOT = pathlib.Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def load(path):
    """A script as a module; it is not on the path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def python(code, cwd=ROOT):
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True).stdout


def contract(folder):
    """The return code and the report of the import contract, checked in `folder`."""
    command = (
        "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    )
    done = subprocess.run([sys.executable, "-c", command], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_dependencies_are_few():
    names = {re.split(r"[<>=~ ]", d)[0] for d in PROJECT["dependencies"]}
    assert names == {"numpy", "gast", "astunparse", "optree", "ml_dtypes", "rich"}
    assert {"scipy", "cuda12x", "plot", "test", "bench"} <= set(PROJECT["optional-dependencies"])


def test_readme_names_the_extras():
    install = (ROOT / "README.md").read_text().partition("## Install")[2].partition("\n## ")[0]
    assert all(f"`{extra}`" in install for extra in PROJECT["optional-dependencies"])


def test_import_is_light():
    """Importing the package imports none of its extras."""
    heavy = ["scipy", "torch", "jax", "autograd", "matplotlib", "sklearn", "cupy", "pytest"]
    loaded = python("import sys, s2sgrad; print(*sorted({m.split('.')[0] for m in sys.modules}))").split()
    assert not set(heavy) & set(loaded)


def test_public_names_are_documented():
    public = {"grad", "value_and_grad", "vjp", "elementwise_grad", "stop_gradient"}
    assert public <= set(s2sgrad.__all__)
    for name in s2sgrad.__all__:
        assert (getattr(s2sgrad, name).__doc__ or "").strip(), f"s2sgrad.{name} has no docstring"


def test_the_page_of_the_api_has_all_names_as_they_are():
    page = (ROOT / "docs" / "api.md").read_text()
    for name in s2sgrad.__all__:
        thing = getattr(s2sgrad, name)
        if isinstance(thing, type) and name not in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
            assert f"`{name}`" in page, name
        else:
            assert f"`{name}{inspect.signature(thing)}`" in page, name
    for name in ("elementwise", "inactive", "jvp", "linear", "vjp"):
        signature = str(inspect.signature(getattr(table, name))).removesuffix(" -> None")
        assert f"`table.{name}{signature}`" in page, name
    for name, thing in vars(s2sgrad.Derivative).items():
        if not name.startswith("_"):
            arguments = str(inspect.signature(thing)) if callable(thing) else ""
            shown = f"`{name}{re.sub(r'self(, )?', '', arguments).partition(' ->')[0]}`"
            assert shown in page, shown


def test_changelog_knows_the_public_names():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert all(f"`{name}`" in text for name in ("grad", "value_and_grad", "vjp", "elementwise_grad", "stop_gradient"))


@pytest.fixture
def copy_of_the_package(tmp_path):
    shutil.copytree(ROOT / "s2sgrad", tmp_path / "s2sgrad", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_import_contract_is_kept(copy_of_the_package):
    code, report = contract(copy_of_the_package)
    assert code == 0, report


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("rules/stray.py", "import s2sgrad.transform"),
        ("rules/stray.py", "import s2sgrad.runtime.stray"),
        ("runtime/arrays.py", "import s2sgrad.rules"),
        ("runtime/stray.py", "import s2sgrad.transform"),
        ("transform/stray.py", "import s2sgrad.api"),
        ("errors.py", "import s2sgrad.runtime.arrays"),
        ("api/stray.py", "import s2sgrad.cli"),
        ("stray.py", "import s2sgrad.errors"),
    ],
)
def test_import_contract_bites(copy_of_the_package, module, line):
    (copy_of_the_package / "s2sgrad" / "runtime" / "stray.py").touch()
    with open(copy_of_the_package / "s2sgrad" / module, "a") as file:
        file.write(f"\n{line}\n")
    code, report = contract(copy_of_the_package)
    assert code != 0, report


def test_rules_and_helpers_name_no_other_array_module():
    for path in [*(ROOT / "s2sgrad" / "rules").glob("*.py"), ROOT / "s2sgrad" / "runtime" / "arrays.py"]:
        assert not re.search(r"^\s*(import|from) (cupy|jax|torch|autograd)\b", path.read_text(), re.MULTILINE), path


def test_digits_gradient_is_the_hand_written_one():
    digits = load(ROOT / "examples" / "digits.py")
    (images, labels), _ = digits.load()
    params = digits.initialise()
    gradient = s2sgrad.value_and_grad(digits.loss, mode="compiled")
    value, found = gradient(params, images, labels)
    expected_value, expected = digits.hand_written(params, images, labels)
    assert value == pytest.approx(expected_value, rel=1e-14)
    assert digits.disagreement(found, expected) <= 1e-12
    on_tape = s2sgrad.value_and_grad(digits.loss, mode="tape")(params, images, labels)[1]
    assert digits.disagreement(on_tape, expected) <= 1e-12
    assert "h" in gradient.source and gradient.engine == "compiled"


def test_digits_learns():
    digits = load(ROOT / "examples" / "digits.py")
    (images, labels), (test_images, test_labels) = digits.load()
    params = digits.initialise()
    curve = digits.train(s2sgrad.value_and_grad(digits.loss, mode="compiled"), params, images, labels, epochs=8)
    assert np.mean(curve[-20:]) < 0.2 * np.mean(curve[:5])
    assert digits.accuracy(params, test_images, test_labels) > 0.9


def test_rosenbrock_converges():
    rosenbrock = load(ROOT / "examples" / "rosenbrock.py")
    exact, differences = rosenbrock.solve(6)
    assert exact.success
    np.testing.assert_allclose(exact.x, np.ones(6), rtol=1e-6)
    assert exact.nfev < differences.nfev / 3


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_linked(script):
    assert f"examples/{script.name}" in (ROOT / "README.md").read_text()


def test_curve_is_fitted():
    found, account = load(ROOT / "examples" / "curve_fit.py").fit(40)
    assert account.success
    np.testing.assert_allclose(found, [3.0, 1.5, 1.0, 0.2], atol=0.05)


def test_parameters_of_an_equation_are_found():
    example = load(ROOT / "examples" / "predator_prey.py")
    found = example.estimate()
    np.testing.assert_allclose(found.x, example.TRUE, rtol=1e-4)
    assert example.gradient.engine == "compiled"


def test_heat_is_traced_back():
    example = load(ROOT / "examples" / "heat_inversion.py")
    truth, found = example.invert(30, 50)
    assert np.max(np.abs(truth - found)) < 0.15
    assert example.gradient.engine == "compiled"


def test_lstm_learns():
    example = load(ROOT / "examples" / "lstm.py")
    _, curve = example.train(40, 20)
    assert curve[-1] < 0.05 * curve[0]
    assert example.gradient.engine == "compiled"


def test_spirals_are_told_apart():
    curve, right = load(ROOT / "examples" / "spirals_torch.py").train(120, 100)
    assert curve[-1] < 0.3 * curve[0] and right > 0.9


def test_benchmark_adjoints_are_right():
    """A ratio to a hand-written adjoint means nothing if the adjoint is wrong."""
    functions = importlib.import_module("benchmarks.functions")
    for case in functions.CASES:
        value, gradient = case.hand(*case.args)
        found_value, found = s2sgrad.value_and_grad(case.function, case.argnums, mode="tape")(*case.args)
        assert found_value == pytest.approx(value, rel=1e-12)
        assert functions.disagreement(found, gradient) <= 1e-12, case.name


def test_measure_tells_a_factor():
    measure = importlib.import_module("benchmarks.measure")
    contest = {"one": lambda: sum(range(200)), "twenty": lambda: sum(range(4000))}
    medians = measure.interleaved(contest, seconds=0.2, clock=time.thread_time)  # the machine may be busy
    assert 5 < medians["twenty"] / medians["one"] < 80
