"""Runs a model and what it became side by side, layer by layer. Imports `children`, `origins`, `report` and `model`."""
