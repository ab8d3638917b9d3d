"""Scopes, bindings and reaching definitions of one module. Imports `resolve.values` and `model`."""
