"""gradcheck and gradgradcheck: what they accept, what they find, and how they say it."""

import sys
import warnings

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import Function, gradcheck, gradgradcheck
from s2sgrad.torch.autograd.function import once_differentiable
from s2sgrad.torch.autograd.gradcheck import (
    GradcheckError,
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)

F64 = torch.float64


def leaf(*values):
    return torch.tensor(list(values), dtype=F64, requires_grad=True)


def complex_leaf(*values):
    return torch.tensor(list(values), dtype=torch.complex128, requires_grad=True)


def function(forward, backward, **more):
    return type("Made", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward), **more})


def saving(value, derivative):
    """A Function of one tensor by its value and by its derivative."""

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return value(x)

    return function(forward, lambda ctx, g: derivative(*ctx.saved_tensors, g))


wrong_square = saving(lambda x: x * x, lambda x, g: 3 * x * g)

GOOD = [
    lambda x: x.sin() * x,
    lambda x: x.sum(),
    lambda x: (x.exp(), x * 2),
    lambda x: [x * 1, x.cumsum(0)],
    lambda x: x[0],
    lambda x: x.reshape(2, 1) @ x.reshape(1, 2),
    lambda x: x.unbind(0),
]


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("f", GOOD)
def test_right_gradients_of_both_orders(f, fast_mode):
    assert gradcheck(f, (leaf(0.3, 0.7),), fast_mode=fast_mode) is True
    assert gradgradcheck(f, leaf(0.3, 0.7), fast_mode=fast_mode) is True


def test_writes_and_views():
    def f(x):
        y = x.clone()
        y[0] = y[1] * 2
        y.mul_(3)
        return y.view(2, 1).t()

    assert gradcheck(f, leaf(1.0, 2.0)) and gradgradcheck(f, leaf(1.0, 2.0))


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=F64).t().requires_grad_(),
        torch.arange(6, dtype=F64)[::2].requires_grad_(),
        torch.tensor(2.0, dtype=F64, requires_grad=True),
        torch.zeros(0, 2, dtype=F64, requires_grad=True),
        torch.ones(1, 1, dtype=F64).expand(1, 1).detach().requires_grad_(),
    ],
    ids=["transposed", "with gaps", "0-d", "empty", "one element"],
)
@pytest.mark.parametrize("fast_mode", [False, True])
def test_layouts_of_inputs(x, fast_mode):
    assert gradcheck(lambda x: (x**3, x.sum()), x, fast_mode=fast_mode) and gradgradcheck(lambda x: x**3, x)


def test_other_arguments_are_handed_on():
    assert gradcheck(lambda x, k, c: x * k * c, (leaf(1.0), 3, torch.tensor([2.0], dtype=F64)))


def test_a_wrong_gradient_names_the_pair_and_shows_both_matrices():
    f = function(lambda ctx, a, b: (a * 1, b * 2), lambda ctx, ga, gb: (ga, gb * 3))
    with pytest.raises(GradcheckError, match="mismatch for output 1 with respect to input 1") as caught:
        gradcheck(f.apply, (leaf(1.0), leaf(1.0)))
    text = str(caught.value)
    assert (
        "numerical: tensor([[2.0" in text
        and "analytical: tensor([[3" in text
        and isinstance(caught.value, RuntimeError)
    )
    assert gradcheck(f.apply, (leaf(1.0), leaf(1.0)), raise_exception=False) is False
    assert gradcheck(f.apply, (leaf(1.0), leaf(1.0)), atol=2.0)


def test_untracked_inputs_and_outputs_are_not_counted():
    f = function(lambda ctx, k, a, b: (a * 1, b * 2), lambda ctx, ga, gb: (None, ga, gb * 3))

    def g(k, c, a, b):
        a, b = f.apply(k, a, b)
        return a.detach(), a, b

    with pytest.raises(GradcheckError, match="output 1 with respect to input 1"):
        gradcheck(g, ("text", torch.ones(1, dtype=F64), leaf(1.0), leaf(1.0)))


