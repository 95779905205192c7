"""Messages between ranks: the profiles of `isthmus run --profile`, and what they show."""
