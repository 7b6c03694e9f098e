"""How a program becomes its derivative: source, IR, passes, source."""
