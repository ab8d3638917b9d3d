"""Converts calls: binds and translates arguments, adds defaults, fills templates. Imports `plan.sites` and below."""
