"""Name resolution: which framework API a name, an attribute or a call can mean."""

from paddletorch.resolve.bindings import AttributeStore, Binding, Scope
from paddletorch.resolve.evaluate import Evaluator
from paddletorch.resolve.scopes import ScopeTree
from paddletorch.resolve.values import Instance, NoneValue, Partial, Qualified, Unknown, Value

__all__ = [
    "AttributeStore",
    "Binding",
    "Evaluator",
    "Instance",
    "NoneValue",
    "Partial",
    "Qualified",
    "Scope",
    "ScopeTree",
    "Unknown",
    "Value",
]
