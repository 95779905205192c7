"""`isthmus bench`: compares Isthmus with plain TCP and with native MPIs on the same wires."""
