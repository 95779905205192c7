"""The package isthmus-lab: `isthmus lab` and `isthmus bench`."""
