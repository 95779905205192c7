"""`isthmus bench rma`: one-sided communication, beside messages and beside native MPIs."""
