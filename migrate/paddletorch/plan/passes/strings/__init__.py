"""Names of APIs in strings and in `getattr`-like calls."""
