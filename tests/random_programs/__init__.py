"""Random programs of the language that s2sgrad is for, differentiated in every way there is and compared.

The grammar is a class, a part of it a module: `expressions`, `statements`, `memory` (stores, views, second names),
`containers`, `flow` (branches and loops), `functions` (helpers, closures, recursion). `programs` puts a program
together, `judge` compares. ``python -m tests.random_programs --count 1000 --seed 1`` runs as many as asked.
"""
