"""Proves table rows: converts their examples, runs both sides on the real frameworks and compares the results."""
