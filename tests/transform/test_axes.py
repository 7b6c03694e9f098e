"""Lengths of axes: what is claimed before a program runs, against what it does."""

import itertools
import operator
import random

import numpy as np
import pytest

from s2sgrad import grad
from s2sgrad.transform import ir
from s2sgrad.transform.analysis import axes, types
from s2sgrad.transform.analysis.axes import Axis
from s2sgrad.transform.analysis.lengths import Lengths


class Claims:
    """What symbols have meant: one symbol, one length."""

    def __init__(self):
        self.meaning = {}

    def check(self, t: ir.Type, shape: tuple):
        symbols = types.axes_of(t)
        if symbols is None:
            return
        assert len(symbols) == len(shape)
        for symbol, n in zip(symbols, shape, strict=True):
            if isinstance(symbol, int):
                assert symbol == n
            else:
                assert n >= symbol.least
                if symbol.name is not None:
                    assert self.meaning.setdefault(symbol, n) == n


OPERATIONS = [
    lambda r, x, y: (operator.add, (x, y), {}),
    lambda r, x, y: (np.maximum, (x, y), {}),
    lambda r, x, y: (operator.matmul, (x, y), {}),
    lambda r, x, y: (np.dot, (x, y), {}),
    lambda r, x, y: (np.outer, (x, y), {}),
    lambda r, x, y: (np.sum, (x,), {"axis": r.choice([0, -1, (0, 1)]), "keepdims": r.choice([True, False])}),
    lambda r, x, y: (np.max, (x,), {"axis": r.choice([0, 1, -1])}),
    lambda r, x, y: (np.transpose, (x,), {}),
    lambda r, x, y: (np.swapaxes, (x, 0, -1), {}),
    lambda r, x, y: (np.moveaxis, (x, 0, 1), {}),
    lambda r, x, y: (np.expand_dims, (x, r.choice([0, -1, 1])), {}),
    lambda r, x, y: (np.reshape, (x, r.choice([(-1,), (1, -1), (-1, 1), (2, -1), (3, 4)])), {}),
    lambda r, x, y: (np.ravel, (x,), {}),
    lambda r, x, y: (np.squeeze, (x, 0), {}),
    lambda r, x, y: (np.cumsum, (x,), {"axis": r.choice([None, 0])}),
    lambda r, x, y: (np.where, (x, x, y), {}),
    lambda r, x, y: (np.stack, ([x, x],), {"axis": r.choice([0, -1])}),
    lambda r, x, y: (np.concatenate, ([x, x],), {"axis": r.choice([0, None, -1])}),
    lambda r, x, y: (np.diag, (x,), {}),
    lambda r, x, y: (np.tril, (x,), {}),
    lambda r, x, y: (np.einsum, ("ij,jk->ki", x, y), {}),
    *[
        lambda r, x, y, i=i: (operator.getitem, (x, i), {})
        for i in [
            0, slice(1, None), slice(None, -1), slice(1, -1), slice(2, None), slice(None, 2), slice(None, None, -1),
            slice(None, None, 2), slice(-2, None), None, (Ellipsis, 0), (slice(None), None), (0, slice(1, None)),
            (slice(None), 0), (None, Ellipsis, slice(1, None)),
        ]
    ],
]  # fmt: skip
SHAPES = [(), (1,), (2,), (3,), (0,), (1, 1), (1, 3), (3, 1), (3, 3), (2, 3), (3, 4), (0, 3), (2, 3, 4), (1, 3, 1)]


@pytest.mark.parametrize("seed", range(60))
def test_claims_hold(seed):
    choose = random.Random(seed)
    claims = Claims()
    arrays = [np.ones(choose.choice(SHAPES)) for _ in range(4)]
    known = [(a, types.of(a)) for a in arrays]
    for a, t in known:
        claims.check(t, a.shape)
    for _ in range(120):
        (x, xt), (y, yt) = choose.choice(known), choose.choice(known)
        slots = {id(x): ir.Value("x", xt), id(y): ir.Value("y", yt)}
        function, args, kwargs = choose.choice(OPERATIONS)(choose, x, y)
        try:
            result = function(*args, **kwargs)
        except (ValueError, TypeError, IndexError):
            continue
        if np.size(result) > 5000 or np.ndim(result) > 4:
            continue
        operands = [operand(a, slots, dict([(id(x), xt), (id(y), yt)])) for a in args]
        claim = types.infer(function, tuple(operands), {k: ir.Constant(v) for k, v in kwargs.items()})
        claims.check(claim, np.shape(result))
        if isinstance(result, np.ndarray) and claim.kind is ir.Kind.ARRAY:
            known.append((result, claim))


