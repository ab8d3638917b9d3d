"""Runtime side of paddletorch: each framework's GradScaler semantics on the other framework's tensors.

``paddletorch_shim.torch`` has Paddle's API for torch tensors, ``paddletorch_shim.paddle`` torch's for Paddle
tensors. ``install`` converts modules as they are imported, see ``paddletorch_shim.importhook``. Nothing is imported
here, so that a program pays for what it uses.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddletorch_shim.importhook import ConversionError, ConversionWarning, install, uninstall

__all__ = ["ConversionError", "ConversionWarning", "install", "uninstall"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from paddletorch_shim import importhook

    return getattr(importhook, name)
