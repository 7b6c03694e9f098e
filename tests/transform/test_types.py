"""Types claim only what is true: every inference is compared with what NumPy really returns."""

import builtins
import dataclasses
import itertools
import math
import operator
from collections import namedtuple

import gast
import numpy as np
import pytest

import s2sgrad.rules  # noqa: F401 - fills the table
from s2sgrad import grad
from s2sgrad.rules.table import RULES
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import types
from s2sgrad.transform.analysis.types import infer, join, of, of_all
from s2sgrad.transform.ir import FLOAT, INT, OTHER, UNKNOWN, Kind, Type

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Params:
    w: np.ndarray
    b: float = 0.0


def covers(claim: Type, value) -> bool:
    """Whether everything that `claim` says is true of `value`."""
    actual = of(value)
    if claim.kind is Kind.UNKNOWN:
        if claim.dtype is not None and actual.kind not in (Kind.NUMBER, Kind.ARRAY):
            return False
    elif claim.kind is not actual.kind:
        return False
    if claim.dtype == types.REAL:
        if not actual.is_real:
            return False
    elif claim.dtype in types.WAYS:
        if actual.dtype not in types.WAYS[claim.dtype]:
            return False
    elif claim.dtype is not None and claim.dtype != actual.dtype:
        return False
    if claim.ndim is not None and claim.ndim != actual.ndim:
        return False
    if claim.shape == () and np.shape(value) != ():
        return False
    if isinstance(claim.shape, tuple):
        for symbol, n in zip(claim.shape, np.shape(value), strict=True):
            if symbol != n if isinstance(symbol, int) else n < symbol.least:
                return False
    if claim.items is not None:
        if claim.kind is Kind.RECORD:
            children = [getattr(value, name) for name in claim.keys]
        else:
            children = list(value.values()) if isinstance(value, dict) else list(value)
        return len(children) == len(claim.items) and all(map(covers, claim.items, children))
    if claim.element is not None:
        return all(covers(claim.element, item) for item in value)
    return True


def operand(value):
    return ir.Value("v", of(value))


def check(function, *args, known=True, **kwargs):
    """Infer a call with opaque arrays and literal options; compare with the call itself."""
    literal = (type(None), bool, int, str, tuple, slice, type(Ellipsis))
    wrapped = [ir.Constant(a) if isinstance(a, literal) and not _holds_arrays(a) else operand(a) for a in args]
    claim = infer(function, tuple(wrapped), {k: ir.Constant(v) for k, v in kwargs.items()})
    with np.errstate(all="ignore"):
        actual = function(*args, **kwargs)
    assert covers(claim, actual), f"{function} {args} {kwargs}: claimed {claim}, is {of(actual)}"
    if known:
        assert claim.kind is not Kind.UNKNOWN, f"{function} {args} {kwargs}: nothing claimed of {of(actual)}"
    return claim


def _holds_arrays(value):
    return isinstance(value, tuple) and any(isinstance(v, (np.ndarray, float)) for v in value)


