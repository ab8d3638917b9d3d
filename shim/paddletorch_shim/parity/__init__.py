"""Runs the shim beside the frameworks' own scalers, on the same schedules, and compares them bit for bit."""
