"""Looks through the statements of a function before they are lowered: what they bind, read, change and leave."""

from collections import Counter

import gast

from s2sgrad.transform import ir
from s2sgrad.transform.frontend import effects, syntax

LOOPS = (gast.For, gast.While, gast.AsyncFor)


def expressions_of(statement):
    """The outermost expressions that a statement evaluates: of a function that it defines, the defaults.

    >>> [s] = gast.parse("def f(a, b=x + 1):\\n    return a").body
    >>> [gast.unparse(e).strip() for e in expressions_of(s)]
    ['x + 1']
    """
    if isinstance(statement, syntax.FUNCTIONS):
        args = statement.args
        yield from [*getattr(statement, "decorator_list", ()), *args.defaults, *filter(None, args.kw_defaults)]
        return
    for child in syntax.children(statement):
        if isinstance(child, gast.expr):
            if isinstance(getattr(child, "ctx", None), (gast.Store, gast.Del)):
                yield from (c.slice for c in syntax.walk(child) if isinstance(c, gast.Subscript))
                yield from (c.value for c in targets_of(child) if isinstance(c, (gast.Subscript, gast.Attribute)))
            else:
                yield child
        elif not isinstance(child, (gast.expr_context, gast.operator, gast.alias)):
            yield from expressions_of(child)


def targets_of(target):
    """The parts of an assignment target, itself included."""
    yield target
    if isinstance(target, (gast.Tuple, gast.List)):
        for element in target.elts:
            yield from targets_of(element)
    elif isinstance(target, gast.Starred):
        yield from targets_of(target.value)


def target_name(target) -> str:
    return target.id if isinstance(target, gast.Name) else ""


def is_pair(target) -> bool:
    return isinstance(target, (gast.Tuple, gast.List)) and len(target.elts) == 2


def root_name(target) -> str:
    """The name whose value an assignment to `target` changes or sets: ``x`` of ``x[i].real``."""
    while isinstance(target, (gast.Subscript, gast.Attribute, gast.Starred)):
        target = target.value
    return target_name(target)


def assignments(statement):
    """Each assignment in a statement, at any depth: the names that it sets or changes, and the expression."""
    for node in syntax.walk(statement):
        if isinstance(node, gast.Assign):
            yield {root_name(t) for target in node.targets for t in targets_of(target)}, node.value
        elif isinstance(node, (gast.AugAssign, gast.AnnAssign)) and node.value is not None:
            yield {root_name(node.target)}, node.value
        elif isinstance(node, (gast.For, gast.AsyncFor)):
            yield {root_name(t) for t in targets_of(node.target)}, node.iter


def code_node(operand):
    return gast.Constant(operand.value, None) if isinstance(operand, ir.Constant) else operand.node


def jumps(statement) -> bool:
    """Does a `break` or `continue` of the loop around it stand in `statement`?"""
    if isinstance(statement, (gast.Break, gast.Continue)):
        return True
    if isinstance(statement, (*LOOPS, *syntax.FUNCTIONS)):
        return any(map(jumps, getattr(statement, "orelse", [])))
    return any(jumps(child) for child in syntax.children(statement) if not isinstance(child, gast.expr))


def breaks(statement) -> bool:
    """Does a `break` of the loop around it stand in `statement`?"""
    if isinstance(statement, (*LOOPS, *syntax.FUNCTIONS)):
        return any(map(breaks, getattr(statement, "orelse", [])))
    inner = (child for child in syntax.children(statement) if not isinstance(child, gast.expr))
    return isinstance(statement, gast.Break) or any(map(breaks, inner))


def exposed_names(body: list, names: syntax.Names) -> frozenset:
    """The names that `body` may read before it has assigned them.

    >>> tree = gast.parse("y = x\\nz = y + z")
    >>> sorted(exposed_names(tree.body, syntax.Names()))
    ['x', 'z']
    >>> sorted(exposed_names(gast.parse("while n:\\n y = x\\n z = y").body, syntax.Names()))
    ['n', 'x']
    """
    return frozenset(_exposed(body, names, set())[0])


