"""What an expression can be, by demand. Imports `resolve.scopes`."""
