"""`isthmus tune`: what the networks of a grid carry, measured once and kept beside its file."""
