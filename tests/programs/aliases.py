"""Arrays changed behind other names: by helpers, through views, in containers, and the caller's own."""

import numpy as np

from tests.programs.corpus import program

LINE = np.linspace(0.5, 1.7, 6)
SQUARE = np.linspace(0.3, 1.9, 16).reshape(4, 4) + 2 * np.eye(4)

G = 0.3


def step(u, k):
    u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])


def bc(u, s=1.5):
    u[0] = s * u[1]
    u[-1] = G * u[-2]


def sweep(u, v, n):
    for i in range(n):
        if u[i] > 0.9:
            v[i] = u[i] * u[i + 1]
        else:
            u[i + 1] *= 0.7
    return v[0] + u[1]


def nested_step(u):
    step(u, 0.2)
    bc(u)
    return u


def spoil(w):
    w[0] = 100.0


@program(LINE, engine="compiled", smooth=True)
def helpers_change_the_state(x):
    u = x * 1.0
    b = u
    for t in range(5):
        step(u, 0.1 * x[0])
        bc(u)
    return np.sum(u**2) + np.sum(b)


@program(LINE, engine="compiled", smooth=True)
def helper_fills_and_returns(x):
    u = x * 1.0
    v = np.zeros(6)
    s = 0.0
    for t in range(3):
        r = sweep(u, v, 4)
        s += r * v[t]
    return s + np.sum(u * v)


@program(LINE, engine="compiled", smooth=True)
def helper_returns_what_it_changed(x):
    u = x * 1.0
    w = nested_step(u)
    w[0] *= 2.0
    return np.sum(u * w)


@program(LINE, engine="compiled", smooth=True)
def helper_spoils_a_constant(x):
    w = np.ones(6)
    y = x * w
    spoil(w)
    return np.sum(y * w)


@program(LINE, engine="compiled", smooth=True)
def closure_writes_by_index(x):
    u = x * 1.0

    def local(i, f=2.0):
        u[i] = f * u[i + 1] ** 2

    for i in range(3):
        local(i)
        local(i + 1, x[0])
    return np.sum(u)


@program(LINE, engine="compiled", smooth=True)
def helpers_in_branches(x):
    u = x * 1.0
    if x[0] > 0.1:
        step(u, x[1])
    else:
        bc(u)
    v = u[2:]
    spoil(v)
    step(u, 0.5)
    return np.sum(u**2) + v[0]


@program(LINE, engine="compiled")
def helpers_change_the_argument(x):
    step(x, 0.1)
    bc(x, x[2])
    return np.sum(x**2)


@program(LINE, engine="compiled")
def helper_is_given_one_array_twice(x):
    u = x * 1.0
    sweep(u, u, 4)
    return np.sum(u)


@program(LINE, engine="tape")
def states(x):
    u = x * 1.0
    states = []
    for i in range(3):
        u[i] += u[i + 1] * u[i]
        states.append(u)
    return np.sum(states[0] * x) + np.sum(states[2])


@program(LINE, engine="compiled", smooth=True)
def states_copy(x):
    u = x * 1.0
    states = []
    for i in range(3):
        u[i] += u[i + 1] * u[i]
        states.append(u.copy())
    return np.sum(states[0] * x) + np.sum(states[2])


@program(LINE, engine="compiled", smooth=True)
def filled(x):
    w = np.zeros(6)
    y = np.sin(x) * w
    w.fill(x[0])
    y += w * x
    w.sort()
    z = x[::-1] * 1.0
    z.sort()
    np.copyto(w, z * y)
    np.add(w, z, out=w)
    np.multiply(x, z, out=w[:])
    return np.sum(y * w * z)


@program(LINE, engine="compiled", smooth=True)
def top(x):
    a = np.zeros((2, 6))
    t = a[0]
    t[:] = x
    a[1] = t * x
    a[1, 2:] *= t[2:]
    b = a.T
    b[0] += x[0] * x[1]
    return np.sum(a**3)


@program(LINE, engine="tape")
def comp(x):
    u = x * 1.0
    ys = [u[i] * u[i + 1] for i in range(3)]
    u[0] = ys[0]
    zs = [v for v in (u, u * 2.0)]
    u[1] = 3.0 * u[0]
    return sum(ys) + np.sum(zs[0]) + np.sum(u * u)


@program(LINE, engine="compiled", smooth=True)
def unpacked_rows(x):
    a = np.zeros((2, 6)) + x
    r, s = a
    r[0] = x[1] ** 2
    a[1] *= 2.0
    return np.sum(r * s) + np.sum(a)


@program(LINE, engine="tape")
def lam(x):
    u = x * 1.0
    f = lambda i: u[i] * 2.0
    u[0] = f(1) * f(2)
    g = lambda i, w=u: w[i] + f(i)
    u[1] = g(0)
    return f(0) + g(1) + g(0)


@program(LINE, engine="compiled")
def closure(x):
    u = x * 1.0

    def step(i):
        u[i] = u[i + 1] * 2.0

    step(0)
    step(1)
    return np.sum(u * u)


@program(LINE, engine="compiled", smooth=True)
def rows(x):
    a = np.outer(x, x)
    s = 0.0
    for row in a:
        row[0] = row[1] * 2
        s += row[2] * row[0]
    return s + np.sum(a)


