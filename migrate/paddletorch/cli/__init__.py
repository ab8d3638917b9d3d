"""The command line. Imports `batch`, `output`, `editor`, `pages`, `trial`, `comparison`, `evidence` and below."""
