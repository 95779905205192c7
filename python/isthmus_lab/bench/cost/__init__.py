"""`isthmus bench cost`: the processor time of messages."""
