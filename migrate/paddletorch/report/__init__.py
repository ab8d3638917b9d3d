"""What a run says, for people and for programs, and as a diff. Imports `text` and `model`."""
