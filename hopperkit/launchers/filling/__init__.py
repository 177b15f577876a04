"""How aprun, Slurm and the mpiexec family fill a node, and which GPUs tasks see."""
