"""The values that the steps of planning exchange. Imports `resolve` and below."""
