"""Where in the file the tables' APIs are used. Imports `plan.inference` and below."""
