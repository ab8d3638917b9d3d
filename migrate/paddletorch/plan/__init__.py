"""What becomes of each use in one file. Imports `plan.passes` and below."""
