"""Who shares memory with whom, and whose contents change: what every pass asks that moves, shares or saves reads.

The language assigns each value once, but the contents of an array may change: a `Store` (or an
`Accumulate`) writes into memory, and gives the array as it is afterwards a new value. The old value must
not be read again, nor may anything else that shares its memory: a view, another name, what a loop handed
on. `Memory` finds these classes of values, generously: whatever is not surely in memory of its own may
share that of its operands.
"""

import itertools
import operator

import gast
import numpy as np

from s2sgrad.rules import shapes
from s2sgrad.runtime import arrays
from s2sgrad.transform import ir, walk
from s2sgrad.transform.analysis import types
from s2sgrad.transform.ir import Kind, Value

_OPERATORS = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow, operator.matmul,
    operator.floordiv, operator.mod, operator.pos, abs,
}  # fmt: skip
_NEW = {
    np.zeros, np.ones, np.full, np.empty, np.ndarray, np.eye, np.identity, np.arange, np.linspace, np.zeros_like,
    np.ones_like, np.full_like, np.empty_like, np.copy, np.concatenate, np.stack, np.vstack, np.hstack, np.dstack,
    np.column_stack, np.where, np.sum, np.mean, np.prod, np.var, np.std, np.cumsum, np.cumprod, np.tile, np.repeat,
    np.outer, np.dot, np.inner, np.tensordot, np.kron, np.convolve, np.interp, np.sort, np.argsort, np.roll, np.take,
    np.append, np.clip, np.tril, np.triu, np.max, np.min, np.linalg.inv, np.linalg.solve, np.linalg.norm, np.linalg.det,
    np.linalg.cholesky, np.ndarray.flatten, np.argmax, np.argmin, np.vdot, np.fft.fft, np.fft.ifft, np.fft.rfft,
    np.fft.irfft,
    np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.rfft2, np.fft.irfft2, np.fft.fftfreq, np.fft.rfftfreq,
    np.gradient, np.trapezoid, np.quantile, np.percentile, np.median, np.kron, np.cross, np.cov, np.corrcoef,
    np.bincount, np.searchsorted, np.digitize, np.pad, np.delete, np.insert, np.take_along_axis, np.tri, np.logspace,
    np.geomspace, np.flatnonzero, np.argwhere, np.isclose, np.isin, np.linalg.eigvalsh, np.linalg.lstsq, np.resize,
    np.partition, np.shape, np.vander,
    arrays.over, arrays.times, arrays.embed, arrays.from_rows, arrays.zeros_of, arrays.sum_of_outers,
    arrays.where_less, arrays.is_less, arrays.part_where, arrays.part_where_not, arrays.reached, arrays.hit_count,
    arrays.inner,
}  # fmt: skip
_VIEWS = {
    np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.flip, np.flipud, np.fliplr, np.rot90, np.expand_dims,
    np.squeeze, np.matrix_transpose, np.atleast_1d, np.atleast_2d,
}  # fmt: skip
RESHAPED = {np.reshape, np.ravel}  # a view where the array is in one piece
UNCHANGED = {np.asarray, np.asanyarray}  # an array itself

# Operations that look at the shape, the dtype, the structure or the identity of some arguments only; of which ones.
_SHAPES = {
    np.zeros_like: (0,), np.ones_like: (0,), np.empty_like: (0,), np.full_like: (0,), np.shape: (0,), np.size: (0,),
    np.ndim: (0,), len: (0,), operator.is_: (0, 1), arrays.is_same: (0, 1),
    arrays.unbroadcast: (1,), arrays.as_gradient: (1,), arrays.as_cotangent: (1,), arrays.widened: (1,),
    arrays.zeros_of: (0,), arrays.from_rows: (1,), arrays.from_items: (1,), arrays.slots_of: (0,), arrays.embed: (1,),
    shapes.conversion_pullback: (2,), shapes.like_arrays: (1,), arrays.hit_count: (2,), arrays.shared_out: (1,),
}  # fmt: skip


# Methods that give the array itself where there is nothing to do, as the functions of their names do not.
ITSELF = {"conj()", "conjugate()"}


def is_new(function, kwargs=(), spelling=None) -> bool:
    """Is the result of calling `function`, written like that, surely in memory of its own?

    Examples
    --------
    >>> is_new(np.sin), is_new(np.copy), is_new(np.reshape)
    (True, True, False)
    """
    if isinstance(spelling, str) and spelling in ITSELF:
        return False
    if function is np.array or function is np.astype:
        return "copy" not in kwargs
    try:
        known = function in _NEW or function in _OPERATORS
    except TypeError:
        return False
    return known or isinstance(function, np.ufunc)


