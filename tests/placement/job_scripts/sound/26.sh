#!/bin/bash
#SBATCH -A abc123
#SBATCH -J run
#SBATCH -o %x-%j.out
#SBATCH -t 24:00:00
#SBATCH -p extended
#SBATCH -N 64
srun -N64 -n512 -c7 --gpus-per-task=1 --gpu-bind=closest ./solver