@program(LINE, engine="compiled", smooth=True)
def rows2(x):
    a = np.outer(x, x)
    s = 0.0
    for i, row in enumerate(a):
        s += row[2] * row[0]
        a[i, 0] = 5.0
    return s + np.sum(a * a)


@program(LINE, engine="compiled", smooth=True)
def neg(x):
    u = x * 1.0
    v = -u[1:]
    u[1:] = v * u[:-1]
    w = u * v[0]
    w *= -v[1]
    return np.sum(w * u)


@program(LINE, engine="compiled", smooth=True)
def ifexp(x):
    u = x * 1.0
    w = x * 2.0
    c = u if x[0] > 0 else w
    c[0] = 3.0 * x[1]
    return np.sum(c * x)


@program(LINE, engine="compiled", smooth=True)
def whileview(x):
    u = x * 1.0
    v = u[1:]
    i = 0
    while i < 4 and v[i] > 0.2:
        v[i] *= u[i] * 0.9
        i += 1
    return np.sum(u**2)


@program(LINE, engine="compiled", smooth=True)
def nan_empty(x):
    u = np.full(6, np.nan)
    u[:] = x
    u[0] = u[1] * 2
    return np.sum(u)


@program(LINE, engine="tape")
def loopvar_alias(x):
    u = x * 1.0
    for w in (u, u):
        w[0] = w[1] * w[0]
    return np.sum(u)


@program(LINE, engine="compiled", smooth=True)
def ravel(x):
    a = np.zeros((2, 3))
    f = a.ravel()
    f[:] = x
    a[0] *= 2
    return np.sum(f * x)


@program(LINE, engine="compiled", smooth=True)
def asarr(x):
    a = x * 1.0
    b = np.asarray(a)
    b[0] = a[1] * 2
    a[2] *= b[0]
    return np.sum(a * x)


@program(LINE, engine="compiled", smooth=True)
def early_ret(x):
    u = x * 1.0
    for i in range(5):
        if u[i] > 1.0:
            u[i] = 0.0
            return np.sum(u * u)
        u[i] *= u[i + 1]
    return u[0]


@program(LINE, engine="compiled", smooth=True)
def nested_if(x):
    u = x * 1.0
    v = u
    if x[0] > 0.1:
        u[0] *= x[1]
        if x[1] > 0.1:
            v[1] = u[0] ** 2
        else:
            u = u * 2.0
    else:
        v = v * 3.0
    return np.sum(u * u) + v[0]


@program(LINE, engine="compiled")
def swapper(x):
    a = x * 1.0
    b = x * 2.0
    for i in range(4):
        if a[0] < b[0]:
            a, b = b, a
        a[i] *= 0.5 * b[i + 1]
    return np.sum(a * x) + np.sum(b)


@program(LINE, engine="compiled", smooth=True)
def matvec_into(x):
    A = np.outer(x, x)
    y = np.zeros(6)
    for i in range(6):
        y[i] = A[i] @ x
    A[0] = y
    return np.sum(A @ y)


@program(LINE, engine="compiled")
def complex_buffer(x):
    z = np.zeros(6, dtype=complex)
    z[0] = x[0] + 1j * x[1]
    z[1:] = np.exp(1j * x[1:])
    z *= z[0]
    z[2:] += x[2:]
    return np.sum(np.abs(z) ** 2)


@program(LINE, engine="compiled")
def spectrum_changed(x):
    z = np.fft.fft(x)
    z[1:] *= 0.5
    z[0] = np.conj(z[1])
    y = np.real(np.fft.ifft(z))
    y[0] *= 2
    return np.sum(y**2)


@program(LINE, engine="compiled")
def stored_scalar_broadcast(x):
    m = np.zeros((3, 6))
    m[:] = x
    m[1:, 2] = x[0]
    m[:, 1:3] *= x[1:3]
    m[0] = m[1] + m[2]
    m += x[0]
    return np.sum(m**2)


@program(LINE, engine="compiled")
def changed_by_broadcasting(x):
    m = np.ones((6, 6))
    m *= x[:, None]
    m -= x[None]
    m[np.arange(6) > 2] = 0.5
    m[:, x > 1] *= 3
    return np.sum(m**2)


@program(LINE, engine="compiled")
def array_without_axes(x):
    s = np.array(0.0)
    for v in x:
        s += v * v
    s *= x[0]
    return s + 0.0


@program(LINE, engine="compiled")
def integer_buffer(x):
    k = np.zeros(6, dtype=int)
    s = 0.0
    for i in range(6):
        k[i] = 5 - i
        s += x[k[i]] * x[i]
    return s + np.sum(x[k] * x)


@program(LINE, engine="compiled")
def boolean_buffer(x):
    m = np.zeros(6, dtype=bool)
    y = x * 1.0
    for i in range(6):
        m[i] = x[i] > 1
    y[m] = 0.0
    m[:] = False
    return np.sum(y[~m] * x)


@program(LINE, engine="compiled")
def crank_nicolson(x):
    n = 6
    u = x.copy()
    a = np.full(n, -0.5)
    b = np.full(n, 2.0)
    c = np.full(n, -0.5)
    for t in range(3):
        d = np.zeros(n)
        d[0] = u[0]
        d[-1] = u[-1]
        d[1:-1] = 0.5 * u[:-2] + u[1:-1] + 0.5 * u[2:]
        cp = np.zeros(n)
        dp = np.zeros(n)
        cp[0] = c[0] / b[0]
        dp[0] = d[0] / b[0]
        for i in range(1, n):
            m = b[i] - a[i] * cp[i - 1]
            cp[i] = c[i] / m
            dp[i] = (d[i] - a[i] * dp[i - 1]) / m
        u[-1] = dp[-1]
        for i in range(n - 2, -1, -1):
            u[i] = dp[i] - cp[i] * u[i + 1]
    return np.sum(u**2)


