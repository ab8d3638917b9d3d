"""Plans each kind of use of an API: calls, members, attributes, values. Imports `plan.names`, `plan.calls` and below."""
