"""What other files of the source tree define. Imports `resolve.evaluator` and below."""
