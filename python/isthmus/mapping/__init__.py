"""`isthmus map`: which ranks go to which cluster, so that little crosses (docs/map.md)."""
