"""A compiled function as one node of the tape, and derivatives of NumPy functions whatever the grad mode."""

import numpy as np
import pytest

import s2sgrad
import s2sgrad.torch as torch

F64 = torch.float64


def energy(x, k):
    return k * np.sum(np.sin(x) ** 2)


def both(a, b):
    return a @ b, a * 2


def unseen(x):
    total = 0.0
    for v in {"a": x, "b": x * 2}.values():
        total = total + np.sum(v**3)
    return total


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def test_one_node_with_derivatives_of_all_orders():
    x = leaf(1.0, 2.0)
    y = s2sgrad.compile(energy)(x, 3.0)
    assert type(y.grad_fn).__name__ == "CompiledFunctionBackward" and y.grad_fn.next_functions[0][0].variable is x
    found = y
    for expected in (
        3 * np.sin(2 * np.array([1.0, 2.0])),
        6 * np.cos(2 * np.array([1.0, 2.0])),
        -12 * np.sin(2 * np.array([1.0, 2.0])),
    ):
        (found,) = torch.autograd.grad(found.sum(), x, create_graph=True)
        np.testing.assert_allclose(found.detach().numpy(), expected)


def test_amid_other_operations():
    x = leaf(1.0, 2.0)
    (s2sgrad.compile(energy)(x * 2, 3.0) * 5).backward()
    np.testing.assert_allclose(x.grad.numpy(), 5 * 3 * 2 * np.sin(4 * np.array([1.0, 2.0])))


def test_several_results():
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64, requires_grad=True)
    p, q = s2sgrad.compile(both)(a, a)
    (p.sum() + q.sum()).backward()
    b = a.detach().requires_grad_()
    ((b @ b).sum() + (b * 2).sum()).backward()
    assert torch.allclose(a.grad, b.grad)
    (g,) = torch.autograd.grad((s2sgrad.compile(both)(a, a)[0] ** 2).sum(), a, create_graph=True)
    (h,) = torch.autograd.grad((g * g).sum(), a)
    (g,) = torch.autograd.grad(((b @ b) ** 2).sum(), b, create_graph=True)
    assert torch.allclose(h, torch.autograd.grad((g * g).sum(), b)[0])


def test_functions_that_run_on_the_tape():
    x = leaf(1.0, 2.0)
    (g,) = torch.autograd.grad(s2sgrad.compile(unseen)(x), x, create_graph=True)
    assert g.tolist() == [27, 108] and torch.autograd.grad(g.sum(), x)[0].tolist() == [54, 108]


def test_without_tensors_it_is_the_function():
    assert s2sgrad.compile(energy)(np.zeros(2), 3.0) == 0
    with pytest.raises(TypeError):
        s2sgrad.compile(3)


@pytest.mark.parametrize("mode", ["tape", "compiled"])
def test_gradients_do_not_depend_on_the_grad_mode(mode):
    with s2sgrad.no_grad():
        assert s2sgrad.grad(energy, mode=mode)(np.array([1.0]), 2.0) == pytest.approx(2 * np.sin(2.0))


# ---------------------------------------------------------------- custom Functions in functions under differentiation


