"""paddletorch: moves training code between PyTorch and PaddlePaddle, in both directions."""

__version__ = "0.1.0"
