"""A derivative against finite differences of its function."""

import copy
from dataclasses import dataclass
from functools import partial

import numpy as np

from s2sgrad.api import trees
from s2sgrad.errors import GradientCheckError
from s2sgrad.runtime.differences import extrapolated, obstacle

MOST = 200  # entries of one array that are perturbed; beyond, a sample of them and a random direction


@dataclass(frozen=True, slots=True)
class Agreement:
    """A derivative and finite differences agree.

    Attributes
    ----------
    entries : int
        How many entries were compared.
    worst : float
        The largest difference, relative to the size of the gradient.
    where : str
        The entry that it was found at.
    symmetric : tuple of str
        The arguments that are symmetric (or Hermitian) matrices, with a gradient that is so, too, and were compared
        along symmetric directions only: the derivative of what reads one triangle, as ``np.linalg.cholesky`` does.
    """

    entries: int
    worst: float
    where: str
    symmetric: tuple[str, ...] = ()

    def __str__(self) -> str:
        entries = "entry agrees" if self.entries == 1 else "entries agree"
        text = f"{self.entries} {entries}; largest relative difference {self.worst:.1e}, at {self.where}"
        if self.symmetric:
            text += f"; {', '.join(self.symmetric)} compared along symmetric directions"
        return text


def check(primal, gradients, arguments, function: str) -> Agreement:
    """Compare gradients with central differences of `primal`, entry by entry.

    Parameters
    ----------
    primal : callable
        From a list of values, one per argument, to a real number. May change what it is given.
    gradients : list
        One tree per argument.
    arguments : list of (str, tree)
        The differentiated arguments, with their names.
    function : str
        The function's name, for the message.

    Raises
    ------
    GradientCheckError
        Naming the entry that is worst, and whether the function has a derivative there at all.
    """
    values = [trees.map_leaves(_widened, value) for _, value in arguments]
    compared, symmetric = [], []
    for i, (name, original) in enumerate(arguments):
        paths = trees.leaves_with_paths(original)
        claimed = trees.leaves(gradients[i])
        if len(claimed) != len(paths):
            raise GradientCheckError(
                f"the gradient of argument {name!r} of {function} has not the structure of the argument"
            )
        scale = max([np.max(np.abs(g), initial=0.0, where=np.isfinite(g)) for g in claimed], default=0.0)
        for j, (path, leaf) in enumerate(paths):
            if np.shape(claimed[j]) != np.shape(leaf):
                raise GradientCheckError(
                    f"the gradient of {name}{path} of {function} has shape {np.shape(claimed[j])}, "
                    f"the argument has shape {np.shape(leaf)}"
                )
            single = getattr(np.asarray(leaf).dtype, "itemsize", 8) <= (8 if np.iscomplexobj(leaf) else 4)
            allowed = 1e-2 if single and np.asarray(leaf).dtype.kind not in "iu" else 1e-5

            against = partial(_line, primal, values, i, j), claimed[j], f"{name}{path}", float(scale), allowed
            found = _along(_directions(leaf), *against)
            if any(c.excess > 1 for c in found) and _is_hermitian(leaf) and _is_hermitian(claimed[j]):
                found = _along(_symmetric(_directions(leaf)), *against)
                symmetric.append(f"{name}{path}")
            compared += found
    if not compared:
        return Agreement(0, 0.0, "nothing")
    worst = max(compared, key=lambda c: (c.excess > 1 and c.obstacle is None, c.excess))
    if worst.excess > 1:
        raise GradientCheckError(worst.complaint(function))
    return Agreement(len(compared), worst.error, worst.where, tuple(symmetric))


@dataclass(frozen=True, slots=True)
class _Comparison:
    """An entry of a gradient and a difference quotient.

    Attributes
    ----------
    where : str
        The entry.
    got, along : float
        The two of them.
    error : float
        Their relative difference; `excess` is it in terms of what is allowed.
    obstacle : str or None
        Where that is too much: why the function has no derivative there, if it seems to have none.
    """

    where: str
    got: float
    along: float
    error: float
    excess: float
    obstacle: str | None

    def complaint(self, function: str) -> str:
        seen = f"gradient {self.got}, finite difference {self.along}"
        if self.obstacle is None:
            return f"gradient of {function} is wrong, worst at {self.where}: {seen}"
        return (
            f"gradient of {function} cannot be checked at {self.where}: the function {self.obstacle} ({seen}). "
            "Check it at another point"
        )


