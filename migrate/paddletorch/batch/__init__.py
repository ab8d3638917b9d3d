"""Many files: the run, workers, progress, baseline and cache. Imports `api`, `inputs`, `text` and `model`."""
