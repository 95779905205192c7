"""`isthmus bench sim`: collectives on clusters that need not exist, in simulated time."""
