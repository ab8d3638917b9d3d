"""The language server: what editors show of a file and offer on it. Imports `api`, `report`, `text` and `model`."""
