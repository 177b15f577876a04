#!/bin/bash
#SBATCH -A abc123
#SBATCH -J run
#SBATCH -o %x-%j.out
#SBATCH -t 1:00:00
#SBATCH -p batch
#SBATCH -N 2
srun -N2 -n16 -c7 --gpus-per-task=1 --gpu-bind=closest ./solver
