"""Which API an expression can mean. Imports `resolve.project`, `resolve.facts`, `resolve.flows` and below."""

from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.evaluator.operations import BASE_MODULES
from paddletorch.resolve.origins import Origins
from paddletorch.resolve.project.parsed import Parsed
from paddletorch.resolve.project.project_index import ProjectIndex, Texts
from paddletorch.resolve.scopes.bindings import AttributeStore, Binding, Scope
from paddletorch.resolve.scopes.certain_evaluation import evaluated_always, evaluated_below
from paddletorch.resolve.scopes.definite_assignment import DefiniteAssignment
from paddletorch.resolve.scopes.flow import Bound
from paddletorch.resolve.scopes.import_guards import guarded_imports, is_import_guard
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import Instance, Method, NoneValue, Partial, Qualified, Unknown, Value

__all__ = [
    "BASE_MODULES",
    "AttributeStore",
    "Binding",
    "Bound",
    "DefiniteAssignment",
    "Evaluator",
    "Instance",
    "Method",
    "NoneValue",
    "Origins",
    "Parsed",
    "Partial",
    "ProjectIndex",
    "Qualified",
    "Scope",
    "ScopeTree",
    "Texts",
    "Unknown",
    "Value",
    "evaluated_always",
    "evaluated_below",
    "guarded_imports",
    "is_import_guard",
]
