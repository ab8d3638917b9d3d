"""Steps that look at the whole file; `planner` puts them in order. Imports `plan.uses` and below."""
