"""Imports the modules of a converted tree. Imports `children`, `origins`, `report` and `model`."""
