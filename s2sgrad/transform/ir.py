"""The intermediate language: structured, single assignment, one operation a statement.

A function is a block; a block is a list of statements and the operands it hands on (its *results*);
branches and loops contain blocks. There are no jumps, so what comes out at the end keeps the shape of
what the user wrote. Every `Value` is assigned once. What Python does by rebinding a name is said by
results: an `If` has results (one per name that either branch may have rebound), a `For` has carried
values. Names come back in the emitter, which gives the versions of one name the same name wherever
they do not get in each other's way.

Statements that no derivative flows through stay the user's own syntax trees (`Verbatim`, and `Code`
inside an operand). The derivative of a program is a program of the same language, so it can be
differentiated again.

The user's function ::

    def f(x, n):
        y = 0.0
        for i in range(n):
            y = y + np.sin(x[i])
        return y

in this language ::

    f(x: array*, n):                                     # * marks what a derivative flows through
        for i in Code(range(n)) carrying y* = [0.0]:
            t1* = operator.getitem(x, i)
            t2* = np.sin(t1)
            y'* = operator.add(y, t2)
            -> y'
        => y''*
        -> y''
"""

import enum
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from types import NoneType
from typing import Any

import gast

from s2sgrad.errors import Location

# ---------------------------------------------------------------------------------------------- types


class Kind(enum.Enum):
    """What a value is, as far as it decides what an operation on it means."""

    NUMBER = "number"  # Python or NumPy scalar: immutable, `x += v` rebinds
    ARRAY = "array"  # ndarray, also of dimension 0: `x += v` writes into it
    TUPLE = "tuple"
    LIST = "list"
    DICT = "dict"
    RECORD = "record"  # dataclass or namedtuple, a pytree with named fields
    CALLABLE = "callable"
    OTHER = "other"  # strings, None, modules, objects: never differentiated
    UNKNOWN = "unknown"  # a number or an array, not known which (or anything at all)


@dataclass(frozen=True, slots=True)
class Type:
    """What is known of a value before the program runs. Every unknown is None: it costs, it never misleads.

    Attributes
    ----------
    kind : Kind
    dtype : str or None
        NumPy dtype name ("float64", "complex64", "int64", "bool"), or "float", "int", "complex" for
        Python's own numbers, which are weak in promotion (NEP 50).
    ndim : int or None
    shape : hashable or None
        A token: two values with equal tokens have equal shapes at run time. ``()`` for numbers.
    items : tuple of Type, or None
        Containers whose length is known: the types of the elements, in order.
    keys : tuple or None
        DICT: the keys of `items`. RECORD: the field names.
    element : Type or None
        Containers whose length is not known: what each element is.
    cls : type or None
        RECORD, OTHER: the class. NoneType is that of None alone.
    contiguous : bool
        ARRAY: surely in one piece of memory, in the order of its elements, so that its reshaped is a view of it.
    function : callable, Nested or None
        CALLABLE: the function that it surely is, the object itself or one that the program defines.
    """

    kind: Kind = Kind.UNKNOWN
    dtype: str | None = None
    ndim: int | None = None
    shape: Hashable = None
    items: "tuple[Type, ...] | None" = None
    keys: tuple | None = None
    element: "Type | None" = None
    cls: type | None = None
    contiguous: bool = False
    function: object = None

    @property
    def is_real(self) -> bool:
        """Surely no complex numbers in it."""
        return self.dtype is not None and not self.dtype.startswith("complex")


UNKNOWN = Type()
FLOAT = Type(Kind.NUMBER, "float", 0, ())
INT = Type(Kind.NUMBER, "int", 0, ())
FLOAT64 = Type(Kind.NUMBER, "float64", 0, ())
OTHER = Type(Kind.OTHER)
NONE = Type(Kind.OTHER, cls=NoneType)

# ------------------------------------------------------------------------------------------- operands


