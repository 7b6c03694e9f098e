"""What bad input gets: each error by its text."""

import collections
import ctypes

import numpy as np
import pytest

import s2sgrad
from s2sgrad import CompileError, elementwise_grad, grad, value_and_grad, vjp

BOTH = pytest.mark.parametrize("mode", ["auto", "tape"])


def square_sum(x):
    return np.sum(x * x)


class TestArguments:
    @pytest.mark.parametrize(
        "value, text",
        [
            (True, r"argument 'x' of square_sum is a bool \(True\)"),
            ("abc", r"argument 'x' of square_sum is a str \('abc'\)"),
            (object(), r"argument 'x' of square_sum is an object \(<object"),
            (None, "argument 'x' of square_sum is None, which cannot be differentiated"),
            (np.array(["a"]), "argument 'x' of square_sum is an array of dtype <U1"),
            (np.array([True]), "argument 'x' of square_sum is an array of dtype bool"),
            (np.array([None]), "argument 'x' of square_sum is an array of dtype object"),
            ([1.0, {"key": False}], r"""argument "x\[1\]\['key'\]" of square_sum is a bool"""),
            (len, "argument 'x' of square_sum is a builtin_function_or_method"),
            (np.matrix("1 2"), r"is a matrix, whose operators .* np.asarray\(x\)"),
            (np.ma.masked_array([1.0]), "is a MaskedArray"),
            (collections.deque([1.0]), "argument 'x' of square_sum holds a float in a container of another class"),
        ],
    )
    @BOTH
    @pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
    def test_what_cannot_be_differentiated(self, value, text, mode):
        with pytest.raises(s2sgrad.ArgumentError, match=text):
            grad(square_sum, mode=mode)(value)
        with pytest.raises(TypeError):
            vjp(square_sum, value)

    def test_it_is_a_matter_of_the_differentiated_arguments_only(self):
        assert grad(lambda x, flag, name: x * 2.0)(1.0, True, "name") == 2.0

    def test_each_call_is_looked_at(self):
        g = grad(square_sum)
        g(1.0)
        with pytest.raises(s2sgrad.ArgumentError, match="is a bool"):
            g(True)


class TestResults:
    @pytest.mark.parametrize("maker", [grad, value_and_grad])
    @BOTH
    def test_array(self, maker, mode):
        with pytest.raises(s2sgrad.NonScalarError) as caught:
            maker(lambda x: x * 2, mode=mode)(np.ones((2, 3)))
        text = str(caught.value)
        assert "an array of shape (2, 3)" in text and "vjp" in text and "elementwise_grad" in text and "Sum" in text

    @BOTH
    def test_array_of_one(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match=r"of shape \(1,\)"):
            grad(lambda x: x * 2, mode=mode)(np.ones(1))

    @BOTH
    def test_arrays_of_dimension_zero_are_scalars(self, mode):
        assert grad(lambda x: np.asarray(np.sum(x)), mode=mode)(np.ones(1)) == 1.0

    @BOTH
    def test_complex(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match=r"returned a complex number. Take its .real or abs"):
            grad(lambda z: z * z, mode=mode)(1j)

    @BOTH
    def test_none(self, mode):
        def forgetful(x):
            x * x  # noqa: B018

        with pytest.raises(s2sgrad.NonScalarError, match="forgetful returned None. Does it lack a return statement"):
            grad(forgetful, mode=mode)(1.0)

    @BOTH
    def test_tuple(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match="returned a tuple of 2. .*has_aux=True"):
            grad(lambda x: (x, x), mode=mode)(1.0)

    @BOTH
    def test_bool(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match="returned a bool"):
            grad(lambda x: x > 0.0, mode=mode)(1.0)
        assert grad(lambda x: x * x if x > 0 else 0, mode=mode)(-1.0) == 0.0

    @BOTH
    def test_others(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match="returned a list of 1"):
            grad(lambda x: [x], mode=mode)(1.0)
        with pytest.raises(s2sgrad.NonScalarError, match="returned a str"):
            grad(lambda x: "text", mode=mode)(1.0)

    @BOTH
    def test_elementwise(self, mode):
        with pytest.raises(s2sgrad.NonScalarError, match="real array, but .* returned complex numbers"):
            elementwise_grad(lambda x: x * 1j, mode=mode)(1.0)
        with pytest.raises(s2sgrad.NonScalarError, match="real array, but .* returned None"):
            elementwise_grad(lambda x: None, mode=mode)(1.0)


