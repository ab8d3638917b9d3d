"""The values that planning hands from step to step. Imports `resolve` and below."""
