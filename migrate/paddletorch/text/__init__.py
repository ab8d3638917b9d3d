"""Bytes and spans of one file: positions, arguments of a call, edits, suppression comments. Imports `model`."""
