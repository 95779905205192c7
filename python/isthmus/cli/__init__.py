"""The command line: one file for each command that has no package of its own."""