def _along(directions, line, claimed, what: str, scale: float, allowed: float) -> list[_Comparison]:
    """Compare the gradient of one leaf with the function's slopes along each of the directions."""
    found = []
    for entry, direction in directions:
        parts = np.real(np.conj(np.asarray(claimed, direction.dtype)) * direction)
        got = float(np.sum(parts, where=direction != 0))
        at, step = line(direction)
        size = max(abs(got) if np.isfinite(got) else 0.0, 1e-3 * scale, 1e-8)
        found.append(_compared(f"{what}{entry}", at, step, got, size, allowed))
    return found


def _compared(where, at, step, got, size, allowed) -> _Comparison:
    """Compare `got` with the slope of `at`, relative to the larger of them and `size`."""
    along, off = _closest(at, step, got, allowed * size)
    error = off / max(abs(along), size)
    error = np.inf if np.isnan(error) else np.nan_to_num(error)
    excess = float(error) / allowed
    return _Comparison(
        where, got, along, float(error), excess, obstacle(at, step / 64, allowed * size) if excess > 1 else None
    )


def _widened(leaf):
    """In double precision, in memory of its own: differences of single precision show nothing."""
    if not hasattr(leaf, "dtype"):
        return leaf if isinstance(leaf, complex) else float(leaf)
    return np.array(leaf, np.complex128 if np.iscomplexobj(leaf) else np.float64)[()]


def _directions(leaf):
    """The directions to go in, each with the index that it is shown by."""
    shape, complex_ = np.shape(leaf), np.iscomplexobj(leaf)
    dtype = np.complex128 if complex_ else np.float64
    rng = np.random.default_rng(0)
    count = int(np.prod(shape))
    chosen = range(count) if count <= MOST else sorted(rng.choice(count, MOST, replace=False))
    for flat in chosen:
        place = np.unravel_index(flat, shape) if shape else ()
        text = f"[{', '.join(str(int(n)) for n in place)}]" if shape else ""
        for unit, suffix in ((1.0, ".real" if complex_ else ""), (1j, ".imag"))[: 1 + complex_]:
            direction = np.zeros(shape, dtype)
            direction[place] = unit
            yield text + suffix, direction
    if count > MOST:
        direction = rng.normal(size=shape) + (1j * rng.normal(size=shape) if complex_ else 0.0)
        yield " along a random direction", direction / np.sqrt(count)


def _is_hermitian(a) -> bool:
    """Is it a matrix (or a stack of them) that is its own conjugate transpose, to rounding?

    Examples
    --------
    >>> _is_hermitian(np.array([[1, 2j], [-2j, 3]])), _is_hermitian(np.array([[1, 2], [0, 3]])), _is_hermitian(2.0)
    (True, False, False)
    """
    if np.ndim(a) < 2 or a.shape[-1] != a.shape[-2]:
        return False
    return np.allclose(a, np.conj(np.swapaxes(a, -1, -2)), rtol=1e-6, atol=1e-9 * np.max(np.abs(a), initial=0.0))


def _symmetric(directions):
    """Those of the directions that lead to no matrix twice, each with its mirror image."""
    for text, direction in directions:
        both = (direction + np.conj(np.swapaxes(direction, -1, -2))) / 2
        if np.any(both) and (np.any(np.tril(direction)) or np.count_nonzero(direction) > 1):
            yield f"{text} and its mirror image" * (not np.array_equal(both, direction)) or text, both


def _line(primal, values, i, j, direction) -> tuple:
    """The function along `direction` in leaf `j` of argument `i`, of the step from the point, and a step to take."""
    leaf = trees.leaves(values[i])[j]
    h = 1e-3 * max(1.0, float(np.max(np.abs(leaf), initial=0.0, where=direction != 0)))

    def at(step):
        moved = copy.deepcopy(values)
        count = iter(range(len(trees.leaves(values[i]))))
        moved[i] = trees.map_leaves(lambda x: _moved(x, step * direction) if next(count) == j else x, moved[i])
        return float(primal(moved))

    return at, h


def _closest(at, step, got, bound) -> tuple[float, float]:
    """The difference quotient that comes closest to `got`, and how far it stays from it.

    Where the first is off by more than `bound`, smaller steps are tried, and rounding is forgiven: a kink may be near,
    and at a minimum the slope is small beside both errors of the quotient.
    """
    along = extrapolated(at, step)
    off = abs(along - got)
    if off > bound:
        rounding = 16 * np.finfo(float).eps * abs(at(0.0))
        for h in (step, step / 8, step / 64):
            finer = extrapolated(at, h)
            rest = abs(finer - got) - rounding / h
            if rest < off:
                along, off = finer, max(rest, 0.0)
    return along, off


def _moved(x, change):
    if isinstance(x, np.ndarray):
        return x + change
    return type(x)(x + (complex(change) if isinstance(x, complex) else float(change)))
