"""Puts results in place: files written whole or not at all, copies of trees. Imports `batch`, `inputs` and `model`."""
