"""Benchmark histories before and after a date, and the level that a good run should reach."""