def test_fast_mode_shows_the_entries_after_a_failure():
    with pytest.raises(GradcheckError, match="(?s)Jacobian mismatch.*fast mode.*Entry by entry.*largest difference"):
        gradcheck(wrong_square.apply, leaf(1.0, 2.0), fast_mode=True)
    # in a projection the entries cancel, the errors add up
    m = torch.tensor([[1e3, -1e3], [-1e3, 1e3]], dtype=F64)
    nearly = function(lambda ctx, x: m @ x, lambda ctx, g: (m + 5e-4 * m.abs()) @ g)
    assert gradcheck(nearly.apply, leaf(1.0, 2.0))
    with pytest.raises(GradcheckError, match="may pass with fast_mode=False"):
        gradcheck(nearly.apply, leaf(1.0, 2.0), fast_mode=True)


def test_second_derivatives_that_are_missing():
    lost = saving(lambda x: x**3, lambda x, g: g * 3 * x.detach() ** 2)
    assert gradcheck(lost.apply, leaf(1.0, 2.0))
    with pytest.raises(GradcheckError, match="output 0 with respect to input 0"):
        gradgradcheck(lost.apply, leaf(1.0, 2.0))
    assert gradgradcheck(lost.apply, leaf(1.0), raise_exception=False) is False
    once = saving(lambda x: x * x, once_differentiable(lambda x, g: 2 * x * g))
    assert gradcheck(once.apply, leaf(1.0, 2.0))


def test_second_derivatives_that_are_refused():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    once = function(forward, once_differentiable(lambda ctx, g: 2 * ctx.saved_tensors[0] * g))
    with pytest.raises(GradcheckError, match="once_differentiable"):
        gradgradcheck(once.apply, leaf(1.0, 2.0))


def test_cotangents_of_gradgradcheck():
    def f(x):
        return x.exp(), x.sum()

    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=F64, requires_grad=True)
    assert gradgradcheck(lambda x: x.exp(), x, torch.ones(2, 2, dtype=F64))
    assert gradgradcheck(f, (x,), (torch.ones(2, 2, dtype=F64, requires_grad=True), torch.tensor(2.0, dtype=F64)))
    seen = []

    def noted(x):
        y = x * x
        y.register_hook(lambda g: seen.append(g.is_contiguous()))
        return y

    assert gradgradcheck(noted, x) and all(seen)
    assert gradgradcheck(noted, x, gen_non_contig_grad_outputs=True) and not all(seen)


def test_a_backward_that_does_not_repeat():
    count = [0]

    def backward(ctx, g):
        count[0] += 1
        return g * (1 + 1e-9 * (count[0] % 2))

    f = function(lambda ctx, x: x * 1, backward)
    with pytest.raises(GradcheckError, match="not reentrant.*nondet_tol=0.0"):
        gradcheck(f.apply, leaf(1.0))
    assert gradcheck(f.apply, leaf(1.0), nondet_tol=1e-6)


def test_a_backward_that_does_not_multiply():
    f = function(lambda ctx, x: x * 2, lambda ctx, g: torch.full_like(g, 2.0))
    with pytest.raises(GradcheckError, match="not multiplied by grad_output"):
        gradcheck(f.apply, leaf(1.0))


def test_a_backward_that_does_not_take_none():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    f = function(forward, lambda ctx, g: g * 2)

    def raising(ctx, g):
        if g is None:
            raise RuntimeError("nothing came")
        return g * 2

    with pytest.raises(GradcheckError, match="undefined output grads.*nothing came"):
        gradcheck(function(forward, raising).apply, leaf(1.0))
    assert gradcheck(function(forward, raising).apply, leaf(1.0), check_undefined_grad=False)
    with pytest.raises(TypeError):
        gradcheck(f.apply, leaf(1.0))
    inventing = function(forward, lambda ctx, g: torch.ones(1, dtype=F64) if g is None else g * 2)
    with pytest.raises(GradcheckError, match="must be zero or None"):
        gradcheck(inventing.apply, leaf(1.0))


def test_one_of_several_cotangents_missing():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    seen = []

    def backward(ctx, a, b):
        seen.append((a is None, b is None))
        return sum(k * g for k, g in ((2, a), (3, b)) if g is not None) if (a, b) != (None, None) else None

    assert gradcheck(function(forward, backward).apply, leaf(1.0))
    assert {(True, True), (True, False), (False, True)} <= set(seen)


