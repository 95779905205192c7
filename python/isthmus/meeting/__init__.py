"""Runs that meet: how launchers find each other, and what they do so that processes of one run are
guests of the other (docs/joining.md, decision 0022)."""
