"""Complex values on the way, and complex arguments (conjugate Wirtinger gradients)."""

import cmath

import numpy as np

from tests.programs.corpus import program

X = np.array([0.5, -1.5, 2.0])
Z = np.array([0.5 - 0.2j, -1.5 + 1.0j, 2.0 + 0.7j])
H = np.array([[2.0, 0.3 - 0.5j], [0.3 + 0.5j, 1.5]])


@program(X, engine="compiled", smooth=True)
def real_through_complex(x):
    z = x[0] + 1j * x[1]
    w = z**2 * np.exp(1j * z) + x[2]
    return np.real(w * np.conj(w))


@program(X, engine="compiled", smooth=True)
def interference(x):
    return np.abs(np.sum(np.exp(1j * x))) ** 2


@program(X, engine="compiled")
def parts_and_angle(x):
    z = x * (1 + 2j) + 0.3j
    return np.sum(np.angle(z)) + np.sum(np.imag(z) * np.real(z)) + np.sum(z.real * z.imag) + np.sum(np.abs(z))


@program(Z, engine="compiled")
def squared_modulus(z):
    return np.sum(np.abs(z) ** 2)


@program(Z, engine="compiled")
def squared_modulus_by_product(z):
    return np.sum((z * np.conj(z)).real)


@program(Z, engine="compiled")
def real_part_of_a_holomorphic_function(z):
    return np.sum(np.real(np.exp(z) * np.sin(z) + z**3 / (z + 2)))


@program(Z, engine="compiled")
def imaginary_part(z):
    return np.imag(np.prod(z)) + np.sum(np.sqrt(z).imag) + np.log(z[2]).imag


@program(Z, X, engine="compiled", argnums=(0, 1))
def complex_and_real_argument(z, x):
    return np.sum(np.abs(z * x + 1) ** 2) + np.sum((z * x).real)


@program(0.3 + 0.4j, engine="compiled")
def python_complex(z):
    return abs(z) ** 2 + (z * z).real


@program(H, engine="compiled")
def complex_linear_algebra(h):
    v = np.linalg.solve(h, np.array([1.0, 2.0 - 1j]))
    return np.real(np.vdot(v, v)) + np.linalg.norm(h) + np.real(np.linalg.det(h)) + np.abs(np.linalg.inv(h)[0, 1])


@program(H, Z[:2], engine="compiled", argnums=(0, 1))
def complex_products(h, z):
    return np.real(z.conj() @ h @ z) + np.sum(np.abs(np.outer(z, z))) + np.real(np.einsum("ij,j->", h, z))


@program(Z, engine="compiled")
def complex_indexing(z):
    return np.abs(z[0] * z[[1, 1]] - z[::-1][:2]).sum()


@program(0.9, engine="compiled", smooth=True)
def complex_recursion(x):
    z = 0.0
    for _ in range(4):
        z = z * z * 0.5 + x * 1j + 0.1
    return abs(z) ** 2


@program(X, engine="compiled")
def complex_branch(x):
    z = x[0] * 1j + x[1] if x[2] > 0 else x[0]
    return np.real(z * np.conj(z))


@program(np.array([1.0 + 2.0j], dtype=np.complex64), engine="compiled")
def single_precision_complex(z):
    return np.sum(np.abs(z) ** 2) + np.sum((z * z).real)


@program(np.complex128(0.3 + 0.7j), engine="compiled")
def complex_of_parts_of_a_complex_number(z):
    return abs(complex(abs(z + 4), z.imag)) + abs(complex((z * z).real))


@program(X, engine="compiled")
def complex_of_elements(x):
    z = complex(x[0], x[1] * x[2])
    return abs(complex(x[2]) * z) + complex(z, 1j * z).imag + complex(real=x[1], imag=x[2]).imag


@program(0.3 - 0.4j, np.complex64(0.5 + 0.1j), engine="compiled", argnums=(0, 1))
def conjugates_of_numbers(z, w):
    a = z.conjugate() * z + 2.0 * w.conjugate() * z
    return abs(a) + (z.conjugate() * 1j).real + np.conj(z).imag


@program(0.3 - 0.4j, np.array([0.5 + 0.1j, -1.0 - 2.0j], np.complex64), engine="compiled", argnums=(0, 1))
def conjugate_of_a_number_beside_a_narrow_array(z, w):
    return np.sum(np.abs(z.conjugate() * w * z))


@program(np.complex128(0.3 - 0.4j), engine="compiled")
def number_of_python_first_and_of_numpy_later(c):
    z = 0.1 - 0.2j
    for _ in range(3):
        z = z.conjugate() * c + 1 / (z + 3)
    return (z * z.conjugate()).real + z.imag


@program(0.3 - 0.4j, engine="compiled")
def functions_of_cmath(z):
    r, phi = cmath.polar(z)
    return r * phi + cmath.log(z, 3 + z).real + cmath.phase(z * z) + abs(cmath.rect(r, 2 * phi) + cmath.sqrt(z))


@program(X, engine="compiled", smooth=True)
def exponentials_of_cmath(x):
    z = cmath.exp(1j * x[0]) * x[1]
    return (z / (z + cmath.cosh(x[2]))).imag


@program(X, engine="tape")
def complex_of_an_imaginary_part_alone(x):
    return abs(complex(imag=x[1]) + x[0])


@program(0.3, 0.7, engine="compiled", argnums=(0, 1))
def powers_that_are_real(x, y):
    r = (x * y) ** (y / 2)
    return (r / y + 2.0 * x * r) ** 0.5 + abs(r) - r * (x + y) ** y


@program(-0.3, 0.7, engine="compiled", argnums=(0, 1))
def powers_that_are_complex(x, y):
    z = (x * y) ** (y / 2)
    w = z / y + 2.0 * x * z - abs(z)
    return (z * w).real + w.imag * x + abs(w)


@program(-0.3, 0.7, 4, engine="compiled", argnums=(0, 1))
def powers_of_either_kind(x, y, n):
    total = 0.0
    for i in range(n):
        z = (x + 0.25 * i) ** y
        w = z * z + x
        total += abs(w) + (w * y).real
        x = 0.5 * x + 0.1 * abs(z)
    return total
