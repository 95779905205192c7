"""Who sends what to whom: the profiles of `isthmus run --profile`, and what they show."""
