"""Weights of models from one framework to the other: which tensor goes where, and whether the outputs are the same.

``layout`` reads from a model's modules what becomes of each tensor, ``names`` does without a model as far as names
tell, ``checkpoint`` converts whole files, ``optimizer`` the moments in them, ``check`` runs both models.
"""

from __future__ import annotations


class WeightsError(ValueError):
    """Weights that cannot be converted with certainty. The message names the key and the way out."""


def listed(keys: list[str], most: int = 6) -> str:
    """Keys for a message: all of a few, else the first and how many more."""
    more = f" and {len(keys) - most} more" if len(keys) > most else ""
    return ", ".join(keys[:most]) + more
