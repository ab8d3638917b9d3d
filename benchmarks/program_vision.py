"""Lets torchvision be imported where its compiled operators do not load."""

from paddletorch.proof.torchvision_operators import define_vision_operators

__all__ = ["define_vision_operators"]
