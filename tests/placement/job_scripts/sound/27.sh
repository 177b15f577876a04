#!/bin/bash
#SBATCH -A abc123
#SBATCH -J run
#SBATCH -o %x-%j.out
#SBATCH -t 12:00:00
#SBATCH -p batch
#SBATCH -N 200
export OMP_NUM_THREADS=7
srun -N200 -n1600 -c7 --ntasks-per-node=8 --gpus-per-node=8 --gpu-bind=closest ./hybrid
