"""One file: prefilter, parse, resolve, plan, edit, and the gate. Imports `plan`, `gate` and below."""