@dataclass(slots=True, eq=False)
class Value:
    """One value of the program, assigned once.

    `name` is what it would like to be called (the user's name, `d` + name for its cotangent, a short
    word for a temporary); several values may share a wish. `active`: a derivative flows through it.
    `partial`: it is None, and is not used, unless some flag is set; so is its cotangent.
    `maybe`: a saved value, which is None where a turn or a way did not come to it.
    `own`: it is surely in memory of its own, whatever the code that gives it reads.
    `length`: of a number that is surely the length of an axis, its symbol.
    """

    name: str
    type: Type = UNKNOWN
    active: bool = False
    partial: bool = False
    maybe: bool = False
    own: bool = False
    length: Hashable = None

    def __repr__(self) -> str:
        return self.name + "*" * self.active


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: None, a bool, a number, a string, Ellipsis, or a tuple or slice of such."""

    value: Any


@dataclass(slots=True, eq=False)
class Code:
    """An expression of the user's, verbatim, that no derivative flows through.

    It is cheap and has no effects, so that it may be written again in the backward pass
    (``i + 1``, ``slice(1, n)``, ``x.shape[0]``, ``len(x)``, ``W``, ``np.pi``). Anything else is
    computed once, by a `Bind`.

    `reads` maps the local names in `node` to the values they stand for; names that are not in it are
    globals, closure variables or builtins, resolved by Python when the generated code runs.
    """

    node: gast.AST
    reads: dict[str, Value] = field(default_factory=dict)
    type: Type = UNKNOWN


Operand = Value | Constant | Code

# Where a derivative is absent: the cotangent of something nothing depends on. Never printed.
ZERO = Constant(None)

# ----------------------------------------------------------------------------------------- statements


@dataclass(slots=True, eq=False)
class Op:
    """``target = function(*args, **kwargs)``: one pure operation.

    `function` is the key into the rule table, with `args` and `kwargs` as that function takes them
    (``x.sum(axis=0)`` has ``np.sum`` and ``(x,), {"axis": 0}``; ``x * y`` has ``operator.mul``;
    ``x[i]`` has ``operator.getitem``; ``x.T`` has ``np.transpose``; a field of a record has
    ``getattr``). `spelling` says how it stands in the source:

    * None: by `function` itself: an operator of module `operator` as its symbol, ``np.sin``, a helper
      of `runtime.arrays` or a rule function by its name;
    * a `Code`: the callee as the user spelled it (``xnp.sum``, ``sin``);
    * a str: the first argument's method (``"sum()"``) or attribute (``"T"``) of that name.

    `again`: it cannot fail, for it has been done before with this array, say.
    `adjoint_of`: of a backward statement, the target of the forward one that it belongs to the adjoint of.
    """

    target: Value
    function: Callable
    args: tuple[Operand, ...] = ()
    kwargs: dict[str, Operand] = field(default_factory=dict)
    spelling: "Code | str | None" = None
    location: Location | None = None
    again: bool = False
    adjoint_of: Value | None = None


@dataclass(slots=True, eq=False)
class Bind:
    """``target = code``: an inactive expression, evaluated once, here."""

    target: Value
    code: Code
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Verbatim:
    """A statement of the user's that no derivative flows through (it may be a whole loop).

    `reads` and `writes` map its local names to the values they stand for before and after.
    """

    node: gast.AST
    reads: dict[str, Value] = field(default_factory=dict)
    writes: dict[str, Value] = field(default_factory=dict)
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Make:
    """``target = (items)``, ``[items]``, ``{keys: items}`` or ``cls(field=item)``, by the type of `target`.

    An item ZERO is an absent cotangent and is written None.
    """

    target: Value
    items: tuple[Operand, ...]
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Unpack:
    """``a, (b, c) = source``: `targets` is a tuple of values or of such tuples; None skips an element."""

    targets: tuple
    source: Operand
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Accumulate:
    """``target = into`` with `value` added at `index` (everywhere where `index` is None).

    `into` is a buffer (array, or container of cotangents) that the program made itself, that nothing
    else refers to, and that is not read again under its old name: it is written in place,
    ``into[index] += value``. In a container an absent (None) slot counts as zero.
    """

    target: Value
    into: Value
    index: Operand | None
    value: Operand
    location: Location | None = None
    adjoint_of: Value | None = None  # as of an `Op`


@dataclass(slots=True, eq=False)
class Store:
    """``through[index] = value``: writes into the memory of `into`; `target` is that array afterwards.

    `target` is the same object as `into`, which must not be read again under its old name, nor may any
    other value that shares its memory (`aliases`). To whoever looks at the flow of values it is an
    operation like any other: `target` depends on `into` and on `value`.

    Attributes
    ----------
    index : operand or None
        Where; None for everywhere.
    operator : callable or None
        None for ``=``; ``operator.add`` for ``+=``, ``operator.sub`` for ``-=``; ``np.add`` and ``np.subtract`` for
        ``np.add.at`` and ``np.subtract.at``, to which each of several values in one place counts.
    through : Value or None
        A view of `into` that the index is an index of; None for `into` itself.
    lasting : bool
        Somebody outside of the function may see it: it is made whether its target is read or not.
    adjoint_of : Value or None
        As of an `Op`.
    """

    target: Value
    into: Value
    index: Operand | None
    value: Operand
    operator: Callable | None = None
    through: Value | None = None
    lasting: bool = False
    location: Location | None = None
    adjoint_of: Value | None = None


@dataclass(slots=True, eq=False)
class Push:
    """``into.append(item)``: `target` is that list afterwards, the same object.

    As with `Accumulate`, the program has made the list itself, and nothing reads it again under its old name.
    """

    target: Value
    into: Value
    item: Operand
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Pop:
    """``item = into.pop()``: `target` is that list afterwards, the same object.

    `item` is a value or a (nested) tuple of values; None is thrown away.
    """

    target: Value
    item: Any
    into: Value
    location: Location | None = None


@dataclass(slots=True, eq=False)
class Callee:
    """A Python function specialised to argument types and activity: what a `Call` calls.

    `function` is None while it is still being lowered (recursion); afterwards its `Function`.
    """

    name: str
    active: tuple[bool, ...]
    function: "Function | None" = None


@dataclass(slots=True, eq=False)
class Call:
    """``target = callee(*args)``: the call of another generated function.

    All its parameters are passed, in order; what a nested function captures is passed as well, as
    further arguments.
    """

    target: Value
    callee: Callee
    args: tuple[Operand, ...]
    location: Location | None = None


@dataclass(slots=True, eq=False)
class PlainCall(Call):
    """``target = function(*args, name=arg)``: the call of a function that runs as it is, being none of this language.

    Attributes
    ----------
    function : Code or Value
        What is called; `callee` has its name alone.
    keywords : tuple of str
        The names of the last arguments, which are passed by them.
    recorded : tuple or None
        The positions and names of the arguments to differentiate, where it runs on the tape: `target` is then
        the pair of the result and of the pullback.
    """

    function: Operand = None
    keywords: tuple = ()
    recorded: tuple | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Statements in order, and the operands it hands on to the statement around it."""

    statements: list = field(default_factory=list)
    results: tuple[Operand, ...] = ()


