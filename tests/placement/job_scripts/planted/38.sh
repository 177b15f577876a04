#!/bin/bash
#SBATCH --partition=standard
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=8
#SBATCH --time=1:00:00
export OMP_NUM_THREADS=8
export GOMP_CPU_AFFINITY=0-7
srun -c 8 --cpu-bind=cores ./hybrid
