"""`isthmus profile show --html`: one file that a browser opens without a network."""
