"""The Python interface: text in, result out. Imports `documents`, `engine`, `project_files`, `text` and `model`."""
