"""A corpus of small programs, each run compiled, on the tape and by finite differences.

One module a theme. A program is a function in a real source file and a point; `corpus.program` registers
it, `test_programs` checks it.
"""
