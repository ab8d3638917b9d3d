"""The command line by command. Imports `batch`, `output`, `pages`, `trial`, `comparison`, `evidence` and below."""
