"""Names of the functions for what the tables cannot say."""

HOOKS = frozenset({"scaler", "sharded_scaler", "autocast", "decorate", "drop_statement", "update", "minimize", "step", "scale"})