@dataclass(slots=True, eq=False)
class If:
    """One of two blocks; `results` are assigned from the results of the block that ran.

    A result that one branch does not define is ``Constant(None)`` there.
    """

    test: Operand
    then: Block
    orelse: Block
    results: tuple[Value, ...] = ()
    location: Location | None = None


@dataclass(slots=True, eq=False)
class With(If):
    """``with test: then``: `test` is the context manager, which lets all exceptions through; `orelse` never runs.

    Attributes
    ----------
    again : bool
        It concerns what runs within it and nothing else: the backward pass enters it again. Where not, it is entered
        once, whatever is left within.
    """

    again: bool = True


@dataclass(slots=True, eq=False)
class Try(With):
    """``try: then``, with what happens where that raises, and finally, which does not go on after it.

    `test` is a `Code` of a ``gast.Try`` with an empty body: of what stays as the user wrote it.
    """

    again: bool = False


@dataclass(slots=True, eq=False)
class Attempt(If):
    """What is tried (`then`), and what is done where that raises what a handler catches that goes on (`orelse`).

    `then` begins with the `Try` whose block may raise, and goes on after it where it has not. `test` is a `Code` of a
    ``gast.Try`` with an empty body: of its handlers, `orelse` is what the one does that does not end by raising, after
    what stays there as the user wrote it. `orelse` may run after a part of that block has run: it finds every value as
    it was before.
    """


