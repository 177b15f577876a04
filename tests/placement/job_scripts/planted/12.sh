#!/bin/bash
#SBATCH -A abc123
#SBATCH -N 8
#SBATCH -t 6:00:00
#SBATCH -p batch
srun -N 8 -n 64 -c 7 --gpus-per-task=1 --gpu-bind=closest ./solver