@program(SQUARE, engine="compiled")
def lu_pivot(A0):
    A = A0.copy()
    n = 4
    p = np.arange(n)
    for k in range(n - 1):
        j = k + int(np.argmax(np.abs(A[k:, k])))
        if j != k:
            t = A[k].copy()
            A[k] = A[j]
            A[j] = t
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return np.sum(np.log(np.abs(np.diag(A))))


@program(SQUARE, engine="compiled")
def nbody(p0):
    p = p0[:, :2].copy()
    v = np.zeros((4, 2))
    for t in range(3):
        a = np.zeros((4, 2))
        for i in range(4):
            for j in range(4):
                if i != j:
                    d = p[j] - p[i]
                    a[i] += d / (np.sum(d * d) + 0.1) ** 1.5
        v += 0.1 * a
        p += 0.1 * v
    return np.sum(p**2) + np.sum(v * v)


@program(SQUARE, engine="compiled")
def viterbi(A):
    n = 4
    s = np.zeros((5, n))
    s[0] = A[0]
    for t in range(1, 5):
        for j in range(n):
            s[t, j] = np.max(s[t - 1] + A[:, j]) + A[t % 4, j]
    return np.max(s[-1])


@program(LINE, engine="compiled")
def pressure_iterated_until_converged(x):
    u = x.copy()
    p = np.zeros(6)
    for t in range(2):
        err = 1.0
        it = 0
        while err > 1e-3 and it < 50:
            pn = p.copy()
            p[1:-1] = 0.5 * (pn[2:] + pn[:-2]) - 0.1 * u[1:-1]
            err = np.max(np.abs(p - pn))
            it += 1
        u[1:-1] -= 0.2 * (p[2:] - p[:-2]) * u[1:-1]
    return np.sum(u**2)


@program(LINE, engine="tape")
def runge_kutta_into_buffers(x):
    y = x.copy()
    k = np.zeros((4, 6))

    def f(y, out):
        out[:] = -y * y[::-1]

    for t in range(3):
        f(y, k[0])
        f(y + 0.05 * k[0], k[1])
        f(y + 0.05 * k[1], k[2])
        f(y + 0.1 * k[2], k[3])
        y += 0.1 / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
    return np.sum(y)


@program(LINE, engine="compiled")
def recurrent_states_kept(x):
    h = np.zeros(6)
    ys = np.zeros((6, 6))
    W = np.outer(x, x) * 0.1
    for t in range(6):
        h = np.tanh(W @ h + x[t])
        ys[t] = h
    return np.sum(ys**2)


@program(LINE, engine="compiled")
def iter_then_write(x):
    w = np.array([1.0, 2.0, 3.0])
    s = 0.0
    for v in w:
        s = s + np.sum(x * x) * v
    w[0] = 5.0
    return s * w[0]


@program(LINE, engine="compiled")
def idx_then_write(x):
    k = np.array([0, 1, 2])
    s = 0.0
    for i in k:
        s = s + x[i] ** 2
    k[0] = 5
    return s * x[k[0]]


@program(LINE, engine="compiled")
def indices_changed_ahead(x):
    k = np.array([0, 1, 2, 3])
    s = 0.0
    for i in k:
        s = s + x[i] ** 2
        k[3] = 4
    return s


@program(LINE, engine="compiled")
def list_write(x):
    w = [1.0, 2.0, 3.0]
    s = 0.0
    for v in w:
        s = s + np.sum(x * x) * v
    w[0] = 5.0
    return s * w[0]


@program(LINE, engine="compiled")
def number_in_an_array_changed(x):
    w = np.array([1.0, 2.0, 3.0])
    n = np.array(2)
    a = w[0] * x
    w[0] = 3.0
    b = np.power(x, n)
    n[...] = 3
    c = x[w > 1.5] if False else x[1:]
    return np.sum(a) + np.sum(b)


@program(LINE, engine="compiled")
def slice_bounds_in_an_array(x):
    k = np.array([1, 3])
    y = x * 1.0
    for i in range(2):
        y[k[0] : k[1]] *= x[k[0] : k[1]]
        k[0] += 1
        k[1] += 1
    return np.sum(y)


@program(LINE, engine="compiled")
def mask_changed_between_uses(x):
    w = np.array([True, False, True, False, True, True])
    y = np.where(w, x, x * x)
    w[:] = False
    z = np.where(w, y, 2 * y)
    for i in range(6):
        w[i] = i > 2
    return np.sum(z[w])


@program(LINE, engine="compiled", smooth=True)
def rows_changed_ahead(x):
    a = np.outer(x, x)
    s = 0.0
    for i, row in enumerate(a):
        s += row[2] * row[0]
        if i < 5:
            a[i + 1] = row * 2.0
    return s


@program(LINE, engine="compiled", smooth=True)
def elements_changed_ahead(x):
    a = x * 1.0
    s = 0.0
    for i, v in enumerate(a[:5]):
        s += v * v
        a[i + 1] = v * 2.0
    return s


