#!/bin/bash
#SBATCH --qos=premium
#SBATCH --time=12:00:00
#SBATCH --nodes=100
#SBATCH --constraint=cpu
#SBATCH --account=m0000
export OMP_NUM_THREADS=8
export OMP_PLACES=threads
export OMP_PROC_BIND=spread
srun -n 1600 -c 16 --cpu-bind=cores ./hybrid
