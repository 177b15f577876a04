#!/bin/bash
#SBATCH -C cpu -q regular
#SBATCH -N 1 -t 1:00:00
export OMP_NUM_THREADS=16
export OMP_PLACES=cores
export OMP_PROC_BIND=spread
srun -n 16 -c 2 --cpu-bind=cores ./hybrid
