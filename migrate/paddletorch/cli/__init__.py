"""The command line, a file for each command. Imports `batch`, `output`, `pages`, `trial`, `comparison` and below."""
