"""The place of a measurement, its samples and figures: for benchmarks."""
