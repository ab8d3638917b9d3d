"""The engine as commands of LibCST, the only modules that import its codemods. Imports `api` and `model`."""

from paddletorch.codemod.commands import ToPaddle, ToTorch

__all__ = ["ToPaddle", "ToTorch"]