class TestOf:
    @pytest.mark.parametrize(
        "value, kind, dtype",
        [
            (1.5, Kind.NUMBER, "float"),
            (1, Kind.NUMBER, "int"),
            (True, Kind.NUMBER, "bool"),
            (1j, Kind.NUMBER, "complex"),
            (np.float32(1), Kind.NUMBER, "float32"),
            (np.float64(1), Kind.NUMBER, "float64"),
            (np.bool_(True), Kind.NUMBER, "bool"),
            (np.zeros(3, "c8"), Kind.ARRAY, "complex64"),
            (np.zeros((), "f8"), Kind.ARRAY, "float64"),
            (np.array(["a"]), Kind.ARRAY, None),
            (np.array([object()]), Kind.ARRAY, None),
            ("text", Kind.OTHER, None),
            (None, Kind.OTHER, None),
            (math, Kind.OTHER, None),
            (math.sin, Kind.CALLABLE, None),
            ({1, 2}, Kind.OTHER, None),
        ],
    )
    def test_kinds(self, value, kind, dtype):
        assert (of(value).kind, of(value).dtype) == (kind, dtype)

    def test_small_floats_are_real_numbers(self):
        ml_dtypes = pytest.importorskip("ml_dtypes")
        assert of(np.zeros(2, ml_dtypes.bfloat16)).dtype == "bfloat16"

    def test_bytes_in_another_order_are_another_dtype(self):
        swapped = np.dtype("f8").newbyteorder()
        assert of(np.ones(2, swapped)).dtype == "real"
        assert of(np.ones(2, np.dtype("c8").newbyteorder())).dtype is None

    def test_structured_arrays_have_no_number_type(self):
        assert of(np.zeros(2, [("a", "f8")])).dtype is None
        assert of(np.zeros(2, "V8")).dtype is None

    @pytest.mark.parametrize("cls", [np.matrix, np.ma.MaskedArray])
    def test_arrays_with_other_operators_are_not_arrays(self, cls):
        assert of(np.ones((2, 2)).view(cls)).kind is Kind.OTHER

    def test_containers(self):
        t = of({"a": [1.0, np.ones(2)], "b": (1,)})
        assert t.kind is Kind.DICT and t.keys == ("a", "b")
        assert [i.kind for i in t.items] == [Kind.LIST, Kind.TUPLE]
        assert t.items[0].items[1].ndim == 1

    def test_records(self):
        t = of(Point(1.0, np.ones(2)))
        assert (t.kind, t.keys, t.cls) == (Kind.RECORD, ("x", "y"), Point)
        t = of(Params(np.ones(2)))
        assert (t.kind, t.keys, t.cls) == (Kind.RECORD, ("w", "b"), Params)
        assert t.items[1] == FLOAT

    def test_long_lists_are_known_by_their_element(self):
        t = of([1.0] * 100)
        assert t.items is None and t.element == FLOAT
        assert of([1.0] * 99 + [np.float64(1)]).element.dtype == "float or float64"
        assert of([1.0] * 99 + [np.float32(1)]).element.dtype == types.FLOATING
        element = of([np.ones(2), np.ones(3)] * 50).element
        assert element.shape[0].least == 2 and not types.same_shape(element, element)

    def test_every_array_has_its_own_shape(self):
        a = np.ones(2)
        assert not types.same_shape(of(a), of(a))
        assert not types.same_shape(*of([a, a]).items)
        one, two, other = of_all([a, [a], np.ones(2)])
        assert types.same_shape(one, two.items[0]) and not types.same_shape(one, other)


class TestJoin:
    VALUES = [1.0, 1, np.float32(2), np.float64(1), 1j, np.ones(2), np.ones((2, 2)), np.ones(2, "f4"), np.array(1.0),
              [1.0], [1.0, 2.0], (1, np.ones(2)), (1.0, np.ones(2)), {"a": 1}, {"a": 1.0}, {"b": 1}, Point(1, 2),
              Point(1.0, 2), Params(np.ones(2)), None, "s", [1.0] * 40, [], ()]  # fmt: skip

    @pytest.mark.parametrize("a, b", list(itertools.product(range(len(VALUES)), repeat=2)))
    def test_covers_both(self, a, b):
        a, b = self.VALUES[a], self.VALUES[b]
        joined = join(of(a), of(b))
        assert covers(joined, a) and covers(joined, b)

    def test_keeps_what_is_common(self):
        assert join(FLOAT, of(np.float32(1))) == Type(Kind.NUMBER, types.FLOATING, 0, ())
        assert join(FLOAT, ir.FLOAT64) == Type(Kind.NUMBER, "float or float64", 0, ())
        assert join(join(FLOAT, ir.INT), ir.FLOAT64) == Type(Kind.NUMBER, "real of 64 bits", 0, ())
        assert join(FLOAT, of(np.array(1.0))).ndim == 0
        assert join(of([1.0]), of([1.0, 2.0])).element == FLOAT
        assert join(of((1.0, "a")), of((2, "b"))).items[1] == of("c")
        assert join(of("a"), of(b"b")) == OTHER
        assert join(FLOAT, of(1j)).dtype == types.EITHER and join(ir.FLOAT64, of(1j)).dtype is None
        assert not join(FLOAT, of(1j)).is_real

    def test_shapes_that_differ_equal_nothing(self):
        t = join(of(np.ones(2)), of(np.ones(2)))
        assert not types.same_shape(t, t)
        assert t.shape[0].least == 2 and join(of(np.ones(1)), of(np.ones(5))).shape is None

    def test_real_equals_nothing(self):
        t = join(FLOAT, ir.FLOAT64)
        assert t.is_real and not types.same_dtype(t, t)


