#!/bin/bash
#SBATCH -A abc123
#SBATCH -J run
#SBATCH -o %x-%j.out
#SBATCH -t 2:00:00
#SBATCH -q debug
#SBATCH -N 1
srun -N1 -n8 -c7 --gpus-per-task=1 --gpu-bind=closest ./solver
