"""``torch.linalg``: triangular factors, eigenvalues, least squares, and results by name."""

import numpy as np
import pytest

import s2sgrad.torch as torch
from s2sgrad.torch.autograd import gradcheck, gradgradcheck

F64 = torch.float64


def leaf(a):
    return torch.tensor(np.asarray(a), dtype=F64, requires_grad=True)


A = np.array([[2.0, 1.0, 0.5], [4.0, 3.0, 0.2], [0.3, 0.1, 4.0]])
TALL = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 0.5]])


@pytest.mark.parametrize("a", [A, TALL, TALL.T, np.stack([A, A.T]), np.eye(3)[::-1]])
def test_triangular_factors(a):
    P, L, U = torch.linalg.lu(leaf(a))
    assert np.allclose((P @ L @ U).tolist(), a)
    assert np.array_equal(L.tolist(), L.tril().tolist()) and np.array_equal(U.tolist(), U.triu().tolist())
    assert np.all(np.abs(L.tolist()) <= 1 + 1e-12) and gradcheck(lambda a: torch.linalg.lu(a)[1:], leaf(a))
    both, pivots = torch.linalg.lu_factor(leaf(a))
    assert pivots.dtype is torch.int32
    for x, y in zip(torch.lu_unpack(both, pivots), (P, L, U), strict=True):
        assert np.allclose(x.tolist(), y.tolist())


def test_second_derivatives_of_triangular_factors():
    assert gradgradcheck(lambda a: torch.linalg.lu(a).U, leaf(A))


def test_solutions_by_factors():
    b = leaf(TALL)
    factors = torch.linalg.lu_factor(leaf(A))
    assert np.allclose(torch.linalg.lu_solve(*factors, b).tolist(), np.linalg.solve(A, TALL))
    assert gradcheck(lambda a, b: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b), (leaf(A), b))
    assert np.allclose(torch.triangular_solve(b, leaf(A)).solution.tolist(), np.linalg.solve(np.triu(A), TALL))


def test_eigenvalues_of_any_matrix():
    a = leaf(A)
    w, v = torch.linalg.eig(a)
    assert w.dtype is torch.complex128
    assert np.allclose((a + 0j).matmul(v).tolist(), (v * w).tolist())
    assert gradcheck(lambda a: torch.linalg.eigvals(a).abs(), a) and gradcheck(
        lambda a: torch.linalg.eig(a)[1].abs(), a
    )
    turning = leaf([[1.0, 2.0], [-3.0, 1.5]])
    assert gradcheck(lambda a: torch.linalg.eigvals(a).imag ** 2, turning)
    (g,) = torch.autograd.grad(torch.linalg.eig(turning).eigenvectors.imag.sum(), turning)
    assert g.isnan().all()  # the phases of the vectors are arbitrary


def test_least_squares():
    b = leaf([[1.0], [2.0], [0.0]])
    out = torch.linalg.lstsq(leaf(TALL), b)
    assert np.allclose(out.solution.tolist(), np.linalg.lstsq(TALL, b.detach().numpy(), rcond=None)[0])
    assert out.rank.item() == 2 and gradcheck(lambda a, b: torch.linalg.lstsq(a, b).solution, (leaf(TALL), b))


def test_results_have_names():
    spd = leaf(A @ A.T)
    assert torch.linalg.slogdet(spd).logabsdet.item() == torch.slogdet(spd)[1].item()
    assert torch.linalg.eigh(spd).eigenvalues.tolist() == torch.linalg.eigvalsh(spd).tolist()
    assert torch.linalg.svd(spd).S.tolist() == torch.linalg.svdvals(spd).tolist() == torch.svd(spd).S.tolist()
    assert np.allclose((torch.linalg.qr(spd).Q @ torch.linalg.qr(spd).R).tolist(), spd.tolist())
    for name, field in (("inv", "inverse"), ("cholesky", "L")):
        out = getattr(torch.linalg, f"{name}_ex")(spd)
        assert out.info.item() == 0 and getattr(out, field).tolist() == getattr(torch.linalg, name)(spd).tolist()


def test_what_is_refused():
    a, b = torch.ones(2, 3, dtype=F64), leaf(A)
    for refused, match in (
        (lambda: torch.linalg.qr(b, mode="full"), "mode"),
        (lambda: torch.linalg.qr(b[0]), "of matrices"),
        (lambda: torch.linalg.qr(b, mode="r").R.sum().backward(), "not differentiable"),
        (lambda: torch.linalg.qr(leaf(TALL), mode="complete").Q.sum().backward(), "not differentiable"),
        (lambda: torch.linalg.inv(torch.tensor([[1, 2], [3, 4]])), "floating point"),
        (lambda: torch.linalg.vector_norm(torch.ones(0), float("inf")), "nothing"),
        (lambda: torch.linalg.matrix_norm(b[0]), "of matrices"),
        (lambda: a.norm("foo"), "the order"),
        (lambda: torch.einsum("ij,jk", a, a), "einsum"),
        (lambda: torch.tensordot(a, a, dims=1), "tensordot"),
        (lambda: torch.linalg.matrix_norm(b, 3), "matrix_norm"),
        (lambda: torch.linalg.cross(a[:, :2], a[:, :2]), "length 3"),
        (lambda: torch.linalg.eig(a), "square"),
    ):
        with pytest.raises(RuntimeError, match=match):
            refused()


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("a", [TALL.T, np.stack([TALL.T, 2.5 - TALL.T])])
def test_wide_matrices_have_orthonormal_factors_too(a, mode):
    q, r = torch.linalg.qr(leaf(a), mode=mode)
    assert np.allclose((q @ r).tolist(), a) and np.allclose(r.tolist(), r.triu().tolist())
    assert gradcheck(lambda a: torch.linalg.qr(a, mode=mode), leaf(a))
    assert gradgradcheck(lambda a: torch.linalg.qr(a, mode=mode), leaf(a))


def test_norms_of_matrices_without_elements():
    nothing = torch.zeros(0, 0, dtype=F64)
    for order in (None, 2, -2, 1, float("inf"), "fro", "nuc"):
        assert torch.linalg.cond(nothing, order).item() == 0
    for order in (2, 1, float("inf"), "fro", "nuc"):
        assert torch.linalg.matrix_norm(nothing, order).item() == 0
    with pytest.raises(IndexError):
        torch.linalg.matrix_norm(nothing, -2)


def test_the_logarithm_of_a_negative_determinant_is_nan():
    assert torch.logdet(torch.eye(2).flip(0)).isnan() and torch.logdet(torch.zeros(2, 2)).item() == -float("inf")


def test_tolerance_of_a_pseudoinverse():
    a = np.diag([3.0, 2.0, 0.1])
    assert np.allclose(torch.linalg.pinv(leaf(a), rtol=0.5).tolist(), np.diag([1 / 3, 0.5, 0.0]))
    assert gradcheck(lambda a: torch.linalg.pinv(a, rtol=torch.tensor(1e-8)), leaf(a))


@pytest.mark.parametrize(
    ("order", "slopes"), [(0.5, [2.414213562373095, -1.7071067811865475, 0.0]), (-1, [0.0, 0.0, 0.0])]
)
def test_slopes_of_norms_with_cusps(order, slopes):
    x = leaf([1.0, -2.0, 0.0])
    torch.linalg.vector_norm(x, order).backward()
    assert np.allclose(x.grad.tolist(), slopes)
