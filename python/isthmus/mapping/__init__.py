"""`isthmus map`: places ranks on clusters so that little crosses (docs/map.md)."""
