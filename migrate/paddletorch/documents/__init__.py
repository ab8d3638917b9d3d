"""Code inside notebooks and Markdown, converted in place. Imports `engine`, `project_files`, `text` and `model`."""
