"""What generated code and the tape need while they run."""