@program(LINE, engine="compiled", smooth=True)
def constants_changed_ahead(x):
    a = np.ones(6)
    s = 0.0
    for i, v in enumerate(a):
        s += v * x[i]
        if i < 5:
            a[i + 1] = v * x[i]
    return s


@program(LINE, engine="compiled")
def argument_under_another_name_in_a_loop(x):
    u = x
    s = 0.0
    for k in range(3):
        u *= 0.5
        s = s + np.sum(x * x) * u[k]
    return s


@program(LINE, engine="compiled", smooth=True)
def two_names_of_what_a_loop_adds_to(x):
    u = x * 1.0
    v = u
    for _ in range(3):
        u += 0.1 * np.sin(v)
        w = v[1:] * v[0]
    return np.sum(v * u) + np.sum(w)


@program(LINE, engine="compiled", smooth=True)
def another_name_made_within_errstate(x):
    u = x**2
    with np.errstate(all="ignore"):
        v = u
        w = v
    u[1] += x[0]
    return np.sum(v * x) + w[1]


@program(LINE, LINE + 1, engine="compiled")
def constant_argument_is_changed_after_a_loop_that_stays(x, w):
    for _ in range(2):
        z = np.zeros_like(w)
    w[1:] *= w[:-1] + z[1:]
    w[2] += x[0]
    return np.sum(w * x)


@program(LINE, LINE + 1, engine="tape")
def loop_that_stays_gives_another_name(x, w):
    for k in range(2):
        v = w
    w[1] += x[0]
    y = w * x
    v[1] = k
    return np.sum(y * v) if x[0] > 9 else np.sum(y)


@program(LINE, 2.0, engine="compiled", argnums=1)
def constant_argument_by_its_own_parts(x, k):
    x *= x[::-1]
    x[1:] -= k
    x[:-1] = x[1:] * k
    return np.sum(x**2)


@program(LINE, 0.3, 1.6, engine="compiled", argnums=1)
def closure_reads_what_branches_of_branches_change(x, v, k):
    u = x * 1.0
    f = lambda: u[3] * x[0]
    if k < 1.0:
        if k < 0.5:
            u -= 0.5
    elif k < 5.0:
        u[-1] = u[3] = v**2
    return f() + u[-1]


@program(LINE, 0.3, engine="compiled", argnums=1)
def closure_reads_what_is_changed_within_errstate(x, v):
    def f():
        return u[3] * v

    u = x * 1.0
    with np.errstate(all="ignore"):
        if v > 0.1:
            u[3] = v**2
    return f()


@program(LINE, engine="compiled", smooth=True)
def slices_of_other_lengths_in_each_turn(x):
    u = np.cumsum(x**2)
    for i in range(6):
        v = u[i + 1 :]
        w = u[: i + 1] * x[i]
    return np.sum(v**2) + np.sum(w**2)


@program(LINE, 0.3, engine="compiled", argnums=(0, 1))
def shape_of_what_one_branch_changes(x, k):
    m = x
    for c in [1.1, 0.5, 1.4]:
        u = v = x * k
        if c <= 1:
            v += 0.5
            m = np.cos(u)
    return np.sum(m)


@program(LINE, LINE + 1, 3, engine="compiled", argnums=(0, 1), name="name_that_a_loop_of_no_turns_does_not_bind_2")
@program(LINE, LINE + 1, 7, engine="compiled", argnums=(0, 1))
def name_that_a_loop_of_no_turns_does_not_bind(x, y, n):
    a = np.zeros(4)
    b = a
    if n:
        b = x
    a[0] = y[0]
    while n > 5:
        b = y
        n -= 1
    return np.sum(b * b) + np.sum(a)


@program(
    LINE, LINE + 1, 3, engine="compiled", argnums=(0, 1), name="name_that_a_plain_loop_of_no_turns_does_not_bind_2"
)
@program(LINE, LINE + 1, 7, engine="compiled", argnums=(0, 1))
def name_that_a_plain_loop_of_no_turns_does_not_bind(x, y, n):
    a = np.zeros(4)
    b = a
    if n:
        b = x
    a[0] = y[0]
    for b in range(n - 3):
        pass
    return np.sum(b * x) + np.sum(a)


@program(LINE, LINE + 1, 0, engine="compiled", argnums=(0, 1), name="name_that_a_statement_binds_before_it_fails")
@program(LINE, LINE + 1, 3, engine="compiled", argnums=(0, 1))
def name_that_a_failing_statement_does_not_bind(x, y, n):
    a = np.zeros(4)
    b = a
    if n:
        b = x
    a[0] = y[0]
    try:
        b = [1.0][n]
    except IndexError:
        pass
    return np.sum(b * x) + np.sum(a)


@program(LINE, 0, engine="tape")
def name_of_one_branch_that_a_loop_of_no_turns_does_not_bind(x, n):
    if x[0] > 0:
        u = x * 2
    for _ in range(n):
        u = x * 3
    return np.sum(u * x)


@program(LINE, engine="compiled")
def parts_of_other_lengths_of_what_was_changed(x):
    u = x * 1.0
    u[1] = 3
    for i in range(3):
        v = u[i + 1 :]
    return np.sum(v**2)


@program(LINE, engine="compiled")
def loop_over_what_it_shortens(x):
    y = x * x
    y[1] = 0.5
    for i, v in enumerate(y):
        if i < 3:
            y = y[i:] * v
    return np.sum(y * 0.7)


