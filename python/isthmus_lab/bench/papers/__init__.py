"""The figures and tables of the papers, each as one recipe over the other benchmarks."""
