#!/bin/bash
#SBATCH --partition=normal -C mc
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=16
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
export OMP_NUM_THREADS=4
export OMP_PLACES=cores
srun --cpus-per-task=16 --cpu-bind=cores ./hybrid
