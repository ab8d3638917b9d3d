"""Name resolution: which framework API a name, an attribute or a call can mean."""

from paddletorch.resolve.bindings import AttributeStore, Binding, Scope
from paddletorch.resolve.evaluate import Evaluator
from paddletorch.resolve.parsed import Parsed
from paddletorch.resolve.scopes import ScopeTree
from paddletorch.resolve.tree import TreeIndex
from paddletorch.resolve.values import Instance, Method, NoneValue, Partial, Qualified, Unknown, Value

__all__ = [
    "AttributeStore",
    "Binding",
    "Evaluator",
    "Instance",
    "Method",
    "NoneValue",
    "Parsed",
    "Partial",
    "Qualified",
    "Scope",
    "ScopeTree",
    "TreeIndex",
    "Unknown",
    "Value",
]
