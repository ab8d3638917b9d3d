"""Many files: the run over them, workers, progress, baseline and cache. Imports `engine`, `inputs` and below."""
