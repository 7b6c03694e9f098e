"""Source to callable: the generated text becomes plain Python functions that live where the user's do.

After `emit`. The text is registered with `linecache`, so that tracebacks, debuggers and
``inspect.getsource`` show it. Nothing in it is executed here: the code objects are taken out of the
compiled text and made into functions whose globals are the user's module dictionary itself, whose
closure holds the user's own cells, and the helpers beside them. A call costs what a call costs.
"""

import ast
import inspect
import itertools
import linecache
import os
import types
import weakref

from s2sgrad.errors import Location
from s2sgrad.transform.emit.unit import Emitted, Unit

_numbers = itertools.count(1)
_lines: dict[str, dict] = {}  # for each generated file the user's line of a line


def load(emitted: Emitted, like=None):
    """The function that `emitted` begins with, ready to be called.

    Parameters
    ----------
    emitted : Emitted
    like : function, optional
        The user's function: its default values become those of the result.

    Returns
    -------
    function

    Examples
    --------
    >>> from s2sgrad.transform import emit, ir
    >>> x = ir.Value("x")
    >>> f = ir.Function("same", [ir.Parameter(x)], ir.Block([], (x,)), ir.Namespace({}))
    >>> same = load(emit.emit([f]))
    >>> same(3)
    3
    >>> print(inspect.getsource(same).strip())
    def same(x):
        return x
    """
    filename = f"<s2sgrad {emitted.units[0].name} {next(_numbers)}>"
    lines = emitted.source.splitlines(keepends=True)
    linecache.cache[filename] = (len(emitted.source), None, lines, filename)
    _lines[filename] = emitted.lines
    codes = _codes(emitted, filename)
    cells = {unit.name: types.CellType() for unit in emitted.units}
    for unit in emitted.units:
        cells[unit.name].cell_contents = _function(unit, codes[unit.name], cells)
    top = cells[emitted.units[0].name].cell_contents
    _take_defaults(top, like)
    weakref.finalize(top, _forget, filename).atexit = False
    return top


def _forget(filename: str) -> None:
    linecache.cache.pop(filename, None)
    _lines.pop(filename, None)


def annotate(error: BaseException) -> None:
    """Note on an exception which line of the user's the generated line comes from that raised it.

    (``from model.py:4: r = X @ w - y``)
    """
    place = origin(error)
    if place is not None:
        note = f"from {os.path.basename(place.file)}:{place.line}: {place.excerpt}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def origin(error: BaseException) -> Location | None:
    """The line of the user's that the innermost generated line comes from which an exception came through."""
    trace, place = error.__traceback__, None
    while trace is not None:
        known = _lines.get(trace.tb_frame.f_code.co_filename)
        if known and trace.tb_lineno in known:
            place = known[trace.tb_lineno]
        trace = trace.tb_next
    return place


def _free(unit: Unit) -> list[str]:
    """The names that reach a function through its closure."""
    return sorted({*unit.bound, *unit.siblings, *(unit.outside & unit.function.namespace.cells.keys())})


def _codes(emitted: Emitted, filename: str) -> dict:
    """The code object of each function, with its free names as closure variables.

    Each ``def`` is compiled inside of a function of its free names, which is what makes Python read
    them from the closure; line numbers stay those of the text.
    """
    module = ast.parse(emitted.source, filename)
    for i, (node, unit) in enumerate(zip(module.body, emitted.units, strict=True)):
        parameters = [ast.copy_location(ast.arg(name), node) for name in _free(unit)]
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        factory = ast.FunctionDef(node.name, arguments, [node], [], None, None)
        if hasattr(node, "type_params"):
            factory.type_params = []
        module.body[i] = ast.copy_location(factory, node)
    factories = compile(module, filename, "exec", dont_inherit=True)
    return {code.co_name: _code_named(code.co_name, code) for code in _inner_codes(factories)}


def _inner_codes(code) -> list:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _code_named(name: str, factory):
    return next(code for code in _inner_codes(factory) if code.co_name == name)


def _function(unit: Unit, code, cells: dict):
    """The function of a code object, among the user's globals and cells."""
    namespace = unit.function.namespace

    def cell(name):
        if name in unit.bound:
            return types.CellType(unit.bound[name])
        return cells[name] if name in unit.siblings else namespace.cells[name]

    code = code.replace(co_qualname=unit.name)
    return types.FunctionType(code, namespace.globals, unit.name, None, tuple(map(cell, code.co_freevars)))


def _take_defaults(function, like) -> None:
    """Give a generated function the very default values of the user's."""
    if like is not None:
        plain = inspect.unwrap(like)
        function.__defaults__ = getattr(plain, "__defaults__", None)
        function.__kwdefaults__ = getattr(plain, "__kwdefaults__", None)
