#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=8
#SBATCH --partition=standard
#SBATCH --qos=standard
#SBATCH --time=01:00:00
export OMP_NUM_THREADS=8
export OMP_PLACES=cores
srun --hint=nomultithread --distribution=block:block ./hybrid
