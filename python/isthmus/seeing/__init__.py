"""Views of runs from other terminals (`isthmus ps` and `isthmus top`), and timelines of runs."""
