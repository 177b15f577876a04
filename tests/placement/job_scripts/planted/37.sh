#!/bin/bash
#SBATCH --partition=normal -C mc
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=8
#SBATCH --hint=nomultithread
#SBATCH --time=00:20:00
export OMP_NUM_THREADS=8
export MV2_ENABLE_AFFINITY=1
srun -c 8 --cpu-bind=cores ./hybrid
