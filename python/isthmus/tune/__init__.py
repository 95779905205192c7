"""`isthmus tune`: measures the networks of a grid once, and keeps the figures beside its file."""