@dataclass(slots=True, eq=False)
class Same(If):
    """Nothing is done: the result is the array ``orelse.results[0]``, which is ``then.results[0]`` where `test` holds.

    That one has been written to, so that the array must not be read under its old name: to whoever looks at the flow
    of values, it has become one or the other.
    """


@dataclass(slots=True, eq=False)
class Source:
    """What a loop iterates over, and what each element is bound to.

    `element` is a value or a (nested) tuple of values. `iterable` is an operand; `reverse` iterates
    over it backwards. `count` (with iterable None) is the running index of ``enumerate``.
    """

    element: Any
    iterable: Operand | None
    reverse: bool = False
    count: bool = False
    start: Operand = Constant(0)


@dataclass(slots=True, eq=False)
class Carried:
    """A value that goes from iteration to iteration: `initial`, then what the body hands on.

    Inside the body it is `parameter`; after the loop it is `result`.
    """

    parameter: Value
    initial: Operand
    result: Value


@dataclass(slots=True, eq=False)
class For:
    """``for elements in zip(sources): body``.

    ``body.results`` holds first the next values of `carried`, in order, then one operand per entry of
    `collected`: each iteration appends it to that list (``saved.append((x, t))`` when the operand is a
    `Make`), and the list is the value after the loop.
    """

    sources: list[Source]
    carried: list[Carried]
    body: Block
    collected: list[Value] = field(default_factory=list)
    location: Location | None = None


@dataclass(slots=True, eq=False)
class While(For):
    """``while test: body``: a loop without sources, with all else that a `For` has.

    `test` is evaluated before each iteration; it reads the carried values as `parameter`.
    """

    test: Operand = Constant(True)


@dataclass(slots=True, eq=False)
class Exit:
    """``break``: the loop around it ends after this iteration has handed on its results.

    It is the last statement of a block of an `If` that is the last statement of a block ... of the loop's
    body, but for what puts results together (`Make`). So nothing is skipped, and to whatever looks at the flow of
    values a loop with an exit is like any other: it may run fewer times than its sources have elements.
    """

    location: Location | None = None


Statement = (
    Op | Bind | Verbatim | Make | Unpack | Accumulate | Store | Push | Pop | Call | If | With | For | While | Exit
)

# ------------------------------------------------------------------------------------------ functions


@dataclass(slots=True, eq=False)
class Namespace:
    """Where the global and closure names of a user function live: the generated code shares them.

    `globals` is the user's module dictionary itself and `cells` the user's closure cells themselves,
    so that what is read is always what is there at the time of the call.
    """

    globals: dict
    cells: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Parameter:
    """A parameter of a generated function: `spelling` is "", "*" or "**"; `keyword_only` follows ``*``.

    `fixed`: each call leaves it to its default, and what that does is known.
    """

    value: Value
    spelling: str = ""
    keyword_only: bool = False
    default: Code | None = None
    fixed: bool = False


@dataclass(slots=True, eq=False)
class Function:
    """A function of this language: of the user's, or generated from one.

    Attributes
    ----------
    name : str
    parameters : list of Parameter
    body : Block
        ``body.results`` holds one operand, what it returns.
    namespace : Namespace
    location : Location
        Of the user's function.
    doc : str
        What the emitter writes as its docstring ("" for none).
    backward_at : int or None
        Generated functions: the index in ``body.statements`` where the backward pass begins.
    own : int or None
        How many statements at the beginning are the user's; None: all, or all before the backward pass.
        (In a derivative of a derivative the forward pass is generated, too.)
    """

    name: str
    parameters: list[Parameter]
    body: Block
    namespace: Namespace
    location: Location | None = None
    doc: str = ""
    backward_at: int | None = None
    own: int | None = None
