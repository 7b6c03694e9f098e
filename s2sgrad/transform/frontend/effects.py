"""Who may change what: memory regions, and functions that write.

The backward pass reads values again that the forward pass read. That is right only for values that
nobody changes in between. So each value belongs to a *region* of memory, shared by whatever may be a
view of it or may hold it, and a region is *frozen* by its first use in a differentiated operation: a
write to it afterwards is refused (by the compiler; the tape runs then). An array that is filled first
and used afterwards is fine.
"""

import functools
import inspect
import itertools
import operator
import sys
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType

import gast
import numpy as np

from s2sgrad.errors import CompileError
from s2sgrad.runtime.keywords import is_overwriting, positions
from s2sgrad.transform import classes
from s2sgrad.transform.frontend import resolve, source, syntax

# Methods that change their object, whatever it is.
MUTATING_METHODS = frozenset(
    {
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "fill",
        "put",
        "itemset",
        "partition",
        "resize",
        "setflags",
        "setfield",
        "byteswap",
        "add",
        "discard",
        "appendleft",
        "extendleft",
        "popleft",
        "rotate",
        "move_to_end",
        "subtract",
    }
)

# Methods that change nothing that a derivative could see (drawing a random number is an effect, but a harmless one).
HARMLESS_METHODS = frozenset(
    {
        "items",
        "keys",
        "values",
        "get",
        "copy",
        "format",
        "join",
        "split",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "lower",
        "upper",
        "replace",
        "index",
        "count",
        "normal",
        "uniform",
        "random",
        "standard_normal",
        "integers",
        "choice",
        "permutation",
        "rand",
        "randn",
        "randint",
        "random_sample",
        "binomial",
        "poisson",
        "exponential",
        "gamma",
        "beta",
        "multivariate_normal",
        "lognormal",
        "laplace",
        "is_integer",
        "hex",
        "encode",
        "title",
        "islower",
        "isupper",
    }
)