SCALARS = [2, 2.0, 2j, True, np.float32(2), np.float64(2), np.int32(2), np.complex64(2j)]
ARRAYS = [np.ones(3), np.ones(3, "f4"), np.ones((2, 3)), np.ones((2, 1), "c8"), np.ones(3, int), np.ones(3, "u1"),
          np.array(1.0), np.array(1, "f4"), np.zeros((0, 3)), np.ones(3, bool)]  # fmt: skip
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.lt, operator.eq,
          operator.floordiv, operator.mod, np.add, np.multiply, np.power, np.maximum, np.arctan2, np.less, np.divide,
          np.hypot, np.logaddexp]  # fmt: skip


class TestElementwise:
    @pytest.mark.parametrize("function", BINARY)
    def test_binary(self, function):
        tried = 0
        for a, b in itertools.product(SCALARS + ARRAYS, repeat=2):
            try:
                with np.errstate(all="ignore"):
                    function(a, b)
            except (TypeError, ValueError):  # no such operation, shapes that do not fit
                continue
            claim = infer(function, (operand(a), operand(b)))
            with np.errstate(all="ignore"):
                actual = function(a, b)
            assert covers(claim, actual), f"{function}({a!r}, {b!r}): claimed {claim}, is {of(actual)}"
            assert claim.kind is not Kind.UNKNOWN
            tried += 1
        assert tried > 100

    @pytest.mark.parametrize(
        "function", [np.sin, np.exp, np.sqrt, np.abs, np.conj, np.sign, np.negative, operator.neg, builtins.abs,
                     np.log1p, np.isnan, np.floor, np.square, np.reciprocal, operator.pos, np.logical_not]
    )  # fmt: skip
    def test_unary(self, function):
        for a in SCALARS + ARRAYS:
            claim = infer(function, (operand(a),))
            try:
                with np.errstate(all="ignore"):
                    actual = function(a)
            except TypeError:
                continue
            assert covers(claim, actual), f"{function}({a!r}): claimed {claim}, is {of(actual)}"

    @pytest.mark.parametrize("base", [2, -2, 2.0, -2.0, 2j, True])
    @pytest.mark.parametrize("exponent", [2, -1, 0, 0.5, 2.0, -3.0, 1j])
    def test_powers_of_python_numbers(self, base, exponent):
        for e in (ir.Constant(exponent), operand(exponent)):
            assert covers(infer(operator.pow, (operand(base), e)), base**exponent)

    def test_powers_of_numbers_that_may_be_pythons(self):
        vague = ir.Value("v", Type(Kind.NUMBER, "real", 0, ()))
        half, two = ir.Constant(0.5), ir.Constant(2)
        assert covers(infer(operator.pow, (vague, half)), (-8.0) ** 0.5)
        assert infer(operator.pow, (vague, two)).is_real

    @pytest.mark.parametrize("function", [f for f in RULES if getattr(f, "__module__", None) == "math"])
    def test_math(self, function):
        rule = RULES[function]
        if rule.kind == "elementwise":
            assert infer(function, tuple(operand(1.0) for _ in rule.partials)) == FLOAT
        else:
            special = {"fsum": ([1.0],), "dist": ((0.0,), (1.0,)), "prod": ([1.0],), "sumprod": ([1.0], [2.0])}
            two = function.__name__ in (
                "gcd",
                "isclose",
                "comb",
                "perm",
                "lcm",
                "copysign",
                "fmod",
                "remainder",
                "ldexp",
            )
            args = special.get(function.__name__, (6, 4)[: 1 + two])
            assert covers(infer(function, tuple(map(operand, args))), function(*args))

    @pytest.mark.parametrize(
        "value", [2, 2.0, 2j, True, np.float32(2), np.float64(2), np.complex64(2j), np.complex128(2j)]
    )
    def test_parts_of_numbers_are_of_their_kind(self, value):
        for function in (np.real, np.imag, arrays.conjugate):
            claim, actual = infer(function, (operand(value),)), function(value)
            assert covers(claim, actual) and claim.dtype == of(actual).dtype, function

    def test_complex_numbers_of_python_and_numpy(self):
        either = types.join(of(1j), of(np.complex128(1j)))
        z = ir.Value("z", either)
        assert either.dtype == types.COMPLEX
        assert infer(operator.mul, (z, operand(np.complex128(1j)))).dtype == "complex128"
        assert infer(operator.mul, (z, operand(1j))).dtype == types.COMPLEX
        assert infer(np.real, (z,)).dtype == types.DOUBLE
        assert types.join(either, FLOAT).dtype is None and not either.is_real

    def test_powers_of_floats_are_floats_or_complex_numbers(self):
        x = ir.Value("x", FLOAT)
        power = ir.Value("p", infer(operator.pow, (x, x)))
        assert power.type.dtype == types.EITHER and not power.type.is_real
        assert infer(operator.add, (power, x)).dtype == types.EITHER
        assert infer(operator.mul, (power, operand(2j))).dtype == "complex"
        assert infer(abs, (power,)) == infer(np.real, (power,)) == infer(math.log, (power,)) == FLOAT
        assert infer(operator.pow, (ir.Constant(2.0), x)) == FLOAT

    def test_differences_with_more_at_the_ends(self):
        x = operand(np.ones((9, 10)))
        row = operand(np.ones((1, 10)))
        found = infer(np.diff, (x,), {"axis": ir.Constant(0), "prepend": row})
        assert types.same_shape(found, x.type) and found.dtype == "float64"
        assert infer(np.diff, (x,), {"prepend": operand(np.ones((1, 1), "f4"))}).dtype == "float64"

    @pytest.mark.parametrize("values", [(1.0,), (np.ones(2),), (np.ones((2, 1), "f4"),), (np.array(1.0),), (2,)])
    def test_every_elementwise_rule_of_one_argument(self, values):
        tried = 0
        for function, rule in RULES.items():
            if rule.kind == "elementwise" and len(rule.partials) == 1 and getattr(function, "__module__", "") != "math":
                claim = infer(function, tuple(map(operand, values)))
                with np.errstate(all="ignore"):
                    try:
                        actual = function(*values)
                    except (TypeError, AttributeError, ArithmeticError, ValueError):  # not for numbers of this kind
                        continue
                assert covers(claim, actual), f"{function}{values}: claimed {claim}, is {of(actual)}"
                tried += 1
        assert tried > 20

    def test_shapes_follow_what_is_broadcast(self):
        x, b = operand(np.ones((2, 1))), operand(np.ones(3))
        added, product = infer(operator.add, (x, b)), infer(operator.mul, (x, b))
        assert types.same_shape(added, product) and not types.same_shape(added, x.type)
        full = operand(np.ones((2, 3)))
        assert types.same_shape(infer(operator.add, (full, b)), full.type)  # neither 3 is a 1: they are equal
        again = infer(operator.mul, (ir.Value("t", added), x))
        assert types.same_shape(again, added)
        assert types.same_shape(infer(np.sin, (x,)), x.type)
        assert types.same_shape(infer(operator.mul, (x, ir.Constant(2.0))), x.type)
        assert types.same_shape(infer(operator.mul, (x, operand(np.array(2.0)))), x.type)

    def test_unknown_operands_claim_nothing_false(self):
        x, u = operand(np.ones(3)), ir.Value("u", UNKNOWN)
        assert infer(operator.add, (x, u)) == UNKNOWN or infer(operator.add, (x, u)).dtype is None
        real = ir.Value("r", Type(dtype="real"))
        t = infer(operator.add, (x, real))
        assert t.kind is Kind.ARRAY and t.dtype == "real" and t.ndim is None
        assert infer(np.sin, (real,)) == Type(dtype="real")
        assert infer(operator.lt, (real, x)).dtype == "bool"
        assert infer(operator.add, (operand("a"), operand("b"))) == UNKNOWN

    def test_arrays_of_unknown_dimension_may_give_scalars(self):
        assert infer(np.sin, (ir.Value("a", Type(Kind.ARRAY, "float64")),)) == Type(dtype="float64")

    def test_lists(self):
        check(np.sin, [1.0, 2.0])
        check(operator.add, np.ones(2, "f4"), [1.0, 2.0])
        assert covers(infer(operator.add, (operand([1.0]), operand([2, 3]))), [1.0, 2, 3])
        assert covers(infer(operator.add, (operand((1.0,)), operand((2, 3)))), (1.0, 2, 3))
        assert covers(infer(operator.mul, (operand([1.0, 2]), ir.Constant(2))), [1.0, 2, 1.0, 2])

    def test_options(self):
        x = operand(np.ones(3))
        assert types.same_shape(infer(np.add, (x, x), {"out": x}), x.type)
        assert infer(np.add, (x, x), {"dtype": ir.Constant("float32")}).dtype == "float32"

    def test_selections(self):
        for a in SCALARS + ARRAYS:
            for b in (1.0, np.ones(3, "f4"), 2):
                check(np.where, np.ones(3, bool), a, b)
        check(np.where, np.bool_(True), 1.0, np.float32(2))
        check(np.clip, np.ones(3, "f4"), 0.0, 1.0)
        check(np.clip, 0.5, 0.0, 1.0)
        check(np.clip, np.ones((2, 1)), None, np.ones(3))
        check(np.real, np.ones(3, "c8"))
        check(np.real, 1.0)
        check(np.imag, 1j)
        check(np.round, np.ones(3, "f4"), known=False)
        check(np.round, np.array([True]), known=False)


