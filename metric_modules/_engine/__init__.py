"""The scoring engine: all metrics in one pass over a dataset, on any number of processes."""
