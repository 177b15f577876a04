#!/bin/bash
#SBATCH --qos=regular
#SBATCH --time=1-0
#SBATCH --nodes=4
#SBATCH --constraint=cpu
#SBATCH --account=m0000
export OMP_NUM_THREADS=16
export OMP_PLACES=threads
export OMP_PROC_BIND=spread
srun -n 32 -c 32 --cpu-bind=cores ./hybrid
