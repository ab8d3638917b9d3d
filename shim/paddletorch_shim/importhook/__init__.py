"""Converts modules as they are imported, so that a program runs on the other framework with no file changed.

``install`` puts a finder on ``sys.meta_path``; ``program`` runs a script or a module as ``__main__``. The converter is
imported only where the kept code of a module is missing or out of date.
"""

from paddletorch_shim.importhook.findings import ConversionError, ConversionWarning, Finding
from paddletorch_shim.importhook.hook import ImportHook, install, uninstall

__all__ = ["ConversionError", "ConversionWarning", "Finding", "ImportHook", "install", "uninstall"]
