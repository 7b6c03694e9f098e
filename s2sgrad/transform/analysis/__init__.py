"""What is known of a program's values before it runs."""

from s2sgrad.transform.analysis import results  # noqa: F401 - fills the table of types