def operand(a, slots, kinds):
    if isinstance(a, list):
        return ir.Value("items", ir.Type(ir.Kind.LIST, items=tuple(kinds[id(x)] for x in a)))
    return slots[id(a)] if isinstance(a, np.ndarray) else ir.Constant(a)


def test_index_arrays():
    given = {"x": np.ones((4, 5, 6)), "i": np.arange(3), "j": np.arange(3)}
    x, i, j = (ir.Value(name, types.of(a)) for name, a in given.items())
    n, m, k = x.type.shape

    def shape(*entries):
        index = ir.Value("index", ir.Type(ir.Kind.TUPLE, items=tuple(types.type_of(e) for e in entries)))
        return types.infer(operator.getitem, (x, index)).shape

    assert types.infer(operator.getitem, (x, i)).shape == (*i.type.shape, m, k)
    assert shape(i, j) == (*i.type.shape, k)
    mask = ir.Value("mask", types.of(np.ones(4, bool)))
    assert types.infer(operator.getitem, (x, mask)).shape[1:] == (m, k)


class TestSymbols:
    N, M, K = Axis("n", 2), Axis("m", 5), Axis("k")

    def test_what_is_surely_more_than_one_wins(self):
        assert axes.both(self.N, self.K) == axes.both(self.K, self.N) == self.N
        assert axes.both(1, self.K) == self.K and axes.both(0, self.K) == 0

    def test_two_unknown_lengths(self):
        j = Axis("j")
        either = axes.both(self.K, j)
        assert either == axes.both(j, self.K) == axes.both(either, j) and either not in (j, self.K)
        assert not axes.is_many(either)

    def test_nothing_known_equals_nothing(self):
        t = types.one_array("float64", 1)
        nameless = ir.Type(ir.Kind.ARRAY, "float64", 1, (axes.ANY,))
        assert types.same_shape(t, t) and not types.same_shape(nameless, nameless)
        assert not Lengths().equal(axes.ANY, axes.ANY)

    def test_joins_forget(self):
        assert axes.join(self.N, self.M) == Axis(None, 2)
        assert axes.join(0, self.N) == axes.join(1, self.N) == axes.ANY

    @pytest.mark.parametrize("step", [None, 1, 2, 3, -1, -2])
    def test_a_part_is_as_long_as_is_claimed(self, step):
        bounds = [None, *range(-4, 5)]
        for start, stop in itertools.product(bounds, bounds):
            for least in range(10):
                part = axes.part(Axis("n", least), start, stop, step)
                assert all(len(range(n)[start:stop:step]) >= part.least for n in range(least, least + 9))

    def test_what_is_left_of_many_is_many(self):
        assert axes.part(Axis("n", 4), 1, -1, None) == Axis(("less", Axis("n", 4), 2), 2)
        assert axes.size((self.N, self.M)).least == 10 and axes.size((0, self.M)).least == 0


class TestLengths:
    def test_forgets_what_was_taken_back(self):
        lengths = Lengths()
        lengths.equate(Axis("a"), Axis("b"))
        size = len(lengths.parent)
        lengths.equate(Axis("b"), Axis("c"))
        lengths.forget(size)
        assert lengths.equal(Axis("a"), Axis("b")) and not lengths.equal(Axis("a"), Axis("c"))

    def test_a_block_keeps_what_it_learns(self):
        outer = Lengths()
        inner = Lengths(outer)
        outer.equate(Axis("a"), Axis("b"))
        inner.equate(Axis("b"), Axis("c"))
        assert inner.equal(Axis("a"), Axis("c")) and not outer.equal(Axis("a"), Axis("c"))

    def test_one_may_be_learnt(self):
        lengths = Lengths()
        lengths.equate(Axis("a"), 1)
        wide, narrow = (types.one_array("float64", shape=(n,)) for n in (Axis("n", 2), Axis("a")))
        assert lengths.summed(wide, narrow) == ((), (0,))


# ------------------------------------------------------------------------- the gradients of programs


def affine(x, w, b):
    return np.sum(np.tanh(x * w + b) ** 2)


def sliced(x, w, b):
    y = x[1:] * w[:-1] - x[:-1]
    return np.sum(y * y) + np.sum(b) * np.sum(y[:, None] * b)


