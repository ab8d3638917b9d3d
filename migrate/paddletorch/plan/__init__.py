"""What becomes of each use in one file. Imports `resolve`, `text`, `model` and the tables."""
