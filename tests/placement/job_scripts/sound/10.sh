#!/bin/bash
#SBATCH --partition=standard
#SBATCH --nodes=512
#SBATCH --ntasks-per-node=128
#SBATCH --time=12:00:00
#SBATCH --account=project_465000001
srun ./solver
