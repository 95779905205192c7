"""A run as a whole, from its options to its status."""
