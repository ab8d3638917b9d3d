"""Facts of values, such as their dtype, on the one solver. Imports `resolve.evaluator` and below."""