class TestReductions:
    @pytest.mark.parametrize("function", [np.sum, np.prod, np.mean, np.max, np.min, np.var, np.std])
    @pytest.mark.parametrize("dtype", ["f8", "f4", "c8", "i4", "u1", "?"])
    @pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (0, 2), (0, 1, 2), ()])
    @pytest.mark.parametrize("keepdims", [False, True])
    def test_axes(self, function, dtype, axis, keepdims):
        check(function, np.ones((2, 3, 4), dtype), axis=axis, keepdims=keepdims)

    @pytest.mark.parametrize("function", [np.sum, np.mean, np.max, np.std])
    def test_of_numbers_and_vectors(self, function):
        check(function, np.ones(3), axis=0)
        check(function, 1.0)
        check(function, 2)
        check(function, np.array(1.0))
        check(function, [1.0, 2.0])
        check(function, [1, 2.0])

    def test_open_axes(self):
        x, axis = operand(np.ones((2, 3))), ir.Value("axis", INT)
        assert infer(np.sum, (x,), {"axis": axis}) == UNKNOWN or covers(infer(np.sum, (x,), {"axis": axis}), np.ones(3))
        vague = infer(np.sum, (x,), {"axis": ir.Value("axis", UNKNOWN)})
        assert covers(vague, np.float64(1.0)) and covers(vague, np.ones(3))
        vague = infer(np.sum, (x,), {"axis": ir.Constant(0), "keepdims": ir.Value("k", UNKNOWN)})
        assert covers(vague, np.ones(3)) and covers(vague, np.ones((1, 3)))

    def test_options(self):
        check(np.sum, np.ones(3, "f4"), dtype="float64")
        for array in np.ones(3, "f4"), np.arange(3), np.ones(2, bool):
            for function in np.sum, np.prod, np.max, np.min, np.maximum.reduce, np.minimum.reduce:
                check(function, array, initial=1.5)
        code = ir.Code(gast.parse("np.float32", mode="eval").body)
        assert infer(np.sum, (operand(np.ones(3)),), {"dtype": code}).dtype == "float32"
        out = operand(np.ones(()))
        assert infer(np.sum, (operand(np.ones(3)),), {"out": out}).kind is Kind.ARRAY
        assert infer(np.sum, (operand(np.ones(3)),), {"out": ir.Value("out", UNKNOWN)}) == UNKNOWN

    def test_shapes(self):
        x = operand(np.ones((2, 3)))
        a, b = (infer(f, (x,), {"axis": ir.Constant(1), "keepdims": ir.Constant(True)}) for f in (np.max, np.sum))
        assert types.same_shape(a, b) and not types.same_shape(a, x.type)
        c = infer(np.sum, (x,), {"axis": ir.Constant(-1), "keepdims": ir.Constant(True)})
        assert types.same_shape(a, c)
        d = infer(np.sum, (x,), {"axis": ir.Constant(1)})
        assert not types.same_shape(a, d)

    def test_others(self):
        for function in (np.all, np.any, np.argmax, np.cumsum):
            check(function, np.ones((2, 3)))
            check(function, np.ones((2, 3)), axis=0)
        check(np.count_nonzero, np.ones(3))
        check(np.linalg.norm, np.ones(3, "f4"))
        check(np.linalg.norm, np.ones((2, 3), "c8"), axis=1)
        check(np.linalg.norm, np.ones((2, 3), int))


