"""The command line, one file for each command. Imports any other room, and only when its command runs."""
