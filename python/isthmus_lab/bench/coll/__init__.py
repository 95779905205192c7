"""`isthmus bench coll`: compares the collectives with native MPIs as one job, and with the limits
of the wires."""
