"""Runtime side of paddletorch: each framework's GradScaler semantics on the other framework's tensors.

``paddletorch_shim.torch`` has Paddle's API for torch tensors, ``paddletorch_shim.paddle`` torch's for Paddle
tensors. ``install`` converts modules as they are imported, see ``paddletorch_shim.importhook``; ``record`` notes what a
run of the program shows, see ``paddletorch_shim.recording``. Nothing is imported here, so that a program pays for what
it uses.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddletorch_shim.importhook import ConversionError, ConversionWarning, install, uninstall
    from paddletorch_shim.recording.session import record

__all__ = ["ConversionError", "ConversionWarning", "install", "record", "uninstall"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "record":
        from paddletorch_shim.recording.session import record

        return record
    from paddletorch_shim import importhook

    return getattr(importhook, name)
