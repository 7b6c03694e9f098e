"""What of an array is copied before it is written over, and what need not be."""

import inspect

import numpy as np
import pytest

from s2sgrad import grad
from tests.programs import trajectories
from tests.programs.trajectories import V, X


def copies(derivative):
    """How often the forward pass copies what the function itself does not."""
    forward = derivative.source.split("# backward")[0]
    return forward.count("copy(") - inspect.getsource(derivative.primal).count("copy(")


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (trajectories.all_steps_kept, (V[:3], 5)),
        (trajectories.from_the_end, (X,)),
        (trajectories.prefixes, (V,)),
        (trajectories.rows_below_the_diagonal, (X,)),
    ],
)
def test_what_is_not_written_over_is_not_copied(function, args):
    derivative = grad(function, mode="compiled")
    derivative(*args)
    assert not copies(derivative)


@pytest.mark.parametrize(
    "function",
    [
        trajectories.written_over_in_the_next_turn,
        trajectories.first_read_is_the_last_row,
        trajectories.two_sweeps,
        trajectories.changed_after_the_loop,
        trajectories.rows_from_the_diagonal_on,
        trajectories.two_tables_exchanged,
        trajectories.through_a_view,
    ],
)
def test_what_is_written_over_is_copied(function):
    derivative = grad(function, mode="compiled")
    derivative(*[X, X][: function.__code__.co_argcount])
    assert copies(derivative)


def counted(x, range):
    u = x.copy()
    for t in range(4):
        u[t + 1] = np.sin(u[t]) * u[t + 1]
    return np.sum(u * u)


def test_a_range_of_the_users_own_is_not_pythons():
    zigzag = [3, 0, 3, 1, 2]
    from_tape = grad(counted, mode="tape")(X, lambda n: zigzag[:n])
    assert np.array_equal(grad(counted)(X, lambda n: zigzag[:n]), from_tape)
