"""Findings from I/O logs."""
