"""Runs that meet: how launchers find each other, and how processes of one run become guests of the
other (docs/joining.md, decision 0022)."""