@program(LINE, LINE + 0.3, engine="compiled", argnums=1, smooth=True, name="larger_is_changed_2")
@program(LINE, LINE - 0.3, engine="compiled", argnums=0, smooth=True)
def larger_is_changed(x, y):
    x, y = x * 1.0, y * 1.0
    u = x if x[0] > y[0] else y
    u[0] = x[1] * y[1]
    u *= x
    return np.sum(x * u * y)


@program(LINE, LINE + 0.3, 5, engine="compiled", argnums=1, smooth=True, name="last_of_three_names_2")
@program(LINE, LINE + 0.3, 0, engine="compiled", argnums=0, smooth=True)
def last_of_three_names(x, y, n):
    x, y = x * 1.0, y * 1.0
    u = y
    for k in range(n):
        w = x
        w[-1] = 1.1 * u[k]
        u[0] = w[-1] * w[k]
        x, y = y, x
    return np.sum(x * y) + np.sum(u)


@program(LINE, LINE + 0.3, engine="compiled", argnums=0, smooth=True)
def view_of_what_may_be_changed(x, y):
    y = y * 1.0
    u = x * 1.0
    v = u[1:-1]
    if y[0] > 0:
        u = y
    v[:] = y[:4] ** 2
    u[2] *= x[0]
    return np.sum(u * x) + np.sum(v)


@program(LINE, LINE + 0.3, engine="compiled", argnums=0, smooth=True)
def kept_before_what_may_be_it_is_changed(x, y):
    x, y = x * 1.0, y * 1.0
    u = x
    if y[0] > 100:
        u = y
    w = u**2
    u[1] = 0.7
    return np.sum(w * x) + w[1] * u[2]


@program(LINE, LINE + 0.3, 4, engine="compiled", argnums=1, name="loop_that_changes_one_argument_only_2")
@program(LINE, LINE + 0.3, 4, engine="compiled", argnums=0)
def loop_that_changes_one_argument_only(x, y, n):
    for i in range(n):
        x[i] = 2.0 * i
    x[-1], x[-2] = 1.2, x[0]
    return np.sum(x * y)


@program(LINE, LINE + 0.3, engine="compiled", argnums=(0, 1))
@program(LINE, LINE - 0.3, engine="compiled", argnums=(0, 1), name="larger_argument_is_changed_2")
def larger_argument_is_changed(x, y):
    if x[0] > y[0]:
        x, y = y, x
    x[0] = x[0] * y[1]
    y[1] += x[0] ** 2
    return np.sum(x * y)


@program(LINE, SQUARE, engine="compiled", argnums=(0, 1))
def slot_of_a_view_that_a_loop_gives_to_another(x, a):
    box = {"row": a[1]}
    for v in x:
        box["row"] = v * x[:4]
        a[::2] += 0.5
    return np.sum(box["row"] * a)


@program(LINE, 1.3, LINE - 1, engine="tape", argnums=1)
def result_of_one_of_two_returns(x, k, w):
    def larger(a):
        if a >= 0:
            for _ in range(3):
                return np.clip(w, 0.3, 1.1)
        return x

    w[2] = k
    u = larger(k)
    x *= 0.5 - u
    return u[1] + x[2]


@program(SQUARE, 1.2, engine="compiled")
@program(SQUARE, 1.2, engine="compiled", argnums=1, name="rows_are_views_when_they_are_exchanged_2")
def rows_are_views_when_they_are_exchanged(a, k):
    a[0], a[1] = a[1], a[0]
    v = a[2]
    v[0], a[2, 1], v[2] = a[2, 1], k * v[0], v[1]
    return np.sum(a[0] * a[1]) + np.sum(a[2] ** 2)


def filled_with_its_norm(a):
    a.fill(np.linalg.norm(a))
    return 1.5


@program(SQUARE, 0.7, engine="tape", argnums=1)
def changed_by_what_its_row_is_multiplied_by(a, k):
    a[1] *= k * filled_with_its_norm(a=a.T)
    return np.sum(a) * k


@program(LINE, LINE[:5] + 0.3, 1.3, engine="compiled", argnums=2, smooth=True)
@program(LINE, LINE[:5] + 0.3, 0.9, engine="compiled", argnums=0, smooth=True, name="part_of_one_or_another_2")
def part_of_one_or_another(x, y, k):
    x, y = x * k, y * 1.0
    u = y if k > 1 else x[1:]
    u[0] = x[1] * k
    x[2] *= u[0]
    return np.sum(x * x) + np.sum(u**3)


@program(LINE, 1.3, engine="compiled", argnums=(0, 1))
@program(LINE, 0.9, engine="compiled", argnums=(0, 1), name="row_of_a_vector_or_of_its_double_2")
def row_of_a_vector_or_of_its_double(x, k):
    m = x.reshape(1, -1)
    if k > 1:
        m = m * 2.0
    x[0] = k * m[0, 1]
    m[0, 1:] *= x[0]
    return np.sum(m**2) + np.sum(x)


@program(LINE, LINE + 0.3, 1.2, engine="compiled", argnums=(0, 1, 2))
def backwards_until_it_is_another(x, y, k):
    u = x[::-1]
    for i in range(4):
        u[i] *= k
        if i == 1:
            u = y
        x[i] += u[0]
    return np.sum(u**2) + np.sum(x * x)


