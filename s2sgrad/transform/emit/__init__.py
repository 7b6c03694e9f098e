"""The intermediate language becomes source again, as a person would write it.

``trees`` folds temporaries into expressions, ``guarded`` finds placeholders that nobody reads, ``naming``
gives values their names, ``emitter`` writes the statements of a function and ``printer`` text; ``together``
makes one text of functions that call each other, ``load`` makes a function of the text, ``export`` a file.
"""

from s2sgrad.transform.emit.indices import is_basic
from s2sgrad.transform.emit.together import emit
from s2sgrad.transform.emit.unit import Emitted, Unit

__all__ = ["Emitted", "Unit", "emit", "is_basic"]
