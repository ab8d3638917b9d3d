"""What stands outside Python: requirements, containers and launch scripts. Imports `text` and `model`."""
