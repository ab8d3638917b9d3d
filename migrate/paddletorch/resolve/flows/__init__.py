"""Where a value goes: what takes it, over names, loops, containers and calls. Imports `resolve.evaluator` and below."""
