"""`isthmus bench sim`: simulates collectives on clusters that need not exist."""