def in_loop(x, w, b):
    h = x
    for _ in range(3):
        h = np.tanh(h * w + b)
    return np.sum(h)


def in_branch(x, w, b):
    if np.sum(b) > 0:  # noqa: SIM108
        y = x * w
    else:
        y = np.sum(x) * b
    return np.sum(y * y) + np.sum(x * b)


@pytest.mark.parametrize("function", [affine, in_loop, in_branch])
def test_one_function_at_many_shapes(function):
    """What is compiled for one pattern of ones is not run for another."""
    shapes = [(3, 4), (1, 4), (3, 1), (1, 1), (4,), (1,), ()]
    derivative = grad(function, (0, 1, 2), mode="compiled")
    rng = np.random.default_rng(1)
    tried = 0
    for chosen in itertools.product(shapes, repeat=3):
        args = [rng.normal(size=s) for s in chosen]
        if function is in_loop and np.broadcast_shapes(*chosen) != chosen[0]:
            continue  # the loop's variable would change its shape
        compare(derivative, function, args)
        tried += 1
    assert tried > 20


@pytest.mark.parametrize("shapes", [((0, 4), (1, 4), (4,)), ((3, 0), (0,), (3, 1)), ((0,), (1,), ())])
def test_empty_arrays(shapes):
    args = [np.ones(s) for s in shapes]
    compare(grad(affine, (0, 1, 2), mode="compiled"), affine, args)


@pytest.mark.parametrize("n, m, k", [(5, 5, 3), (2, 2, 1), (5, 5, 1), (3, 2, 2), (2, 5, 4)])
def test_slices(n, m, k):
    rng = np.random.default_rng(n)
    args = [rng.normal(size=s) for s in (n, m, k)]
    try:
        sliced(*args)
    except ValueError:
        pytest.raises(ValueError, grad(sliced, mode="compiled"), *args)
        return
    compare(grad(sliced, (0, 1, 2), mode="compiled"), sliced, args)


def compare(derivative, function, args):
    found = derivative(*args)
    expected = grad(function, (0, 1, 2), mode="tape")(*args)
    for d, e, x in zip(found, expected, args, strict=True):
        assert np.shape(d) == np.shape(x)
        np.testing.assert_allclose(d, e, atol=1e-12)


def test_containers_are_told_apart_by_their_ones():
    def loss(params, x):
        h = x
        for w, b in params:
            h = np.tanh(h @ w + b)
        return np.sum(h)

    derivative = grad(loss, mode="compiled")
    for sizes in [(3, 4, 2), (3, 1, 2), (3, 4, 1), (1, 1, 1)]:
        rng = np.random.default_rng(0)
        params = [(rng.normal(size=(m, n)), rng.normal(size=n)) for m, n in itertools.pairwise(sizes)]
        for bias in (lambda b: b, lambda b: b[:1]):
            given = [(w, bias(b)) for w, b in params]
            x = rng.normal(size=(5, sizes[0]))
            found, expected = derivative(given, x), grad(loss, mode="tape")(given, x)
            for one, other in zip(found, expected, strict=True):
                for d, e in zip(one, other, strict=True):
                    assert d.shape == e.shape
                    np.testing.assert_allclose(d, e, atol=1e-12)


SCALE = np.ones(4)


def test_captured_arrays_are_guarded(monkeypatch):
    def loss(x):
        return np.sum((x * SCALE) ** 2)

    derivative = grad(loss, mode="compiled")
    for scale in (np.full(4, 2.0), np.full(1, 3.0), np.full((3, 1), 2.0)):
        for n in (1, 4):
            monkeypatch.setitem(globals(), "SCALE", scale if scale.size != 4 or n == 4 else np.full(1, 2.0))
            x = np.arange(1.0, n + 1)
            found = derivative(x)
            assert found.shape == x.shape
            np.testing.assert_allclose(found, grad(loss, mode="tape")(x))


def test_two_names_of_one_array():
    """At the next call they may be two arrays, of lengths that differ."""
    first = np.ones(4)
    held = {"a": first, "b": first}

    def make(a, b):
        def loss(x):
            return np.sum(x * a) + np.sum((x * b) ** 2)

        return loss

    x = np.array([2.0])
    for a, b in [(held["a"], held["b"]), (np.ones(3), np.ones(5))]:
        loss = make(a, b)
        np.testing.assert_allclose(grad(loss, mode="compiled")(x), grad(loss, mode="tape")(x))


