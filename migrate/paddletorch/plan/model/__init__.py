"""The values that planning hands from step to step. Imports no other room of `plan`."""
