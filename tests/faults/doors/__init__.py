"""Every door of Isthmus with every kind of stranger before it."""
