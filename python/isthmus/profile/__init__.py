"""Who sends what to whom: what `isthmus run --profile` writes, and what can be told of it."""