def _exposed(body, names, done: set) -> tuple:
    found: set = set()
    done = set(done)
    for s in body:
        if isinstance(s, gast.If):
            found |= names.loads(s.test) - done
            first, done_then = _exposed(s.body, names, done)
            second, done_else = _exposed(s.orelse, names, done)
            found |= first | second
            ways = [d for d, body in ((done_then, s.body), (done_else, s.orelse)) if not syntax.ends(body)]
            done = set.intersection(*ways) if ways else done
        elif isinstance(s, gast.For):
            found |= names.loads(s.iter) - done
            found |= _exposed(s.body, names, done | names.stores(s.target))[0]
            found |= _exposed(s.orelse, names, done)[0]
        elif isinstance(s, gast.While):
            found |= names.loads(s.test) - done
            found |= _exposed(s.body, names, done)[0] | _exposed(s.orelse, names, done)[0]
        elif isinstance(s, gast.With):
            found |= set().union(*map(names.loads, s.items)) - done
            found |= _exposed(s.body, names, done.union(*map(names.stores, s.items)))[0]
        else:
            found |= names.loads(s) - done
            if isinstance(s, (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.FunctionDef)):
                done |= names.stores(s)
    return found, done


def defined_functions(body: list):
    """The functions that statements define, each with its name."""
    for node in (n for s in body for n in syntax.walk(s)):
        match node:
            case gast.FunctionDef(name=name, decorator_list=[]):
                yield name, node
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Lambda() as function):
                yield name, function


def count_bindings(body: list, parameters: list) -> dict:
    """How often each local name is bound; a binding inside of a loop counts as many."""
    found = dict.fromkeys(parameters, 1)

    def visit(node, times):
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            found[node.id] = found.get(node.id, 0) + times
        elif isinstance(node, syntax.FUNCTIONS):
            if not isinstance(node, gast.Lambda):
                found[node.name] = found.get(node.name, 0) + times
            found.update((name, found.get(name, 0) + 2) for name in syntax.rebound(node))
            return
        for child in syntax.children(node):
            visit(child, 2 if isinstance(node, LOOPS) else times)

    for statement in body:
        visit(statement, 1)
    return found


def counters(statement) -> set:
    """The names that a statement binds by nothing but ``for i in range(...)``, forwards or backwards."""
    found, others = set(), set()
    for node in syntax.walk(statement):
        if isinstance(node, gast.For) and isinstance(node.target, gast.Name):
            iterable = node.iter
            if is_call_of(iterable, ("reversed",)) and len(iterable.args) == 1:
                iterable = iterable.args[0]
            if is_call_of(iterable, ("range",)):
                found.add(node.target)
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            others.add(node)
    return {node.id for node in found} - {node.id for node in others - found}


def handed_over(body: list) -> set:
    """The names that are read for the last time where their list gets another name: ``new`` in ``values = new``.

    All that is done with such a name is done from the statement that makes its list to this one, in one block.
    """
    total = _counted(body)
    found = set()
    for block in syntax.blocks(body):
        for at, statement in enumerate(block):
            match statement:
                case gast.Assign(targets=[gast.Name()], value=gast.Name(id=name)):
                    since = next((i for i, s in enumerate(block[:at]) if _makes_list(s, name)), None)
                    if since is not None and _counted(block[since : at + 1])[name] == total[name]:
                        found.add(statement.value)
    return found


def _counted(statements: list) -> Counter:
    """How often names stand in statements."""
    return Counter(n.id for s in statements for n in syntax.walk(s) if isinstance(n, gast.Name))


def _makes_list(statement, name: str) -> bool:
    """Does it give a name a list that is made on the spot, whatever the name stood for before?"""
    match statement:
        case gast.Assign(targets=[gast.Name(id=target)], value=gast.List() | gast.ListComp() as made):
            return target == name and name not in _counted([made])
    return False


def changes_items(body: list, name: str) -> bool:
    """May a function change what is in a list of this name, other than putting other things there?"""
    for node in (n for s in body for n in syntax.walk(s)):
        changed = node.target if isinstance(node, gast.AugAssign) else node
        inside = isinstance(changed, (gast.Subscript, gast.Attribute)) and not isinstance(changed.ctx, gast.Load)
        if inside and name in root_names(changed) and (changed is not node or not isinstance(changed.value, gast.Name)):
            return True
        method = node.func if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) else None
        if method is not None and name in root_names(method) and not isinstance(method.value, gast.Name):
            return True
    return False