@program(SQUARE, 0.7, 3, engine="compiled", argnums=(0, 1))
def transposed_or_not(a, k, n):
    b = a.T if n > 2 else a
    b[0, 1] = k * a[1, 2]
    a[2] *= b[1]
    return np.sum(a * b) + b[3, 1]


@program(LINE, 1, engine="compiled")
@program(LINE, 2, engine="compiled", name="read_before_it_is_changed_as_part_of_itself_2")
def read_before_it_is_changed_as_part_of_itself(x, n):
    if n < 2:
        u = x[::1]
    else:
        u = x
    u /= x**2
    return np.sum(x**2)


@program(LINE + np.sin(7 * LINE), engine="compiled")
def row_that_is_changed_by_what_it_is_a_row_of(x):
    m = x[None]
    for i in range(1):
        m[i] -= x.max()
        m *= 0.5
    return np.sum(m)


@program(LINE, LINE + 0.3, 0.5, engine="compiled", argnums=(0, 1, 2))
@program(LINE, LINE + 0.3, 1.5, engine="compiled", argnums=(0, 1, 2), name="read_before_what_may_be_it_is_written_2")
def read_before_what_may_be_it_is_written(a, b, k):
    x = a * k
    y = b * 1.0
    m = np.outer(x, y)  # its derivative needs both as they are here
    u = y[:] if k > 1 else x[:]
    u[y > 0.1] *= 0.5
    return np.sum(m * m)


@program(LINE, LINE + 0.3, 0.5, engine="compiled", argnums=(0, 1, 2))
@program(LINE, LINE + 0.3, 1.5, engine="compiled", argnums=(0, 1, 2), name="read_before_a_view_of_a_view_is_written_2")
def read_before_a_view_of_a_view_is_written(a, b, k):
    x, y = a * k, b * 1.0
    u = x * y
    v = y[::-1][1:] if k > 1 else x
    v[:2] *= 0.5
    v.sort()
    return np.sum(u * u)


@program(LINE, 0.9, engine="compiled", argnums=1)
def plain_array_changed_by_what_is_in_a_dict(x, q):
    box = {"a": 1.5 if q > 0.5 else 0.5, "b": np.sum(x), "c": x.astype(np.float32)}
    y = np.array([box.get("a", 0.0), np.prod(x)])
    y[1] -= np.sum(box["c"] ** 2)
    z = x[:2] * 1.0
    z += box["b"]
    return q * q + y[1] * q + z[0] * q


@program(LINE, SQUARE, 1.3, engine="compiled", argnums=(0, 1, 2))
@program(LINE, SQUARE, 0.3, engine="compiled", argnums=(0, 1, 2), name="part_of_a_vector_or_a_matrix_2")
def part_of_a_vector_or_a_matrix(x, a, k):
    u = x[1:] if k > 1 else a
    x[1] = k * 3
    return np.sum(u * u)


@program(LINE, SQUARE, 1.3, engine="tape", argnums=(0, 1, 2))
@program(LINE, SQUARE, 0.3, engine="tape", argnums=(0, 1, 2), name="vector_of_a_part_or_a_matrix_2")
def vector_of_a_part_or_a_matrix(x, a, k):
    u = x[1:] if k > 1 else a
    u[0] = k * 3
    return np.sum(x * x) + np.sum(a**2)


@program(LINE, 5.0, engine="tape", argnums=(0, 1))
@program(LINE, 0.6, engine="tape", argnums=(0, 1), name="best_that_is_none_is_exchanged_2")
def best_that_is_none_is_exchanged(x, k):
    best = old = None
    u = x * 1.0
    for i in range(3):
        if x[i] > k:
            best = x[i] * 1.0
        u[i], old = x[0] * 2, best
    return np.sum(u * x) + (old if old is not None else 0.0)


@program(SQUARE[:, :1].copy(), 1.3, engine="compiled", argnums=(0, 1))
@program(SQUARE[:, :1].copy(), 0.3, engine="compiled", argnums=(0, 1), name="array_or_its_reshaped_2")
def array_or_its_reshaped(a, k):
    if k > 1:
        w = a.reshape(-1)
    else:
        w = a
    a[1] = 0.5 * k
    return np.sum(0.5 * w * w)


@program(LINE, engine="compiled")
def array_of_the_outside_in_the_next_turn(x):
    u = np.zeros_like(x)
    for i in range(3):
        u[1] = 1.5
        u, x = x, np.cumsum(x)
    return 0.5 + np.sum(x)


def at_the_end(a):
    a[-1] = 1.0
    return a


@program(LINE, [1.8, 0.8], engine="compiled")
def cotangents_of_one_array_under_two_names(x, q):
    q.append(at_the_end(x))
    with np.errstate(all="ignore"):
        if x[1] > 0.5:
            return x[1]
    return x[2] + sum(v for v in q)


@program(LINE[:3], SQUARE, engine="compiled")
def constant_part_changed_in_a_branch(x, a):
    u = a[0, :3] - 1
    if x[0] > 0:
        u[0] = 0.5
        u[2] = np.dot(u, np.log1p(x**2))
    return np.sum(u)


@program(LINE[:3], SQUARE, engine="compiled")
def constant_part_changed_by_a_statement_in_a_branch(x, a):
    u = a[0, :3] - 1
    if x[0] > 0:
        try:
            u[0] = 0.5
        finally:
            pass
        u[2] = np.dot(u, np.log1p(x**2))
    return np.sum(u)


