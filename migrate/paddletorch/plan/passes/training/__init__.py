"""Optimizers, schedulers, clipping, loaders and autocast: calls that belong together."""
