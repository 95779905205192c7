"""`isthmus bench`: Isthmus side by side with plain TCP and with native MPIs on the same wires."""