@program(LINE[:3], SQUARE, engine="compiled")
def bounds_changed_by_a_loop_before_they_are_compared(x, a):
    y = 0.0
    for k in range(3):
        u = a[0, :3] + 5 + k
        t = x * 2
        for i in range(2):
            u[i] = -0.5
        y = y + np.sum(np.minimum(u, t) * np.arange(1.0, 4.0))
    return y


@program(LINE[:3], engine="compiled")
def bounds_changed_in_a_try_block_before_they_are_compared(x):
    y = 0.0
    for k in range(3):
        u = np.full(3, -9)
        t = x * 2
        try:
            u[1] = 9 + k
        finally:
            pass
        y = y + np.sum(np.minimum(u, t) * np.arange(1.0, 4.0))
    return y


@program(LINE[:3], engine="compiled")
def diagonal_filled_row_by_row(x):
    m = np.zeros((3, 3))
    for k, row in enumerate(m):
        row[k] = k + 1.0
    return x @ m @ x


@program(LINE[:3], engine="compiled", smooth=True)
def counts_of_whole_numbers(x):
    count = np.zeros(3, int)
    np.add.at(count, [0, 2, 2], 1)
    order = np.arange(3)
    order[0], order[2] = order[2], order[0]
    y = np.sum(x**2 * count)
    count.fill(1)
    return y * np.sum(x[order] * count * np.array([1.0, 2.0, 3.0]))


@program(LINE[:3], engine="tape")
def arrays_in_a_dict_filled_by_a_loop(x):
    rows = {}
    for k in "abc":
        rows[k] = np.zeros(3)
        rows[k][0] = 1.5
    return np.sum(rows["b"] * x**2)


@program(LINE[:3], engine="tape")
def view_that_a_nested_function_gives(x):
    u = np.zeros(3)
    rest = lambda a: a[1:]
    v = rest(u)
    u += x
    return np.sum(x * u) * np.sum(v)


@program(LINE[:3], engine="tape")
def default_that_a_nested_function_gives(x):
    u = np.zeros(3)

    def held(k, a=u):
        return [a] * k

    (v,) = held(1)
    u[1] = x[0]
    return x[2] * np.sum(v)


@program(LINE[:3], engine="tape")
def default_that_a_lambda_in_a_list_gives(x):
    u = np.zeros(3)
    held = [lambda k, a=u: a]
    v = held[0](1.0)
    u[1] = x[0]
    return x[2] * np.sum(v)


def rest(a, b=0.5):
    return a[1:]


def larger(a, b):
    return a if a[0] > b[0] else b


def looks(a, b=0.5):
    if a[0] > b:
        return
    np.sum(a * b)


@program(LINE[:3], engine="compiled", smooth=True)
def helpers_look_at_arrays_that_change(x):
    u, v, w = np.zeros(3), np.ones(3), np.full(3, 2.0)
    looks(u)
    r = rest(v)
    larger(v, w)
    u[1] = x[0]
    w += x
    return np.sum(u * x) + np.sum(r * x[1:]) + np.sum(w)


@program(LINE[:3], engine="tape")
def one_of_two_that_a_helper_gives(x):
    v, w = np.ones(3), np.full(3, 2.0)
    u = larger(v, w)
    w += x
    return np.sum(u * x)


@program(LINE[:3], engine="compiled", smooth=True)
def sums_over_labels_are_new(x):
    u = x * 1.0
    s = np.einsum("i,j->", u, u)
    t = np.einsum("i,j->ij", u, x)
    m = np.outer(u, x)
    c = np.einsum("ij->j", m)
    u[1] *= s
    t[0] += u
    m[1] = 0.5
    u[2] *= np.einsum("i,i->", u, x)
    return np.sum(u) + np.sum(t**2) + np.sum(m * c) + s


@program(LINE[:3], engine="tape")
def diagonal_by_labels_is_a_view(x):
    m = np.outer(x, x)
    d = np.einsum("ii->i", m)
    m[1] *= 2.0
    return np.sum(d * x)


@program(LINE[:3], engine="compiled", smooth=True)
def as_an_array_in_a_loop(x):
    v = x * 1.0
    for i in range(1, 3):
        for _ in range(1):
            u = np.asarray(v)
        u[i] = v[0] * x[i]
    return np.sum(v**2)


@program(LINE[:3], engine="compiled", smooth=True)
def added_at_places_in_a_loop_of_its_own(x):
    u = np.zeros(3)
    for k in range(2):
        while True:
            np.add.at(u, [k, 0], 0.5)
            if u[0] > 1.0:
                break
    return np.sum(u * x**2)


def second_of(a, b):
    return b


def applied_to(f, a):
    return f(a)


@program(LINE[:3], engine="compiled", smooth=True)
def calls_that_a_derivative_flows_into_and_nothing_comes_of(x):
    u, w = np.zeros(3), x * 2.0
    looks(w)
    v = second_of(w, u)
    w[1] *= x[0]
    return np.sum(v) + np.sum(w**2)


@program(LINE[:3], engine="tape")
def captured_array_that_is_handed_through(x):
    u, w = x * 2.0, np.ones(3)
    v = applied_to(lambda a: w[1:], u)
    w[1] = x[1]
    return np.sum(v**2) + np.sum(u)


