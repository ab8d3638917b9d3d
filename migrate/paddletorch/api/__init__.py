"""The Python interface: text in, result out. Imports `documents`, `engine`, `text` and `model`."""
