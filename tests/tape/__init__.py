"""The tape: recording, the engine, memory, the fallback."""
