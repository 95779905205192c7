"""`isthmus bench coll`: the collectives, beside native MPIs as one job and beside what the wires
allow."""
