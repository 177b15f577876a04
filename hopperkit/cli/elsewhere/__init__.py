"""What other programs ask of the commands and take from them: Slurm's submit filter, SARIF, Prometheus, assistants."""
