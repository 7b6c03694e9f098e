"""How tensors are printed: numbers of one width, rows in brackets, long axes shortened."""

import numpy as np

from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.registry import method
from s2sgrad.runtime.eager.tensor import Parameter, refresh

_WIDTH, _EDGE, _MANY = 80, 3, 1000  # of a line; what is shown of a long axis; from how many elements on
_INDENT = len("tensor(")


class _Format:
    """The common format of numbers: what their sizes ask for."""

    def __init__(self, a):
        self.width, self.style = 1, None
        if a.dtype.kind in "biu":
            self.width = max([len(str(v)) for v in a.ravel().tolist()], default=1)
            return
        values = np.abs(a[np.isfinite(a) & (a != 0)]).astype(np.float64)
        low, high = (values.min(), values.max()) if values.size else (1.0, 1.0)
        whole = bool(np.all(values == np.rint(values)))
        spread = high / low > 1000 or high > 1e8
        self.style = ".4e" if spread or not whole and low < 1e-4 else ".0f" if whole else ".4f"
        self.width = max([len(self(v)) for v in a[np.isfinite(a) & (a != 0)].ravel().tolist()], default=1)

    def __call__(self, v):
        text = str(v) if self.style is None else format(v, self.style)
        if self.style == ".0f" and np.isfinite(v):
            text += "."
        return text.rjust(self.width)


class _ComplexFormat:
    """The formats of real and of imaginary parts."""

    def __init__(self, a):
        self.real, self.imag = _Format(a.real), _Format(a.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, v):
        imag = self.imag(v.imag).lstrip()
        return f"{self.real(v.real)}{'' if imag[0] in '+-' else '+'}{imag}j"


def _rows(a, shown, indent, shorten):
    if a.ndim == 0:
        return shown(a.item())
    short = shorten and len(a) > 2 * _EDGE
    parts = [*a[:_EDGE], ..., *a[-_EDGE:]] if short else list(a)
    if a.ndim > 1:
        rows = ["..." if part is ... else _rows(part, shown, indent + 1, shorten) for part in parts]
        return "[" + ("," + "\n" * (a.ndim - 1) + " " * (indent + 1)).join(rows) + "]"
    numbers = [" ..." if part is ... else shown(part.item()) for part in parts]
    per_line = max(1, (_WIDTH - indent) // (shown.width + 2))
    lines = [", ".join(numbers[i : i + per_line]) for i in range(0, len(numbers), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _ends(a, axis=0):
    """What is shown of an array with long axes."""
    if axis == a.ndim:
        return a
    if a.shape[axis] > 2 * _EDGE:
        a = np.concatenate([np.take(a, range(_EDGE), axis), np.take(a, range(-_EDGE, 0), axis)], axis)
    return _ends(a, axis + 1)


def _text(a):
    if not a.size:
        return "[]"
    if a.dtype.kind not in "biufc":
        a = a.astype(np.float64)
    shorten = a.size > _MANY
    model = _ends(a) if shorten else a
    return _rows(a, (_ComplexFormat if a.dtype.kind == "c" else _Format)(model), _INDENT, shorten)


def _history(t):
    """What is said of where `t` comes from: it brings `t` up to date."""
    try:
        refresh(t)
    except RuntimeError:  # a view that cannot be used since its base was written
        return ["grad_fn=<Invalid>"]
    if t._node is not None:
        return [f"grad_fn=<{t.grad_fn.name().split('::')[-1]}>"]
    return ["requires_grad=True"] if t.requires_grad else []


def _notes(t):
    a, default = t._a, dtypes.get_default_dtype()
    if not a.size and a.ndim != 1:
        yield f"size={tuple(a.shape)}"
    plain = (default,) if not a.size else (default, default.to_complex(), dtypes.int64, dtypes.bool_)
    if t.dtype not in plain:
        yield f"dtype=torch.{t.dtype.name}"


@method("__repr__", "__str__")
def show(self):
    history = _history(self)
    text = _text(self._a)
    length = len(text) - text.rfind("\n") + _INDENT * ("\n" not in text)
    for note in (*_notes(self), *history):
        if length + len(note) + 2 > _WIDTH:
            text += ",\n" + " " * _INDENT + note
            length = _INDENT + len(note)
        else:
            text += ", " + note
            length += len(note) + 2
    return f"tensor({text})"


@method("__format__")
def formatted(self, spec):
    return format(self._a.item(), spec) if self._a.ndim == 0 else object.__format__(self, spec)


def _show_parameter(self):
    return f"Parameter containing:\n{show(self)}"


Parameter.__repr__ = Parameter.__str__ = _show_parameter
