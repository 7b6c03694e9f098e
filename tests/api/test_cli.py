"""The command line, run as people run it."""

import subprocess
import sys

import numpy as np
import pytest

import s2sgrad
from s2sgrad import cli

FILE = """
import numpy as np
from s2sgrad import grad
from neighbour import K

size = 3

def loss(w, x):
    return np.sum((w * x) ** 2) * K

@grad(argnums="x")
def decorated(w, x):
    return np.sum(w * x * x)

def counted(x, n):
    for i in range(n):
        x = x * i
    return x

def fills(x):
    try:
        out = np.array([x, x])
    except KeyError:
        out = 0.0
    except OSError:
        out = 0.0
    return np.sum(out * out)

def spread(x):
    return x * 2

class Model:
    def loss(self, w):
        return w * w

    @staticmethod
    def fixed(w, x):
        return w * x

def of_dict(params):
    return np.sum(params["w"] * 2.0)

def of_of_dict(params):
    return of_dict(params) ** 2
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(FILE)
    (tmp_path / "neighbour.py").write_text("K = 2.0\n")
    return tmp_path


def run(directory, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "s2sgrad", *arguments],
        cwd=directory,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "PATH": ""},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


def test_show(program):
    status, out, err = run(program, "show", "program.py:loss")
    assert (status, err) == (0, "")
    assert out.startswith("def loss_grad(w, x):") and "\x1b" not in out
    compile(out, "<shown>", "exec")


def test_show_of_a_derivative(program):
    status, out, _ = run(program, "show", "program.py:decorated")
    assert status == 0 and out.startswith("def decorated_grad(w, x):") and "`x`" in out


def test_show_with_options(program):
    status, out, _ = run(program, "show", "program.py:loss", "--argnums", "w,x", "--args", "np.ones(size), 2.0")
    assert status == 0 and "`w`, `x`" in out


def test_check(program):
    status, out, _ = run(program, "check", "program.py:loss", "--args", "np.ones(3), x=2.0")
    assert status == 0 and out.startswith("3 entries agree")


def test_export(program):
    status, out, _ = run(program, "export", "program.py:loss", "-o", "gradient.py")
    assert (status, out) == (0, "wrote gradient.py\n")
    done = subprocess.run(
        [sys.executable, "-c", "import gradient; print(gradient.loss_grad(1.0, 3.0))"],
        cwd=program, capture_output=True, text=True,
    )  # fmt: skip
    assert float(done.stdout) == 36.0, done.stderr


def call(capsys, *arguments):
    status = cli.main(list(arguments))
    return status, *capsys.readouterr()


def test_default_output(program, monkeypatch, capsys):
    monkeypatch.chdir(program)
    assert call(capsys, "export", "program.py:loss")[:2] == (0, "wrote loss_grad.py\n")
    assert (program / "loss_grad.py").exists()


def test_no_source(program, monkeypatch, capsys):
    monkeypatch.chdir(program)
    status, out, err = call(capsys, "show", "program.py:fills")
    assert (status, out) == (1, "")
    assert "runs on the tape" in err and "try:" in err
    assert call(capsys, "check", "program.py:fills", "--args", "2.0")[0] == 0


def test_derivative_that_does_not_exist(program, monkeypatch, capsys):
    monkeypatch.chdir(program)
    status, _, err = call(capsys, "check", "program.py:spread", "--args", "np.ones(2)")
    assert status == 1 and "an array of shape (2,)" in err


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["show", "missing.py:f"], "there is no file missing.py"),
        (["show", "program.py"], "say FILE.py:FUNCTION, not 'program.py'"),
        (
            ["show", "program.py:nothing"],
            "program.py has no function 'nothing'; it has Model, counted, decorated, fills, grad, loss, of_dict",
        ),
        (["show", "program.py:Model.other"], "program.py has no function 'Model.other'"),
        (["show", "program.py:size"], "size in program.py is no function but an int"),
        (["show", "program.py:loss", "--argnums", "z"], "loss has no parameter of that name"),
        (["show", "program.py:loss", "--argnums", ","], "--argnums names no argument"),
        (["check", "program.py:loss"], "check needs arguments"),
        (["check", "program.py:loss", "--args", "1 +"], "is not a list of Python expressions"),
        (["check", "program.py:loss", "--args", "undefined"], "cannot be evaluated: NameError"),
        (["check", "program.py:loss", "--args", "True, 1.0"], "argument 'w' of loss is a bool"),
        (["check", "program.py:loss", "--args", "np.ones(2), k=3"], "does not fit loss: missing a required argument"),
        (
            ["check", "program.py:loss", "--args", "np.ones(2), np.ones(3)"],
            "fails for --args 'np.ones(2), np.ones(3)':\nValueError: operands could not be broadcast together with "
            "shapes (2,) (3,) \nfrom program.py:9: return np.sum((w * x) ** 2) * K\n",
        ),
        (
            ["show", "program.py:loss", "--mode", "tape", "--args", "np.ones(2), np.ones(3)"],
            "program.py:9, in loss\n    return np.sum((w * x) ** 2) * K\n",
        ),
        (["export", "program.py:counted", "--args", "2.0, 3", "--argnums", "x,n"], "leave it out of argnums"),
        (["export", "program.py:loss", "-o", "no/such/folder.py"], "cannot write no/such/folder.py"),
        (["show", "broken.py:f"], "broken.py cannot be loaded: ZeroDivisionError"),
    ],
)
def test_requests_that_make_no_sense(program, monkeypatch, capsys, arguments, text):
    monkeypatch.chdir(program)
    (program / "broken.py").write_text("1 / 0\n")
    status, out, err = call(capsys, *arguments)
    assert (status, out) == (2, "") and err.startswith("s2sgrad: ") and text in err


def test_usage(program):
    status, _, err = run(program, "prove", "program.py:loss")
    assert status == 2 and "usage" in err


def test_method(program, monkeypatch, capsys):
    monkeypatch.chdir(program)
    for options in ([], ["--argnums", "w"], ["--argnums", "0"]):
        status, out, _ = call(capsys, "show", "program.py:Model.loss", *options)
        assert status == 0 and "def loss_grad(self, w):" in out and "`w`" in out
    status, out, _ = call(capsys, "check", "program.py:Model.loss", "--args", "Model(), 2.0")
    assert status == 0 and out.startswith("1 entry agrees")
    assert call(capsys, "show", "program.py:Model.fixed")[1].startswith("def fixed_grad(w, x):")


def test_arguments_that_are_no_arrays(program, monkeypatch, capsys):
    monkeypatch.chdir(program)
    for name in ("of_dict", "of_of_dict"):
        status, out, err = call(capsys, "show", f"program.py:{name}")
        assert (status, out) == (1, "") and "read by the string 'w'" in err and "--args" in err
        status, out, _ = call(capsys, "show", f"program.py:{name}", "--args", "{'w': 2.0}")
        assert status == 0 and '{"w": ' in out


def test_mode(program, monkeypatch, capsys):
    monkeypatch.chdir(program)
    assert call(capsys, "check", "program.py:loss", "--args", "2.0, 1.0", "--mode", "tape")[0] == 0
    status, _, err = call(capsys, "show", "program.py:decorated", "--mode", "tape")
    assert status == 1 and 'mode="tape" was asked for' in err


def test_version(capsys):
    with pytest.raises(SystemExit) as info:
        cli.main(["--version"])
    assert info.value.code == 0 and capsys.readouterr().out == f"s2sgrad {s2sgrad.__version__}\n"


def test_values_of_arguments():
    import types

    args, kwargs = cli._arguments("np.ones(2), size, k=[1]", types.SimpleNamespace(size=3), lambda x, y, k: x)
    np.testing.assert_array_equal(args[0], [1.0, 1.0])
    assert args[1] == 3 and kwargs == {"k": [1]}
