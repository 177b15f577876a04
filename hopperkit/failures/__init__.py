"""Failures from a center's view: many outputs at once, suspicious nodes, the check before a run, what is known besides the output."""
