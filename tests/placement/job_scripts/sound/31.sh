#!/bin/bash
#SBATCH --partition=normal
#SBATCH --nodes=2
#SBATCH --constraint=mc
#SBATCH --time=10:00:00
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=4
#SBATCH --hint=nomultithread
export OMP_NUM_THREADS=4
export OMP_PLACES=cores
srun ./hybrid
