"""Decides how converted names are spelled, and edits imports. Imports `plan.sites` and below."""