def test_exported_code_takes_any_shape(tmp_path):
    derivative = grad(affine, (0, 1, 2), mode="compiled")
    derivative(np.ones((3, 4)), np.ones((3, 4)), np.ones((3, 4)))
    derivative.export(tmp_path / "exported.py")
    namespace: dict = {}
    exec((tmp_path / "exported.py").read_text(), namespace)
    args = [np.full((3, 4), 0.1), np.full((1, 4), 0.2), np.full((3, 1), 0.3)]
    for d, e in zip(namespace["affine_grad"](*args), grad(affine, (0, 1, 2), mode="tape")(*args), strict=True):
        assert d.shape == e.shape
        np.testing.assert_allclose(d, e)


# ------------------------------------------------- what holds in a branch or a loop holds there only


def said_in_a_branch(x, w, n):
    if n:  # noqa: SIM108
        y = np.sum(x * w)
    else:
        y = np.sum(w)
    return y + np.sum(x[:, None] * w) ** 2


def said_in_a_loop(x, w, n):
    s = 0.0
    for _ in range(n):
        s = s + np.sum(x * w)
    return s + np.sum(np.outer(x, w) ** 2) + np.sum(x[:1] * w)


def shrinking(x, w, n):
    y = x
    for _ in range(n):
        y = y[1:] - y[:-1]
    return np.sum(y * y) + np.sum(y[:1] * w)


def growing(x, w, n):
    y = x
    for _ in range(n):
        y = np.concatenate([y, y]) * 2.0
    return np.sum(y * y) * np.sum(w)


def either(x, w, n):
    y = x if n else w
    return np.sum(y * 2.0 * x) if n else np.sum(y * 2.0 * w)


def widening(x, w, n):
    y = x[:1]
    for _ in range(n):
        y = y * w
    return np.sum(y)


@pytest.mark.parametrize("function", [said_in_a_branch, said_in_a_loop, shrinking, growing, either, widening])
@pytest.mark.parametrize("lengths, n", [((3, 4), 0), ((4, 4), 1), ((4, 4), 3), ((2, 4), 1), ((6, 1), 2), ((1, 4), 0)])
def test_facts_stay_where_they_hold(function, lengths, n):
    x, w = (np.random.default_rng(seed).normal(size=size) for seed, size in enumerate(lengths))
    try:
        function(x, w, n)
    except ValueError:
        pytest.raises(ValueError, grad(function, (0, 1)), x, w, n)
        return
    found, expected = grad(function, (0, 1))(x, w, n), grad(function, (0, 1), mode="tape")(x, w, n)
    for d, e, given in zip(found, expected, (x, w), strict=True):
        assert d.shape == given.shape
        np.testing.assert_allclose(d, e, atol=1e-12)


def length_at(symbol, n: int) -> int:
    """The length that a symbol made of the axis `n` is, where that has so many entries."""
    if isinstance(symbol, int):
        return symbol
    match symbol.name:
        case "n":
            return n
        case "less", inner, count:
            return max(length_at(inner, n) - count, 0)
        case "quotient", inner, count:
            return length_at(inner, n) // count
        case "times", inner, count:
            return length_at(inner, n) * count
        case "part", inner, *bounds:
            return len(range(length_at(inner, n))[slice(*bounds)])
        case "total", parts:
            return sum(length_at(part, n) for part in parts)
    raise AssertionError(symbol)


class TestNumbersThatAreLengths:
    @pytest.mark.parametrize("least", [0, 1, 2, 4, 8])
    def test_bounds_that_are_lengths(self, least):
        n = Axis("n", least)
        numbers = [0, 1, 3, n, axes.more(n, 1), *(axes.part(n, k, None, None) for k in (1, 2, 5))]
        numbers += [axes.times(axes.quotient(n, q), k) for q in (2, 3, 4) for k in (1, 2, 3, 5)]
        numbers += [axes.more(axes.part(n, 2, None, None), k) for k in (1, 2, 3)]
        numbers += [axes.quotient(axes.part(n, 1, None, None), 2), axes.total((n, 2)), axes.total((n, 0, n))]
        known = 0
        for low, high in itertools.product(numbers, [*numbers, None]):
            if not all(number is None or axes.is_named(number) for number in (low, high)):
                continue
            found = axes.between(n, low, high)
            known += found != axes.ANY
            for size in range(least, least + 14):
                bounds = length_at(low, size), None if high is None else length_at(high, size)
                real = len(range(size)[slice(*bounds)])
                assert real >= axes.least(found), (low, high, size)
                assert not axes.is_named(found) or real == length_at(found, size), (low, high, size)
        assert known > 40

    def test_what_is_claimed_of_numbers(self):
        n = Axis("n", 8)
        for symbol in (axes.more(n, 2), axes.quotient(n, 4), axes.times(n, 3), axes.total((n, 3, n))):
            assert all(length_at(symbol, size) >= symbol.least >= 2 for size in range(8, 30))
        assert axes.more(axes.part(n, 2, None, None), 2) == n
        assert not axes.is_named(axes.more(axes.part(Axis("n"), 2, None, None), 1))  # cut off at 0, perhaps


