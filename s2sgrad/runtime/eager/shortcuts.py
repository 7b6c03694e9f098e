"""The short ways of the common operations on tensors: of float64 and float32, of one shape.

What is unusual about a call sends it the general way (`call.call`). What can be decided once for an operation is: its
short way is written from a template. Nothing is a function of its own that would cost as much as what it does.
"""

import linecache
import textwrap

import numpy as np

from s2sgrad.rules.table import lookup
from s2sgrad.runtime.eager import dtypes
from s2sgrad.runtime.eager.call import call, cast, floating
from s2sgrad.runtime.eager.keeping import elementwise_reads, stand_in
from s2sgrad.runtime.eager.naming import Naming, describe, renamed
from s2sgrad.runtime.eager.tensor import Tensor, new, node_of
from s2sgrad.runtime.elementwise import elementwise_of
from s2sgrad.runtime.fuse import BOXES
from s2sgrad.runtime.grad_mode import PAUSED
from s2sgrad.runtime.node import COUNTER, Form, Node

_F64, _F32 = np.dtype(np.float64), np.dtype(np.float32)

# what the templates use
_COMMON = {
    **{"np": np, "ndarray": np.ndarray, "float64": _F64, "float32": _F32, "PAUSED": PAUSED},
    **{"BOXES": BOXES, "known64": BOXES[_F64].get, "known32": BOXES[_F32].get},
    **{"Tensor": Tensor, "make": object.__new__, "node_of": node_of, "Node": Node, "COUNTER": COUNTER},
}


def _into(out, function, x):
    from s2sgrad.runtime.eager.out import into

    return into(out, function, x)


_COMMON["into"] = _into


class _Ways:
    """How an operation is pulled back, under its name: in general, and for arrays of one shape of each type.

    Attributes
    ----------
    general, float64, float32 : Form
    keep : tuple of bool
        Which of the arguments a node saves.
    out : bool
        Whether it saves the result.
    """

    def __init__(self, operation, name, active, naming, number=None):
        form, self.keep, self.out = operation.fitting(active)
        self.general = renamed(form, name, naming)
        self.float64, self.float32 = [
            renamed(operation.exact(active, number, dtype), name, naming) for dtype in (_F64, _F32)
        ]

    def saved(self, *names):
        """The source of the tuple that a node saves, of the names of the arguments."""
        texts = [name if keep else "None" for name, keep in zip(names, self.keep, strict=True)] + ["z"] * self.out
        return ", ".join(texts) if len(texts) > 1 else f"({texts[0]},)"

    def name_of_number(self):
        """What stands for a number in the program that reads it: its box "b", or else itself."""
        return "y" if self.float64.fresh is None else "b"


def _ways(operation, name, active, arity, number=None, places=None):
    reads = elementwise_reads(operation, active)  # a number counts as saved, though it is no tensor
    naming = Naming(active if places is None else places, arity, not reads, tuple([r for r in reads if r != number]))
    return _Ways(operation, name, active, naming, number)


def _generated(name, source, names):
    """The function that `source` defines. What it uses are its globals: cells of a closure would be copied per call."""
    file = f"<s2sgrad short way of {name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    namespace = {**_COMMON, **names}
    exec(compile(source, file, "exec"), namespace)
    return namespace["forward"]


def _filled(template, **parts):
    """`template` with parts of one or more lines in place of the names in braces, indented as these."""
    lines = []
    for line in template.strip().splitlines():
        text = line.lstrip()
        if text.startswith("{") and text.endswith("}"):
            lines += textwrap.indent(parts[text[1:-1]].strip(), line[: -len(text)]).splitlines()
        else:
            lines.append(line.format(**parts))
    return "\n".join(lines) + "\n"


# how the argument `x` of a short way is brought up to date, and its node, array and type found
_OPERAND = """
{dtype} = {x}._plain
if {dtype} is not None:
    {node} = {x}._node
    {a} = {x}._a
elif {x}._inference:
    return {otherwise}
else:
    {node} = node_of({x})
    {a} = {x}._a
    {dtype} = {a}.dtype
"""


