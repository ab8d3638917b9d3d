"""Processes for code of the user's, with a framework out of reach. Imports no other room."""
