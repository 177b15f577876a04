#!/bin/bash
#SBATCH --partition=standard
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=128
#SBATCH --time=04:00:00
#SBATCH --account=project_465000001
srun ./solver
