"""Proves table rows: converts their examples, runs both sides and compares. Imports `api` and `model`."""
