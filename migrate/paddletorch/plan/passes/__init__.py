"""Steps that look at the whole file. Imports every room of `plan` below; `planner` puts them in order."""
