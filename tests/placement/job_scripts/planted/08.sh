#!/bin/bash
#SBATCH -p standard-g
#SBATCH -N 1
#SBATCH --ntasks-per-node=8
#SBATCH --gres=gpu:a100:8
#SBATCH -t 4:00:00
srun --cpu-bind=map_cpu:49,57,17,25,1,9,33,41 ./select_gpu ./solver