class TestProducts:
    @pytest.mark.parametrize("a", [(3,), (2, 3), (4, 2, 3)])
    @pytest.mark.parametrize("b", [(3,), (3, 5), (4, 3, 5), (1, 3, 5)])
    @pytest.mark.parametrize("function", [np.matmul, operator.matmul, np.dot])
    def test_matrix_products(self, a, b, function):
        check(function, np.ones(a), np.ones(b, "f4"))

    def test_vector_products(self):
        check(np.dot, 2.0, np.ones(3, "f4"))
        check(np.dot, 2.0, 3.0)
        check(np.inner, np.ones((2, 3)), np.ones(3, "c8"))
        check(np.inner, np.ones(3), np.ones(3))
        check(np.outer, np.ones(3), np.ones(2, "f4"))
        check(np.vdot, np.ones(3, "c16"), np.ones(3))

    @pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.arctan2, np.less])
    def test_outer_ufuncs(self, ufunc):
        check(ufunc.outer, np.ones((2, 3)), np.ones(4, "f4"))
        check(ufunc.outer, np.ones(3, "f4"), 2.0)
        check(ufunc.outer, 2, np.ones(3, "f4"))
        check(ufunc.outer, 2.0, np.float32(3.0), known=False)

    def test_einsum(self):
        check(np.einsum, "ij,jk->ik", np.ones((2, 3)), np.ones((3, 2), "f4"))
        check(np.einsum, "ij->", np.ones((2, 3)))
        check(np.einsum, "ii", np.ones((3, 3), "f4"))
        check(np.einsum, "i,->", np.ones(3, "f4"), 2.0)
        check(np.einsum, "->", np.array(1.0))
        check(np.einsum, "i,j->", np.ones(3, "f4"), np.ones(3, "f4"))
        check(np.einsum, ",->", 2.0, 3.0)
        check(np.einsum, "i,i->", np.ones(3), np.ones(3), optimize=True, known=False)

    def test_linear_algebra(self):
        a = np.eye(3, dtype="f4")
        for function in (np.linalg.inv, np.linalg.cholesky, np.linalg.det):
            check(function, a)
            check(function, np.stack([a, a]))
        check(np.linalg.solve, a, np.ones(3))
        check(np.linalg.solve, a, np.ones((3, 2), "f4"))

    def test_what_may_be_complex_is_not_called_real(self):
        assert not infer(np.linalg.eigvals, (operand(np.ones((2, 2))),)).is_real
        assert not infer(np.fft.fft, (operand(np.ones(4)),)).is_real
        assert not infer(np.emath.sqrt, (operand(1.0),)).is_real


