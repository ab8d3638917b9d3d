"""The tables of paddletorch: which API of one framework is which of the other, by release."""

from paddletorch_rules.releases import Framework, ReleaseSet, installable, installed, other_framework, select
from paddletorch_rules.schema import (
    AreaSpec,
    DiagnosticSpec,
    Form,
    Let,
    Parameter,
    ParameterPair,
    Row,
    ShimPart,
    Signature,
    TableError,
    TypeSpec,
    ValueMap,
)
from paddletorch_rules.table import Table, Tokens, load

__all__ = [
    "AreaSpec",
    "DiagnosticSpec",
    "Form",
    "Framework",
    "Let",
    "Parameter",
    "ParameterPair",
    "ReleaseSet",
    "Row",
    "ShimPart",
    "Signature",
    "Table",
    "TableError",
    "Tokens",
    "TypeSpec",
    "ValueMap",
    "installable",
    "installed",
    "load",
    "other_framework",
    "select",
]
