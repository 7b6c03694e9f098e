"""Where operations are entered: as functions of the torch namespace, as methods, or both."""

from s2sgrad.runtime.eager.tensor import Tensor

FUNCTIONS = {}  # name -> function of the torch namespace
LINALG, SPECIAL, FFT = {}, {}, {}  # the same of torch.linalg, torch.special, torch.fft
NN = {}  # and of torch.nn.functional


def enter(name, function, *, method=True, function_too=True):
    """Enter an operation under `name`."""
    if function_too:
        FUNCTIONS[name] = function
    if method:
        setattr(Tensor, name, function)
    return function


def op(*names, method=True, function=True):
    """Enter the decorated function under its own name and `names`."""

    def decorate(f):
        for name in (f.__name__.rstrip("_") or f.__name__, *names):
            enter(name, f, method=method, function_too=function)
        return f

    return decorate


def method(*names):
    """Enter the decorated function as a method only."""

    def decorate(f):
        for name in names or (f.__name__,):
            setattr(Tensor, name, f)
        return f

    return decorate


def _of_namespace(table, namespace):
    def names(*names):
        def decorate(f):
            for name in names or (f.__name__,):
                table[name] = f
            return f

        return decorate

    names.__doc__ = f"Enter the decorated function in ``{namespace}``."
    return names


linalg = _of_namespace(LINALG, "torch.linalg")
special = _of_namespace(SPECIAL, "torch.special")
fft = _of_namespace(FFT, "torch.fft")
nn = _of_namespace(NN, "torch.nn.functional")


def sizes(args):
    """``f(2, 3)`` and ``f((2, 3))`` as one."""
    if len(args) == 1 and not isinstance(args[0], int):
        args = args[0]
    if not isinstance(args, tuple | list):
        args = (args,)
    return tuple([int(n) for n in args])
