"""Finds where a file uses the APIs of the tables. Imports `plan.inference` and below."""
