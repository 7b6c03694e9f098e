"""What the derivatives are: the one table, read by both engines, a family a file."""
