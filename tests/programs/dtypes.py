"""Precision and kinds: float32, integers, mixed, NumPy scalars."""

import numpy as np

from tests.programs.corpus import program

S = np.array([0.5, -1.5, 2.0], dtype=np.float32)
D = np.array([0.1, 0.2, 0.3])


@program(S, engine="compiled")
def single(x):
    return np.sum(np.sin(x) * x)


@program(S, D, engine="compiled", argnums=(0, 1))
def single_meets_double(x, d):
    return np.sum(x * d) + np.sum(x**2)


@program(S, 2.0, engine="compiled", argnums=(0, 1))
def single_meets_number(x, a):
    return np.sum(x * a + a)


@program(np.float32(1.5), engine="compiled")
def single_scalar(x):
    return x * x + np.exp(x)


@program(S, engine="compiled")
def single_reductions(x):
    return np.mean(x) * np.var(x) + np.max(x) * np.prod(x)


@program(S.reshape(3, 1), S.reshape(1, 3), engine="compiled", argnums=(0, 1))
def single_products(a, b):
    return np.sum(a @ b) + (b @ a)[0, 0]


@program(S, engine="compiled")
def cast_to_double(x):
    return np.sum(x.astype(np.float64) ** 2 * D)


@program(D, engine="compiled")
def double_argument_single_constant(x):
    return np.sum(x * S)


@program(3, engine="compiled")
def integer(x):
    return x * x


@program(np.arange(4), engine="compiled")
def integer_array(x):
    return np.sum(x**2) * 1.5


@program([1, np.array([2, 3])], engine="compiled")
def integers_in_a_tree(p):
    return p[0] * np.sum(p[1] ** 2)


@program(D, np.arange(3), engine="compiled")
def integer_not_differentiated(x, n):
    return np.sum(x**n * n)


@program(D, True, engine="compiled")
def flag_not_differentiated(x, flag):
    return np.sum(x * flag) + np.sum(x[np.array([flag, False, flag])])


@program(D, engine="compiled")
def integer_results_on_the_way(x):
    n = np.sum(x > 0.15)
    return np.sum(x) * n / (n + 1)


@program(np.array(2.0, dtype=np.float32), engine="compiled")
def zero_dimensional_single(x):
    return x**3


@program(np.float64(2.0), np.float64(0.5), engine="compiled", argnums=(0, 1))
def double_scalars(x, y):
    return x**y * np.log(y + x)


@program(D, engine="compiled")
def what_helpers_give_for_numbers(x):
    def step(a, b=2):
        return a / b

    y = x * 1.0
    y[0] = x[1] * step(3)
    return np.sum(y * y)


@program(D, engine="compiled")
def float_on_one_way_and_double_on_another(x):
    k, n = 1.0, 0
    for v in x:
        k = k * v
        n = n + v
    u = x * k
    u[0] = k * 2
    w = x * n
    w[1] += n
    return np.sum(u * w)


@program(D, engine="compiled")
def sums_of_plain_numbers(x):
    y = x * 1.0
    y[0] *= sum([1.5 for v in x if v > 0.15]) + sum(0.5 * i for i in range(3))
    y[1] = 1.0 / (1.5 + sum(v > 5 for v in x)) * x[2]
    return np.sum(y)


# differences do not see what single precision rounds off
SINGLES = 2 * D + 1 + np.append(D[1] * (D[1] + 1), [0, 0])
SINGLES[1:] = (2 * D[1:] + 1) * D[:-1] + np.append(D[2] * (D[2] + 1), 0)


@program(D, engine="compiled", expect=SINGLES)
def written_over_by_singles(x):
    y = x * 1.0
    y *= x.astype(np.float32) + 1
    np.copyto(y[1:], y[1:] * x[:-1].astype("float32"))
    return np.sum(y)


FACTORS = np.array([0.5, 0.25, 1.0])


@program(D, FACTORS, engine="compiled", argnums=(0, 1), expect=(3 * FACTORS, 3 * D))
def number_read_by_a_loop_is_of_singles(x, y):
    s = np.dot(x, y.astype(np.float32))
    r = 0.5
    for _ in range(3):
        r += s
    return r


