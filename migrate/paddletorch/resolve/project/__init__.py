"""What other modules of the project define. Imports `resolve.evaluator`, `text` and below."""
