#!/bin/bash
#SBATCH -C cpu -q regular
#SBATCH -N 2 -t 1:00:00
#SBATCH --gpus-per-node=4
srun -n 8 -c 32 --cpu-bind=cores ./solver
