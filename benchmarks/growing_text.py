"""What the growing sources are put together from."""

from __future__ import annotations

TORCH = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
PADDLE = "import paddle\nimport paddle.nn as nn\nimport paddle.nn.functional as F\n\n"


def block(lines: list[str], indent: int = 4) -> str:
    """Lines of a block."""
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def repeated(one: str, n: int) -> str:
    """The text with each number up to ``n`` for ``{i}``."""
    return "".join(one.replace("{i}", str(i)) for i in range(n))
