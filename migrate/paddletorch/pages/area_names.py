"""What the letters of the codes stand for."""

from __future__ import annotations

NAMES = {
    "AGD": "automatic differentiation and profiling",
    "AMP": "mixed precision",
    "API": "names, imports and arguments",
    "DAT": "data loading",
    "DEV": "devices, streams and memory",
    "DST": "distributed training",
    "DTY": "data types",
    "LIN": "linear algebra",
    "LRS": "learning-rate schedulers",
    "NNF": "functionals",
    "NNI": "initialisers",
    "NNL": "layers and losses",
    "NNM": "members of modules",
    "NNU": "gradient clipping",
    "OPT": "optimizers",
    "PRJ": "project files",
    "RND": "random numbers",
    "SER": "saving and loading",
    "SRC": "source files",
    "TEN": "tensors",
    "TRN": "training loops",
    "EIN": "einops",
    "VIS": "torchvision and paddle.vision",
}