# What `operator` calls the statements that change their first operand.
IN_PLACE = frozenset(
    ["setitem", "delitem", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand", "ior"]
    + ["ixor", "ilshift", "irshift", "iconcat"]
)

# Functions that write into an argument, and which one.
MUTATORS = {
    **{getattr(operator, name): 0 for name in IN_PLACE},
    np.copyto: 0,
    np.put: 0,
    np.place: 0,
    np.putmask: 0,
    np.fill_diagonal: 0,
    np.put_along_axis: 0,
    np.random.shuffle: 0,
    setattr: 0,
    delattr: 0,
    next: 0,
}

# Functions that call one of their arguments, and which one.
CALLING = {
    **dict.fromkeys([map, filter, functools.reduce, functools.partial], 0),
    **dict.fromkeys([itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.filterfalse], 0),
    itertools.accumulate: 1,
    **dict.fromkeys([np.apply_along_axis, np.apply_over_axes, np.vectorize, np.frompyfunc, np.fromfunction], 0),
    np.piecewise: 2,
}
# Functions that make one which does no more than what they are given.
MAKING = frozenset([functools.partial, operator.itemgetter, operator.attrgetter])
# Functions that ask something of their arguments, and call none of them.
ASKING = frozenset([isinstance, issubclass, callable, hasattr, getattr, id, type, repr, str, print, len, bool, hash])

# Functions that may read or change local variables without naming them.
OPAQUE = frozenset([eval, exec, compile, locals, globals, vars, dir, input, sys._getframe, inspect.currentframe])


def mutator(function) -> int | None:
    """The position of the argument that a function writes to, or None.

    Examples
    --------
    >>> mutator(np.add.at), mutator(np.copyto), mutator(np.sort)
    (0, 0, None)
    """
    name = getattr(function, "__name__", "")
    at = name == "at" and isinstance(getattr(function, "__self__", None), np.ufunc)
    if at or name == "shuffle":
        return 0
    return MUTATORS.get(function) if getattr(function, "__hash__", None) else None


def is_mutating_name(attr: str) -> bool:
    """Is it the name of a method that changes its object?

    Examples
    --------
    >>> is_mutating_name("fill"), is_mutating_name("__imul__"), is_mutating_name("sum")
    (True, True, False)
    """
    return attr in MUTATING_METHODS or attr.strip("_") in IN_PLACE


def handed(call, function) -> list:
    """By which expressions a call of `function` may hand functions on, each with whether it is surely called.

    They are arguments and what is in displays among them; calls, where what they give is called.

    Examples
    --------
    >>> call = gast.parse("np.piecewise(x, [g(x) > 0], [f, g(h)], *(k,), key=xs[0])", mode="eval").body
    >>> [(gast.unparse(node).strip(), called) for node, called in handed(call, np.piecewise)]
    [('x', False), ('xs[0]', True), ('f', True), ('g(h)', True), ('k', False)]
    """
    called = {id(node) for node in called_by(call, function)}
    found = []
    queue = [(node, id(node) in called) for node in (*call.args, *(k.value for k in call.keywords))]
    for node, is_called in queue:
        parts = []
        match node:
            case gast.Name() | gast.Attribute() | gast.Subscript():
                found.append((node, is_called))
            case gast.Call() if is_called:
                found.append((node, is_called))
            case gast.List(elts=parts) | gast.Tuple(elts=parts) | gast.Set(elts=parts) | gast.BoolOp(values=parts):
                pass
            case gast.Dict(values=parts):
                pass
            case gast.Starred(value=part):
                parts = [part]
            case gast.IfExp(body=first, orelse=second):
                parts = [first, second]
        queue += [(part, is_called) for part in parts]
    return found


def is_mutating_method(function) -> bool:
    """Is it a method, bound to an object already, that changes the object?

    Examples
    --------
    >>> is_mutating_method([].append), is_mutating_method(np.ones(2).__setitem__), is_mutating_method(np.ones(2).sum)
    (True, True, False)
    """
    owner = getattr(function, "__self__", None)
    bound = isinstance(function, (BuiltinFunctionType, MethodWrapperType)) and not inspect.ismodule(owner)
    return bound and is_mutating_name(function.__name__)


@functools.cache
def out_position(function) -> int | None:
    """Where a function of NumPy takes, among its positional arguments, the array that it writes its result into.

    Examples
    --------
    >>> out_position(np.add), out_position(np.clip), out_position(np.add.reduce), out_position(np.sort)
    (2, 3, 3, None)
    """
    if isinstance(function, np.ufunc):
        return function.nin
    if isinstance(getattr(function, "__self__", None), np.ufunc):
        return {"reduce": 3, "accumulate": 3, "reduceat": 4}.get(function.__name__)
    if function in _OUT:
        return _OUT[function]
    try:
        names = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    places = [i for i, p in enumerate(names) if p.name == "out" and p.kind is not p.KEYWORD_ONLY]
    return places[0] if places else None


# Those whose signature cannot be asked for; an array that is made around a buffer is one that may be written into.
_OUT = {np.dot: 2, np.concatenate: 2, np.ndarray: 2}


def overwritten(function, call) -> list:
    """The arguments that options of NumPy and SciPy let a call write into: ``overwrite_b=True``, ``output=w``.

    Examples
    --------
    >>> call = gast.parse("f(a, q, None, None, True)", mode="eval").body
    >>> [gast.unparse(node).strip() for node in overwritten(np.quantile, call)]
    ['a', 'q']
    """
    if not resolve.is_trusted(function) or not getattr(function, "__hash__", None):
        return []
    many = len(call.args) > 2 or any(isinstance(a, gast.Starred) for a in call.args)
    named = any(k.arg is None or k.arg == "output" or is_overwriting(k.arg) for k in call.keywords)
    if not many and not named:
        return []
    given = dict(zip(positions(function), call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
    found = []
    for name, value in given.items():
        literal = isinstance(value, gast.Constant)
        if name == "output" and not literal:
            found.append(value)
        elif name and is_overwriting(name) and not (literal and not value.value):
            of = given.get(name.removeprefix("overwrite_"))
            found += [of] if of is not None else [a for a in call.args if not isinstance(a, gast.Constant)]
    return found


def out_of_method(name: str) -> int | None:
    """Where a method of this name takes the array that it writes its result into."""
    from s2sgrad.rules import table

    method = table.METHODS.get(name)
    if method is None or method.variadic:
        return _OUT_OF_METHODS.get(name)
    place = out_position(method.function)
    return None if place is None else place - 1


# Methods without a rule, and where they take it; the last ones draw random numbers.
_OUT_OF_METHODS = {
    **{"all": 1, "any": 1, "argmax": 1, "argmin": 1, "choose": 1, "round": 1},
    **{"standard_normal": 2, "random": 2, "standard_exponential": 3, "standard_gamma": 3, "permuted": 2},
}


class Region:
    """A piece of memory that values share, or may share. Regions are joined when values turn out to.

    Attributes
    ----------
    external : bool
        It may exist outside of the function: in an argument, a global, an object.
    container : bool
        A known list, dict or object outside, itself and not an array that may be in it.
    born : tuple
        The loops around the place where it was made.
    frozen : bool
        A differentiated operation has read it.
    writes : list of tuple
        The loops around each place where it is written to.
    stored : bool
        It is an array that is written to by a `Store`.
    """

    __slots__ = ("_parent", "born", "container", "external", "frozen", "stored", "writes")

    def __init__(self, born: tuple = (), external: bool = False, container: bool = False):
        self._parent = None
        self.external = external
        self.container = container
        self.born = born
        self.frozen = False
        self.writes: list = []
        self.stored = False

    def root(self) -> "Region":
        """The region that this one has become part of."""
        region = self
        while region._parent is not None:
            region = region._parent
        return region

    def join(self, other: "Region") -> "Region":
        """Say that both are one.

        >>> a, b = Region(), Region()
        >>> a.freeze(())
        >>> b.join(a).write(())
        'is changed after a differentiated operation has read it'
        """
        a, b = self.root(), other.root()
        if a is not b:
            b._parent = a
            a.external = a.external or b.external
            a.container = a.container and b.container
            a.born = common(a.born, b.born)
            a.frozen = a.frozen or b.frozen
            a.writes += b.writes
            a.stored = a.stored or b.stored
        return a

    def freeze(self, loops: tuple) -> str | None:
        """A differentiated operation inside of `loops` reads it: why that cannot be, or None."""
        region = self.root()
        region.frozen = True
        if region.writes and region.external:
            return "is changed by the function"
        if any(len(common(w, loops)) > len(common(region.born, common(w, loops))) for w in region.writes):
            return "is changed and read in turns by a loop"
        return None

    def write(self, loops: tuple) -> str | None:
        """Something inside of `loops` writes to it: why that cannot be, or None."""
        region = self.root()
        region.writes.append(loops)
        if region.external and not region.container:
            return "may be seen from outside of the function, or be another name of an array that is differentiated"
        if region.frozen:
            return "is changed after a differentiated operation has read it"
        return None


def common(a: tuple, b: tuple) -> tuple:
    """The common beginning of two tuples."""
    n = 0
    while n < len(a) and n < len(b) and a[n] == b[n]:
        n += 1
    return a[:n]


class Purity:
    """Tells functions that change nothing but their own local variables.

    Examples
    --------
    >>> import statistics
    >>> Purity().reason(statistics.mean) is None
    True
    """

    def __init__(self):
        self._reasons: dict = {}
        self._misleading: dict = {}
        self._alive: list = []

    def reason(self, function) -> str | None:
        """Why `function` is not surely pure; None where it is."""
        while isinstance(function, functools.partial):
            function = function.func
        if isinstance(function, MethodType):
            if resolve.is_trusted(function.__func__):
                return None
            function = function.__func__
        if isinstance(function, FunctionType) and resolve.is_trusted(function):
            return None
        examine = self._examine if isinstance(function, FunctionType) else self._reason_of_object
        return self._once(function, None, lambda: examine(function))

    def _once(self, function, cls, examine) -> str | None:
        """What `examine` says of a function, or of a method of an object of `cls`, found out once."""
        key = id(function), cls
        if key not in self._reasons:
            before = len(self._reasons)
            self._reasons[key] = None  # a recursive call adds nothing of its own
            self._alive.append(function)
            reason = self._reasons[key] = examine()
            if reason is not None:  # what was found to be pure since then may have relied on this one
                for other in [k for k in [*self._reasons][before + 1 :] if self._reasons[k] is None]:
                    del self._reasons[other]
        return self._reasons[key]

    def _reason_of_object(self, function) -> str | None:
        if mutator(function) is not None:
            return "it writes into its argument"
        if is_mutating_method(function):
            return f"{function.__name__} changes what it is a method of"
        if function in OPAQUE if function.__hash__ else False:
            return "it may do anything"
        if resolve.is_trusted(function):
            return None
        if isinstance(function, type):
            made = [inspect.getattr_static(function, n, None) for n in ("__init__", "__new__", "__post_init__")]
            return next((r for r in [self._reason_of_maker(maker, function) for maker in made] if r), None)
        if isinstance(function, BuiltinFunctionType):
            return f"what {function.__name__} does cannot be seen"
        call = inspect.getattr_static(type(function), "__call__", None)
        if hasattr(function, "__s2sgrad__"):
            return self.reason(function.__s2sgrad__.function)
        return (
            self.reason(call)
            if isinstance(call, FunctionType)
            else f"what {getattr(function, '__name__', repr(function))} does cannot be seen"
        )

    def _reason_of_maker(self, maker, cls) -> str | None:
        # what a constructor stores in the new object is not a change of anything older
        plain = (
            isinstance(maker, FunctionType) and maker.__name__ != "__new__" and maker.__code__.co_filename != "<string>"
        )
        return self.reason_of_method(maker, cls) if plain else None

    def reason_of_method(self, function, cls) -> str | None:
        """Why a method of an object of `cls` may change something else than its object; None where it does not."""
        first = function.__code__.co_varnames[:1]
        if not first:
            return "it has no first argument"
        return self._once(function, cls, lambda: self._examine(function, own=first[0], cls=cls))

    def reason_of_generator(self, function) -> str | None:
        """Why a generator function may change something while it runs; None where it surely does not."""
        return self._examine(function, yields=True)

    def misleading(self, t) -> str | None:
        """A method that an object in a value of type `t` has, which changes something, and has a name like NumPy's.

        Of a method that is called `copy` or `sum` it is assumed that it changes nothing, where its object is unknown.

        >>> class Counter:
        ...     def count(self):
        ...         self.n += 1
        >>> Counter.count.__module__ = Counter.__module__ = "program"
        >>> Purity().misleading(resolve.ir.Type(resolve.ir.Kind.OTHER, cls=Counter))
        'Counter.count'
        """
        own = t.cls if t.cls is not None and not resolve.is_trusted(t.cls) else None
        if own is not None and own not in self._misleading:
            self._misleading[own] = next(filter(None, (self._misleads(own, n) for n in known_methods())), None)
        held = [k for k, item in zip(t.keys or (), t.items or (), strict=False) if item.cls is FunctionType]
        found = next((f"{own.__name__}.{k}" for k in held if own is not None and k in known_methods()), None)
        parts = [*(t.items or ()), *((t.element,) if t.element is not None else ())]
        return found or self._misleading.get(own) or next(filter(None, map(self.misleading, parts)), None)

    def _misleads(self, cls, name: str) -> str | None:
        method = inspect.getattr_static(cls, name, None)
        method = getattr(method, "__func__", method)
        mine = isinstance(method, FunctionType) and not resolve.is_trusted(method)
        return f"{cls.__name__}.{name}" if mine and self.reason(method) else None

    def _examine(self, function, own: str = "", yields: bool = False, cls=None) -> str | None:
        try:
            node = source.find(function).node
        except CompileError:
            return f"the source of {function.__name__} is not to be had"
        if isinstance(node, gast.AsyncFunctionDef):
            return f"{function.__name__} is a coroutine"
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        outside = resolve.Outside(resolve.ir.Namespace(function.__globals__, cells), {}, {})
        body = [node.body] if isinstance(node, gast.Lambda) else node.body
        home = cells[syntax.HOME].cell_contents if syntax.HOME in cells else None
        return _Examiner(self, outside, node, body, own, yields, cls, home).run()


class _Examiner:
    """Looks through one function for anything that may write to what it did not make itself."""

    def __init__(self, purity, outside, node, body, own, yields, cls, home):
        self.purity, self.outside, self.node, self.body, self.yields = purity, outside, node, body, yields
        self.cls, self.home = cls, home  # that of the object which it is a method of, and the one it stands in
        self.local = set(syntax.parameters(node))
        self.fresh: set = {own} if own else set()
        self.arrays: set = set()  # those of them that are arrays, of which all parts are new, too
        self.reason = ""

    def run(self) -> str | None:
        names = syntax.Names()
        for child in self.body:
            self.local |= names.stores(child)
        self.arrays = self._fresh_locals(self._is_new_array)
        self.fresh |= self._fresh_locals(self._is_new)
        return next((r for child in self.body for r in map(self._problem, syntax.walk(child)) if r), None)

    def _fresh_locals(self, is_new) -> set:
        """Local names that only ever stand for what the function has just made."""
        nodes = [node for child in self.body for node in syntax.walk(child)]
        made = [(place.id, value) for place, value in given(nodes) if isinstance(place, gast.Name)]
        other = {name for name, value in made if value is None or not is_new(value)}
        other = other.union(*(syntax.Names().stores(n.pattern) for n in nodes if isinstance(n, gast.match_case)))
        return {name for name, _ in made} - other - set(syntax.parameters(self.node))

    def _is_new(self, value) -> bool:
        if isinstance(value, (gast.Constant, gast.BinOp, gast.UnaryOp, gast.Compare, gast.JoinedStr)):
            return True
        if isinstance(value, (gast.List, gast.Dict, gast.Set, *syntax.COMPREHENSIONS)):
            return True
        if not isinstance(value, gast.Call) or any(k.arg in (None, "copy") for k in value.keywords):
            return False
        known = self._function(value.func)
        if known is None:  # a method, perhaps
            return isinstance(value.func, gast.Attribute) and value.func.attr in NEW
        return getattr(known, "__name__", "") in NEW and resolve.is_trusted(known)

    def _is_new_array(self, value) -> bool:
        """Is it an array of numbers that NumPy makes? What else is new may hold what is not."""
        if not isinstance(value, gast.Call) or not self._is_new(value):
            return False
        module = getattr(self._function(value.func), "__module__", None) or ""
        said = {word for n in syntax.walk(value) for word in (getattr(n, k, None) for k in ("id", "attr", "value"))}
        return module.partition(".")[0] == "numpy" and said.isdisjoint({"object", "object_", "O"})

    def _problem(self, node) -> str | None:
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            return f"it rebinds {node.names[0]} outside of itself"
        if isinstance(node, (gast.Yield, gast.YieldFrom, gast.Await)) and not self.yields:
            return "it is a generator"
        if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
            return self._write(node)
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            return None if node.target.id in self.fresh else f"it changes {node.target.id} in place"
        if isinstance(node, gast.AugAssign):
            return None if self._is_count(node.target) else self._write(node.target, inside=True)
        if isinstance(node, gast.Call):
            return self._call(node)
        return None

    def _write(self, node, inside=False) -> str | None:
        """Why what stands at a place is not the function's own to set or, `inside`, to change in place."""
        inside = inside or isinstance(node.value, (gast.Subscript, gast.Attribute))
        while isinstance(node, (gast.Subscript, gast.Attribute)):
            node = node.value
        name = getattr(node, "id", "an object")
        return None if name in (self.arrays if inside else self.fresh) else f"it writes into {name}"

    def _is_count(self, target) -> bool:
        """Is it an attribute of its object to which the class gives no other values than literal numbers?"""
        values = self._given_by_class(target.attr) if self._is_own(target) else None
        return bool(values) and all(map(is_number, values))

    def _is_own(self, node) -> bool:
        """Is it an attribute of the object that the function is a method of, and that it may change?"""
        own = isinstance(node, gast.Attribute) and getattr(node.value, "id", None) in self.fresh - self.arrays
        return own and self.cls is not None and node.value.id in syntax.parameters(self.node)

    def _given_by_class(self, attr: str) -> list | None:
        """The values that methods of the class give to an attribute of that name; None where that cannot be seen."""
        values = []
        for method in (f for c in self.cls.__mro__ for f in vars(c).values() if isinstance(f, FunctionType)):
            try:
                places = given([*syntax.walk(source.find(method).node)])
            except CompileError:
                return None
            values += [v for place, v in places if isinstance(place, gast.Attribute) and place.attr == attr]
        return values

    def _own_method(self, node):
        """The method that is called of the object itself, which no attribute of the object's own hides."""
        method = inspect.getattr_static(self.cls, node.attr, None) if self._is_own(node) else None
        plain = isinstance(method, FunctionType) and self._given_by_class(node.attr) == []
        return method if plain else None

    def _call(self, node) -> str | None:
        if syntax.is_inherited(node.func):
            return self._inherited(node.func)
        function = self._function(node.func)
        if writes_out(function, node) or any(k.arg == "out" for k in node.keywords):
            return "it writes into an array (out=)"
        if function is not None and overwritten(function, node):
            return "it lets arrays be overwritten"
        if function is not None:
            return self.purity.reason(function) or self._handed(node, function)
        if (method := self._own_method(node.func)) is not None:
            return self.purity.reason_of_method(method, self.cls) or self._handed(node, method)
        if isinstance(node.func, gast.Attribute):
            if node.func.attr in MUTATING_METHODS:
                return self._write(node.func) or self._handed(node)
            if node.func.attr in known_methods():
                return self._handed(node)
        return f"what {gast.unparse(node.func).strip()} does cannot be seen"

    def _handed(self, call, function=None) -> str | None:
        """Why a function that is handed to another one, which may call it, is not surely pure."""
        if is_one_of(function, ASKING):
            return None
        return next(filter(None, (self._problem_of_handed(*part) for part in handed(call, function))), None)

    def _problem_of_handed(self, node, called: bool) -> str | None:
        if isinstance(node, gast.Call) and is_one_of(self._function(node.func), MAKING):
            return None
        function = self._function(node)
        if callable(function):
            return self.purity.reason(function)
        if function is None and isinstance(node, gast.Attribute) and is_mutating_name(node.attr):
            return self._write(node)
        return f"what {gast.unparse(node).strip()} does cannot be seen" if function is None and called else None

    def _inherited(self, called) -> str | None:
        """Why a method that is inherited may change something else than its object."""
        first, given = syntax.parameters(self.node)[:1], called.value.args
        home = self._function(given[0]) if given else self.home
        own = self.fresh.issuperset(first) and [getattr(a, "id", "") for a in given[1:]] in ([], first)
        plain = own and self._function(called.value.func) is super and self.cls is not None
        method = classes.inherited(self.cls, home, called.attr) if plain else None
        if method is None:
            return f"what super().{called.attr} does cannot be seen"
        return self.purity.reason_of_method(method, self.cls)

    def _function(self, node):
        if isinstance(node, gast.Name):
            if node.id in self.local:
                return None
            try:
                return self.outside.name(node.id).value
            except CompileError:
                return None
        if isinstance(node, gast.Attribute):
            base = self._function(node.value)
            found = resolve.MISSING if base is None else resolve.plain_attribute(base, node.attr)
            return None if found is resolve.MISSING else found
        return None


def given(nodes: list) -> list:
    """The places that statements among `nodes` set, each with the value that it is given; None for a part of one.

    >>> tree = gast.parse("a = b.c = 1; d, e = f; a += 2")
    >>> [(gast.unparse(place).strip(), value and value.value) for place, value in given([*gast.walk(tree)])]
    [('a', 1), ('b.c', 1), ('d', None), ('e', None)]
    """
    values = {id(t): n.value for n in nodes if isinstance(n, gast.Assign) for t in n.targets}
    values |= {id(n.target): n.value for n in nodes if isinstance(n, gast.AnnAssign)}
    unset = {id(n.target) for n in nodes if isinstance(n, gast.AugAssign)} | {i for i, v in values.items() if v is None}
    parts = (gast.Tuple, gast.List, gast.Starred)  # hold the places that are set
    places = [n for n in nodes if isinstance(getattr(n, "ctx", None), gast.Store) and not isinstance(n, parts)]
    return [(place, values.get(id(place))) for place in places if id(place) not in unset]


def is_number(node) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (int, float))


def is_one_of(function, functions) -> bool:
    """Is something, which need not be hashable, one of some functions?"""
    return bool(getattr(function, "__hash__", None)) and function in functions


def called_by(call, function) -> list:
    """The arguments of a call of a function of Python's or NumPy's that it surely calls."""
    place = CALLING.get(function) if getattr(function, "__hash__", None) else None
    if (getattr(function, "__module__", None) or "").startswith(("scipy.optimize", "scipy.integrate")):
        place = 0
    found = [] if place is None else call.args[place : place + 1]
    return found + [k.value for k in call.keywords if k.arg == "key"]


def writes_out(function, node) -> bool:
    """May a call have an array to write into among its positional arguments? (`function` is None for a method)"""
    if function is None:
        place = out_of_method(node.func.attr) if isinstance(node.func, gast.Attribute) else None
    elif not resolve.is_trusted(function) or not getattr(function, "__hash__", None):
        return False
    else:
        place = out_position(function)
    if place is None:
        return False
    return len(node.args) > place or any(isinstance(a, gast.Starred) for a in node.args)


NEW = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "full",
        "eye",
        "array",
        "copy",
        "zeros_like",
        "ones_like",
        "empty_like",
        "full_like",
        "arange",
        "linspace",
    }
)


def known_methods() -> frozenset:
    """The names of methods that change nothing."""
    from s2sgrad.rules import table

    return HARMLESS_METHODS | table.METHODS.keys() | table.INACTIVE_METHODS
