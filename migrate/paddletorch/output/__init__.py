"""Puts results in place: files written whole or not at all, copies of trees. Imports `inputs` and `model`."""
