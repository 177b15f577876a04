"""Benchmark histories before and after a date, and reference values for good runs."""
