"""What an expression can be, computed on demand. Imports `resolve.scopes` and below."""
