"""Random programs of the language that s2sgrad is for, differentiated in every way there is and compared.

The grammar is a class, a part of it a module: `expressions`, `algebra` (methods of ufuncs, einsum, small systems),
`statements`, `memory` (stores, views, second names), `dtypes` (complex numbers, integers, arrays without axes or
entries), `containers`, `flow` (branches and loops), `loose` (names of arrays of any shape), `filling` (lists, dicts
and masks that loops fill), `objects`, `functions` (helpers, closures, generators, recursion). `programs` puts a program
together, `judge` compares. ``python -m tests.random_programs --count 1000 --seed 1`` runs as many as asked.
"""
