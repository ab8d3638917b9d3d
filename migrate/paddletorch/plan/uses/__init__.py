"""One file for each way to use an API: call, member, attribute, value. Imports `plan.names`, `plan.calls` and below."""