def halves(y):
    n = len(y) // 2
    q, p = y[:n], y[n:]
    return np.sum(np.sin(q) * p)


def gates(x, b):
    n = len(b) // 4
    h = np.zeros(n)
    for t in x:
        z = t * b
        h = np.tanh(z[:n]) * h + z[n : 2 * n] * z[3 * n :]
    return np.sum(h)


def inner_points(x, c):
    n, m = len(x), len(x) - 2
    y = np.zeros(n)
    y[1 : n - 1] = x[1 : n - 1] * c[2:]
    z = np.ones(m)
    for _ in range(2):
        z = z * y[1:-1] + np.sin(z)
    return np.sum(z)


def rectangle(x):
    n, m = x.shape
    k = 2
    a = np.zeros((n, m - 1))
    a[:, :k] = x[:, 1 : k + 1]
    return np.sum(a[:, : m - 1] * x[:, 1:]) + np.sum(np.reshape(x, (n * m,)) * np.ones(m * n))


@pytest.mark.parametrize(
    "function, args",
    [
        (halves, (np.linspace(0.1, 1.0, 16),)),
        (gates, (np.linspace(0.2, 1.0, 3), np.linspace(0.3, 1.0, 16))),
        (inner_points, (np.linspace(0.2, 1.0, 9), np.linspace(0.3, 1.0, 9))),
        (rectangle, (np.linspace(0.2, 1.0, 90).reshape(9, 10),)),
    ],
)
def test_what_numbers_say_of_lengths_leaves_nothing_to_ask(function, args):
    derivative = grad(function, tuple(range(len(args))))
    found = derivative(*args)
    assert derivative.engine == "compiled" and "unbroadcast" not in derivative.source
    for mine, its in zip(found, grad(function, tuple(range(len(args))), mode="tape")(*args), strict=True):
        assert np.allclose(mine, its, rtol=1e-12)


def test_lengths_that_fit_for_no_good_reason():
    for size in (1, 5, 6, 7):  # of these one entry of a part meets several of another
        b = np.linspace(0.3, 1.0, size)
        found, expected = (grad(gates, 1, mode=mode)(np.linspace(0.2, 1.0, 3), b) for mode in ("compiled", "tape"))
        assert found.shape == b.shape and np.allclose(found, expected)


def stacked_product(c, matrices):
    products = np.matvec(matrices, c)
    c[:, 0] + matrices[0, :, 0]
    return np.sum(products)


def test_a_stack_of_vectors_meets_the_stack_of_matrices():
    c, matrices = np.ones((2, 4)), np.ones((2, 3, 4))
    with pytest.raises(ValueError, match="broadcast"):
        grad(stacked_product)(c, matrices)


def halves_and_constants(x, b):
    n = len(b) // 2
    low, high = b[:n], b[n : 2 * n]
    count = np.zeros(n, int)
    count[low > 0.5] += 1
    w = np.zeros(n)
    w[:] = 0.5
    y = x[:n] * w
    w[0] = 2.0
    y = y + np.einsum("i,i->i", low, high) * w * (1 + count)
    return np.sum(y * y)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 9, 16])
def test_lengths_of_halves_beside_arrays_that_are_written_to(size):
    x, b = np.linspace(0.2, 1.0, size), np.linspace(0.9, 0.3, size)
    derivative = grad(halves_and_constants, (0, 1))
    dx, db = derivative(x, b)
    steps = 1e-6 * np.eye(size)
    f = halves_and_constants
    assert derivative.engine == "compiled"
    assert np.allclose(dx, [(f(x + h, b) - f(x - h, b)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)
    assert np.allclose(db, [(f(x, b + h) - f(x, b - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)
