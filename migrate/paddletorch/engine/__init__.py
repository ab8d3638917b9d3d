"""One file: prefilter, parse, resolve, plan, edit, verify. Imports `plan` and below."""