def may_view(function) -> bool:
    """Can the result of `function` be a view of its first argument?"""
    try:
        return function in _VIEWS or function in RESHAPED or function in UNCHANGED
    except TypeError:
        return False


def is_view(s: ir.Op) -> bool:
    """Is the result of an operation surely a view of its first argument?"""
    if not s.args or not isinstance(s.args[0], Value) or s.args[0].type.kind is not Kind.ARRAY:
        return False
    if s.target.type.kind is not Kind.ARRAY:
        return False
    if s.function is operator.getitem:
        return is_slice(s.args[1])
    if s.function is np.reshape and s.args[0].type.ndim == 1 and not s.kwargs and s.target.type.ndim is not None:
        lengths = [types.constant(n) for n in s.args[1:]]
        if lengths in ([-1], [(-1,)], [(1, -1)], [(-1, 1)]):
            return True  # at whatever steps its entries lie
    if s.function in RESHAPED:
        return s.args[0].type.contiguous and s.target.type.contiguous and not s.kwargs
    if s.function in UNCHANGED:
        return len(s.args) == 1 and not s.kwargs
    return may_view(s.function)


def is_slice(index) -> bool:
    """Is an index surely a basic one: integers, slices, None and Ellipsis?"""
    from s2sgrad.transform.emit import is_basic

    return is_basic(index)


def is_gathered(function, args) -> bool:
    """Do these arguments say that what comes of them is in memory of its own?

    So they do where an array is indexed by an array or a list, alone or among others, and where `np.einsum` has several
    arrays, or sums: of one it gives a view else.

    >>> a, i = Value("a", ir.Type(Kind.ARRAY, "float64", 2, ("m", "n"))), Value("i", ir.Type(Kind.ARRAY, "int64", 1))
    >>> is_gathered(operator.getitem, (a, i)), is_gathered(operator.getitem, (a, ir.Constant(slice(1, None))))
    (True, False)
    >>> [is_gathered(np.einsum, (ir.Constant(text), a)) for text in ("ij->j", "ij->ji")]
    [True, False]
    """
    if function is np.einsum:
        labels = types.products.labels_of(args[0], args[1:]) if args else None
        return labels is not None and (len(labels[0]) > 1 or not set(labels[0][0]) <= set(labels[1]))
    if function is not operator.getitem or len(args) != 2 or types.type_of(args[0]).kind is not Kind.ARRAY:
        return False
    index = types.type_of(args[1])
    return any(map(_picks, index.items or ())) if index.kind is Kind.TUPLE else _picks(index)


def is_copied(s: ir.Op) -> bool:
    """Is it a list of numbers that is put together of others, or cut out of one?"""
    lists = [s.target, *s.args] if s.function is operator.concat else [s.target, *s.args[:1]]
    return s.function in (operator.concat, operator.getitem) and all(is_of_numbers(types.type_of(x)) for x in lists)


def is_of_numbers(t: ir.Type) -> bool:
    """Is it a list of numbers, whatever their number is?"""
    elements = t.items if t.items is not None else (t.element or ir.UNKNOWN,)
    return t.kind is Kind.LIST and all(e.kind is Kind.NUMBER for e in elements)


def _picks(t: ir.Type) -> bool:
    return t.kind is Kind.LIST or (t.kind is Kind.ARRAY and bool(t.ndim))


def contents_of(s) -> list:
    """The values of whose contents, and not only of whose shape, a statement itself makes use."""
    if not isinstance(s, ir.Op):
        return [v for operand in walk.operands(s) for v in contents(operand)]
    places = [*enumerate(s.args), *s.kwargs.items()]
    if s.again:  # an array is looked at that may have been written to
        places = places[1:]
    found = [v for at, operand in places if _looks(s.function, at) for v in contents(operand)]
    return [*found, *walk.values(s.spelling)] if isinstance(s.spelling, ir.Code) else found


def contents(operand) -> list:
    """The values of whose contents an operand makes use.

    >>> u, i = Value("u", ir.Type(Kind.ARRAY, "float64", 1)), Value("i", ir.INT)
    >>> node = gast.parse("i + len(u) - u.shape[0]", mode="eval").body
    >>> contents(ir.Code(node, {"u": u, "i": i}))
    [i]
    """
    if not isinstance(operand, ir.Code) or all(v.type.kind is not Kind.ARRAY for v in operand.reads.values()):
        return list(walk.values(operand))
    names = _looked_into(operand.node)
    return [v for name, v in operand.reads.items() if name in names or v.type.kind is not Kind.ARRAY]


