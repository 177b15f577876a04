"""The launchers themselves: what aprun, srun and the mpiexec family read into components, and a node as Slurm counts it."""
