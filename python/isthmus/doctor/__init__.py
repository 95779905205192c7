"""`isthmus doctor`: whether clusters and the links between them are fit for a grid, and what mends
them."""