class TestShapes:
    def test_moves(self):
        x = np.ones((2, 3, 4), "f4")
        check(np.transpose, x)
        check(np.transpose, x, (1, 0, 2))
        check(np.transpose, np.ones(3))
        check(np.swapaxes, x, 0, 1)
        check(np.moveaxis, x, 0, -1)
        check(np.expand_dims, x, 0)
        check(np.expand_dims, x, (0, 2))
        check(np.squeeze, np.ones((1, 3)), 0)
        check(np.squeeze, np.ones((1, 3)))
        check(np.ravel, x)
        check(np.ravel, 1.0)
        check(np.flip, x)
        check(np.broadcast_to, np.ones(3), (2, 3))

    def test_reshape(self):
        x = np.ones((2, 3))
        assert check(np.reshape, x, (3, 2)).shape == (3, 2)
        check(np.reshape, x, -1)
        check(np.reshape, x, (1, -1))
        check(np.reshape, np.ones(1), ())
        y = operand(np.ones(6))
        code = ir.Code(gast.parse("y.shape", mode="eval").body, {"y": y})
        assert types.same_shape(infer(np.reshape, (operand(x), code)), y.type)
        code = ir.Code(gast.parse("(n, 2)", mode="eval").body, {"n": ir.Value("n", INT)})
        assert infer(np.reshape, (operand(x), code)).ndim == 2
        assert infer(np.reshape, (operand(x), ir.Value("s", UNKNOWN))).ndim is None

    def test_joining(self):
        parts = [np.ones((2, 3)), np.ones((2, 3), "f4")]
        check(np.concatenate, parts)
        check(np.concatenate, parts, axis=None)
        check(np.stack, parts, axis=1)
        check(np.stack, [1.0, 2.0])
        check(np.vstack, [np.ones(3), np.ones((2, 3))], known=False)
        check(np.hstack, [np.ones(3), np.ones(2)])
        check(np.split, np.ones((4, 3)), 2)
        check(np.array, [1.0, 2])
        check(np.array, [[1, 2], [3, 4]])
        check(np.array, [np.ones(2), np.ones(2, "f4")])
        check(np.array, 1.0)
        check(np.asarray, np.ones(3, "f4"))
        check(np.copy, np.ones(3))

    def test_creation(self):
        check(np.zeros, 3)
        check(np.zeros, (2, 3))
        check(np.ones, (2, 3), dtype="float32")
        check(np.full, (2,), 1.5)
        check(np.full, (2,), 1)
        check(np.zeros_like, np.ones(3, "c8"))
        check(np.ones_like, 2.0)
        check(np.full_like, np.ones(3, "f4"), 2.0)
        check(np.eye, 3)
        check(np.arange, 3)
        check(np.arange, 0.0, 1.0, 0.25)
        check(np.linspace, 0.0, 1.0, 5)
        assert check(np.shape, np.ones((2, 3))).items == (INT, INT)
        x = operand(np.ones((2, 3)))
        assert types.same_shape(infer(np.zeros_like, (x,)), x.type)
        assert infer(np.zeros, (ir.Value("n", INT),)).ndim == 1


