"""What other modules of the project define. Imports `resolve.evaluator` and below."""
