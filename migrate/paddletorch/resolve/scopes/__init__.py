"""Scopes, bindings and reaching definitions of one module. Imports nothing else of `resolve`."""
