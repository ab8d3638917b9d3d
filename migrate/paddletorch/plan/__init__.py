"""From resolved sites to edits and diagnostics."""
