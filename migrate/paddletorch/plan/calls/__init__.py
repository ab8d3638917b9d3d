"""The one pipeline of a call: bind, map, reconcile, fill, lay out. Imports `plan.sites` and below."""
