"""One file: prefilter, parse, resolve, plan, edit, verify. Imports `plan`, `resolve`, `text` and `model`."""