def _looked_into(node) -> set:
    """The names that an expression reads more than the shape of, if they are those of arrays."""
    match node:
        case gast.Name(id=name):
            return {name}
        case (
            gast.Attribute(value=gast.Name(), attr="shape" | "ndim" | "size" | "dtype")
            | gast.Call(func=gast.Name(id="len"), args=[gast.Name()])
        ):
            return set()
    return set().union(*map(_looked_into, gast.iter_child_nodes(node)))


def contents_read(block: ir.Block) -> set:
    """The values whose contents are read in a block, at any depth, or handed on by it."""
    found = {v for r in block.results for v in contents(r)}
    for s in block.statements:
        found.update(contents_of(s))
        if not isinstance(s, ir.Same):  # in which nothing is done
            found.update(*map(contents_read, walk.blocks(s)))
    return found


def shapes_of(function) -> tuple:
    """Of which arguments a function looks at the shape, the dtype or the structure only."""
    try:
        return _SHAPES.get(function, ())
    except TypeError:
        return ()


def _looks(function, at) -> bool:
    return at not in shapes_of(function)


class Classes:
    """Values in classes, which are joined.

    Examples
    --------
    >>> classes = Classes()
    >>> classes.join("a", "b")
    >>> classes.root("a") is classes.root("b"), classes.members("b"), classes.members("c")
    (True, ['a', 'b'], ['c'])
    """

    def __init__(self):
        self._parent: dict = {}
        self._members: dict = {}

    def root(self, v):
        """What stands for the class of `v`."""
        root = v
        while root in self._parent:
            root = self._parent[root]
        while v in self._parent and self._parent[v] is not root:
            self._parent[v], v = root, self._parent[v]
        return root

    def members(self, v) -> list:
        """All that is in the class of `v`."""
        return self._members.get(self.root(v), [v])

    def join(self, a, b) -> None:
        """Make one class of those of `a` and `b`."""
        a, b = self.root(a), self.root(b)
        if a is not b:
            self._parent[b] = a
            self._members.setdefault(a, [a]).extend(self._members.pop(b, [b]))


