"""Where converted lines come from, and what was found there. Imports `text` and `model`."""
