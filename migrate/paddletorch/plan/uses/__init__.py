"""Plans each kind of use of an API: call, member, attribute, value. Imports `plan.names`, `plan.calls` and below."""