def _operand(x, node, a, dtype, otherwise):
    return _OPERAND.format(x=x, node=node, a=a, dtype=dtype, otherwise=otherwise)


# how a result is recorded
_RESULT = """
t = make(Tensor)
t._a = z
t._plain = dtype
if edges is None:
    t._node = None
    return t
t._node = n = Node()
n.form = form
n.saved = saved
n.edges = edges
n.number = next(COUNTER)
return t
"""

# what a Python function returns is not known to be of the same type
_CHECKED = """
if z.dtype is not dtype:
    return {otherwise}
"""

_UNARY = """
def forward(x, *, out=None):
    if out is not None:
        return into(out, forward, x)
    if PAUSED.count or type(x) is not Tensor and not isinstance(x, Tensor):
        return general(x)
    {operand}
    if dtype is float64:
        form = form64
    elif dtype is float32:
        form = form32
    else:
        return general(x)
    z = function(a)
    if type(z) is not ndarray:
        z = np.asarray(z)
        form = general_form
    {check_type}
    saved = {saved}
    {result}
"""


def unary(name, function, otherwise=None):
    """The operation of one tensor, by a NumPy function with an elementwise rule; `otherwise` takes all other types."""
    ways = _ways(elementwise_of(function), name, (0,), 1)

    def general(x):
        return call(name, function, floating(x))

    source = _filled(
        _UNARY,
        operand=_operand("x", "edges", "a", "dtype", "general(x)"),
        check_type="" if isinstance(function, np.ufunc) else _CHECKED.format(otherwise="general(x)"),
        saved=ways.saved("a"),
        result=_RESULT,
    )
    names = {"general_form": ways.general, "form64": ways.float64, "form32": ways.float32}
    return _generated(name, source, {**names, "function": function, "general": otherwise or general})


def operands(*values):
    """Tensors and numbers as operands of one type: what each is turned into before the operation."""
    d = dtypes.result_type(*values)
    return [cast(v, d) if isinstance(v, Tensor) else d.numpy.type(v) for v in values], d


_BINARY = """
def forward(x, y):
    if {unusual}:
        return general(x, y)
    {operand}
    if dtype is float64:
        forms = forms64
    elif dtype is float32:
        forms = forms32
    else:
        return general(x, y)
    kind = type(y)
    if kind is Tensor or kind is not float and kind is not int and isinstance(y, Tensor):
        {other_operand}
        if a is not b and (of_other is not dtype or a.shape != b.shape):
            return careful(x, y) if of_other is not dtype else broadcast(x, y)
        z = function(a, b)
        if type(z) is not ndarray:
            z = np.asarray(z)
            forms = general_forms
        if other is None:
            form = forms[0]
            edges = node
            saved = {saved_x}
        elif node is None:
            form = forms[1]
            edges = other
            saved = {saved_y}
        else:
            form = forms[2]
            edges = node, other
            saved = {saved_xy}
    elif kind is float or kind is int:
        b = known64(y) if dtype is float64 else known32(y)
        if b is None:
            b = BOXES[dtype][y]
        z = function(a, b)
        if type(z) is not ndarray:
            z = np.asarray(z)
            forms = general_forms
        form = forms[3]
        edges = node
        saved = {saved_n}
    else:
        return general(x, y)
    {check_type}
    {result}
"""


