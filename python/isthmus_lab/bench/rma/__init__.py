"""`isthmus bench rma`: compares one-sided communication with messages and with native MPIs."""