@program(LINE[:3], engine="tape")
def argument_that_is_handed_through(x):
    u, w = x * 2.0, x * 3.0
    v = second_of(u, w)
    w[1] *= 3.0
    return np.sum(v**2) + np.sum(u)


@program(LINE[:3], engine="compiled", smooth=True)
def names_given_in_blocks_without_a_derivative(x):
    u, s = np.zeros(3), 0.0
    with np.errstate(all="ignore"):
        v = u
    try:
        w = u
        count = 1
        count += v.size
    except ValueError as error:
        raise TypeError("sizes") from error
    u[1] = x[0] * count
    for i in range(2):
        with np.errstate(all="ignore"):
            steps = 0
            steps += 1
        for _ in range(i):
            more = 0
            more += 1
        s = s + steps * np.sum(v * x) * w[1]
    return s


@program(LINE[:3], engine="compiled", smooth=True)
def loops_that_only_look(x):
    u = np.tanh(np.ones(3))
    for a, _ in zip(u, u, strict=True):
        for i in range(2):
            v, w = u, a
            (places,) = np.nonzero(u > w + i)
    u -= x
    return np.sum(u**2)


@program(LINE[:3], engine="tape")
def part_that_a_try_block_names(x):
    u = np.zeros(3)
    try:
        v = u
    except ValueError:
        v = u[1:]
    u[1] = x[0]
    return np.sum(v * x)


@program(LINE[:3], engine="tape")
def rows_that_a_loop_names(x):
    u, v = np.zeros(3), np.ones(3)
    for i in range(3):
        w = u
        for _ in range(i):
            w = v
    v[1] = x[0]
    return np.sum(w * x)


class Window:
    def __init__(self, first):
        self.first = first

    def of(self, a):
        return a[self.first :]

    def cube(self, a):
        return a**3


@program(LINE[:3], [Window(0), Window(1)], engine="compiled", smooth=True)
def methods_of_objects_in_a_list_look_at_an_array(x, windows):
    c = np.ones(3)
    s = 0.0
    for window in windows:
        v = window.of(c)
        s = s + np.sum(x[: len(v)] * v)
        c *= 3.0
    return s * x[0]


@program(LINE[:3], [Window(0), Window(1)], engine="compiled", smooth=True)
def methods_of_objects_in_a_list_give_new_arrays(x, windows):
    c = np.ones(3)
    s = 0.0
    for window in windows:
        w = window.cube(c)
        s = s + np.sum(x * w)
        w *= x[0] > 0.1
        c *= 3.0
    return s * x[0]


@program(LINE[:3], 0.5, engine="compiled", smooth=True, argnums=1)
def numbers_that_map_makes_of_an_array(y, k):
    u = y * 1.0
    s = sum(list(map(np.sin, u))[:2])
    halves = list(map(lambda v: 0.5 * v, u))
    rest = halves[1:]
    halves[1] = 3.0
    u[0] = k
    u[1] *= k
    return s * np.sum(u**2) + k * sum(halves) * sum(rest)


@program(LINE[:3], 0.5, engine="tape", argnums=1)
def arrays_that_map_hands_on(y, k):
    u = y * 1.0
    us = list(map(np.asarray, [u, u]))
    u[1] = k
    return k * np.sum(us[0])


@program(LINE[:3], 0.5, engine="tape", argnums=1)
def numbers_that_map_makes_later(y, k):
    u = y * 1.0
    sines = map(np.sin, u)
    u[0] = k
    return k * sum(sines)


@program(SQUARE, 1, engine="compiled", smooth=True)
def views_by_keywords(x, n):
    a = x * 1.0
    flipped, same = np.flip(a, axis=n), np.transpose(a, axes=(0, 1))
    turned, around = np.rot90(a, k=2), np.rot90(a, axes=(1, 0))
    moved = np.moveaxis(a, source=0, destination=1)
    a[0, 1] = x[0, 0] ** 2
    a[2] *= x[1, 0]
    w = np.arange(16.0).reshape(4, 4)
    return np.sum(w * (flipped + same * 2 + turned * 3 + around * 5 + moved * 7) * x)


@program(SQUARE, 1, engine="tape")
def views_by_keywords_on_two_ways(x, n):
    a = x * 1.0
    if x[0, 0] > 0:
        m = np.flip(a, axis=0)
    else:
        m = np.flip(a, axis=1)
    for i in range(2):
        a[i, 1] = x[0, 0] ** 2
    return np.sum(m * x)


@program(LINE[:3], 1, engine="compiled", smooth=True)
def views_that_blocks_make(x, n):
    a, m = x * 1.0, np.outer(x, x)
    with np.errstate(all="ignore"):
        rest = a[n:]
        s = a[0] * 2
        a[2] *= x[1]
    try:
        u, v, w = m
    finally:
        pass
    if s < 0:
        raise ValueError("s")
    else:
        first = m[:, n]
    a[1] = x[0] ** 2
    v[2] *= 0.5
    u[1] *= s
    first += rest[0]
    return np.sum(rest * x[1:]) + np.sum(m * w)


@program(LINE[:3], engine="compiled", smooth=True)
def views_of_steps_in_other_shapes(x):
    a = x * 1.0
    w, v = a[::2].reshape(-1), a[::-1].reshape(1, -1)
    a[0] = x[1] ** 2
    v[0, 2] *= 3.0
    return np.sum(w) + np.sum(v * x)