class Memory:
    """The memory of one function.

    Parameters
    ----------
    block : Block
    regions : Regions, optional
        Which parts of its arrays are written to; else a write changes all of an array.
    later : iterable of Value
        Whose contents may be changed after the function, and before its backward pass.

    Attributes
    ----------
    changes : bool
        May the contents of any array be other ones in the backward pass than they once were?

    Examples
    --------
    >>> array = ir.Type(Kind.ARRAY, "float64", 1, "n")
    >>> a, b, v, w = (Value(name, array) for name in "abvw")
    >>> slice_ = ir.Op(v, operator.getitem, (a, ir.Constant(slice(1, None))))
    >>> fresh = ir.Op(w, np.sin, (v,))
    >>> store = ir.Store(b, a, ir.Constant(0), ir.Constant(1.0))
    >>> memory = Memory(ir.Block([slice_, fresh, store], (b,)))
    >>> [memory.is_volatile(x) for x in (a, v, w, b)]
    [True, True, False, False]
    >>> memory = Memory(ir.Block([slice_, fresh], (w,)), later=[a])
    >>> [memory.is_volatile(x) for x in (a, v, w)]
    [True, True, False]
    """

    def __init__(self, block: ir.Block, regions=None, later=()):
        self._regions = regions
        self._classes = Classes()
        self._at: dict = {}
        self._loops: dict = {}
        self._writes: list = []
        self._versions = Classes()  # of one array, one after the other
        self._shared: list = []  # views and other names, and what has them; since when, and inside of which loops
        self._written: dict = {}  # what stands for a class -> what writes to it, when, and inside of which loops
        statements = list(walk.statements(block))
        stores = any(isinstance(s, ir.Store) for s in statements)
        later = [v for v in later if isinstance(v, Value)]
        if stores or later or any(isinstance(s, ir.Accumulate) for s in statements):
            self._survey(block, (), [0])
            for s, at, loops in self._writes if stores else self._shown():
                self._written.setdefault(self._classes.root(s.into), []).append((s, at, loops))
        self._later = {self._classes.root(v) for v in later}
        self.changes = bool(self._written or self._later)

    def _shown(self) -> list:
        """The additions to what has a view or another name by then: the others show nowhere but in the sum."""
        shared: dict = {}
        for v, at, loops in self._shared:
            shared.setdefault(self._versions.root(v), []).append((at, loops))
        return [
            (s, at, loops)
            for s, at, loops in self._writes
            if any(
                since < at or not set(around).isdisjoint(loops)
                for since, around in shared.get(self._versions.root(s.into), ())
            )
        ]

    # ---- classes

    def _share(self, target, operand, at: int, loops: tuple) -> None:
        """`target` may share memory with what `operand` reads."""
        for v in self._held(target, operand):
            self._classes.join(target, v)
            self._shared += [(target, at, loops), (v, at, loops)]

    def _hand_over(self, target, operand) -> None:
        """`target` is what `operand` was, which is not read any more."""
        for v in self._held(target, operand):
            self._classes.join(target, v)
            self._versions.join(target, v)

    def _held(self, target, operand) -> list:
        return [v for v in walk.values(operand) if _can_hold(v)] if _can_hold(target) else []

    def _survey(self, block: ir.Block, loops: tuple, clock: list) -> None:
        for s in block.statements:
            clock[0] += 1
            self._statement(s, loops, clock[0])
            for v in walk.enters(s):
                self._at[v], self._loops[v] = clock[0], (*loops, id(s))
            inside = (*loops, id(s)) if isinstance(s, ir.For) else loops
            for inner in walk.blocks(s):
                self._survey(inner, inside, clock)
            clock[0] += 1
            for v in walk.defines(s):
                self._at[v], self._loops[v] = clock[0], loops

    def _statement(self, s, loops: tuple, at: int) -> None:
        match s:
            case ir.Store() | ir.Accumulate():
                self._hand_over(s.target, s.into)
                self._writes.append((s, at, loops))
                if s.into.type.kind is not Kind.ARRAY:  # what is put into a container is there as it is
                    self._share(s.target, s.value, at, loops)
            case ir.Push():
                self._hand_over(s.target, s.into)
                self._share(s.target, s.item, at, loops)
            case ir.Pop():
                self._hand_over(s.target, s.into)
                for v in walk.pattern(s.item):
                    self._share(v, s.into, at, loops)
            case ir.Op():
                holds = s.target.type.kind not in (Kind.NUMBER, Kind.ARRAY, Kind.UNKNOWN)
                new = is_new(s.function, s.kwargs, s.spelling) or is_gathered(s.function, s.args)
                if (holds or not new) and not is_copied(s):
                    places = [*enumerate(s.args), *s.kwargs.items()]
                    for place, operand in places[:1] if s.function is operator.getitem or is_view(s) else places:
                        if _looks(s.function, place):
                            self._share(s.target, operand, at, loops)
            case ir.Bind() | ir.Make() | ir.Unpack() | ir.Call() | ir.Verbatim():
                for target in walk.defines(s):
                    for operand in walk.operands(s) if not target.own else ():
                        self._share(target, operand, at, loops)
            case ir.If():
                for result, *ends in zip(s.results, s.then.results, s.orelse.results, strict=True):
                    for end in ends:
                        self._hand_over(result, end)
            case ir.For():
                inside = (*loops, id(s))
                for source in s.sources:
                    for v in walk.pattern(source.element):
                        if source.iterable is not None:
                            self._share(v, source.iterable, at, inside)
                n = len(s.carried)
                for c, following in zip(s.carried, s.body.results, strict=False):
                    self._hand_over(c.result, c.parameter)
                    self._hand_over(c.parameter, c.initial)
                    self._hand_over(c.parameter, following)
                for v, operand in zip(s.collected, s.body.results[n:], strict=True):
                    self._share(v, operand, at, inside)

    # ---- questions

    def members(self, v: Value) -> set:
        """All values that may share memory with `v`."""
        return set(self._classes.members(v))

    def changed_with(self, v: Value) -> set:
        """All values that may change where the array `v` is written to, or added to."""
        return self.members(v) if self._written else set(self._versions.members(v))

    def is_written(self, v) -> bool:
        """May the memory of a value be written to anywhere in the function?"""
        return isinstance(v, Value) and self._classes.root(v) in self._written

    def is_volatile(self, v) -> bool:
        """May the contents of `v` be other ones in the backward pass than when it was defined?"""
        if not isinstance(v, Value) or not _can_hold(v):
            return False
        if self._classes.root(v) in self._later:
            return True
        if not self.is_written(v):
            return False
        at, own = self._at.get(v, -1), self._loops.get(v, ())
        for s, when, loops in self._written[self._classes.root(v)]:
            around = tuple(itertools.takewhile(set(loops).__contains__, own))
            changes = when > at or around
            if changes and not (self._regions and self._regions.are_apart(v, s, when > at, around)):
                return True
        return False


def _can_hold(v) -> bool:
    """Can a value be, or hold, an array?"""
    if v.type.kind is Kind.TUPLE and v.type.items is not None:
        return any(item.kind is not Kind.NUMBER for item in v.type.items)
    return v.type.kind not in (Kind.NUMBER, Kind.CALLABLE)
