"""Questions about statements and expressions that need no types. Imports `plan.model` and below."""
