"""Jobs whose parts start by themselves, in batch queues, and meet."""
