"""The placement of ranks: which cluster, host and program each has, and the plan of a run."""