def test_results_without_gradient_must_not_depend_on_the_inputs():
    x = leaf(1.0, 2.0)
    for fast_mode in (False, True):
        assert gradcheck(lambda x: (x * 0).detach(), x, fast_mode=fast_mode)
        assert gradcheck(lambda x: (x.argmax(), torch.ones(1, dtype=F64)), x, fast_mode=fast_mode)
        with pytest.raises(GradcheckError, match="expected to be zero"):
            gradcheck(lambda x: (x.argmax(), (x * 2).detach()), x, fast_mode=fast_mode)
    assert gradcheck(lambda x: (x.argmax(), x * 2, x.detach()), x)
    with pytest.raises(TypeError, match="a result that requires grad"):
        gradgradcheck(lambda x: x.detach(), x)


def test_kinks():
    with pytest.raises(GradcheckError):
        gradcheck(torch.relu, leaf(0.0))
    assert gradcheck(torch.abs, leaf(0.0))


def test_results_that_change_their_shape_or_type():
    with pytest.raises(AssertionError, match=r"same shape when inputs are perturbed by 1e-06: got .*3.* after .*2"):
        gradcheck(lambda x: x[x > 1e-9], leaf(1.0, 2.0, 0.0))
    count = [0]

    def f(x):
        count[0] += 1
        return x * 2 if count[0] < 2 else (x * 2).float()

    with pytest.raises(AssertionError, match="same dtype .* got torch.float32 after torch.float64"):
        gradcheck(f, leaf(1.0))


def test_results_that_are_no_tensors():
    with pytest.raises(TypeError, match="must return Tensors, not float"):
        gradcheck(lambda x: x.sum().item(), leaf(1.0))


def test_inputs_that_cannot_be_checked():
    constant = torch.ones(1, dtype=F64)
    for raise_exception in (True, False):
        with pytest.raises(ValueError, match="at least one input"):
            gradcheck(torch.sin, constant, raise_exception=raise_exception)
    with pytest.raises(RuntimeError, match="input 1 has a dimension with stride 0"):
        gradcheck(torch.add, (leaf(1.0), torch.zeros(1, dtype=F64).expand(3).detach().requires_grad_()))
    with pytest.warns(UserWarning, match="input 0 requires gradient and is not a double precision"):
        assert gradcheck(torch.sin, torch.ones(2, requires_grad=True), eps=1e-2, atol=1e-2)


def test_misused_options():
    x = leaf(1.0)
    for f, options, text in (
        (gradcheck, {"check_backward_ad": False}, "nothing to check"),
        (gradcheck, {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True}, "requires"),
        (gradcheck, {"check_batched_forward_grad": True}, "check_forward_ad=True"),
        (gradgradcheck, {"check_rev_over_rev": False}, "nothing to check"),
        (gradgradcheck, {"check_rev_over_rev": False, "check_fwd_over_rev": True}, "check_undefined_grad=True"),
    ):
        with pytest.raises(AssertionError, match=text):
            f(torch.sin, x, **options)
    more = {"check_rev_over_rev": False, "check_fwd_over_rev": True, "check_undefined_grad": False}
    with pytest.raises(AssertionError, match="check_batched_grad=True"):
        gradgradcheck(torch.sin, x, check_batched_grad=True, **more)
    with pytest.raises(NotImplementedError, match="no forward mode"):
        gradcheck(torch.sin, x, check_forward_ad=True)
    with pytest.raises(NotImplementedError, match="check_fwd_over_rev"):
        gradgradcheck(torch.sin, x, check_fwd_over_rev=True)


def test_batched_gradients_and_their_types():
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda x: (x * x.sin(), x.sum()), x, check_batched_grad=True, check_grad_dtypes=True)
    assert gradgradcheck(lambda x: x * x.sin(), x, check_batched_grad=True, check_grad_dtypes=True)
    count = [0]

    def backward(ctx, g):
        count[0] += 1
        return g * (2 if count[0] <= 4 else 3)  # wrong from the batched pass on

    with pytest.raises(GradcheckError, match="batched gradients of output 0 with respect to input 0"):
        gradcheck(
            function(lambda ctx, x: x * 2, backward).apply, x[:1].detach().requires_grad_(), check_batched_grad=True
        )


def test_the_inputs_are_put_back():
    x = leaf(1.0, 2.0)
    x.grad = torch.ones(2, dtype=F64)
    version = x._version
    assert gradcheck(lambda x: x**2, x) and gradgradcheck(lambda x: x**2, x)
    assert x.tolist() == [1, 2] and x.grad.tolist() == [1, 1] and x._version == version and x.is_leaf

    def failing(x):
        if x[0] > 1:
            raise ZeroDivisionError
        return x * 1

    with pytest.raises(ZeroDivisionError):
        gradcheck(failing, x)
    assert x.tolist() == [1, 2]


