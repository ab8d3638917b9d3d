"""Which files a run takes, and which settings hold for each. Imports `model`."""
