#!/bin/bash
#SBATCH --partition=normal -C mc
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=64
#SBATCH --hint=nomultithread
#SBATCH --time=01:00:00
export OMP_NUM_THREADS=4
srun --cpu-bind=cores -c 2 ./hybrid
