"""Finds the syntax tree of a function: the first step of its way to a gradient.

Only the lines of the function itself are parsed, and what is found is compiled again and compared with
the function's own code: a file that was edited after its import is noticed, and of several lambdas on
one line the right one is taken.
"""

import __future__

import ast
import dis
import functools
import linecache
import sys
from dataclasses import dataclass, field
from types import CodeType, FunctionType

import gast

from s2sgrad.errors import CompileError, Location

FUTURE = 0
for _name in __future__.all_feature_names:
    FUTURE |= getattr(__future__, _name).compiler_flag


@dataclass(eq=False)
class Found:
    """The source of one function.

    Attributes
    ----------
    tree : ast.FunctionDef or ast.AsyncFunctionDef or ast.Lambda
        Line numbers are those of the file.
    node : gast.FunctionDef or gast.AsyncFunctionDef or gast.Lambda
        The same, as most of the compiler reads it.
    name : str
    file : str
    lines : list of str
        The lines of the statement that the function stands in.
    first_line : int
        The line number of ``lines[0]``.
    """

    tree: ast.AST
    name: str
    file: str
    lines: list = field(repr=False)
    first_line: int = 1

    @functools.cached_property
    def node(self) -> gast.AST:
        node = gast.ast_to_gast(self.tree)
        for handler in (n for n in gast.walk(node) if isinstance(n, gast.ExceptHandler) and n.name is not None):
            while isinstance(handler.name.id, gast.Name):  # of a function in another one, which was turned before
                handler.name = handler.name.id
        return node

    def location(self, node=None) -> Location:
        """Where `node` (the function itself by default) stands."""
        line = getattr(node, "lineno", None) or self.node.lineno
        offset = line - self.first_line
        text = self.lines[offset].rstrip("\n") if 0 <= offset < len(self.lines) else ""
        return Location(self.file, line, text, self.name, getattr(node, "col_offset", None) or 0)


MOST = 1024  # functions that are remembered, and files
_CACHE: dict[int, tuple[CodeType, Found]] = {}  # by identity: equal code may stand in two places
_MODULES: dict[str, tuple[list, ast.Module]] = {}


def find(function) -> Found:
    """The syntax tree of `function`: a Python function, nested, lambda, method or decorated one.

    Raises
    ------
    CompileError
        Where there is no source, or where it no longer is that of the function.

    Examples
    --------
    >>> from s2sgrad.runtime import arrays
    >>> found = find(arrays.times)
    >>> type(found.node).__name__, found.node.name, found.lines[0]
    ('FunctionDef', 'times', 'def times(g, p):\\n')
    """
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if not isinstance(function, FunctionType) or code is None:
        name = getattr(function, "__qualname__", None) or repr(function)
        raise CompileError(f"{name} is no Python function: there is no source to differentiate")
    known = _CACHE.get(id(code))
    if known is not None:
        return known[1]
    found = _find(function, code)
    _remember(_CACHE, id(code), (code, found))
    return found


def _remember(cache: dict, key, value) -> None:
    """Keep what was found, and forget what was found first: functions come and go."""
    if len(cache) >= MOST:
        cache.pop(next(iter(cache)), None)
    cache[key] = value


def _find(function, code) -> Found:
    file, first = code.co_filename, code.co_firstlineno
    place = Location(file, first, function=function.__name__)
    lines = _lines(file, first, function.__globals__)
    if file == "<string>" or not 0 < first <= len(lines):  # text under that name is of whoever came last
        why = "there is no file of that name" if not file.startswith("<") else "typed at the prompt, with -c or by exec"
        raise CompileError(
            f"{function.__name__} has no source ({why}): put it in a file or a notebook cell to have it compiled", place
        )
    rewritten = type(function.__globals__.get("__loader__")).__name__ == "AssertionRewritingHook"
    for tree, start, end in _parses(lines, first, file):
        for node in _candidates(tree, code):
            _name_private(node, code)
            if rewritten or _is_source_of(node, code):
                return Found(node, function.__name__, file, lines[start - 1 : end], start)
    raise CompileError(
        f"the source of {function.__name__} is not what runs: was the file changed after its import?",
        Location(file, first, lines[first - 1], function.__name__),
    )


def _lines(file: str, first: int, names: dict) -> list:
    lines = linecache.getlines(file, names)
    if len(lines) < first:
        linecache.checkcache(file)
        lines = linecache.getlines(file, names)
    return lines


