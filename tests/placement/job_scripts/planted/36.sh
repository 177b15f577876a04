#!/bin/bash
#SBATCH -C cpu -q regular
#SBATCH -N 2 -t 1:00:00
export OMP_NUM_THREADS=8
export OMP_PLACES=threads
export OMP_PROC_BIND=spread
export KMP_AFFINITY=disabled
srun -n 32 -c 16 --cpu-bind=cores ./hybrid
