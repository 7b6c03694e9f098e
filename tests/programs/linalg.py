"""Products and linear algebra."""

import numpy as np

from tests.programs.corpus import program

A = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [0.5, -0.6, 3.0]])
B = np.array([1.0, -2.0, 0.5])
C = np.arange(6.0).reshape(3, 2) / 5 + 0.1
STACK = np.stack([A, A.T + np.eye(3), A @ A])
SPD = A @ A.T


@program(A, B, engine="compiled", argnums=(0, 1))
def quadratic_form(a, b):
    return b @ a @ b + np.dot(a, b) @ b


@program(A, C, engine="compiled", argnums=(0, 1))
def matrix_products(a, c):
    return np.sum(a @ c) + np.sum(np.dot(a, c) ** 2) + np.sum(np.matmul(c.T, a)) + np.sum((c.T @ a @ c) ** 2)


@program(STACK, C, engine="compiled", argnums=(0, 1))
def stacks_of_matrices(s, c):
    return np.sum((s @ c) ** 2) + np.sum(s @ B * np.arange(3.0)) + np.sum((B @ s) ** 2)


@program(B, engine="compiled", smooth=True)
def outer_and_inner(b):
    return np.sum(np.outer(b, b**2) ** 2) + np.inner(b, b) * np.vdot(b, B)


@program(A, C, engine="compiled", argnums=(0, 1))
def tensordot_and_inner(a, c):
    return (
        np.sum(np.tensordot(a, c, axes=1) ** 2) + np.tensordot(a, a, axes=([0, 1], [1, 0])) + np.sum(np.inner(a, c.T))
    )


@program(A, C, engine="compiled", argnums=(0, 1))
def einsum(a, c):
    return (
        np.sum(np.einsum("ij,jk->ik", a, c) ** 2)
        + np.einsum("ij,ij->", a, a)
        + np.sum(np.einsum("ij->j", c) ** 2)
        + np.einsum("ij,ik,jl->", a, c, c)
        + np.sum(np.einsum("i,j->ij", c[:, 0], c[:, 1]) ** 2)
    )


@program(A, engine="compiled")
def diagonals(a):
    return np.trace(a) ** 2 + np.sum(np.diag(a) ** 3) + np.sum(np.diag(a[0]) @ a)


@program(A, B, engine="compiled", argnums=(0, 1))
def solve(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


@program(A, C, engine="compiled", argnums=(0, 1))
def solve_many(a, c):
    return np.sum(np.linalg.solve(a, c) ** 2)


@program(A, engine="compiled", smooth=True)
def solve_second_order(a):
    return np.sum(np.linalg.solve(a, B) ** 2)


@program(A, engine="compiled")
def inverse_and_determinant(a):
    return np.sum(np.linalg.inv(a) ** 2) + np.linalg.det(a)


@program(STACK, engine="compiled")
def stacks_inverted(s):
    return np.sum(np.linalg.inv(s) ** 2) + np.sum(np.linalg.det(s) ** 2)


@program(A, engine="compiled")
def log_determinant(a):
    sign, logdet = np.linalg.slogdet(a)
    return sign * logdet**2


@program(A, engine="compiled")
def log_determinant_indexed(a):
    return np.linalg.slogdet(a)[1]


@program(C, engine="compiled")
def cholesky(c):
    spd = c @ c.T + np.eye(3)
    root = np.linalg.cholesky(spd)
    return np.sum(root**2 * np.arange(9.0).reshape(3, 3)) + np.sum(np.log(np.diag(root)))


@program(A, engine="compiled")
def norms(a):
    return (
        np.linalg.norm(a)
        + np.linalg.norm(a[0]) ** 2
        + np.sum(np.linalg.norm(a, axis=1))
        + np.linalg.norm(a[1], ord=1)
        + np.linalg.norm(a[:, 1], ord=np.inf)
        + np.sum(np.linalg.norm(a, axis=0, keepdims=True) * a)
    )


@program(SPD, engine="compiled")
def gaussian_log_density(s):
    sign, logdet = np.linalg.slogdet(s)
    return -0.5 * logdet - 0.5 * B @ np.linalg.solve(s, B)


@program(A, engine="compiled", smooth=True)
def matrix_power_by_hand(a):
    p = np.eye(3)
    for k in range(1, 5):
        p = p @ a / k
    return np.trace(p)


@program(np.array([0.4]), engine="compiled")
def vector_of_one_times_number(x):
    return np.dot(x, 3.0)[0] * np.dot(2.0, x[0]) + np.outer(x, x)[0, 0]


@program(np.array([0.0, -1.5, 2.0, 0.7]), engine="compiled", smooth=True)
def interpolation_by_a_vandermonde_matrix(x):
    y = np.sin(x)
    coefficients = np.linalg.solve(np.vander(x), y)
    return np.sum(coefficients**2) + np.sum(np.vander(x, 3, increasing=True) @ np.array([1.0, 2.0, 3.0]))
