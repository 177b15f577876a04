#!/bin/bash
#SBATCH -C gpu
#SBATCH -q debug
#SBATCH -N 16
#SBATCH -t 20
#SBATCH --gpus-per-node=4
srun -n 64 -c 32 --cpu-bind=cores --gpus-per-task=1 ./solver
