"""Interfaces to other programs: Slurm's submit filter, SARIF, Prometheus, assistants."""