@program(D, 0, engine="compiled")
def number_read_by_a_loop_of_no_turns_is_of_singles(x, n):
    s = np.dot(x * 0.5, FACTORS.astype(np.float32))
    for _ in range(n):
        x[1] -= s
    return np.sum(x * 0.7)


@program(np.array([0.3, 0.5, 0.7]), np.array(0.4), engine="compiled", argnums=(0, 1))
def numbers_in_arrays_of_dimension_0(x, z):
    w = min(z, x[0]) * 2 + max(x[1], z, np.where(x[0] > 0, x[2], 1.0))
    xs = [np.where(x[0] > 0, x[2], 1.0), x[1], z]
    return w * float(z) + z.item() * float(xs[0]) + max(xs) + sum(xs) * min(xs)


@program(np.array([0.6, 0.9, 1.3]), engine="compiled")
def whole_numbers_of_active_values(x):
    n = int(np.sum(x) * 2.1)
    y = np.zeros(n)
    y[: int(x[0] * 4)] = x[1]
    counts = np.zeros(3, int)
    counts[0] = int(f"{x[2] * 10:.0f}")
    s = 0.0
    for i in range(int(x[2] * 3)):
        s += x[i] * i
    return np.sum(y) / n + s * int(x[1] * 5.3) + counts @ x


@program(S, D, engine="compiled", argnums=(0, 1))
def single_reductions_with_initial_values(x, d):
    y = x * d
    y[0] = np.maximum.reduce(x, initial=0.3) - np.sum(x * x, initial=D[1])
    y[1:] *= np.max(np.outer(x, d), axis=1, initial=np.float64(0.7))[1:]
    return np.sum(y * np.minimum.reduce(d, initial=0.15))


@program(S, engine="compiled")
def singles_into_a_new_array_of_doubles(x):
    return np.sum(np.multiply(x, x, out=np.zeros(3)) * x)


def singles_or_doubles(x, d, k):
    w = x if k > 0 else d
    w[1] = x[0] * d[2]
    s = x[0] if k > 0 else d[0]
    u = np.full(3, s) * w
    u[0] = s * np.sum(w)
    u[1:] += u[:-1]
    u *= np.float64(1.1)
    return np.sum(u * u) + s / 3


program(S, D, 1, engine="compiled", argnums=(0, 1), name="singles_or_doubles")(singles_or_doubles)
program(S, D, -1, engine="compiled", argnums=(0, 1), name="doubles_or_singles")(singles_or_doubles)


@program(D, np.array([True, False, True]), engine="compiled")
def powers_of_truth_values(x, b):
    y = x / (1.5 + b**2)
    y[0] = x[1] * (b**3)[2]
    return np.sum(y * b**0)


@program(D, 0.0, engine="compiled")
def slope_of_zero_beside_single(x, k):
    return np.sqrt(np.dot(x, FACTORS.astype(np.float32))) * k


@program(D, 0.0, engine="compiled")
def slope_of_zero_beside_single_of_a_branch(x, k):
    s = np.dot(x, FACTORS.astype(np.float32))
    return np.log(s) * k if s > 0 else s


@program(np.float64(0.6), 0.0, engine="compiled")
def slope_of_zero_of_a_number_of_numpy(x, k):
    return np.sqrt(x) * k + np.arcsin(x) ** 2 * k


@program(np.float64(0.6), 0.5, engine="compiled", argnums=(0, 1))
def number_in_an_array_that_a_loop_scales(x, k):
    z = np.array(k)
    for _ in range(3):
        z = z * x + k
    return z * 2 + np.array(x) * z


@program(S, D, 1, engine="compiled")
def rest_of_a_list_of_both_precisions(w, x, n):
    xs = [w.sum(), x[0], x[1]]
    xs.pop()
    s = xs[1]
    xs[n] = 0.0
    return np.sum(s * w * w) + xs[0]


@program(S, D, engine="compiled")
def number_of_a_list_in_a_list_that_a_loop_sets(w, x):
    t = [[0.0] for _ in range(2)]
    for i in range(2):
        t[i][0] = np.mean(x)
    return np.sum(t[1][0] * w * w)


@program(S, D, engine="compiled")
def place_counted_by_a_comparison(w, x):
    n = (x[0] > 0) + 1
    y = np.cumsum(w)
    y[n] = 0.0
    return y[n - 1] * w[n]