class TestIndexing:
    @pytest.mark.parametrize(
        "index",
        [0, -1, slice(None), slice(1, None, 2), None, Ellipsis, (0, 1), (0, slice(None)), (slice(None), 0),
         (slice(None), None, 0), (Ellipsis, 0), (0, Ellipsis), (0, 1, Ellipsis), (0, 1, 2), (), (None, Ellipsis, None)]
    )  # fmt: skip
    @pytest.mark.parametrize("shape", [(3,), (3, 3), (3, 3, 3)])
    def test_basic(self, index, shape):
        x = np.ones(shape, "f4")
        try:
            x[index]
        except IndexError:
            return
        check(operator.getitem, x, index, known=False)

    @pytest.mark.parametrize(
        "text", ["i", "i + 1", "-1", "i, j", "i, :", ":, i", "1:i", "1:-1, i:", "mask", "rows", "rows, :", "rows, cols",
                 "mask, 0", "None, i", "np.newaxis, i", "len(rows) - 1", "..., i", "i, None, :", "rows, None, i"]
    )  # fmt: skip
    def test_code(self, text):
        names = {
            "i": 1,
            "j": 0,
            "mask": np.array([True, False, True]),
            "rows": np.array([0, 2]),
            "cols": np.array([[0], [1]]),
        }
        x = np.arange(9.0).reshape(3, 3)
        reads = {name: operand(value) for name, value in names.items()}
        code = ir.Code(gast.parse(f"x[{text}]", mode="eval").body.slice, reads)
        claim = infer(operator.getitem, (operand(x), code))
        actual = eval(f"x[{text}]", {"x": x, "np": np, "len": len, **names})
        assert covers(claim, actual), (claim, of(actual))
        assert claim.kind is not Kind.UNKNOWN

    def test_open_indices_claim_only_the_dtype(self):
        x = operand(np.ones((3, 3)))
        for index in (
            ir.Value("i", UNKNOWN),
            ir.Code(gast.parse("i", mode="eval").body),
            ir.Value("i", Type(dtype="real")),
        ):
            assert infer(operator.getitem, (x, index)) == Type(dtype="float64")

    def test_same_index_same_shape(self):
        x, y = operand(np.ones(5)), operand(np.ones(5))
        code = lambda text: ir.Code(gast.parse(f"x[{text}]", mode="eval").body.slice)  # noqa: E731
        inner = [infer(operator.getitem, (x, code("1:-1"))) for _ in range(2)]
        assert types.same_shape(*inner)
        assert types.same_shape(inner[0], infer(operator.getitem, (x, code("2:"))))  # two less
        assert not types.same_shape(inner[0], infer(operator.getitem, (x, code("1:"))))
        assert not types.same_shape(inner[0], infer(operator.getitem, (x, code(":2"))))
        assert not types.same_shape(inner[0], infer(operator.getitem, (y, code("1:-1"))))
        reads = ir.Code(gast.parse("x[i:]", mode="eval").body.slice, {"i": ir.Value("i", INT)})
        assert not types.same_shape(*[infer(operator.getitem, (x, reads)) for _ in range(2)])

    def test_containers(self):
        check(operator.getitem, [1.0, np.ones(2)], 1)
        check(operator.getitem, (1.0, np.ones(2), 2), slice(1, None))
        check(operator.getitem, [1.0] * 50, 3)
        claim = infer(operator.getitem, (operand([1.0, 2.0]), ir.Value("i", INT)))
        assert claim == FLOAT
        assert infer(operator.getitem, (operand([1.0, 2.0]), ir.Value("i", UNKNOWN))) == UNKNOWN
        check(operator.getitem, {"a": np.ones(2), "b": 1}, "a")
        claim = infer(operator.getitem, (operand({"a": 1.0, "b": 2.0}), ir.Value("key", OTHER)))
        assert claim == FLOAT
        check(operator.getitem, Point(1.0, np.ones(2)), 1)

    def test_attributes(self):
        check(getattr, Point(1.0, np.ones(2)), "y")
        check(getattr, np.ones((2, 3)), "shape")
        check(getattr, np.ones((2, 3)), "T")
        check(getattr, np.ones((2, 3)), "size")
        check(getattr, np.ones(2, "c8"), "real")
        assert infer(getattr, (operand(object()), ir.Constant("a"))) == UNKNOWN