def fills(x):
    try:
        out = x * 1.0
    except KeyError:
        out = 0.0
    except OSError:
        out = 0.0
    return np.sum(out)


class TestRefusals:
    def test_compile_error_says_where(self):
        with pytest.raises(CompileError) as caught:
            grad(fills, mode="compiled")(1.0)
        error = caught.value
        assert error.function == "fills" and error.file == __file__
        assert error.source_line.strip() == "try:"
        assert error.line == fills.__code__.co_firstlineno + 1
        assert error.reason in str(error) and "try:" in str(error) and f"{__file__}:{error.line}" in str(error)

    def test_the_tape_takes_what_is_refused(self):
        g = grad(fills)
        assert g(1.0) == 1.0 and g.engine == "tape"
        with pytest.raises(CompileError, match=r"there is no source: .* runs on the tape \(.*explain\(\)(.|\n)*`try`"):
            _ = g.source
        assert "try:" in str(g.explain())

    def test_a_long_line_is_cut_around_what_matters(self):
        def text(x):
            return np.sum(x * 1) + np.sum(x * 2) + np.sum(x * 3) + np.sum(x * 4) + np.sum(x * 5) + float(f"{x[0]:.3f}")

        derivative = grad(text)
        derivative(np.ones(2))
        shown = str(derivative.explain()).splitlines()[-1]
        assert shown.startswith("      > ... ") and shown.endswith('+ float(f"{x[0]:.3f}")') and len(shown) < 110
        with pytest.raises(CompileError) as caught:
            _ = derivative.source
        assert str(caught.value).splitlines()[-1].strip() == shown.strip("> ")
        assert caught.value.source_line.strip().startswith("return np.sum(x * 1)")

    def test_a_long_line_on_the_tape(self):
        def masked(x):
            return np.sum(x * 1) + np.sum(x * 2) + np.sum(x * 3) + np.sum(x * 4) + np.sum(x * 5) + x.tobytes().hex()[0]

        with pytest.raises(s2sgrad.MissingRuleError) as caught:
            grad(masked, mode="tape")(np.ones(2))
        assert "\n    ... " in str(caught.value) and "+ x.tobytes().hex()[0]\n" in str(caught.value) + "\n"

    def test_integers_that_count(self):
        def power(x, n):
            for _ in range(n):
                x = x * x
            return x

        asked = [
            lambda: vjp(power, 2.0, 3),
            lambda: grad(power, (0, 1))(2.0, 3),
            lambda: s2sgrad.jacobian(power, "n", mode="tape")(2.0, n=3),
        ]
        for call in asked:
            with pytest.raises(TypeError, match="cannot be interpreted as an integer") as caught:
                call()
            note = caught.value.__notes__[-1]
            assert "power is differentiated by" in note and "'n'" in note
            assert "leave it out of argnums; for vjp, write vjp(lambda x: power(x, n), x)" in note
        with pytest.raises(TypeError) as caught:
            grad(power)(2.0, 3.0)
        assert "argnums" not in "".join(caught.value.__notes__)

    def test_code_without_a_file(self):
        namespace = {}
        exec("def f(x):\n    return x * x", namespace)
        g = grad(namespace["f"])
        assert g(3.0) == 6.0 and g.engine == "tape"
        assert "source" in g.explain().rows[0].reason
        with pytest.raises(CompileError, match="source"):
            grad(namespace["f"], mode="compiled")(3.0)

    def test_built_ins(self):
        g = grad(np.sin)
        assert g(0.0) == 1.0
        with pytest.raises(CompileError):
            grad(len, mode="compiled")([1.0])

    def test_foreign_functions(self):
        libm = ctypes.CDLL(None)
        sin = libm.sin
        sin.restype, sin.argtypes = ctypes.c_double, [ctypes.c_double]
        with pytest.raises((s2sgrad.S2SGradError, ctypes.ArgumentError)):
            grad(sin)(1.0)

    @BOTH
    def test_missing_rule(self, mode):
        def f(x):
            return np.sum(np.spacing(x))

        with pytest.raises(s2sgrad.MissingRuleError) as caught:
            grad(f, mode=mode)(np.ones(2))
        text = str(caught.value)
        assert "spacing" in text and f"{__file__}:{f.__code__.co_firstlineno + 1}" in text and "s2sgrad.rules" in text

    def test_no_rule_is_needed_where_no_derivative_flows(self):
        assert grad(lambda x, y: x * float(np.spacing(y)))(1.0, 1.0) == np.spacing(1.0)
