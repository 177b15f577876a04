"""srun and sbatch: their options, and where Slurm puts tasks and deals out CPUs."""
