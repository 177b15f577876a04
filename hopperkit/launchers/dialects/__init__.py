"""The launchers: parsing of aprun, srun and the mpiexec family into components, and a node as Slurm counts it."""
