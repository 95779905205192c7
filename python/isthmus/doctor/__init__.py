"""`isthmus doctor`: checks the clusters of a grid and the links between them, and prints fixes."""
