"""What recorded runs of a program showed: read, merged and kept. Imports `model`."""
