"""paddletorch: moves training code between PyTorch and PaddlePaddle, in both directions.

What ``__all__`` names is the public Python interface, and nothing else is; docs/python.md describes it. Importing
``paddletorch`` loads none of it: a name's module is imported when the name is first used.
"""

from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; importing typing would be most of the time of this module
if TYPE_CHECKING:
    from paddletorch_rules import TableError

    from paddletorch.api.convert import convert
    from paddletorch.api.converter import Converter
    from paddletorch.api.result import Result
    from paddletorch.model import Applicability, Conversion, Diagnostic, Fates, Severity, Status

__version__ = "0.1.0"

__all__ = [
    "Applicability",
    "Conversion",
    "Converter",
    "Diagnostic",
    "Fates",
    "Result",
    "Severity",
    "Status",
    "TableError",
    "__version__",
    "convert",
]

_MODULES = {
    "Applicability": "paddletorch.model",
    "Conversion": "paddletorch.model",
    "Converter": "paddletorch.api.converter",
    "Diagnostic": "paddletorch.model",
    "Fates": "paddletorch.model",
    "Result": "paddletorch.api.result",
    "Severity": "paddletorch.model",
    "Status": "paddletorch.model",
    "TableError": "paddletorch_rules",
    "convert": "paddletorch.api.convert",
}


if not TYPE_CHECKING:  # which would take any name for one that is there

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