def _parses(lines: list, first: int, file: str):
    """The statement at line `first`, then the whole file: (tree, first line, last line) each."""
    margin = _indentation(lines[first - 1])
    head = "if 1:\n" if margin and first > 1 else ""
    lead = "\n" * (first - (2 if head else 1)) + head
    for end in _ends(lines, first, margin):
        try:
            yield ast.parse(lead + "".join(lines[first - 1 : end])), first, end
        except SyntaxError:
            continue
        break
    known = _MODULES.get(file)
    if known is None or known[0] is not lines:
        try:
            known = lines, ast.parse("".join(lines))
        except SyntaxError:
            return
        _remember(_MODULES, file, known)
    yield known[1], 1, len(lines)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _ends(lines: list, first: int, margin: int):
    """Where the statement at line `first` may end: before each later line that is not indented more."""
    last = first
    for number in range(first + 1, len(lines) + 1):
        text = lines[number - 1].strip()
        if not text or text.startswith("#"):
            continue
        if _indentation(lines[number - 1]) <= margin:
            yield last
        last = number
    yield last


def _candidates(tree: ast.Module, code: CodeType) -> list:
    """The functions in `tree` that may be the source of `code`, the likeliest first."""
    line = code.co_firstlineno
    if code.co_name != "<lambda>":
        functions = (s for s in _statements(tree) if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)))
        for node in functions:
            if node.name == code.co_name and min([node.lineno, *(d.lineno for d in node.decorator_list)]) == line:
                return [node]
        return []
    places = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and node.lineno == line:
            body = node.body
            begin, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
            if all(begin <= (p[0], p[2]) and (p[1], p[3]) <= end for p in places):
                found.append((end[0] - begin[0], end[1] - begin[1], len(found), node))
    return [entry[-1] for entry in sorted(found, key=lambda entry: entry[:3])]


def _statements(tree):
    """All statements in a tree, outer before inner."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            yield node
            yield from _statements(node)


def _name_private(node, code: CodeType) -> None:
    """Give the private attributes in a method the names that they have: ``self.__u`` is ``self._Model__u``."""
    private = [n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr[:2] == "__" != n.attr[-2:]]
    if not private:
        return
    codes, names = [code], set()
    for one in codes:
        names |= set(one.co_names)
        codes += [c for c in one.co_consts if isinstance(c, CodeType)]
    for n in private:
        named = sorted(name for name in names if name[0] == "_" != name[1:2] and name.endswith(n.attr))
        n.attr = min(named, key=len, default=n.attr)


def _is_source_of(node, code: CodeType) -> bool:
    """Does `node`, compiled where `code` was, give `code` again?"""
    args = node.args
    here = {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    bare = ast.arguments(
        args.posonlyargs, args.args, args.vararg, args.kwonlyargs, [None] * len(args.kwonlyargs), args.kwarg, []
    )
    if isinstance(node, ast.Lambda):
        inner = ast.Expr(ast.Lambda(bare, node.body, **here), **here)
    else:
        inner = type(node)("<own>", bare, node.body, [], None, **here)  # its own name must mean what it means outside
    cells = ast.arguments([], [ast.arg(name, **here) for name in code.co_freevars], None, [], [], None, [])
    outer = ast.FunctionDef("outer", cells, [inner, ast.Pass(**here)], [], None, **here)
    module = ast.Module([outer], [])
    try:
        compiled = compile(module, code.co_filename, "exec", code.co_flags & FUTURE, True)
    except (SyntaxError, ValueError):
        return False
    around = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    return any(isinstance(c, CodeType) and _same(c, code) for c in around.co_consts)


def _same(a: CodeType, b: CodeType) -> bool:
    if a.co_code != b.co_code and _instructions(a) != _instructions(b):
        return False
    if a.co_names != b.co_names or a.co_varnames != b.co_varnames:
        return False
    if len(a.co_consts) != len(b.co_consts) or a.co_freevars != b.co_freevars:
        return False
    for x, y in zip(a.co_consts, b.co_consts, strict=True):
        if isinstance(x, CodeType) and isinstance(y, CodeType):
            if not _same(x, y):
                return False
        elif type(x) is not type(y) or _local(repr(x)) != _local(repr(y)):
            return False
    return True


def _local(text: str) -> str:
    """The qualified name of a class in the function, without what the function is in."""
    return text.rpartition(".<locals>.")[2]


_SILENT = {"CACHE", "PRECALL", "PUSH_NULL", "EXTENDED_ARG", "NOP", "NOT_TAKEN"}
_JUMPS = {*dis.hasjrel, *dis.hasjabs}
_METHOD_BIT = sys.version_info >= (3, 12)  # the lowest bit of LOAD_ATTR says that a method is looked up


def _instructions(code: CodeType) -> list:
    """The instructions of `code`, without what depends on the module around it.

    A method call on a name that the module imports is compiled to other instructions than one on a name
    that it does not.
    """
    found = []
    more = 0
    for op, arg in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        name = dis.opname[op]
        arg |= more
        more = arg << 8 if name == "EXTENDED_ARG" else 0
        if name == "LOAD_METHOD":
            found.append(("LOAD_ATTR", arg))
        elif name == "LOAD_GLOBAL" or (name == "LOAD_ATTR" and _METHOD_BIT):
            found.append((name, arg >> 1))
        elif name not in _SILENT:
            found.append((name, 0 if op in _JUMPS else arg))
    return found
