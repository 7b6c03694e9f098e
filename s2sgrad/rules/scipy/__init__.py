"""Derivatives of SciPy's functions, a library a file: each is read once its library has been imported (``LATER``)."""
