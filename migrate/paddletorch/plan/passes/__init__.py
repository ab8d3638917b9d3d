"""Passes over the whole file; `planner` runs them in order. Imports `plan.uses` and below."""