def binary(name, function, prepare=operands, with_number=2, number_name=None, otherwise=None):
    """The operation of two tensors (or a tensor and a number), by a NumPy function with an elementwise rule.

    `with_number` says how many arguments could have a derivative where the second is a number, and
    `number_name` is the operation's name there. `otherwise` takes operands of other kinds.
    """
    operation = elementwise_of(function)
    ways_x, ways_y, ways_xy = [_ways(operation, name, active, 2) for active in ((0,), (1,), (0, 1))]
    ways_n = _ways(operation, number_name or name, (0,), with_number, 1)
    ways = ways_x, ways_y, ways_xy, ways_n

    def careful(x, y):
        (x, y), _ = prepare(x, y)
        return call(name if isinstance(y, Tensor) else number_name or name, function, x, y)

    def broadcast(x, y):
        try:
            return call(name, function, x, y)
        except RuntimeError:
            return careful(x, y)  # which says what does not fit

    no_tensor = "type(x) is not Tensor and not isinstance(x, Tensor)"
    source = _filled(
        _BINARY,
        unusual="PAUSED.count" if otherwise else f"PAUSED.count or {no_tensor}",  # operators are of tensors
        operand=_operand("x", "node", "a", "dtype", "general(x, y)"),
        other_operand=_operand("y", "other", "b", "of_other", "careful(x, y)"),
        check_type="" if isinstance(function, np.ufunc) else _CHECKED.format(otherwise="careful(x, y)"),
        saved_x=ways_x.saved("a", "b"),
        saved_y=ways_y.saved("a", "b"),
        saved_xy=ways_xy.saved("a", "b"),
        saved_n=ways_n.saved("a", ways_n.name_of_number()),
        result=_RESULT,
    )
    names = {
        **{"function": function, "general": otherwise or careful, "careful": careful, "broadcast": broadcast},
        "general_forms": tuple([w.general for w in ways]),
        "forms64": tuple([w.float64 for w in ways]),
        "forms32": tuple([w.float32 for w in ways]),
    }
    return _generated(name, source, names)


_REFLECTED = """
def forward(x, y):
    kind = type(y)
    if PAUSED.count or kind is not float and kind is not int:
        return general(x, y)
    {operand}
    if dtype is float64:
        form = form64
    elif dtype is float32:
        form = form32
    else:
        return general(x, y)
    b = BOXES[dtype][y]
    z = function(b, a)
    if type(z) is not ndarray:
        z = np.asarray(z)
        form = general_form
    saved = {saved}
    {result}
"""


def reflected(name, ufunc, otherwise):
    """The operation of a number and a tensor, which is called with the tensor first, as operators are."""
    ways = _ways(elementwise_of(ufunc), name, (1,), 1, 0, (0,))
    source = _filled(
        _REFLECTED,
        operand=_operand("x", "edges", "a", "dtype", "general(x, y)"),
        saved=ways.saved(ways.name_of_number(), "a"),
        result=_RESULT,
    )
    names = {"general_form": ways.general, "form64": ways.float64, "form32": ways.float32}
    return _generated(name, source, {**names, "function": ufunc, "general": otherwise})


def product(name, function, otherwise):
    """The operation of two matrices or vectors of one type, by a NumPy function with a pullback for each.

    `otherwise` takes all other operands.
    """
    first, second = lookup(function).pullbacks.values()

    def forms(active, make):
        def make_twin():
            from s2sgrad.runtime.fallback import recording_rule

            return make(recording_rule(first), recording_rule(second))

        reads = tuple([1 - i for i in active])
        form = Form(name, make(first, second), active, None, make_twin, 2)
        return describe(form, Naming(active, 2, False, reads))

    form_x = forms((0,), lambda first, second: lambda g, x, y: first(g, None, x, y))
    form_y = forms((1,), lambda first, second: lambda g, x, y: second(g, None, x, y))
    form_xy = forms((0, 1), lambda f, s: lambda g, x, y: (f(g, None, x, y), s(g, None, x, y)))

    def forward(x, y):
        if PAUSED.count or not isinstance(x, Tensor) or not isinstance(y, Tensor):
            return otherwise(x, y)
        if x._inference or y._inference:
            return otherwise(x, y)
        node, other = node_of(x), node_of(y)
        a, b = x._a, y._a
        if a.dtype is not b.dtype or a.dtype is not _F64 and a.dtype is not _F32 or a.ndim != 2 or b.ndim != 2:
            return otherwise(x, y)
        if a.shape[1] != b.shape[0]:
            return otherwise(x, y)
        t = new(function(a, b), None)
        if node is None and other is None:
            return t
        n = t._node = Node()
        if other is None:
            n.form, n.edges, n.saved = form_x, node, (stand_in(a), b)
        elif node is None:
            n.form, n.edges, n.saved = form_y, other, (a, stand_in(b))
        else:
            n.form, n.edges, n.saved = form_xy, (node, other), (a, b)
        n.number = next(COUNTER)
        return t

    return forward


__all__ = ["binary", "operands", "product", "reflected", "unary"]
