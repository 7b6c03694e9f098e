"""The intermediate language becomes source again, as a person would write it.

``trees`` folds temporaries into expressions, ``guarded`` finds placeholders that nobody reads, ``naming``
gives values their names, ``emitter`` writes statements and ``printer`` text; ``load`` makes a function of
the text, ``export`` a file.
"""

from s2sgrad.transform.emit.emitter import Emitted, Unit, emit, is_basic

__all__ = ["Emitted", "Unit", "emit", "is_basic"]