def test_python_functions():
    check(len, [1.0])
    check(float, 2)
    check(int, 2)
    check(bool, 2)
    check(max, 1.0, 2.0)
    check(min, 1, 2.0)
    for items in ([1.0, 2.0], [1, 2.0], (np.float32(1), 2), np.ones(3, "f4"), [np.array(1.0), 2.0]):
        check(max, items, known=not isinstance(items, list) or isinstance(items[0], (int, float)))
    assert infer(max, (ir.Value("items", UNKNOWN),)) == UNKNOWN
    for items in ([], [1.0], [1, 2.0], [True], [np.ones(2), 1], [np.array(1.0), 2], [np.float32(1)] * 2):
        check(sum, items)
        check(sum, items * 40, known=False)
    check(sum, np.ones(3))
    check(sum, np.ones((0, 3)), known=False)
    check(sum, np.ones((2, 3), "f4"))
    assert infer(operator.is_, (operand(None), operand(None))).dtype == "bool"


def test_numbers_of_one_kind_on_one_way_and_of_another_on_another():
    vague = [join(FLOAT, ir.FLOAT64), join(ir.INT, ir.FLOAT64)]
    for t, function in itertools.product(vague, BINARY):
        for other in [*SCALARS, *ARRAYS]:
            claims = [(infer(function, (ir.Value("v", t), operand(other))), False)]
            claims.append((infer(function, (operand(other), ir.Value("v", t))), True))
            for (claim, swapped), dtype in itertools.product(claims, types.WAYS[t.dtype]):
                value = {"int": 2, "int64": np.int64(2), "float": 2.0, "float64": np.float64(2.0)}[dtype]
                args = (other, value) if swapped else (value, other)
                try:
                    with np.errstate(all="ignore"):
                        result = function(*args)
                except (TypeError, ValueError):
                    continue
                assert covers(claim, result), (function, args, claim)
    array = operand(np.ones(3))
    assert infer(operator.mul, (array, ir.Value("v", vague[1]))).dtype == "float64"
    assert infer(np.array, (ir.Value("v", Type(Kind.LIST, items=tuple(vague))),)).dtype == "float64"


def test_conversions():
    for x in (np.ones((2, 3)), np.array(1), np.float32(1)):
        for dtype in ("float32", "complex128"):
            claim = infer(np.astype, (operand(x), ir.Constant(dtype)))
            assert covers(claim, x.astype(dtype)) and claim.dtype == dtype


def test_calls_that_do_not_fit_claim_nothing():
    assert infer(np.sum, (operand(1.0),), {"nonsense": ir.Constant(1)}) == UNKNOWN
    assert infer(object(), ()) == UNKNOWN
    assert infer([], ()) == UNKNOWN


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(np.linalg.cholesky(x)),
        lambda x: np.sum(np.linalg.eigh(x)[0]),
        lambda x: np.sum(np.linalg.solve(x, np.ones(3))),
        lambda x: np.linalg.det(x),
        lambda x: np.sum(np.convolve(x[0], np.ones(2))),
    ],
)
def test_no_real_parts_of_what_is_real(function):
    gradient = grad(function, mode="compiled")
    gradient(2.0 * np.eye(3))
    assert "np.conj" not in gradient.source and "np.real" not in gradient.source


def test_a_truth_value_may_be_of_numpy():
    """It makes what it is added to a number of NumPy's, and the sum of two of them is a truth value."""
    yes, n, k = (ir.Value("v", types.of(value)) for value in (True, 2, 0.5))
    assert types.infer(operator.mul, (yes, k)).dtype == types.DOUBLE
    assert types.infer(operator.add, (n, yes)).dtype == types.WHOLE
    assert types.infer(operator.add, (yes, yes)).dtype == types.REAL
    assert types.infer(operator.and_, (yes, yes)).dtype == "bool"


def test_the_sum_of_what_may_be_numbers_of_python():
    k, z = ir.Value("k", FLOAT), ir.Value("z", Type(dtype="float", ndim=0, shape=()))
    assert infer(operator.add, (k, z)) == Type(Kind.NUMBER, types.DOUBLE, 0, ())
