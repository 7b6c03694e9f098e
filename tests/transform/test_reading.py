"""What strangers stumble over when they read generated source, and what stands there instead."""

import numpy as np

import s2sgrad
from s2sgrad import grad

X = np.array([0.5, 1.5, 2.0])


def source(function, *args, argnums=0):
    derivative = grad(function, argnums, mode="compiled")
    derivative(*args)
    derivative.check(*args)
    return derivative.source


slope = grad(lambda x: np.sum(np.sin(x) * x))


def curvature(x):
    return np.sum(slope(x) ** 2)


class TestNamesOfCotangents:
    def test_d_and_the_name(self):
        def energy(x, k):
            y = k * x
            return np.sum(y * y) * y[0]

        assert "dy = " in source(energy, X, 2.0)

    def test_beside_steps_that_begin_with_d(self):
        def heat(u, dt, dx):
            for _ in range(3):
                flux = np.diff(u) / dx
                u = u[1:-1] + dt * np.diff(flux) / dx
            return np.sum(u**2)

        text = source(heat, np.linspace(0.0, 1.0, 9) ** 2, 0.1, 0.5, argnums=(0, 1))
        assert "d_u = 2 * u " in text and "return d_u, float(d_dt)" in text
        assert " du" not in text and " dflux" not in text

    def test_beside_the_name_of_another_variable(self):
        def change(speed, dspeed):
            return np.sum(speed * dspeed)

        assert "return dspeed.copy()" not in source(change, X, 2 * X)
        assert "d_speed" in source(lambda speed, dspeed: np.sum((speed + dspeed) ** 2) * speed[0], X, X)

    def test_words_that_begin_with_d_are_no_cotangents(self):
        def fit(x, data):
            done = x * data
            return np.sum(done * done)

        assert "ddone = 2 * done" in source(fit, X, X)

    def test_of_second_order(self):
        text = source(curvature, X)
        assert "d_dx * x" in text and "return d_x" in text


def test_an_array_of_one_number_is_said_in_one_line():
    def written(x):
        u = x * 2.0
        u[0] = x[1] * x[2]
        return np.sum(u)

    text = source(written, X)
    assert "du = np.full(u.shape, 1.0)" in text and "broadcast_to" not in text and "copy()" not in text


def test_a_number_is_added_as_it_is():
    def added(x):
        return np.sum(x * np.sin(x)) + x[0] * np.sum(x)

    text = source(added, X)
    assert "np.full(x.shape, x[0])" in text and "broadcast_to" not in text


def test_zeros_and_a_number():
    def counted(x):
        u = x * 1.0
        c = 0.0
        for i in range(3):
            if x[i] > 1.0:
                c += u[i]
                u[i] *= x[0]
        return np.sum(u) * c

    text = source(counted, X)
    assert "np.zeros_like(u)" not in text and "du = np.full" in text


def test_a_view_is_looked_up_once():
    def rows(x):
        a = np.outer(x, x)
        for i in range(3):
            row = a[i]
            row[0] = row[1] * 2
            row[2] = row[0] * row[1]
        return np.sum(a * a)

    text = source(rows, X)
    assert text.count(" row = a[i]") == 1 and text.count(" drow = da[i]") == 1


def test_a_view_of_another_row_is_looked_up():
    def rows(x):
        a = np.outer(x, x)
        i = 0
        row = a[i]
        row[0] = row[1] * 2
        i = 1
        row = a[i]
        row[0] = row[1] * 3
        a = np.outer(x, a[0])
        row = a[1]
        row[0] = row[1] * 3
        row = a[1][::-1]
        row[0] = row[1] * 2
        row = a[1]
        row[2] *= row[0]
        return np.sum(a * a)

    source(rows, X)


def test_what_stands_though_nobody_reads_it_says_why():
    def unread(x, y):
        z = x @ y
        return np.sum(x * x) + z.shape[0]

    text = source(unread, X, np.ones((3, 2)))
    assert any(line.replace(" ", "") == "x@y#kept:itmayraise" for line in text.splitlines()), text


def test_a_sum_of_numbers_that_nobody_reads_goes():
    def summed(x):
        return sum(v * v for v in x)

    assert not any(line.strip().startswith("sum(") for line in source(summed, X).splitlines())


def test_layers_of_a_stack_are_unpacked():
    def stacked(y):
        z = np.stack([y[1], -np.sin(y[0])])
        return np.sum(z * z)

    text = source(stacked, X)
    assert "p, p1 = dz" in text and "moveaxis" not in text and "reshape" not in text


def test_a_gradient_that_inner_loops_and_branches_fill_is_not_copied():
    def pairs(x):
        s = 0.0
        for i in range(3):
            for j in range(3):
                if j != i:
                    s += x[i] ** 2 * x[j]
        return s

    assert source(pairs, X).endswith("    return dx\n")


def test_a_gradient_that_is_made_anew_in_each_turn_is_not_copied():
    def powers(x):
        y = x.copy()
        for k in range(2, 5):
            y = y * x * k
        return np.sum(y)

    assert "as_gradient" not in source(powers, X)


def test_a_gradient_that_goes_to_two_arguments_is_copied():
    def sums(x, y):
        z = x + y
        for _ in range(2):
            z = z * z
        return np.sum(z)

    dx, dy = grad(sums, (0, 1), mode="compiled")(X, 2 * X)
    assert not np.shares_memory(dx, dy)


def test_the_next_cotangent_is_made_when_the_last_is_no_longer_read():
    def product(x):
        s = x[0]
        for k in range(1, 3):
            if x[k] > 1.0:
                s = s * x[k]
        return s

    text = source(product, X)
    assert "dx[k] += ds * s " in text and "            ds = ds * t\n" in text and "ds1" not in text


def test_what_is_still_written_is_not_read_later():
    def shifted(x):
        u = x * 1.0
        s = x[0]
        for k in range(2):
            s = s * u[k]
            u[k + 1] = s * s
        return s + u[2]

    text = source(shifted, X)
    assert "ds = ds * t" in text


def test_what_one_of_three_ways_of_a_turn_leaves_as_it_was():
    def f(y, x, n):
        k = 0.5
        for _ in range(2):
            x, y = y, x
            s = np.sum(x)
            if s > 0.9:
                s = np.where(y[0] > 1.0, np.sin(k), 0.3)
            elif n == 0:
                s = s * 2
            elif n == 1:
                s = s / np.min(y)
            k = s * k
        return np.sum(k)

    y, x = np.array([0.41, 1.84, 1.46]), np.array([0.07, -0.86, 0.13])
    compiled, taped = (s2sgrad.value_and_grad(f, 1, mode=mode)(y, x, 2) for mode in ("compiled", "tape"))
    assert compiled[0] == f(y, x, 2)
    np.testing.assert_allclose(compiled[1], taped[1], rtol=1e-12)
