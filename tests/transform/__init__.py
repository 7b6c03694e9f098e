"""Tests of the compiler: source to IR, IR to its derivative, IR to source."""
