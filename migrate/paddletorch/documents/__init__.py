"""Code inside notebooks and Markdown, converted in place. Imports `engine`, `text` and `model`."""
