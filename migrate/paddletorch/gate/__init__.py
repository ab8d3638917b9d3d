"""Checks the converted text of a file before it counts: what no table may break. Imports `resolve` and below."""