class Fivefold(torch.autograd.Function):
    """The square, with a derivative of its own: 5 x."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 5 * x * g


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k=2.0):
        ctx.k = k
        ctx.save_for_backward(x)
        return x * k, x.sum()

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return 7 * g * ctx.k + h * x, None


class Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return -g


class Nested(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return Fivefold.apply(x) * 3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return Fivefold.apply(x) * g


class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return 2 * ctx.saved_tensors[0] * g


class Overwriting(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def helper(x):
    return Fivefold.apply(x) * 2


def looped(x):
    for _ in range(2):
        x = Fivefold.apply(x) * 0.5
    return np.sum(x)


def two_results(x):
    y, total = Pair.apply(x, k=3.0)
    return np.sum(y * x) + total**2


def written_after(x):
    y = x * 1.0
    z = Fivefold.apply(y)
    y[0] = 100.0
    return np.sum(z) + np.sum(y)


def written_before(x):
    y = x * 1.0
    y[1] = x[0]
    return np.sum(Fivefold.apply(y[:]))


def result_written(x):
    y = Fivefold.apply(x)
    y[0] = x[1]
    return np.sum(y * x)


def unrecorded(x):
    with s2sgrad.no_grad():
        y = Fivefold.apply(x)
    return np.sum(y * x)


X = np.array([1.0, 2.0])


@pytest.mark.parametrize("mode", ["auto", "tape"])
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: np.sum(Fivefold.apply(x)), [5, 10]),
        (lambda x: np.sum(helper(x) * x), [2 + 10, 8 + 40]),
        (looped, 3.125 * X**3),
        (two_results, [3 + 21 + 6, 6 + 42 + 12]),
        (lambda x: Pair.apply(x)[1] * 2, [2, 4]),
        (written_after, [5, 11]),
        (written_before, [10, 0]),
        (result_written, [2, 1 + 4 + 20]),
        (lambda x: np.sum(Reversed.apply(x) * x**2), [-1 + 2, -4 + 8]),
        (lambda x: np.sum(Nested.apply(x)), [1, 4]),
        (lambda x: np.sum(Once.apply(x)), [2, 4]),
        (unrecorded, [1, 4]),
    ],
)
def test_functions_in_functions_under_differentiation(f, expected, mode):
    value, gradient = s2sgrad.value_and_grad(f, mode=mode)(X)
    np.testing.assert_allclose(gradient, expected)
    with torch.no_grad():
        np.testing.assert_allclose(s2sgrad.grad(f, mode=mode)(X), expected)
    assert value == f(X)


def test_higher_derivatives_through_functions():
    inner = s2sgrad.grad(lambda x: np.sum(Fivefold.apply(x) * x))  # 5x*x + x*x
    np.testing.assert_allclose(inner(X), 6 * X**2)
    np.testing.assert_allclose(s2sgrad.grad(lambda x: np.sum(inner(x)))(X), 5 * X + 5 * X + 5 * X)
    nested = s2sgrad.grad(lambda x: np.sum(Nested.apply(x)))
    np.testing.assert_allclose(s2sgrad.grad(lambda x: np.sum(nested(x)))(X), 5 * X)
    np.testing.assert_allclose(s2sgrad.jacobian(Fivefold.apply)(X), np.diag(5 * X))
    value, pull = s2sgrad.vjp(lambda x: Fivefold.apply(x) * 2, X)
    for _ in range(2):
        np.testing.assert_allclose(pull(np.ones(2))[0], 10 * X)
    assert value.tolist() == [2, 8] and s2sgrad.grad(Fivefold.apply)(3.0) == 15
    once = s2sgrad.grad(lambda x: np.sum(Once.apply(x) * x))
    with pytest.raises(RuntimeError, match="once_differentiable"):
        s2sgrad.grad(lambda x: np.sum(once(x)))(X)


def write_to_argument(x):
    y = x * 1.0
    Reversed.apply(y)[0] = 5.0
    return np.sum(y)


@pytest.mark.parametrize(
    ("f", "error", "text"),
    [
        (lambda x: np.sum(Fivefold.apply([x])), s2sgrad.TapeError, "given a list with differentiated arrays in it"),
        (lambda x: np.sum(Overwriting.apply(x * 1.0)), RuntimeError, "read-only"),
        (write_to_argument, ValueError, "read-only"),
        (
            lambda x: torch.full((2,), x[0]).sum().item(),
            s2sgrad.TapeError,
            "was given an array or number of a function",
        ),
        (lambda x: torch.ones(2).clamp(x[0], 9.0).sum().item(), s2sgrad.TapeError, "use NumPy's functions on it"),
        (lambda x: torch.tensor(x).sum().item(), s2sgrad.TapeError, "its derivative would be lost"),
        (lambda x: torch.from_numpy(x).sum().item(), s2sgrad.TapeError, "its derivative would be lost"),
        (lambda x: (torch.ones(2) * x).sum().item(), s2sgrad.TapeError, "its derivative would be lost"),
    ],
)
def test_what_would_lose_a_derivative_is_refused(f, error, text):
    with pytest.raises(error, match=text):
        s2sgrad.grad(f)(X)


def test_gradients_do_not_depend_on_inference_mode():
    c = s2sgrad.compile(energy)
    with torch.inference_mode():
        for mode in ("tape", "compiled"):
            assert s2sgrad.grad(energy, mode=mode)(np.array([1.0]), 2.0) == pytest.approx(2 * np.sin(2.0))
        y = c(leaf(1.0), 2.0)
        assert y.is_inference() and not y.requires_grad and torch.is_inference_mode_enabled()
    assert not torch.is_inference_mode_enabled() and c(leaf(1.0), 2.0).requires_grad


# ---------------------------------------------------------------- NumPy's functions of tensors


@pytest.mark.parametrize(
    "f",
    [
        lambda np, x: np.sin(x) * 2 + np.sum(np.dot(x, x)),
        lambda np, x: np.concatenate([x, np.stack([x[0], x[1]])]),
        lambda np, x: np.where(x > 1, x, x * x),
        lambda np, x: np.maximum(x, 1.5) ** np.power(x, 2),
        lambda np, x: np.einsum("i,j->ij", x, x),
        lambda np, x: np.linalg.norm(x) * np.mean(x, axis=0),
        lambda np, x: np.clip(x, 0, 1.5) + np.cumsum(np.exp(x)),
        lambda np, x: np.sort(x)[::1] * np.prod(x),
        lambda np, x: np.outer(x, x) @ x,
    ],
)
def test_numpy_functions_of_tensors_record(f):
    x = leaf(0.5, 2.0)
    y = f(np, x)
    assert isinstance(y, torch.Tensor)
    np.testing.assert_allclose(y.detach().numpy(), f(np, np.array([0.5, 2.0])))
    assert torch.autograd.gradcheck(lambda x: f(np, x), x) and torch.autograd.gradgradcheck(lambda x: f(np, x), x)


def test_numpy_functions_that_tensors_refuse():
    x = leaf(1.0, 2.0)
    for refused in (
        lambda: np.add.reduce(x),
        lambda: np.exp(x, out=np.zeros(2)),
        lambda: np.ones(2) * x,
        lambda: np.ones((2, 2)) @ x,
        lambda: np.spacing(x),
    ):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(RuntimeError, match="detach"):
        np.array([x, x])