COMPLEX = [
    lambda z, x: z * x,
    lambda z, x: (z.real * x, z.imag),
    lambda z, x: torch.complex(x, x) * z.conj(),
    lambda z, x: (z.abs() + x, z * 2),
    lambda z, x: z**2,
]


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("f", COMPLEX)
def test_complex_inputs_and_outputs(f, fast_mode):
    z, x = complex_leaf(1 + 2j, 0.5 - 1j), leaf(1.0, 2.0)
    assert gradcheck(f, (z, x), fast_mode=fast_mode) and gradgradcheck(f, (z, x), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_forgotten_conjugate(fast_mode):
    f = saving(lambda z: z * z, lambda z, g: g * 2 * z)
    with pytest.raises(
        GradcheckError, match="the imaginary part of complex outputs only, Jacobian mismatch for output 0"
    ):
        gradcheck(f.apply, complex_leaf(1 + 2j), fast_mode=fast_mode)
    half = saving(lambda z: z * z, lambda z, g: g * 2 * z.conj() * (1.0 + (g.imag == 0) * 1e-2))
    with pytest.raises(GradcheckError, match="the real part of complex outputs only"):
        gradcheck(half.apply, complex_leaf(1 + 2j), fast_mode=fast_mode)


def test_the_matrices_alone():
    x, y = leaf(1.0, 2.0), leaf(3.0)
    with pytest.warns(FutureWarning):
        by_x, by_y = get_numerical_jacobian(lambda i: i[0] * i[1], (x, y))
    with pytest.warns(FutureWarning):
        (only,) = get_numerical_jacobian(lambda i: i[0] * i[1], (x, y), y, eps=0.5)
    np.testing.assert_allclose(by_x.numpy(), [[3, 0], [0, 3]], atol=1e-8)
    np.testing.assert_allclose(by_y.numpy(), [[1, 2]], atol=1e-8)
    np.testing.assert_allclose(only.numpy(), [[1, 2]])
    with pytest.warns(FutureWarning):
        found, repeats, sizes, types = get_analytical_jacobian((x, y), x * y)
    assert [m.tolist() for m in found] == [[[3, 0], [0, 3]], [[1, 2]]] and repeats and sizes and types
    whole = get_numerical_jacobian_wrt_specific_input(lambda x, y: (x * y, x), 1, (x, y), (x * y, x), 1e-3)
    np.testing.assert_allclose([m.numpy() for m in whole], [[[1, 2]], [[0, 0]]], atol=1e-8)
    other = leaf(5.0)
    (by_other,) = get_numerical_jacobian_wrt_specific_input(lambda x: x * other, 0, (x,), x * other, 1e-3, input=other)
    np.testing.assert_allclose(by_other.numpy(), [[1, 2]])
    (by_z,) = get_numerical_jacobian_wrt_specific_input(abs, 0, (complex_leaf(3 + 4j),), (leaf(5.0),), 1e-6)
    np.testing.assert_allclose(by_z.numpy(), [[0.6 + 0.8j]])


def test_the_matrices_refuse():
    x, z = leaf(1.0), complex_leaf(1j)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for refused in (
            lambda: get_numerical_jacobian(lambda i: i[0], (x,), grad_out=2.0),
            lambda: get_numerical_jacobian(lambda i: i[0] * 1j, (x,)),
            lambda: get_analytical_jacobian((x,), x * 1j),
            lambda: get_analytical_jacobian((x,), x, grad_out=3),
        ):
            with pytest.raises(ValueError):
                refused()
    with pytest.raises(AssertionError, match="requires_grad=True"):
        get_numerical_jacobian_wrt_specific_input(torch.sin, 0, (x.detach(),), x, 1e-3)
    with pytest.raises(AssertionError, match="must be real"):
        get_numerical_jacobian_wrt_specific_input(torch.sin, 0, (z,), z, 1e-3)
    (m,) = get_numerical_jacobian_wrt_specific_input(lambda x: x * 1j, 0, (x,), x * 1j, 1e-3, is_forward_ad=True)
    np.testing.assert_allclose(m.numpy(), [[1j]])


def test_the_function_and_the_module_of_one_name():
    assert callable(torch.autograd.gradcheck)
    assert sys.modules["s2sgrad.torch.autograd.gradcheck"].GradcheckError is GradcheckError
