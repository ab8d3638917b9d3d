"""Scopes, bindings and the definitions that reach a name, in one pass over the tree. Imports no other room."""