def mutable_names(
    body: list, names: syntax.Names, plain=frozenset(), given=frozenset(), holders=frozenset(), handed=frozenset()
) -> set:
    """The names whose objects the function changes, and those that may be other names of them.

    `plain` are the names of functions that give numbers only, `given` of what is given to functions that write,
    `holders` of containers that come in, `handed` those that are `handed_over`: nothing is changed by them afterwards.
    """
    found: set = set(given)
    made = set(holders).union(*(s for s in map(made_names, (n for b in body for n in syntax.walk(b)))))
    assigned: list = []
    taken: list = []  # names, and containers that what they stand for is taken from
    named: list = []  # names, and other names that what they stand for has
    for statement in body:
        for node in syntax.walk(statement):
            if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(node.ctx, gast.Load):
                found |= root_names(node)
            elif isinstance(node, gast.Call):
                if isinstance(node.func, gast.Attribute) and node.func.attr in effects.MUTATING_METHODS:
                    found |= root_names(node.func)
                if isinstance(node.func, gast.Attribute) and node.func.attr not in effects.known_methods():
                    found |= root_names(node.func) & made  # a method of the user's
                found |= set().union(*(root_names(k.value) for k in node.keywords if k.arg == "out"))
                if isinstance(node.func, gast.Attribute) and node.func.attr in WRITERS and node.args:
                    found |= root_names(node.args[0])
            elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                found.add(node.target.id)
            elif isinstance(node, gast.Assign) and node.value in handed and not changes_items(body, node.value.id):
                continue
            elif isinstance(node, gast.Assign):
                method = isinstance(node.value, gast.Call) and isinstance(node.value.func, gast.Attribute)
                holder = node.value.func if method else node.value
                taken.append((set().union(*map(names.stores, node.targets)), root_names(holder)))
                named += [pair for target in node.targets for pair in renamings(target, node.value)]
                if not is_call_of(node.value, plain):
                    assigned.append((set().union(*map(names.stores, node.targets)), names.loads(node.value)))
            elif isinstance(node, gast.For) and not is_call_of(node.iter, plain):
                assigned.append((names.stores(node.target), names.loads(node.iter)))
                taken.append((names.stores(node.target), names.loads(node.iter)))
    taken = [(stores, holders & made) for stores, holders in taken] + named
    # `x += 1` of a number is no change: that the name is listed here costs nothing but a shared subexpression
    size = -1
    while size != len(found):
        size = len(found)
        for stores, loads in assigned:
            if loads & found:
                found |= stores
        for stores, holders in taken:
            if stores & found:
                found |= holders
    return found


def renamings(target, value) -> list:
    """The pairs of names and of what may be other names for the same in ``a, b = b, c if test else d``."""
    sequences = gast.Tuple, gast.List
    if isinstance(target, sequences) and isinstance(value, sequences) and len(target.elts) == len(value.elts):
        return [p for pair in zip(target.elts, value.elts, strict=True) for p in renamings(*pair)]
    if isinstance(value, gast.IfExp):
        return renamings(target, value.body) + renamings(target, value.orelse)
    return [({target.id}, {value.id})] if isinstance(target, gast.Name) and isinstance(value, gast.Name) else []


def made_names(node) -> set:
    """The names that a statement gives to a container, or to what a function or class of the user's makes."""
    if not isinstance(node, gast.Assign):
        return set()
    called = isinstance(node.value, gast.Call) and isinstance(node.value.func, gast.Name)
    if called or isinstance(node.value, (gast.List, gast.Tuple, gast.Dict)):
        return {t.id for t in node.targets if isinstance(t, gast.Name)}
    return set()


def is_call_of(node, functions) -> bool:
    """Is it a call of one of the functions of these names?"""
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in functions


WRITERS = frozenset({*(f.__name__ for f in effects.MUTATORS), "at"})


def root_names(node) -> set:
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return {node.id} if isinstance(node, gast.Name) else set()
